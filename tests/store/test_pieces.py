from __future__ import annotations

import random
import struct
from pathlib import Path

from app.core.conversation import Pieces
from app.core.store_commands import KeepPieces, ReadPieces
from app.core.store_events import PiecesRead
from tests.store.shelf import Shelf, shelf


def pieces(tokenizer: str, first: int, *texts: bytes) -> Pieces:
    ends = [len(b"".join(texts[: index + 1])) for index in range(len(texts))]
    return Pieces(tokenizer, first, struct.pack(f"<{len(ends)}I", *ends), b"".join(texts))


def read(kept: Shelf, tokenizer: str) -> Pieces | None:
    return kept.ask(ReadPieces(1, tokenizer), PiecesRead).pieces


def test_pieces_are_whole_once_the_last_part_came_in_whatever_order(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert read(kept, "a") is None
        kept.send(KeepPieces(pieces("a", 2, b"\xff\0", b""), 4))
        assert read(kept, "a") is None
        kept.send(KeepPieces(pieces("a", 0, b"zero", b"one"), 4))
        assert read(kept, "a") == pieces("a", 0, b"zero", b"one", b"\xff\0", b"")
    with shelf(tmp_path) as again:
        assert read(again, "a") == pieces("a", 0, b"zero", b"one", b"\xff\0", b"")


def test_pieces_that_are_kept_already_stay_as_they_are(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepPieces(pieces("a", 0, b"first"), 1), KeepPieces(pieces("a", 0, b"other"), 1))
        assert read(kept, "a") == pieces("a", 0, b"first")


def test_pieces_of_two_tokenizers_are_apart(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepPieces(pieces("a", 0, b"x"), 1), KeepPieces(pieces("b", 0, b"y", b"z"), 3))
        assert read(kept, "a") == pieces("a", 0, b"x")
        assert read(kept, "b") is None


def test_a_whole_large_vocabulary_comes_back(tmp_path: Path) -> None:
    choose = random.Random(1)
    count = 70_000
    texts = [choose.randbytes(choose.randint(0, 6)) for _ in range(count)]
    lengths = [len(text) for text in texts]
    ends = bytearray()
    total = 0
    for length in lengths:
        total += length
        ends += struct.pack("<I", total)
    whole = Pieces("a", 0, bytes(ends), b"".join(texts))
    with shelf(tmp_path) as kept:
        kept.send(KeepPieces(whole, count))
        assert read(kept, "a") == whole
