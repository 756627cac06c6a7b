"""What tokens say, by their ids: one stretch of bytes and where each token ends in it.

Must not know whose tokens they are, or who reads them.
"""

from __future__ import annotations

import codecs
from array import array
from bisect import bisect_right

from app.core.conversation import Pieces

_AS_CODES = "tokenlight-bytes-as-codes"


class PieceTable:
    """The tokens of one tokenizer from the first on, as many as are known; it only grows."""

    def __init__(self, pieces: Pieces | None = None) -> None:
        self._data = bytearray()
        self._ends = array("I")
        if pieces is not None:
            self.extend(pieces)

    def __len__(self) -> int:
        """Return how many tokens can be read."""
        return len(self._ends)

    def extend(self, pieces: Pieces) -> None:
        """Add the tokens that follow those that are known."""
        start = len(self._data)
        self._data += pieces.data
        self._ends.extend(start + end for end in ends_of(pieces))

    def copy(self) -> PieceTable:
        """Return what is known now, for another thread."""
        copied = PieceTable()
        copied._data, copied._ends = self._data[:], self._ends[:]
        return copied

    def piece(self, token: int) -> bytes | None:
        """Return the bytes of a token, control tokens by their name; None where they are not known."""
        if not 0 <= token < len(self._ends):
            return None
        start = self._ends[token - 1] if token else 0
        return bytes(self._data[start : self._ends[token]])

    def text(self, token: int) -> str | None:
        """Return a token's text for display, parts of characters as `<0xD7>`; None where it is not known."""
        piece = self.piece(token)
        return None if piece is None else piece.decode("utf-8", _AS_CODES)

    def joined(self, ids: bytes) -> str | None:
        """Return what tokens (int32) say together, control tokens by their name; None where one is not known."""
        tokens = array("i")
        tokens.frombytes(ids)
        pieces = [self.piece(token) for token in tokens]
        known = [piece for piece in pieces if piece is not None]
        return b"".join(known).decode("utf-8", "replace") if len(known) == len(pieces) else None

    def holding(self, part: bytes) -> list[int]:
        """Return the tokens whose bytes hold others, in order."""
        found: list[int] = []
        place = self._data.find(part) if part else -1
        while place >= 0:
            token = bisect_right(self._ends, place)
            is_within = place + len(part) <= self._ends[token]
            if is_within:
                found.append(token)
            place = self._data.find(part, self._ends[token] if is_within else place + 1)
        return found


def ends_of(pieces: Pieces) -> array[int]:
    """Return where each token ends in the bytes of its stretch."""
    ends = array("I")
    ends.frombytes(pieces.ends)
    return ends


def _bytes_as_codes(error: UnicodeError) -> tuple[str, int]:
    """Say which bytes they are: tokens of single bytes would all look the same as U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_AS_CODES, _bytes_as_codes)
