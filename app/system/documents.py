"""Reads a document into text in a process of its own, which has so much time and memory and no more.

Knows nothing of messages; every fault is one of `DocumentFault`, raised as `UnreadableDocument`.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
import psutil

from app.core.attached_document import DocumentFault
from app.system.child import Child, ChildFault, Target
from app.system.document_text import UnreadableDocument, text_of

if sys.platform != "win32":
    import resource

START_SECONDS = 60.0
"""How long an interpreter may take to start on a machine that is busy with other things."""
SECONDS = 20.0
MOST_MEMORY = 500_000_000
"""Bytes that the process may take for a document, beside what it has already."""
_LOOK_SECONDS = 0.1
"""So often its memory is looked at."""
_PIECE = 200_000
"""Characters of one message, which stays below the limit of the pipe."""
_KILLED = -9
"""The exit code of a process that the system ended, as it does where memory runs out; Windows has none for that."""
_log = logging.getLogger(__name__)


class _Started(msgspec.Struct, frozen=True, tag="started"):
    pid: int


class _Piece(msgspec.Struct, frozen=True, tag="piece"):
    text: str
    is_last: bool


class _Refused(msgspec.Struct, frozen=True, tag="refused"):
    fault: DocumentFault
    detail: str


_Told = _Started | _Piece | _Refused


def read_document(
    path: Path, *, seconds: float = SECONDS, memory: int = MOST_MEMORY, target: Target | None = None
) -> str:
    """Return what a file says; takes `seconds` at most once the process has started. Raises `UnreadableDocument`.

    `target` is what the process runs, if not `serve`: it says the same.
    """
    try:
        child = Child(target or serve, str(path), str(memory))
    except OSError as error:
        raise UnreadableDocument("no_process", str(error)) from error
    try:
        return _listen(child, seconds, memory)
    except TimeoutError as error:
        raise UnreadableDocument("too_slow") from error
    except EOFError as error:
        code = child.close()
        _log.info("The process that read a document ended with %s", code)
        raise UnreadableDocument("ended" if code == _KILLED else "broke_off", f"exit code {code}") from error
    except (ChildFault, msgspec.DecodeError) as error:
        raise UnreadableDocument("own_fault", str(error)) from error
    finally:
        child.close()


def _listen(child: Child, seconds: float, memory: int) -> str:
    started = msgspec.msgpack.decode(child.receive(START_SECONDS), type=_Started)
    watched = _Memory(started.pid, memory)
    pieces: list[str] = []
    end = time.monotonic() + seconds
    while True:
        try:
            told = msgspec.msgpack.decode(child.receive(_LOOK_SECONDS), type=_Told)
        except TimeoutError:
            if watched.is_too_much:
                raise UnreadableDocument("too_much_memory") from None
            if time.monotonic() > end:
                raise
            continue
        match told:
            case _Piece():
                pieces.append(told.text)
                if told.is_last:
                    return "".join(pieces)
            case _Refused():
                if told.detail:
                    _log.info("A document could not be read: %s", told.detail)
                raise UnreadableDocument(told.fault, told.detail)
            case _Started():
                pass


class _Memory:
    """The memory that a process takes beside what it had at first; not every system limits that itself."""

    def __init__(self, pid: int, most: int) -> None:
        self._pid = pid
        self._limit = self._taken() + most

    @property
    def is_too_much(self) -> bool:
        return self._taken() > self._limit

    def _taken(self) -> int:
        try:
            return int(psutil.Process(self._pid).memory_info().rss)
        except psutil.Error:
            return 0  # it has just ended


def serve(connection: Connection, path: str, memory: str) -> None:
    """Read a document and tell what it says: the process's own side."""
    tell(connection, _Started(os.getpid()))
    limit_memory(int(memory))
    try:
        text = text_of(Path(path))
    except UnreadableDocument as error:
        tell(connection, _Refused(error.fault, error.detail))
        return
    except MemoryError:
        tell(connection, _Refused("too_much_memory", ""))
        return
    for start in range(0, len(text), _PIECE):
        tell(connection, _Piece(text[start : start + _PIECE], start + _PIECE >= len(text)))


def tell(connection: Connection, told: _Told) -> None:
    """Say something to whoever started the process."""
    connection.send_bytes(msgspec.msgpack.encode(told))


def limit_memory(most: int) -> None:
    """Have the system refuse this process so many more bytes, where it can."""
    if sys.platform == "linux":
        allowed = psutil.Process().memory_info().vms + most
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
