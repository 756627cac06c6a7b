"""What is too long to be shown at once: an entry in full, and a vocabulary, each up to its end."""

from __future__ import annotations

import struct

import pytest

from app.core import gguf_whole
from app.core.errors import UserError
from app.core.gguf_view import MOST_TOKEN_BYTES
from app.core.gguf_whole import TokenTable, WholeValue, token_table, whole_value
from tests.gguf_bytes import Entry, encode_text, encode_value, open_in_memory, raw_gguf, raw_gguf_of

LONG = 5_000
"""Elements of an array that is passed over when a header is read."""


def whole(entries: dict[str, Entry], key: str) -> WholeValue:
    """Return an entry of a file that holds these."""
    return whole_value("m.gguf", open_in_memory({"m.gguf": raw_gguf(entries)}), key)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (True, "True"),
        ("x" * 3_000, "x" * 3_000),
        ([1, 2], "0: 1\n1: 2"),
        (["a", "y" * 900], "0: a\n1: " + "y" * 900),
        (list(range(LONG)), "\n".join(f"{number}: {number}" for number in range(LONG))),
        ([f"t{number}" for number in range(LONG)], "\n".join(f"{number}: t{number}" for number in range(LONG))),
    ],
)
def test_an_entry_is_read_in_full(value: Entry, text: str) -> None:
    assert whole({"other": 1, "k": value}, "k") == WholeValue("k", text)


def test_numbers_are_read_in_pieces_that_end_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_whole, "_PIECE_BYTES", 1_001)
    assert whole({"k": list(range(LONG))}, "k").text.endswith(f"\n{LONG - 1}: {LONG - 1}")


def test_what_is_too_long_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_whole, "MOST_WHOLE", 20)
    assert whole({"k": "x" * 21}, "k") == WholeValue("k", "x" * 20, is_cut=True)
    assert whole({"k": "x" * 20}, "k") == WholeValue("k", "x" * 20)
    cut = whole({"k": ["abc", "def", "ghijklmnopq"]}, "k")
    assert cut.is_cut and cut.text == "0: abc\n1: def\n2: ghi"
    monkeypatch.setattr("app.core.gguf_entries.MAX_KEPT_TEXT_BYTES", 30)
    assert whole({"k": "ü" * 45}, "k") == WholeValue("k", "ü" * 20, is_cut=True)


def test_an_entry_that_is_gone_is_one_sentence() -> None:
    with pytest.raises(UserError, match="has no entry “k” any more"):
        whole({"other": 1}, "k")
    with pytest.raises(UserError, match="There is no file"):
        whole_value("m.gguf", open_in_memory({}), "k")


@pytest.mark.parametrize("count", [3, LONG])
def test_a_vocabulary_is_read_with_what_it_calls_each_token(count: int) -> None:
    tokens = [f"t{number}" for number in range(count - 1)] + ["z" * 900]
    entries = [
        encode_text("tokenizer.ggml.tokens") + encode_value(tokens),
        encode_text("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, count) + struct.pack("<i", 3) * count,
    ]
    table = token_table("m.gguf", open_in_memory({"m.gguf": raw_gguf_of(entries, [])}))
    assert table == TokenTable((*tokens[:-1], "z" * MOST_TOKEN_BYTES), (3,) * count)


def test_a_vocabulary_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_whole, "MOST_TOKENS", 4)
    files = {"m.gguf": raw_gguf({"tokenizer.ggml.tokens": [f"t{number}" for number in range(LONG)]})}
    assert token_table("m.gguf", open_in_memory(files)) == TokenTable(("t0", "t1", "t2", "t3"), (), LONG - 4)
    assert token_table("m.gguf", open_in_memory({"m.gguf": raw_gguf({})})) == TokenTable()
    odd = raw_gguf({"tokenizer.ggml.tokens": [1, 2], "tokenizer.ggml.token_type": ["a", "b"]})
    assert token_table("m.gguf", open_in_memory({"m.gguf": odd})) == TokenTable(("1", "2"), (0, 0))
