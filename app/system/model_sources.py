"""Which download each model file came of: repository, commit and checksums, kept beside the settings over restarts.

A note holds as long as the files have the sizes and the time that they had then. Any thread may ask.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from app.core.download import DownloadWanted
from app.core.found_file import FoundFile
from app.core.model import FoundModel, ModelRef
from app.system.model_search import files_of
from app.system.whole_file import replace_whole

CheckModel = Callable[[Path], tuple[FoundModel, ModelRef | None]]
MOST_KEPT = 2_000
"""Of more the oldest go: their models are known by their size alone again."""
_MOST_KEPT_BYTES = 16 << 20
_log = logging.getLogger(__name__)


class _Kept(msgspec.Struct, frozen=True):
    path: str
    size: int
    modified_ns: int
    wanted: DownloadWanted


class ModelSources:
    """By the path of a model's first file."""

    def __init__(self, file: Path) -> None:
        """`file` is read with the first question, and written anew with each note."""
        self._file = file
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] | None = None

    def note(self, path: Path, wanted: DownloadWanted) -> None:
        """Keep that a model, which is whole, came of a download; waits for the disk, and what it refuses is in the log."""
        stamp = _stamp(str(path))
        if stamp is None:
            return
        with self._lock:
            kept = self._all()
            kept.pop(str(path), None)  # the newest is the last one
            kept[str(path)] = _Kept(str(path), *stamp, wanted)
            self._save(kept)

    def follow(self, old: Iterable[str], new: str) -> None:
        """Know a model under its new path; empty is the trash. Waits for the disk."""
        with self._lock:
            kept = self._all()
            moved = [entry for path in old if (entry := kept.pop(path, None)) is not None]
            if moved and new:
                kept[new] = msgspec.structs.replace(moved[0], path=new)
            if moved:
                self._save(kept)

    def of(self, file: FoundFile) -> DownloadWanted | None:
        """Return what a file that a search has found came of; None where that is not known, or it is another one by now."""
        with self._lock:
            kept = self._all().get(file.path)
        same = kept is not None and (kept.size, kept.modified_ns) == (file.size, file.modified_ns)
        return kept.wanted if kept is not None and same else None

    def checked(self, check: CheckModel) -> CheckModel:
        """Return what looks at a file and tells what it came of as well."""
        return lambda path: self.told(*check(path))

    def told(self, found: FoundModel, ref: ModelRef | None) -> tuple[FoundModel, ModelRef | None]:
        """Return a file that was looked at, and which model it is, with what it came of; waits for the disk."""
        stamp = _stamp(found.path)
        wanted = None if stamp is None else self.of(FoundFile(found.path, *stamp))
        if wanted is None:
            return found, ref
        found = msgspec.structs.replace(found, source=wanted)
        if ref is None:
            return found, None
        digest = wanted.files[0].sha256 if len(wanted.files) == 1 else ""
        named = msgspec.structs.replace(
            ref, repository=wanted.repository, revision=wanted.revision, sha256=digest or None
        )
        return found, named

    def _all(self) -> dict[str, _Kept]:
        if self._kept is None:
            self._kept = {each.path: each for each in _read(self._file) if each.wanted.files}
        return self._kept

    def _save(self, kept: dict[str, _Kept]) -> None:
        for path in list(kept)[:-MOST_KEPT]:
            del kept[path]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_whole(self._file, msgspec.json.encode(list(kept.values())))
        except OSError as error:
            _log.info("Where models came from cannot be kept: %s", error)


def _read(file: Path) -> list[_Kept]:
    try:
        with file.open("rb") as opened:
            return msgspec.json.decode(opened.read(_MOST_KEPT_BYTES), type=list[_Kept])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        _log.info("Where models came from cannot be read: %s", error)
        return []


def _stamp(path: str) -> tuple[int, int] | None:
    """Return size and time of a model as a search tells them, all its files together; None where it is not there."""
    try:
        states = [os.stat(each) for each in files_of(path)]  # noqa: PTH116  as searches do
    except (OSError, ValueError):
        return None
    return (sum(each.st_size for each in states), max(each.st_mtime_ns for each in states)) if states else None
