"""Finds model files in folders by their names alone; reads none of them.

A folder or drive that is not there, or may not be read, holds nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from app.core.found_file import FileOrigin, FoundFile
from app.system.model_files import SUFFIX

MAX_DEPTH = 5
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE | re.DOTALL)
_Identity = tuple[int, int] | str


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
    """Go through a folder and those below it, also behind links, through each once: links may lead in circles."""
    seen: set[_Identity] = set()
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop(0)
        identity = identity_of(here)
        if identity in seen:
            continue
        seen.add(identity)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: (entry.is_symlink(), entry.name))
        except (OSError, ValueError):
            continue
        for entry in entries:
            if entry.name.lower().endswith(SUFFIX) and not _is_folder(entry):
                yield entry.path
            elif depth < MAX_DEPTH and not entry.name.startswith(".") and _is_folder(entry):
                waiting.append((entry.path, depth + 1))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _together(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Put the parts of each model into one row, that of the first part which is there."""
    models: dict[tuple[str, int], list[tuple[int, FoundFile]]] = {}
    for file in files:
        folder, name = os.path.split(file.path)
        part = _PART.match(name)
        number, count = (int(part["number"]), int(part["count"])) if part is not None else (0, 0)
        is_part = part is not None and 1 <= number <= count
        key = (f"{folder}/{part['stem']}", count) if is_part and part is not None else (file.path, 0)
        models.setdefault(key, []).append((number, file))
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
