"""Tokens stand where the detokenizer put what they say, in any text, with halves of characters and control tokens."""

from __future__ import annotations

import random
from array import array

import pytest

from app.engine.detokenizer import Detokenizer
from app.services.lane_analysis import TextSpan
from app.services.piece_table import PieceTable
from app.services.token_places import TokenPlaces, first_difference, token_places
from tests.made_up_steps import pieces_of

SAID = [
    b"",
    b"a",
    b" be",
    b"\xe2",
    b"\x82",
    b"\xac",
    b"\xe2\x82\xac",
    b"\xc3",
    b"\xa9x",
    b"\x00",
    b"\xff",
    "日本".encode(),
    b"\n",
]
CONTROL = {0: b"<|im_end|>"}
TABLE = PieceTable(pieces_of([CONTROL.get(token, said) for token, said in enumerate(SAID)]))
A, BE, EURO_1, EURO_2, EURO_3, EURO = range(1, 7)


class Spoken:
    """A vocabulary whose control tokens say nothing."""

    size = len(SAID)

    def piece(self, token: int) -> bytes:
        return SAID[token]


def placed(text: str, *tokens: int) -> TokenPlaces:
    found = token_places(text, array("i", tokens).tobytes(), TABLE)
    assert found is not None
    return found


def test_whole_characters_stand_one_behind_another() -> None:
    found = placed("a be€", A, BE, EURO)
    assert found == TokenPlaces((0, 1, 4, 5), (1, 4, 5))
    assert [found.span(token) for token in (1, 3)] == [TextSpan(1, 4), TextSpan(5, 5)]


def test_the_parts_of_a_character_begin_and_end_with_it() -> None:
    found = placed("a€a", A, EURO_1, EURO_2, EURO_3, A)
    assert found == TokenPlaces((0, 1, 1, 1, 2, 3), (1, 2, 2, 2, 3))


def test_a_half_character_at_the_end_is_the_replacement_character() -> None:
    assert placed("a\ufffd", A, EURO_1, EURO_2) == TokenPlaces((0, 1, 1, 2), (1, 2, 2))
    assert placed("a\ufffd", A, EURO_1, 0).starts == (0, 1, 1, 2)
    assert placed("a", A, EURO_1) == TokenPlaces((0, 1, 1), (1, 1)), "it is held back"


def test_control_tokens_say_nothing_and_disturb_no_character() -> None:
    assert placed("a be", A, 0, BE, 0) == TokenPlaces((0, 1, 1, 4, 4), (1, 1, 4, 4))
    assert placed("€", EURO_1, 0, EURO_2, EURO_3).starts == (0, 0, 0, 0, 1)


def test_a_text_that_ends_before_its_tokens_do_was_cut_at_a_stop_string() -> None:
    assert placed("a b", A, BE, A) == TokenPlaces((0, 1, 3, 3), (1, 3, 3))
    assert placed("", BE, A).starts == (0, 0, 0)


@pytest.mark.parametrize(("text", "tokens"), [("b", [A]), ("a more", [A]), ("a", [A, 99])])
def test_tokens_that_say_something_else_have_no_places(text: str, tokens: list[int]) -> None:
    assert token_places(text, array("i", tokens).tobytes(), TABLE) is None


def test_places_are_those_of_the_detokenizer_for_any_tokens() -> None:
    chance = random.Random(4)
    for _ in range(400):
        tokens = [chance.randrange(len(SAID)) for _ in range(chance.randrange(1, 14))]
        detokenizer = Detokenizer(Spoken())  # type: ignore[arg-type]  # all that it asks of a vocabulary
        parts = [detokenizer.step(token) for token in tokens]
        text = "".join(parts) + detokenizer.flush()
        starts = [sum(map(len, parts[:number])) for number in range(len(tokens))]
        found = placed(text, *tokens)
        assert list(found.starts[:-1]) == starts, (tokens, text)
        assert found.starts[-1] == len(text)
        assert all(start <= end <= len(text) for start, end in zip(found.starts, found.ends, strict=False))


@pytest.mark.parametrize(
    ("one", "other", "place"), [("", "", 0), ("abc", "abd", 2), ("abc", "ab", 2), ("x", "y", 0), ("same", "same", 4)]
)
def test_the_first_character_that_differs(one: str, other: str, place: int) -> None:
    assert first_difference(one, other) == first_difference(other, one) == place
