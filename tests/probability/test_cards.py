"""The cards of the sampler laboratory on whole rows, held against llama.cpp's own samplers stage by stage."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from llama_cpp import llama_cpp

from app.core.sampler_cards import SamplerCards, StageCard
from app.core.sampling import STAGES, SamplingSettings
from app.probability.candidates import Candidates
from app.probability.cards import SHOWN, Draws, StepCards
from app.probability.draw import draw, uniform
from app.probability.stages import chain
from tests.examples import examples
from tests.probability import native
from tests.probability.cuts import is_undecided
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_stages import HISTORIES, any_settings, history_of

NO_HISTORY = np.empty(0, np.int32)
OPEN: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
DRAWS = Draws(seed=7, position=3)
XTC_ALWAYS = 1.0


@st.composite
def any_chain(choose: st.DrawFn) -> SamplingSettings:
    """Draw settings with their stages in any order, some of them switched off."""
    changes: dict[str, Any] = {"order": tuple(choose(st.permutations(STAGES)))}
    changes["off"] = tuple(choose(st.sets(st.sampled_from(STAGES), max_size=3)))
    settings = msgspec.structs.replace(choose(any_settings()), **changes)
    if settings.xtc_probability:
        settings = msgspec.structs.replace(settings, xtc_probability=XTC_ALWAYS)
    return settings.validated()


def native_stage(name: str, s: SamplingSettings, starter: native.StarterVocabulary, size: int) -> int:
    """Return llama.cpp's sampler of one stage."""
    made: dict[str, Any] = {
        "penalties": lambda: llama_cpp.llama_sampler_init_penalties(
            size,
            100_000 if s.penalty_last_n < 0 else s.penalty_last_n,
            s.repeat_penalty,
            s.frequency_penalty,
            s.presence_penalty,
        ),
        "dry": lambda: starter.dry(s, 100_000),
        "top_k": lambda: llama_cpp.llama_sampler_init_top_k(s.top_k),
        "typical": lambda: llama_cpp.llama_sampler_init_typical(s.typical_p, 1),
        "top_p": lambda: llama_cpp.llama_sampler_init_top_p(s.top_p, 1),
        "min_p": lambda: llama_cpp.llama_sampler_init_min_p(s.min_p, 1),
        "xtc": lambda: llama_cpp.llama_sampler_init_xtc(1.0, s.xtc_threshold, 1, 0),
        "temperature": lambda: llama_cpp.llama_sampler_init_temp(s.temperature),
    }
    sampler: int = made[name]()
    return sampler


def native_steps(
    row: Row, s: SamplingSettings, history: npt.NDArray[np.int32], starter: native.StarterVocabulary
) -> dict[str, tuple[Candidates, Candidates]]:
    """Return what enters and leaves each native stage that runs; fails the example where float32 cannot say."""
    left = native.whole_row(row)
    made = {}
    for name in (stage.name for stage in chain(s)):
        assume(np.isfinite(left.logits).any() and not is_undecided(name, s, left))
        after = native.apply(native_stage(name, s, starter, row.size), left, history.tolist())
        assume(np.isfinite(after.logits).any())
        if name == "temperature" and s.is_greedy:
            after = after.kept(np.flatnonzero(after.logits > -np.inf), is_sorted=True)
        made[name] = (left, after)
        left = after
    return made


def shares(candidates: Candidates) -> dict[int, float]:
    weights = np.exp(candidates.logits.astype(np.float64) - candidates.logits.max())
    weights /= weights.sum()
    return dict(zip(candidates.ids.tolist(), weights.tolist(), strict=True))


def cards_of(row: Row, history: npt.NDArray[np.int32] = NO_HISTORY, **changes: Any) -> SamplerCards:
    return StepCards(row, history, DRAWS).of(SamplingSettings(**{**OPEN, **changes}))


def card(cards: SamplerCards, name: str) -> StageCard:
    return next(each for each in cards.stages if each.name == name)


def assert_equals_native(cards: SamplerCards, steps: dict[str, tuple[Candidates, Candidates]]) -> None:
    for name, (before, after) in steps.items():
        shown = card(cards, name)
        assert (shown.state, shown.enter, shown.leave) == ("acts", before.ids.size, after.ids.size)
        entered, left = shares(before), shares(after)
        likely = sorted(entered.values(), reverse=True)[:SHOWN]
        assert [token.before for token in shown.tokens] == pytest.approx(likely, abs=2e-5)
        for token in shown.tokens:
            assert token.before == pytest.approx(entered[token.token], abs=2e-5)
            assert token.fate == ("left" if token.token in left else "cut")
            assert token.after == pytest.approx(left.get(token.token, 0.0), abs=2e-5)
        if after.ids.size < before.ids.size:
            assert shown.removed == pytest.approx(1 - sum(entered[token] for token in left), abs=2e-5)
        if shown.cut is not None:
            fates = [token.fate for token in shown.tokens]
            front = min(shown.cut, len(fates))
            assert set(fates[:front]) <= {"cut" if shown.cuts_front else "left"}
            assert set(fates[front:]) <= {"left" if shown.cuts_front else "cut"}


@examples(500)
@given(row=any_row(with_infinity=False), s=any_chain(), drawn=HISTORIES)
def test_each_card_says_what_the_native_stage_does(
    starter: native.StarterVocabulary, row: Row, s: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, row.size)
    steps = native_steps(row, s, history, starter)
    assert_equals_native(StepCards(row, history, DRAWS).of(s), steps)


@examples(200)
@given(number=st.integers(0, 29), s=any_chain(), drawn=HISTORIES)
def test_each_card_says_what_the_native_stage_does_on_real_rows(
    starter: native.StarterVocabulary, rows: Row, number: int, s: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, rows[number].size)
    steps = native_steps(rows[number], s, history, starter)
    cards = StepCards(rows[number], history, DRAWS).of(s)
    assert_equals_native(cards, steps)
    left = list(steps.values())[-1][1] if steps else native.whole_row(rows[number])
    if not s.is_greedy:
        number_drawn = uniform(7, 3)
        wanted = draw(left.ids, left.logits, number_drawn)
        assert cards.draw.drawn is not None and cards.draw.number == number_drawn
        assert cards.draw.drawn.token == wanted.token
        assert cards.draw.drawn.begin <= number_drawn <= cards.draw.drawn.end + 1e-12


@examples(200)
@given(row=any_row(), one=any_chain(), other=any_chain(), drawn=HISTORIES)
def test_what_is_kept_of_earlier_settings_changes_no_card(
    row: Row, one: SamplingSettings, other: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, row.size)
    kept = StepCards(row, history, DRAWS)
    kept.of(one)
    moved = msgspec.structs.replace(one, min_p=other.min_p, temperature=other.temperature, off=other.off)
    for settings in (moved, other, one):
        assert kept.of(settings) == StepCards(row, history, DRAWS).of(settings)


def test_the_counts_run_through_the_chain(rows: npt.NDArray[np.float32]) -> None:
    cards = StepCards(rows[5], NO_HISTORY, DRAWS).of(SamplingSettings())
    counts = [(each.enter, each.leave) for each in cards.stages]
    assert counts[0][0] == cards.vocabulary == rows.shape[1]
    assert all(one[1] == other[0] for one, other in pairwise(counts))
    assert card(cards, "top_k").leave == 40
    assert cards.draw.left == counts[-1][1]
    assert card(cards, "dry").state == card(cards, "xtc").state == "neutral"


def test_a_stage_that_is_off_passes_everything_on_and_says_so() -> None:
    row = np.linspace(5, -5, 200).astype(np.float32)
    cards = cards_of(row, top_k=10, min_p=0.5, off=("top_k",))
    shown = card(cards, "top_k")
    assert (shown.state, shown.enter, shown.leave, shown.cut, shown.removed) == ("off", 200, 200, None, 0.0)
    assert card(cards, "min_p").leave < 200


def test_the_cards_stand_in_the_order_of_the_settings() -> None:
    order = tuple(reversed(STAGES))
    row = np.linspace(5, -5, 200).astype(np.float32)
    cards = cards_of(row, order=order, top_k=10, temperature=2.0)
    assert tuple(each.name for each in cards.stages) == order
    assert card(cards, "top_k").enter == 200
    greedy = cards_of(row, order=order, top_k=10, temperature=0.0)
    last = (*(name for name in order if name != "temperature"), "temperature")
    assert tuple(each.name for each in greedy.stages) == last, "the choice is the last, wherever temperature stands"
    assert all(one.leave == other.enter for one, other in pairwise(greedy.stages))
    assert card(greedy, "top_k").state == "skipped"
    assert (card(greedy, "temperature").leave, greedy.draw.left, greedy.draw.is_greedy) == (1, 1, True)
    assert greedy.draw.number is None and greedy.draw.drawn is not None and greedy.draw.drawn.token == 0


def test_thresholds_are_in_the_terms_of_the_stage() -> None:
    row = np.log(np.array([0.5, 0.25, 0.125, 0.125], np.float32))
    assert card(cards_of(row, min_p=0.4), "min_p").threshold == pytest.approx(0.2)
    entropy = -sum(p * math.log(p) for p in (0.5, 0.25, 0.125, 0.125))
    assert card(cards_of(row, typical_p=0.5), "typical").threshold == pytest.approx(entropy, abs=1e-6)
    assert card(cards_of(row, top_p=0.7), "top_p").cut == 2
    assert card(cards_of(row, top_p=0.7), "top_p").removed == pytest.approx(0.25)


def test_penalties_say_how_many_logits_they_change() -> None:
    row = np.linspace(5, -5, 50).astype(np.float32)
    shown = card(cards_of(row, np.array([1, 2, 2, 40], np.int32), presence_penalty=1.0), "penalties")
    assert shown.touched == 3
    second = next(token for token in shown.tokens if token.token == 2)
    assert second.after < second.before


def test_xtc_says_whether_chance_decided_for_it() -> None:
    row = np.log(np.array([0.4, 0.3, 0.2, 0.1], np.float32))
    draws = Draws(seed=1, position=0)
    number = draws.xtc_number
    assert number is not None
    settings = SamplingSettings(**OPEN, xtc_threshold=0.15)
    acting, not_acting = (
        card(StepCards(row, NO_HISTORY, draws).of(msgspec.structs.replace(settings, xtc_probability=chance)), "xtc")
        for chance in (number + 1e-6, number)
    )
    assert (acting.acts_here, acting.leave, acting.cut, acting.cuts_front) == (True, 2, 2, True)
    assert (not_acting.acts_here, not_acting.leave, not_acting.cut) == (False, 4, None)
    assert acting.number == not_acting.number == number
    unknown = StepCards(row, NO_HISTORY, Draws(None, 0)).of(msgspec.structs.replace(settings, xtc_probability=0.5))
    assert card(unknown, "xtc").acts_here is None
    assert unknown.draw.number is None and unknown.draw.drawn is None


def test_the_bar_adds_up() -> None:
    row = np.linspace(2, -2, 12).astype(np.float32)
    bar = cards_of(row).draw
    assert [token.token for token in bar.tokens] == list(range(12))
    assert bar.tokens[0].begin == 0.0 and bar.tokens[-1].end == pytest.approx(1.0)
    assert all(one.end == other.begin for one, other in pairwise(bar.tokens))
    assert bar.drawn is not None and bar.number is not None
    own = next(token for token in bar.tokens if token.token == bar.drawn.token)
    assert (bar.drawn.begin, bar.drawn.end) == pytest.approx((own.begin, own.end))
