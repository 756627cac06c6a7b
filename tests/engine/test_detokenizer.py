from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.detokenizer import Detokenizer
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from tests.engine.tiny_vocabulary import END, FIRST_SPECIAL, TinyVocabulary
from tests.engine.vocabularies import vocabulary_of
from tests.ggufs import write_other_tokenizer

FIRST_PIECE = FIRST_SPECIAL + 2


@pytest.fixture(scope="module")
def known_bytes(starter_backend: LlamaBackend) -> frozenset[int]:
    """The starter model has no token for some control characters and for bytes that begin rare characters."""
    pieces = map(starter_backend.vocabulary.piece, range(starter_backend.vocabulary.size))
    return frozenset(piece[0] for piece in pieces if len(piece) == 1) - {0}


def detokenize(vocabulary: object, ids: list[int]) -> list[str]:
    """Return the text that comes with each token, and what is left at the end."""
    detokenizer = Detokenizer(vocabulary)  # type: ignore[arg-type]
    return [*(detokenizer.step(token) for token in ids), detokenizer.flush()]


def from_bytes(*pieces: bytes) -> list[str]:
    vocabulary = TinyVocabulary(pieces=pieces)
    return detokenize(vocabulary, list(range(FIRST_PIECE, FIRST_PIECE + len(pieces))))


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(at % (len(data) + 1) for at in cuts)})
    return [data[start:end] for start, end in pairwise(edges)]


@given(st.text(max_size=20), st.lists(st.integers(0, 100), max_size=20))
def test_text_comes_out_whole_however_its_bytes_are_split(text: str, cuts: list[int]) -> None:
    said = from_bytes(*cut(text.encode(), cuts))
    assert "".join(said) == text.replace("\x00", "")
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(said) or "\N{REPLACEMENT CHARACTER}" in text


@given(st.binary(max_size=30), st.lists(st.integers(0, 100), max_size=20))
def test_any_bytes_say_what_python_reads_in_them(data: bytes, cuts: list[int]) -> None:
    assert "".join(from_bytes(*cut(data, cuts))) == data.decode("utf-8", "replace").replace("\x00", "")


@pytest.mark.parametrize("split", range(1, 4))
def test_a_character_is_shown_with_its_last_byte(split: int) -> None:
    data = "😊".encode()
    assert from_bytes(data[:split], data[split:]) == ["", "😊", ""]


def test_a_family_of_emoji_arrives_character_by_character() -> None:
    family = "👨‍👩‍👧"
    said = from_bytes(*(bytes([byte]) for byte in family.encode()))
    assert [text for text in said if text] == list(family)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_an_unfinished_character_at_the_end_is_one_replacement_character(kept: int) -> None:
    assert from_bytes(b"a", "😊".encode()[:kept]) == ["a", "", "\N{REPLACEMENT CHARACTER}"]


def test_control_tokens_say_nothing_even_inside_a_character() -> None:
    vocabulary = TinyVocabulary(pieces=[b"\xf0\x9f", b"\x98\x8a"])
    assert detokenize(vocabulary, [FIRST_PIECE, vocabulary.id(END), FIRST_PIECE + 1]) == ["", "", "😊", ""]


def test_nul_characters_are_left_out() -> None:
    assert from_bytes(b"a\x00b") == ["ab", ""]


def test_every_token_of_the_starter_model_says_its_bytes_and_control_tokens_nothing(
    starter_backend: LlamaBackend,
) -> None:
    vocabulary = starter_backend.vocabulary
    control = {token for token, _, is_control in vocabulary.special_texts() if is_control}
    long_ones = 0
    for token in range(vocabulary.size):
        piece = vocabulary.piece(token)
        expected = "" if token in control else piece.decode("utf-8", "replace").replace("\x00", "")
        assert "".join(detokenize(vocabulary, [token])) == expected
        assert (token in control) == (not piece)
        long_ones += len(piece) > 32
    assert len(control) == 17
    assert long_ones == 47


@given(st.text(max_size=40))
def test_what_the_starter_model_tokenises_it_says_again(
    starter_backend: LlamaBackend, known_bytes: frozenset[int], text: str
) -> None:
    vocabulary = starter_backend.vocabulary
    text = "".join(each for each in text if known_bytes.issuperset(each.encode()))
    ids = vocabulary.tokenize(text, special=False)
    assert "".join(detokenize(vocabulary, ids)) == text


@given(st.data())
def test_any_tokens_of_the_starter_model_say_what_their_bytes_say_together(
    starter_backend: LlamaBackend, data: st.DataObject
) -> None:
    vocabulary = starter_backend.vocabulary
    ids = data.draw(st.lists(st.integers(0, vocabulary.size - 1), max_size=30))
    together = b"".join(map(vocabulary.piece, ids)).decode("utf-8", "replace")
    assert "".join(detokenize(vocabulary, ids)) == together.replace("\x00", "")


def test_a_leading_space_of_a_sentencepiece_vocabulary_stays(llama_log: LogCapture, tmp_path: Path) -> None:
    path = write_other_tokenizer(tmp_path / "spm.gguf")
    with vocabulary_of(path) as vocabulary:
        ids = vocabulary.tokenize("Hello", special=False)
        assert "".join(detokenize(vocabulary, ids)) == " Hello"
        assert "".join(detokenize(vocabulary, [vocabulary.bos or 0, *ids])) == " Hello"
