"""What an ELF library needs: the names of other libraries and where it looks for them, and which of them are missing.

How a file is opened and whether the loader knows a library is handed in: nothing is loaded here. Other systems'
libraries are not read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

OpenFile = Callable[[str], BinaryIO]
"""Opens a file to be read; raises OSError, FileNotFoundError where there is none."""
_Read = Callable[[int, int], bytes]

_MAGIC = b"\x7fELF"
_LOAD, _DYNAMIC = 1, 2
_END, _NEEDED, _STRINGS, _RPATH, _RUNPATH = 0, 1, 5, 15, 29
_MOST_SEGMENTS = 1024
_MOST_ENTRIES = 65_536
_LONGEST_NAME = 4096
_MOST_LIBRARIES = 1000
_FARTHEST = 1 << 48
"""No file is longer, in bytes."""


class Damaged(ValueError):
    """The file is no whole ELF library of 64 bits."""


class SharedObject(NamedTuple):
    """What a library asks of the loader."""

    needed: tuple[str, ...]
    folders: tuple[str, ...]
    """Where it looks for them first; may begin with $ORIGIN, its own folder."""


class Trouble(NamedTuple):
    """Why a library cannot be loaded, as far as its files tell."""

    missing: tuple[str, ...] = ()
    """Names of libraries that the loader does not find."""
    damaged: tuple[str, ...] = ()
    """Paths of files that are not whole."""


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def read_shared_object(file: BinaryIO) -> SharedObject:
    """Return what a library needs; raises Damaged when the file cannot be the whole of one."""
    size = file.seek(0, 2)

    def read(offset: int, count: int) -> bytes:
        file.seek(offset)
        return file.read(count)

    head = _exactly(read, 0, 64)
    if head[:4] != _MAGIC or head[4] != 2 or head[5] not in (1, 2):
        raise Damaged("no ELF file of 64 bits")
    order = "<" if head[5] == 1 else ">"
    start, entry_size, count = _header_table(head, order)
    if count > _MOST_SEGMENTS or entry_size < 56:
        raise Damaged("its table of segments is impossible")
    segments = [_segment(_exactly(read, start + entry_size * index, 56), order) for index in range(count)]
    if any(part.kind == _LOAD and part.offset + part.size > size for part in segments):
        raise Damaged("it ends too early")
    entries = [entry for part in segments if part.kind == _DYNAMIC for entry in _entries(read, part, order)]
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    if strings is None:
        return SharedObject((), ())
    table = _file_offset(segments, strings)

    def names(*tags: int) -> list[str]:
        return [_name(read, table + value) for tag, value in entries if tag in tags]

    folders = (folder for text in names(_RUNPATH) or names(_RPATH) for folder in text.split(":") if folder)
    return SharedObject(tuple(names(_NEEDED)), tuple(folders))


def find_trouble(path: str, open_file: OpenFile, is_known: Callable[[str], bool]) -> Trouble:
    """Follow what a library needs, through those that lie where it looks for them.

    `is_known` asks the loader for a library by its name alone.
    """
    libraries = _Libraries(open_file)
    missing: dict[str, None] = {}
    damaged: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [path]
    while waiting and len(seen) < _MOST_LIBRARIES:
        current = waiting.pop()
        seen.add(current)
        library = libraries.get(current)
        if library is None:
            missing.setdefault(current.rpartition("/")[2])
        elif isinstance(library, Damaged):
            damaged.setdefault(current)
        else:
            for name in library.needed:
                beside = libraries.beside(current, name, library.folders)
                if beside is None and not is_known(name):
                    missing.setdefault(name)
                elif beside is not None and beside not in seen and beside not in waiting:
                    waiting.append(beside)
    return Trouble(tuple(missing), tuple(damaged))


class _Libraries:
    """Files that were looked into; each is opened once."""

    def __init__(self, open_file: OpenFile) -> None:
        self._open_file = open_file
        self._known: dict[str, SharedObject | Damaged | None] = {}

    def get(self, path: str) -> SharedObject | Damaged | None:
        """Return what a file needs, or that it is not whole; None where there is none."""
        if path not in self._known:
            try:
                with self._open_file(path) as file:
                    self._known[path] = read_shared_object(file)
            except FileNotFoundError:
                self._known[path] = None
            except OSError as error:
                self._known[path] = Damaged(error.strerror or "it cannot be read")
            except Damaged as error:
                self._known[path] = error
        return self._known[path]

    def beside(self, path: str, name: str, folders: tuple[str, ...]) -> str | None:
        """Return where a needed library lies among the folders that are looked through first."""
        origin = path.rpartition("/")[0] or "."
        for folder in folders:
            candidate = f"{folder.replace('${ORIGIN}', origin).replace('$ORIGIN', origin)}/{name}"
            if self.get(candidate) is not None:
                return candidate
        return None


def _header_table(head: bytes, order: str) -> tuple[int, int, int]:
    (start,) = struct.unpack_from(f"{order}Q", head, 32)
    entry_size, count = struct.unpack_from(f"{order}HH", head, 54)
    return int(start), int(entry_size), int(count)


def _segment(data: bytes, order: str) -> _Segment:
    kind, _, offset, address, _, size = struct.unpack_from(f"{order}IIQQQQ", data)
    return _Segment(kind, offset, address, size)


def _entries(read: _Read, segment: _Segment, order: str) -> Iterator[tuple[int, int]]:
    count = min(segment.size // 16, _MOST_ENTRIES)
    data = _exactly(read, segment.offset, count * 16)
    for tag, value in struct.iter_unpack(f"{order}QQ", data):
        if tag == _END:
            return
        yield tag, value


def _file_offset(segments: list[_Segment], address: int) -> int:
    for part in segments:
        if part.kind == _LOAD and part.address <= address < part.address + part.size:
            return part.offset + address - part.address
    raise Damaged("its names lie outside of it")


def _name(read: _Read, offset: int) -> str:
    text, end, _ = (read(offset, _LONGEST_NAME) if offset < _FARTHEST else b"").partition(b"\0")
    if not end:
        raise Damaged("a name in it has no end")
    return text.decode("utf-8", "replace")


def _exactly(read: _Read, offset: int, size: int) -> bytes:
    data = read(offset, size) if offset < _FARTHEST else b""
    if len(data) != size:
        raise Damaged("it ends too early")
    return data
