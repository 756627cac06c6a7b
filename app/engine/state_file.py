"""A file with the keys and values of a conversation: its tokens, what made them, the state, and a checksum of each.

Knows nothing of llama.cpp: a state is bytes. A file that is not whole, or was made by something else, is never handed on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
State = npt.NDArray[np.uint8]

MAGIC = b"TLSTATE1"
MOST_HEAD = 1 << 16
PIECE = 8 << 20
"""Bytes that are read, checked or written at once."""
DIGEST_BYTES = hashlib.sha256().digest_size


class Maker(msgspec.Struct, frozen=True):
    """Everything that the numbers of a state depend on, beside its tokens."""

    model: str
    llama_cpp: str
    """Versions of the binding and of the library that it found."""
    kv_types: tuple[str, str]
    flash_attention: str
    """What the context came to, “on” or “off”, whatever was asked for."""
    rope: tuple[float, ...]
    """What llama.cpp was told of it, the model's own scale, and whether the context takes the long factors (0 or 1)."""
    memory_kind: str


class _Head(msgspec.Struct, frozen=True):
    maker: Maker
    tokens: int
    bytes: int


class Damaged(Exception):
    """The file is not whole, or not what was written."""


class OtherMaker(Exception):
    """The file is whole, as far as was read, and of another model, type or version."""


class Stopped(Exception):
    """Nobody wants the state any more."""


class Known(NamedTuple):
    """What a file says before its state is read."""

    ids: Ids
    bytes: int
    """Of the state."""
    offset: int
    """Where it begins."""


def write(path: Path, maker: Maker, ids: Ids, state: State) -> int:
    """Write a file beside its goal and put it there once it is whole; returns its bytes. Raises OSError."""
    partial = path.with_name(path.name + ".partial")
    head = msgspec.json.encode(_Head(maker, len(ids), state.nbytes))
    told = len(head).to_bytes(4, "little") + head + np.ascontiguousarray(ids, "<i4").tobytes()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _private(partial) as file:
            file.write(MAGIC + told + hashlib.sha256(told).digest())
            digest = hashlib.sha256()
            for start in range(0, state.nbytes, PIECE):
                piece = state[start : start + PIECE].data
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
            size = file.tell()
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return size


def _private(path: Path) -> BinaryIO:
    """Open a file for writing that nobody else on this machine may read: it holds what people wrote."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")


def read_known(file: BinaryIO, maker: Maker) -> Known:
    """Read which tokens a file is for. Raises `Damaged`, `OtherMaker` and OSError."""
    size = os.fstat(file.fileno()).st_size
    if _exactly(file, len(MAGIC)) != MAGIC:
        raise Damaged
    length = _exactly(file, 4)
    count = int.from_bytes(length, "little")
    if not 0 < count <= MOST_HEAD:
        raise Damaged
    raw = _exactly(file, count)
    try:
        head = msgspec.json.decode(raw, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damaged from error
    offset = len(MAGIC) + 4 + count + 4 * head.tokens + DIGEST_BYTES
    if head.tokens <= 0 or head.bytes <= 0 or size != offset + head.bytes + DIGEST_BYTES:
        raise Damaged
    ids = _exactly(file, 4 * head.tokens)
    if _exactly(file, DIGEST_BYTES) != hashlib.sha256(length + raw + ids).digest():
        raise Damaged
    if head.maker != maker:
        raise OtherMaker
    return Known(np.frombuffer(ids, "<i4").astype(np.int32), head.bytes, offset)


def read_state(file: BinaryIO, known: Known, stopped: Callable[[], bool] = lambda: False) -> State:
    """Read the state itself, shape (bytes,). Raises `Damaged`, `Stopped`, OSError and MemoryError."""
    state = np.empty(known.bytes, np.uint8)
    file.seek(known.offset)
    digest = hashlib.sha256()
    for start in range(0, known.bytes, PIECE):
        if stopped():
            raise Stopped
        piece = state[start : start + PIECE].data
        if file.readinto(piece) != piece.nbytes:  # type: ignore[attr-defined]
            raise Damaged
        digest.update(piece)
    if file.read(DIGEST_BYTES) != digest.digest():
        raise Damaged
    return state


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise Damaged
    return data
