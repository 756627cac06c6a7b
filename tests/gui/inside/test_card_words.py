"""What the cards of the laboratory say, in numbers of one and of several."""

from __future__ import annotations

import pytest

from app.core.sampler_cards import Bounds, CardToken, DrawCard, DrawToken, SamplerCards, StageCard
from app.core.sampling import SamplingSettings
from app.gui.inside.card_words import draw_fact, fact, share_words, spoken, summary
from app.gui.inside.draw_picture import unsure_stretches

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
        (None, None, "would fall on “ b”"),
        (4, 4, "“ a” chosen by hand; the draw would have fallen on “ b”"),
        (None, 4, "“ a” chosen by hand; the draw would fall on “ b”"),
    ],
)
def test_a_token_that_somebody_chose_is_not_told_to_be_drawn(
    taken: int | None, chosen: int | None, words: str
) -> None:
    tokens = DrawToken(4, 0.0, 0.5, 0.5), DrawToken(5, 0.5, 1.0, 0.5)
    draw = DrawCard(tokens, 2, True, 0.7, tokens[1])
    texts = {4: " a", 5: " b"}
    assert draw_fact(draw, texts, taken, chosen).replace("␣", " ") == words
    way = summary(SamplerCards((ONE,), draw, 9, is_whole=True), texts, chosen).replace("␣", " ")
    assert way.endswith("“ b”") if chosen is None else way.endswith("“ a” chosen by hand")


@pytest.mark.parametrize(
    ("share", "bounds", "words"),
    [
        (0.46, None, "46\u00a0%"),
        (0.46, (0.456, 0.464), "46\u00a0%"),
        (0.46, (0.455, 0.4651), "46–47\u00a0%"),
        (0.61, (0.46, 0.77), "46–77\u00a0%"),
        (0.024, (0.0236, 0.0244), "2.4\u00a0%"),
        (0.02, (0.018, 0.024), "1.8–2.4\u00a0%"),
        (0.06, (0.0, 0.12), "0–12\u00a0%"),
        (0.5, (0.02, 0.97), "–"),
    ],
)
def test_a_chance_is_one_figure_only_where_it_is_known_to_that_figure(
    share: float, bounds: Bounds | None, words: str
) -> None:
    assert share_words(share, bounds) == words


def test_what_temperature_makes_of_the_likeliest_is_told_as_well_as_it_is_known() -> None:
    def said(token: CardToken, *, has_likeliest: bool = True) -> str:
        card = StageCard("temperature", "acts", 9, 9, (token,), has_likeliest=has_likeliest)
        return fact(card, SamplingSettings())

    known = CardToken(1, 0.97, 0.61, "left", None, (0.46, 0.77))
    nothing = "what it does here was not recorded"
    assert said(known) == "the likeliest: 97\u00a0% → 46–77\u00a0%"
    assert said(known, has_likeliest=False) == nothing
    assert said(known._replace(before_bounds=(0.01, 0.99))) == nothing
    cut = StageCard("top_p", "acts", 9, 5, (), removed=0.2, removed_bounds=(0.1, 0.3))
    assert fact(cut, SamplingSettings()) == "cuts 10–30\u00a0% of the chance"


def test_between_the_stretches_that_are_certain_the_bar_is_nobody_s() -> None:
    exact = DrawCard((DrawToken(1, 0.0, 0.6, 0.6), DrawToken(2, 0.6, 1.0, 0.4)), 2, True, 0.5, None)
    assert unsure_stretches(exact) == []
    certain = (
        DrawToken(1, 0.0, 0.5, 0.6, (0.5, 0.7)),
        DrawToken(3, 0.8, 0.8, 0.1, (0.0, 0.3)),
        DrawToken(2, 0.7, 0.8, 0.2),
    )
    unsure = DrawCard(certain, 3, True, 0.5, None, unsure_to=0.95)
    assert unsure_stretches(unsure) == [(0.5, 0.7), (0.8, 0.95)]
