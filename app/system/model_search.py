"""Finds model files in folders by their names alone; reads none of them.

A folder or drive that is not there, or may not be read, holds nothing. People link folders of models to other disks, and
these are searched; a link to a folder in which the link itself lies, such as `/`, leads out of them and is not.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from app.core.download import MOST_PARTS
from app.core.file_name import part_name
from app.core.found_file import FileOrigin, FolderState, FoundFile
from app.system.model_files import SUFFIX

MAX_DEPTH, MAX_DEPTH_BEHIND_LINKS = MOST_PARTS, 5
"""Of folders in folders: what is downloaded is found however deep its repository has it."""
MOST_FOLDERS, MOST_BEHIND_LINKS = 10_000, 2_000
"""Folders that one search goes through; links may lead to whole disks."""
_REPARSE_POINT = 0x400
"""Windows' attribute of what leads elsewhere; its junctions are no links to Python."""
_Identity = tuple[int, int] | str
_log = logging.getLogger(__name__)


def find_models(folders: Sequence[Path]) -> list[Path]:
    """Return the model files in the folders, in their order and by name; of a model in parts only the first."""
    return [Path(found.path) for found in find_files(folders)]


def find_files(folders: Iterable[Path], origin: FileOrigin = "own") -> list[FoundFile]:
    """Return the same with what the folders tell of each file."""
    found: list[FoundFile] = []
    for folder in folders:
        paths = sorted(_walk(str(folder)), key=str.lower)
        found.extend(_together([each for path in paths if (each := found_file(path, origin)) is not None]))
    return once_each(found)


def found_file(path: str, origin: FileOrigin, name: str = "") -> FoundFile | None:
    """Return what is known of a file without opening it; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  Path.stat is several times slower over hundreds of files
    except (OSError, ValueError):
        # A link that leads nowhere in a folder of one's own is told; those of others are in the middle of something.
        return FoundFile(path, 0, 0, origin) if origin == "own" else None
    return FoundFile(path, status.st_size, status.st_mtime_ns, origin, name)


def folder_state(folder: str) -> FolderState:
    """Return how it stands with a folder: an empty one is there."""
    try:
        os.scandir(folder).close()
    except PermissionError:
        return "closed"
    except (OSError, ValueError):
        return "missing"
    return "there"


def model_of(name: str) -> tuple[str, int]:
    """Return what is equal for the names of files of one model, and in how many files it comes by them; 0 for a whole one."""
    part = part_name(name)
    return (part.stem, part.of) if part is not None and part.can_be else (name, 0)


def files_of(path: str) -> list[str]:
    """Return the files of a model that are there, in their order: every part beside it where it comes in parts."""
    folder, name = os.path.split(path)
    if not model_of(name)[1]:
        return [path]
    return sorted(entry.path for entry in os.scandir(folder) if model_of(entry.name) == model_of(name))


def access_of(path: str) -> tuple[tuple[str, int, bool], ...] | None:
    """Return how it stands with the files of a model: what changes once one that could not be read can be; None for none."""
    try:
        return tuple((file, os.stat(file).st_ctime_ns, _opens(file)) for file in files_of(path))  # noqa: PTH116
    except (OSError, ValueError):
        return None


def ending_of(name: str) -> str:
    """Return what a file's name keeps whatever it is called: its ending, and which part of a model it is."""
    part = part_name(name)
    return name[len(part.stem) :] if part is not None else name[-len(SUFFIX) :]


def links_in(folders: Iterable[Path]) -> Iterator[str]:
    """Return the paths of links to models in some folders."""
    for folder in folders:
        yield from (path for path in _walk(str(folder)) if _is_link(path))


def once_each(found: Iterable[FoundFile]) -> list[FoundFile]:
    """Return every file once, under the path that came first, or the one that is no link."""
    places: dict[_Identity, int] = {}
    listed: list[FoundFile] = []
    for file in found:
        place = places.setdefault(identity_of(file.path), len(listed))
        if place == len(listed):
            listed.append(file)
        elif _is_link(listed[place].path) and not _is_link(file.path):
            listed[place] = file
    return listed


def identity_of(path: str) -> _Identity:
    """Return what a file or folder is, under whatever path: device and inode, else where its links lead."""
    try:
        status = os.stat(path)  # noqa: PTH116
        return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _is_link(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114


def _walk(folder: str) -> Iterator[str]:
    """Go through a folder and those below it, also behind links, through each once: links may lead in circles.

    What lies behind links comes last, so that however much that is, it hides nothing of the folder itself.
    """
    seen: set[_Identity] = set()
    plain, behind = deque([(folder, 0)]), deque[tuple[str, int]]()
    left, left_behind = MOST_FOLDERS, MOST_BEHIND_LINKS
    while (plain and left) or (behind and left_behind):
        is_plain = bool(plain and left)
        here, depth = (plain if is_plain else behind).popleft()
        identity = identity_of(here)
        if identity in seen:
            continue
        seen.add(identity)
        deepest = MAX_DEPTH if is_plain else MAX_DEPTH_BEHIND_LINKS
        left, left_behind = left - is_plain, left_behind - (not is_plain)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: (entry.is_symlink(), entry.name))
        except (OSError, ValueError):
            continue
        for entry in entries:
            if entry.name.lower().endswith(SUFFIX) and not _is_folder(entry):
                yield entry.path
            elif depth < deepest and not entry.name.startswith(".") and _is_folder(entry):
                is_link = _leads_elsewhere(entry)
                if not (is_link and _holds(os.path.realpath(entry.path), (here, folder))):
                    (plain if is_plain and not is_link else behind).append((entry.path, depth + 1))
    if plain or behind:
        _log.debug("%s holds more folders than are searched for models", folder)


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))  # a pipe is not waited for
    except OSError:
        return False
    return True


def _leads_elsewhere(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32":
        return bool(entry.stat(follow_symlinks=False).st_file_attributes & _REPARSE_POINT)
    return entry.is_symlink()


def _holds(target: str, folders: Iterable[str]) -> bool:
    """Return whether one of these folders lies in another one, by its own path or by where its links lead."""
    target = os.path.join(os.path.normcase(target), "")  # noqa: PTH118  a text is compared
    paths = (path for folder in folders for path in (os.path.abspath(folder), os.path.realpath(folder)))  # noqa: PTH100
    return any(os.path.join(os.path.normcase(path), "").startswith(target) for path in paths)  # noqa: PTH118


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _together(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Put the parts of each model into one row, that of the first part which is there."""
    models: dict[tuple[str, int], list[tuple[int, FoundFile]]] = {}
    for file in files:
        part = part_name(file.path)
        number = part.number if part is not None and part.can_be else 0
        models.setdefault(model_of(file.path), []).append((number, file))
    for (_, count), parts in models.items():
        number, first = min(parts, key=lambda part: part[0])
        if not count:
            yield first
            continue
        yield msgspec.structs.replace(
            first,
            size=sum(file.size for _, file in parts),
            modified_ns=max(file.modified_ns for _, file in parts),
            parts=len(parts),
            parts_wanted=count,
            is_first=number == 1,
        )
