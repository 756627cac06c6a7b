"""What the tokens of a vocabulary say, kept once for all models that share it, so that answers are read without them."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Iterator
from itertools import accumulate

from app.core.conversation import Pieces


def keep_pieces(connection: sqlite3.Connection, pieces: Pieces, vocabulary: int) -> None:
    """Add the pieces that are not there yet."""
    connection.execute(
        "INSERT INTO vocabulary (tokenizer, tokens) VALUES (?, ?) "
        "ON CONFLICT (tokenizer) DO UPDATE SET tokens = excluded.tokens",
        (pieces.tokenizer, vocabulary),
    )
    (key,) = connection.execute("SELECT id FROM vocabulary WHERE tokenizer = ?", (pieces.tokenizer,)).fetchone()
    connection.executemany(
        "INSERT OR IGNORE INTO piece (vocabulary, id, bytes) VALUES (?, ?, ?)",
        ((key, pieces.first + index, piece) for index, piece in enumerate(_split(pieces))),
    )


def read_pieces(connection: sqlite3.Connection, tokenizer: str) -> Pieces | None:
    """Return what all tokens say; None while some are missing."""
    row = connection.execute("SELECT id, tokens FROM vocabulary WHERE tokenizer = ?", (tokenizer,)).fetchone()
    if row is None:
        return None
    key, tokens = row
    rows = connection.execute(
        "SELECT bytes FROM piece WHERE vocabulary = ? AND id >= 0 AND id < ? ORDER BY id", (key, tokens)
    )
    found: list[bytes] = [piece for (piece,) in rows]
    if len(found) != tokens:
        return None
    ends = _words(b"")
    ends.extend(accumulate(map(len, found)))
    if sys.byteorder == "big":
        ends.byteswap()
    return Pieces(tokenizer, 0, ends.tobytes(), b"".join(found))


def _split(pieces: Pieces) -> Iterator[bytes]:
    start = 0
    for end in _words(pieces.ends):
        yield pieces.data[start:end]
        start = end


def _words(stored: bytes) -> array[int]:
    words = array("I")
    words.frombytes(stored)
    if sys.byteorder == "big":
        words.byteswap()
    return words
