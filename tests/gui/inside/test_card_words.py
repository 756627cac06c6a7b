"""What the cards of the laboratory say, in numbers of one and of several."""

from __future__ import annotations

import pytest

from app.core.sampler_cards import DrawCard, DrawToken, SamplerCards, StageCard
from app.core.sampling import SamplingSettings
from app.gui.inside.card_words import draw_fact, fact, spoken, summary

ONE = StageCard("top_k", "acts", 9, 2, ())


@pytest.mark.parametrize(
    ("touched", "words"),
    [
        (0, "changes 0 tokens"),
        (1, "changes 1 token"),
        (2345, "changes 2,345 tokens"),
        (None, "how many tokens it changes was not recorded"),
    ],
)
def test_how_many_tokens_are_changed(touched: int | None, words: str) -> None:
    assert fact(StageCard("penalties", "acts", 50, 50, (), touched=touched), SamplingSettings()) == words


def test_one_token_enters_and_one_leaves() -> None:
    one = StageCard("top_k", "acts", 1, 1, ())
    assert spoken(one, SamplingSettings()) == "Top-k: 1 token enters, 1 leaves; cuts nothing here"
    first = StageCard("top_k", "acts", 40, 1, (), removed=0.4)
    assert spoken(first, SamplingSettings()) == "Top-k: 40 tokens enter, 1 leaves; cuts 40\u00a0% of the chance"
    unsure = StageCard("top_k", "acts", 1, 1, (), removed=0.4, enter_is_exact=False, leave_is_exact=False)
    assert spoken(unsure, SamplingSettings()).startswith("Top-k: ≥\u00a01 tokens enter, ≥\u00a01 leave; ")


@pytest.mark.parametrize(
    ("taken", "chosen", "words"),
    [
        (5, None, "falls on “ b”"),
        (4, 4, "“ a” chosen by hand; the draw would have fallen on “ b”"),
        (None, 4, "“ a” chosen by hand; the draw would fall on “ b”"),
    ],
)
def test_a_token_that_somebody_chose_is_not_told_to_be_drawn(
    taken: int | None, chosen: int | None, words: str
) -> None:
    draw = DrawCard((DrawToken(4, 0.0, 0.5), DrawToken(5, 0.5, 1.0)), 2, True, 0.7, DrawToken(5, 0.5, 1.0))
    texts = {4: " a", 5: " b"}
    assert draw_fact(draw, texts, taken, chosen).replace("␣", " ") == words
    way = summary(SamplerCards((ONE,), draw, 9, is_whole=True), texts, chosen).replace("␣", " ")
    assert way.endswith("“ b”") if chosen is None else way.endswith("“ a” chosen by hand")
