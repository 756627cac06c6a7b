"""Looks at what lies around a model's file before it is renamed or moved: its parts, links, and what is beside it.

Changes nothing. Whose a file is decides the folder that really holds it, whatever links lead there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from app.core.file_name import name_key
from app.core.found_file import FileOrigin, FoundFile
from app.system.model_search import files_of, links_in, model_of

if sys.platform != "win32":
    import fcntl

PARTIAL_ENDINGS = (".part", ".part.json")
"""What a download keeps beside the file that it will be."""

Place = Literal["own", "elsewhere", "gone"]


class FileLook(NamedTuple):
    """What there is to know of a model's files."""

    place: Place
    """Whether its files really lie in our own folder."""
    owner: FileOrigin = "own"
    """The program to which they belong."""
    files: tuple[str, ...] = ()
    size: int = 0
    """Bytes that go with them: a link has none."""
    link_to: str = ""
    """Where the file is only a link: to what it leads."""
    links: tuple[str, ...] = ()
    """Links in the folders of models that lead to it."""
    has_other_names: bool = False
    """Whether the same bytes have another name elsewhere."""
    partials: tuple[str, ...] = ()
    """What is left beside it of a download that has not ended."""
    is_written: bool = False
    """Whether another process writes one of those."""
    taken: frozenset[str] = frozenset()
    """Keys of the names that others have in its folder."""
    same: frozenset[str] = frozenset()
    """Of the paths that were asked about, those of this very file."""


def look_around(
    path: str, own: Path, folders: Iterable[Path], others: Sequence[FoundFile], known: Iterable[str]
) -> FileLook:
    """Return what there is; may take a while on a folder of the network."""
    if not os.path.lexists(path):
        return FileLook("gone")
    here = _real_place(path)
    owner: FileOrigin = next((each.origin for each in others if _real_place(each.path) == here), "own")
    if owner != "own" or not Path(here).is_relative_to(os.path.realpath(own)):
        return FileLook("elsewhere", owner)
    try:
        files = tuple(files_of(path))
        beside = [entry.name for entry in os.scandir(Path(path).parent)]
    except OSError:
        return FileLook("gone")
    names = {Path(file).name for file in files}
    model = model_of(Path(path).name)
    partials = tuple(str(Path(path).parent / name) for name in sorted(beside) if _model_of_partial(name) == model)
    statuses = [os.lstat(file) for file in files if os.path.lexists(file)]
    targets = {os.path.realpath(file) for file in files if not os.path.islink(file)}  # noqa: PTH114
    return FileLook(
        "own",
        files=files,
        size=sum(status.st_size for file, status in zip(files, statuses, strict=False) if not _is_link(file)),
        link_to=os.path.realpath(path) if _is_link(path) else "",
        links=tuple(link for link in links_in(folders) if os.path.realpath(link) in targets),
        has_other_names=any(status.st_nlink > 1 for status in statuses),
        partials=partials,
        is_written=any(_is_held(partial) for partial in partials if partial.endswith(PARTIAL_ENDINGS[0])),
        taken=frozenset(name_key(name) for name in beside if name not in names),
        same=frozenset(each for each in known if each == path or _is_same(each, path)),
    )


def _model_of_partial(name: str) -> tuple[str, int] | None:
    """Return which model a partial file is to be a part of; None where it is something else."""
    ending = next((each for each in PARTIAL_ENDINGS if name.endswith(each)), "")
    return model_of(name.removesuffix(ending)) if ending else None


def _real_place(path: str) -> str:
    """Return where a file, or a link itself, really lies."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def _is_link(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114


def _is_same(first: str, second: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(first).samefile(second)
    return False


def _is_held(path: str) -> bool:
    """Return whether a download in another process writes it; where nothing can be locked, nobody knows."""
    if sys.platform == "win32":
        return False  # what is open there cannot be moved anyway
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
