"""Bounds hold where penalties move logits farther than e^x is a number for, and stay narrow where they do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from app.core.sampling import SamplingSettings
from app.probability.bounded import LOWERING, bounded_replay, per_step
from app.probability.candidates import Ids
from app.probability.dry import NO_BREAKERS
from app.probability.lowered_rows import Lowered, Lowering, as_recorded, histories_of
from app.probability.lowered_rows import lowered as lowered_rows
from app.probability.stages import chain
from app.probability.tempering import tempered_rows
from tests.probability.rows import Row
from tests.probability.test_lowered_rows import SIZE, Whole, assert_bounds_hold

ORDERS = tuple(itertools.permutations(("temperature", "penalties", "dry")))
TOKEN = 36


def through_chain(whole: Whole, s: SamplingSettings, *, alternatives: bool) -> tuple[Lowered, ...]:
    """Return what is known after each of the stages that cut nobody."""
    rows = whole.known(alternatives=alternatives)
    lowering = Lowering(s, histories_of(whole.prompt, whole.tokens), whole.breakers)
    known = [as_recorded(rows)]
    for name in (stage.name for stage in chain(s)):
        if name == "temperature":
            known.append(tempered_rows(rows, known[-1], s.temperature, rows.unseen))
        elif name in LOWERING:
            known.append(lowered_rows(rows, known[-1], lowering, (name,), rows.unseen))
    return tuple(known)


def stuck(count: int) -> Whole:
    """Return a flat row after a history that is one token again and again."""
    return Whole(
        [np.zeros(SIZE, np.float32)], np.full(count, TOKEN, np.int32), np.array([TOKEN], np.int32), NO_BREAKERS
    )


@pytest.mark.parametrize("count", [10, *range(348, 353), 367, 600])
@pytest.mark.parametrize("heat", [0.02, 0.8])
@pytest.mark.parametrize("alternatives", [True, False])
def test_no_token_leaves_its_bounds_where_one_was_raised_by_hundreds(
    count: int, heat: float, alternatives: bool
) -> None:
    whole = stuck(count)
    rows = whole.known(alternatives=alternatives)
    for order, allowed in itertools.product(ORDERS, (1, 2)):
        s = SamplingSettings(
            repeat_penalty=1.0,
            frequency_penalty=-2.0,
            penalty_last_n=-1,
            dry_multiplier=0.8,
            dry_allowed_length=allowed,
            temperature=heat,
            order=order,
        )
        last = through_chain(whole, s, alternatives=alternatives)[-1]
        assert_bounds_hold(last, rows, 0, whole.after(s, 0, "temperature"))


def test_a_mass_too_small_for_a_number_is_none_that_a_later_stage_may_raise() -> None:
    """372 times -2 leave e^-744 of the others, which is rounded to a number by any part of it."""
    whole = stuck(372)
    s = SamplingSettings(
        repeat_penalty=1.0, frequency_penalty=-2.0, penalty_last_n=-1, dry_multiplier=0.8, order=("penalties", "dry")
    )
    first, *_ = through_chain(whole, s, alternatives=True)[1:]
    assert first.mass_low[0] == 0
    assert first.mass_high[0] > 0


def test_what_counts_as_ruled_out_is_known_after_no_stage() -> None:
    row = np.zeros(SIZE, np.float32)
    row[5:9] = -np.inf
    row[0] = 30.0
    whole = Whole([row] * 2, np.array([5, 6, 0], np.int32), np.array([0, 5], np.int32), NO_BREAKERS)
    for order in ORDERS:
        s = SamplingSettings(
            repeat_penalty=0.5, frequency_penalty=-2.0, presence_penalty=-2.0, temperature=0.3, order=order
        )
        for known in through_chain(whole, s, alternatives=True):
            assert known.low[-1] == -np.inf
            assert np.isfinite(known.high).all() and np.isfinite(known.ceiling).all()


def usual(chance: np.random.Generator) -> tuple[list[Row], Ids, Ids]:
    """Return rows of the usual spread with a few likely tokens, and the tokens before and at them."""
    rows = [(chance.standard_normal(SIZE) * 2).astype(np.float32) for _ in range(3)]
    for row in rows:
        row[chance.integers(0, SIZE, 3)] += np.float32(8)
    tokens = np.array([int(row.argmax()) for row in rows], np.int32)
    return rows, chance.integers(0, SIZE, 60).astype(np.int32), tokens


@pytest.mark.parametrize(("heat", "widest"), [(0.02, 2e-34), (0.3, 3.4e-5), (0.8, 0.0031), (3.0, 0.15)])
def test_bounds_of_usual_rows_are_narrow(heat: float, widest: float) -> None:
    """So narrow as records round: a bound that is wide enough is never false, and of no use."""
    rows, prompt, tokens = usual(np.random.default_rng(7))
    for order in ORDERS:
        s = SamplingSettings(
            repeat_penalty=1.1,
            frequency_penalty=0.2,
            presence_penalty=-0.2,
            dry_multiplier=0.8,
            top_k=0,
            top_p=1.0,
            min_p=0.0,
            temperature=heat,
            order=order,
        )
        known = Whole(rows, prompt, tokens, NO_BREAKERS).known(alternatives=True)
        done = bounded_replay(known, s, per_step(False, 3), histories_of(prompt, tokens), for_draws=True)
        assert (done.after_high - done.after_low).max() < widest, order
