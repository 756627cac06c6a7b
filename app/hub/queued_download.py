"""What the queue knows of one download, in the program and in its file."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from app.core.download import DownloadState, DownloadWanted
from app.core.words import Sentence
from app.hub.partial_file import FileStamp
from app.system import lenient_json
from app.system.whole_file import replace_whole

if TYPE_CHECKING:
    from app.hub.download_run import Run

UNREADABLE = ".unreadable"
"""Ends the name of a copy of a file of which not all could be read."""
_MOST_KEPT_BYTES = 4 << 20
_log = logging.getLogger(__name__)


class KeptDownload(msgspec.Struct, frozen=True):
    """One download as the file of the queue has it."""

    wanted: DownloadWanted
    state: Literal["waiting", "paused", "failed"] = "waiting"
    problem: Sentence | None = None
    came: dict[int, FileStamp] = {}
    """Which of its files it has brought: of the others none is ever deleted."""
    is_gone: bool = False
    """Whether it was given up, and only what has come of it is still to be deleted."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub give it."""


def read_kept(path: Path) -> list[KeptDownload]:
    """Return what an earlier run of the program has written, as far as it can be read; raises OSError.

    What cannot is no reason to forget the rest: then the file is kept beside itself as it was.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_KEPT_BYTES + 1)
    except FileNotFoundError:
        return []
    if len(content) > _MOST_KEPT_BYTES:
        _log.info("The queue of downloads is larger than any")
        path.replace(path.with_name(path.name + UNREADABLE))
        return []
    entries = _entries(content)
    kept = [each for each in map(_kept, entries) if each is not None]
    if len(kept) < max(len(entries), content.strip() != b"[]"):
        _log.info("Of the queue of downloads %d entries were read of %d", len(kept), len(entries))
        with suppress(OSError):
            replace_whole(path.with_name(path.name + UNREADABLE), content)
    return kept


def _entries(content: bytes) -> list[object]:
    try:
        value = lenient_json.read(content).value
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


def _kept(entry: object) -> KeptDownload | None:
    try:
        return msgspec.convert(entry, KeptDownload, str_keys=True)
    except (msgspec.MsgspecError, RecursionError):
        return None


@dataclass(eq=False)
class QueuedDownload:
    """One download while the program runs."""

    wanted: DownloadWanted
    goals: list[Path]
    state: DownloadState = "waiting"
    problem: Sentence | None = None
    run: Run | None = None
    """While a thread of it is there, if only to end."""
    thread: threading.Thread | None = None
    came: dict[int, FileStamp] = field(default_factory=dict)
    """What it has brought, by the number of the file."""
    is_gone: bool = False
    wants_token: bool = False
    tries: int = 0
    """In a row that brought no byte."""
    again_at: float = 0.0
    """When one that is “retrying” tries again."""

    @property
    def is_running(self) -> bool:
        """Whether it takes one of the places: a thread that was told to end takes none, however long that lasts."""
        return self.run is not None and not self.run.control.is_stopped

    @property
    def may_begin(self) -> bool:
        """Whether only a place among those that run is missing."""
        is_due = self.state == "retrying" and time.monotonic() >= self.again_at
        return self.run is None and (self.state == "waiting" or is_due)

    def kept(self, state: Literal["waiting", "paused", "failed"]) -> KeptDownload:
        """Return what is written down of it, in the state that the next start finds."""
        return KeptDownload(self.wanted, state, self.problem, dict(self.came), self.is_gone, self.wants_token)
