"""What is said of a token that is only a part of a character."""

from __future__ import annotations

import pytest

from app.gui.icons import Icons
from app.gui.inside.token_card import TokenCard
from app.gui.inside.token_sentences import part_of, part_words, sentence_of
from app.services.inspection import InspectedAnswer
from tests.gui.conftest import Stage
from tests.gui.inside.conftest import desk, model, stage

__all__ = ["desk", "model", "stage"]


def of(*pieces: bytes | None) -> InspectedAnswer:
    """Return an answer of these pieces, of which nothing was recorded."""
    nothing = (None,) * len(pieces)
    texts = tuple(None if each is None else each.decode(errors="replace") for each in pieces)
    numbers = tuple(range(len(pieces)))
    flags = (0,) * len(pieces)
    return InspectedAnswer(1, numbers, texts, pieces, nothing, nothing, nothing, nothing, nothing, flags)


SMILE = "\N{GRINNING FACE}"


@pytest.mark.parametrize("token", [1, 2, 3, 4])
def test_each_piece_of_an_emoji_names_the_emoji(token: int) -> None:
    answer = of(b"a", b"\xf0", b"\x9f", b"\x98", b"\x80", b"b")
    assert part_of(answer, token) == (SMILE, 1, 4)
    said = part_words(answer, token)
    assert SMILE in said and "tokens 2 to 5" in said and said in sentence_of(answer, token)


def test_a_space_before_it_is_no_part_of_the_character() -> None:
    answer = of(b" \xf0\x9f", b"\x98\x80")
    assert part_of(answer, 0) == part_of(answer, 1) == (SMILE, 0, 1)


@pytest.mark.parametrize(
    ("pieces", "token"),
    [
        ((b"a", "\u00e9".encode()), 1),
        ((b"\xf0", b"\x9f"), 0),
        ((b"\x98", b"\x80"), 1),
        ((None, b"\x80"), 1),
        ((b"\xf0", None), 0),
        ((b"\xf0", b"\x9f", b"end"), 0),
    ],
)
def test_what_is_whole_or_never_comes_to_be_says_nothing(pieces: tuple[bytes | None, ...], token: int) -> None:
    assert part_of(of(*pieces), token) is None and part_words(of(*pieces), token) == ""


def test_the_card_says_it(stage: Stage) -> None:
    card = TokenCard(stage.themes, Icons(stage.desk.program.resources))
    stage.bot.addWidget(card)
    card.show_token(of(b"\xf0\x9f", b"\x98\x80", b"b"), 1, None)
    assert card.place.text().startswith("Token 2 of 3 · part of") and SMILE in card.place.text()
    card.show_token(of(b"\xf0\x9f", b"\x98\x80", b"b"), 2, None)
    assert card.place.text() == "Token 3 of 3"
