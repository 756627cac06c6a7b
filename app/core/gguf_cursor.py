"""Walks forward through the bytes of a header: fetches them in growing pieces and refuses absurd lengths.

Knows integers and texts, not what they mean; opens nothing, asks only the `read` it was given.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from app.core.errors import UserError
from app.core.gguf_types import MAX_HEADER_BYTES
from app.core.words import translate

Read = Callable[[int, int], bytes]
"""Returns the bytes at (offset, size); fewer only where the file ends."""

FIRST_PIECE_BYTES = 64 * 1024
LARGEST_PIECE_BYTES = 4 * 1024 * 1024
Pieces = tuple[int, int]
"""How many bytes are asked for at least, at first and at most: so many may be read beyond a header."""
DISK_PIECES: Pieces = (FIRST_PIECE_BYTES, LARGEST_PIECE_BYTES)
SHOWN_NAME_CHARACTERS = 60

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


def shown_name(name: str) -> str:
    """Return a name from a file as it may stand in a sentence: printable and short."""
    printable = "".join(character if character.isprintable() else "�" for character in name)
    if len(printable) > SHOWN_NAME_CHARACTERS:
        return printable[: SHOWN_NAME_CHARACTERS - 1] + "…"
    return printable


class Cursor:
    """A position in a file of known size that only moves forward."""

    def __init__(self, read: Read, file_size: int, pieces: Pieces = DISK_PIECES) -> None:
        self._read = read
        self._file_size = file_size
        self._buffer = b""
        self._at = 0
        self._buffer_start = 0
        self._piece, self._largest_piece = pieces

    @property
    def position(self) -> int:
        """Where in the file the next value starts."""
        return self._buffer_start + self._at

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes and move past them."""
        self._need(size)
        taken = self._buffer[self._at : self._at + size]
        self._at += size
        return taken

    def skip(self, size: int) -> None:
        """Move past the next `size` bytes without fetching those that are not here yet."""
        self._check_room(size)
        self._at += size
        if self._at > len(self._buffer):
            self._buffer_start += self._at
            self._buffer = b""
            self._at = 0

    def number(self, layout: struct.Struct) -> bool | int | float:
        """Return the next number, stored as `layout` says."""
        self._need(layout.size)
        value: bool | int | float = layout.unpack_from(self._buffer, self._at)[0]
        self._at += layout.size
        return value

    def u32(self) -> int:
        """Return the next unsigned 32-bit integer."""
        return int(self.number(_U32))

    def u64(self) -> int:
        """Return the next unsigned 64-bit integer."""
        return int(self.number(_U64))

    def length(self, limit: int) -> int:
        """Return the next 64-bit length of a text; one over `limit` is refused as damage."""
        start = self.position
        length = self.u64()
        if length > limit:
            raise UserError(
                translate(
                    "ModelFile",
                    "The header of this file is damaged at byte {offset:,}, where a text claims to be"
                    " {length:,} bytes long: download the model again.",
                    offset=start,
                    length=length,
                )
            )
        return length

    def text(self, limit: int) -> bytes:
        """Return the next text as bytes; one over `limit` bytes is refused as damage."""
        return self.take(self.length(limit))

    def skip_texts(self, count: int) -> None:
        """Move past `count` texts; half a million of them take about a tenth of a second."""
        unpack = _U64.unpack_from
        while count:
            buffer, at = self._buffer, self._at
            end = len(buffer)
            last_length = end - _U64.size
            while count and at <= last_length:
                following = at + 8 + unpack(buffer, at)[0]
                if following > end:
                    break
                at = following
                count -= 1
            self._at = at
            if count:
                self.skip(self.length(MAX_HEADER_BYTES))
                count -= 1

    def _need(self, size: int) -> None:
        """Make the next `size` bytes present in the buffer."""
        present = len(self._buffer) - self._at
        if present >= size:
            return
        self._check_room(size)
        end = self._buffer_start + len(self._buffer)
        wanted = min(max(size - present, self._piece), self._file_size - end)
        self._piece = min(2 * self._piece, self._largest_piece)
        fetched = self._read(end, wanted)
        self._buffer_start += self._at
        self._buffer = self._buffer[self._at :] + fetched
        self._at = 0
        if len(self._buffer) < size:
            raise self._truncated(end + len(fetched))

    def _check_room(self, size: int) -> None:
        """Refuse to go further than any real header reaches, or past the end of the file."""
        if self.position + size > MAX_HEADER_BYTES:
            raise UserError(
                translate(
                    "ModelFile",
                    "The header of this file claims to be over {limit:,} bytes long, so it is damaged:"
                    " download the model again.",
                    limit=MAX_HEADER_BYTES,
                )
            )
        if self.position + size > self._file_size:
            raise self._truncated(self._file_size)

    def _truncated(self, size: int) -> UserError:
        return UserError(
            translate(
                "ModelFile",
                "This file ends after {size:,} bytes, in the middle of its header: its download was broken"
                " off, download the model again.",
                size=size,
            )
        )
