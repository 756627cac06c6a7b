"""Token ids and record blocks as they lie in a column: ids in two bytes where all are small, blocks with their length.

Must not know what a record block holds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

NARROW = 2
WIDE = 4
"""Bytes that an id takes in a column."""

_LENGTH = struct.Struct("<I")


def pack_ids(ids: bytes) -> tuple[bytes, int]:
    """Return int32 ids as they are stored, and the bytes that each takes."""
    if len(ids) % WIDE or any(ids[2::4]) or any(ids[3::4]):
        return ids, WIDE
    narrow = bytearray(len(ids) // 2)
    narrow[0::2], narrow[1::2] = ids[0::4], ids[1::4]
    return bytes(narrow), NARROW


def unpack_ids(stored: bytes, width: int) -> bytes:
    """Return stored ids as int32, little endian."""
    if width != NARROW or len(stored) % NARROW:
        return stored
    wide = bytearray(len(stored) * 2)
    wide[0::4], wide[1::4] = stored[0::2], stored[1::2]
    return bytes(wide)


def pack_blocks(blocks: Iterable[bytes]) -> bytes:
    """Join blocks so that they can be taken apart again; blocks of nothing are left out."""
    return b"".join(part for block in blocks if block for part in (_LENGTH.pack(len(block)), block))


def unpack_blocks(stored: bytes) -> Iterator[bytes]:
    """Yield the blocks of a column; what is cut off at its end is left out."""
    at = 0
    while at + _LENGTH.size <= len(stored):
        (length,) = _LENGTH.unpack_from(stored, at)
        at += _LENGTH.size
        if at + length > len(stored):
            return
        yield stored[at : at + length]
        at += length
