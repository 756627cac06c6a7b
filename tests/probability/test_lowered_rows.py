"""What penalties and DRY make of a record's bounds holds for the whole rows that the record was made of."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.bounded import LOWERING
from app.probability.candidates import Ids, candidates_of
from app.probability.dry import Breakers
from app.probability.known_rows import LEAST_LOG, Floats, KnownRows, chosen_rows
from app.probability.lowered_rows import Histories, Lowered, Lowering, as_recorded, histories_of
from app.probability.lowered_rows import lowered as lowered_rows
from app.probability.stages import Step, chain
from app.probability.tempering import tempered_rows
from tests.examples import examples
from tests.probability.recorded import record_of
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row

SIZE = 300


@dataclass(frozen=True, slots=True)
class Whole:
    """All rows of a record, with each token's logit, and the tokens before each."""

    rows: list[Row]
    prompt: Ids
    tokens: Ids
    breakers: Breakers

    def known(self, *, alternatives: bool) -> KnownRows:
        return chosen_rows(record_of(self.rows, self.tokens.tolist(), alternatives=alternatives))[0]

    def after(self, s: SamplingSettings, step: int, *also: str) -> Floats:
        """Return what penalties and DRY, and what is named besides, make of all logits of a row."""
        row = self.rows[step]
        left = candidates_of(np.arange(row.size, dtype=np.int32), row)
        history = np.concatenate((self.prompt, self.tokens[:step])).astype(np.int32)
        for stage in chain(s):
            if stage.name in (*LOWERING, *also):
                left = stage.apply(left, Step(history, breakers=self.breakers))
        return left.logits.astype(np.float64)


def lowered(rows: KnownRows, s: SamplingSettings, histories: Histories, breakers: Breakers) -> Lowered:
    return lowered_rows(rows, as_recorded(rows), Lowering(s, histories, breakers), LOWERING, rows.unseen)


def assert_bounds_hold(done: Lowered, rows: KnownRows, step: int, logits: Floats) -> None:
    """Bounds are relative to one number that the step's tokens share: there must be one with which all of them hold."""
    span = slice(int(rows.starts[step]), int(rows.starts[step + 1]))
    at_hand = logits[rows.ids[span]]
    # What counts as ruled out may be at any place below.
    is_known = (rows.low[span] > LEAST_LOG) & (done.low[span] > LEAST_LOG)
    shared_least = [at_hand - done.high[span]]
    shared_most = [at_hand[is_known] - done.low[span][is_known]]
    hidden = np.delete(logits, rows.ids[span])
    hidden = hidden[np.isfinite(hidden)]
    if hidden.size:
        largest = hidden.max()
        log_mass = np.log(np.exp(hidden - largest).sum()) + largest
        shared_least += [np.array([largest - done.ceiling[step], log_mass - np.log(done.mass_high[step])])]
        if done.mass_low[step] > 0:
            shared_most += [np.array([log_mass - np.log(done.mass_low[step])])]
    else:
        assert done.mass_low[step] == 0
    assert np.concatenate(shared_least).max() <= np.concatenate(shared_most).min(initial=np.inf)


@st.composite
def whole_records(draw: st.DrawFn) -> Whole:
    """Draw rows, many with recent tokens of one logit, and a history that repeats itself."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    alphabet = chance.permutation(SIZE)[: draw(st.just(1) | st.integers(1, SIZE // 2))]
    given_rows = draw(st.lists(any_row(sizes=(SIZE,)), min_size=1, max_size=6))
    prompt, tokens = (chance.choice(alphabet, size).astype(np.int32) for size in (draw(st.integers(1, 600)), 6))
    rows = []
    for row, token in zip(given_rows, tokens, strict=False):
        below = draw(st.sampled_from([None, 3.0, 8.0, 20.0]))
        if below is not None:
            row[alphabet[1:]] = row.max() - np.float32(below)
        rows.append(row if np.isfinite(row[token]) else np.zeros(SIZE, np.float32))
    breakers = Breakers({int(alphabet[0]): ((),)} if draw(st.booleans()) else {})
    return Whole(rows, prompt, tokens[: len(rows)], breakers)


@st.composite
def lowering_settings(draw: st.DrawFn) -> SamplingSettings:
    """Draw penalties and DRY of every sign."""
    return SamplingSettings(
        repeat_penalty=draw(st.sampled_from([1.0, 1.1, 1.3, 2.0, 0.9, 0.5])),
        frequency_penalty=draw(st.sampled_from([0.0, 0.3, -0.2, -2.0])),
        presence_penalty=draw(st.sampled_from([0.0, 0.5, 2.0, -0.5, -2.0])),
        penalty_last_n=draw(st.sampled_from([-1, 1, 64])),
        dry_multiplier=draw(st.sampled_from([0.0, 0.8])),
        dry_allowed_length=draw(st.sampled_from([1, 2])),
        dry_penalty_last_n=draw(st.sampled_from([-1, 64])),
    )


@examples(500)
@given(whole=whole_records(), s=lowering_settings(), alternatives=st.booleans())
def test_no_token_leaves_its_bounds(whole: Whole, s: SamplingSettings, alternatives: bool) -> None:
    rows = whole.known(alternatives=alternatives)
    done = lowered(rows, s, histories_of(whole.prompt, whole.tokens), whole.breakers)
    for step in range(rows.steps):
        assert_bounds_hold(done, rows, step, whole.after(s, step))


@examples(500)
@given(
    whole=whole_records(),
    s=lowering_settings(),
    alternatives=st.booleans(),
    heat=st.sampled_from([0.02, 0.3, 0.8, 3.0]),
    order=st.permutations(("temperature", "penalties", "dry")),
)
def test_no_token_leaves_its_bounds_where_a_temperature_comes_between(
    whole: Whole, s: SamplingSettings, alternatives: bool, heat: float, order: list[str]
) -> None:
    s = msgspec.structs.replace(s, temperature=heat, order=tuple(order))
    rows = whole.known(alternatives=alternatives)
    lowering = Lowering(s, histories_of(whole.prompt, whole.tokens), whole.breakers)
    done = as_recorded(rows)
    for name in (stage.name for stage in chain(s)):
        if name == "temperature":
            done = tempered_rows(rows, done, heat, rows.unseen)
        elif name in LOWERING:
            done = lowered_rows(rows, done, lowering, (name,), rows.unseen)
    for step in range(rows.steps):
        assert_bounds_hold(done, rows, step, whole.after(s, step, "temperature"))


UNLIKE_THE_CEILING = [
    (2.0, -2.0, (8.0, 7.0, 1.0), 300),
    (1.3, -1.0, (12.0, 11.0, 1.0), 1000),
    (1.1, -0.5, (12.0, 11.0, 1.0), 1000),
    (0.5, 2.0, (1.0, 0.5, -10.0), 300),
    (3.0, 0.0, (3.0, 0.0, -3.0), 1000),
    (2.0, -2.0, (3.0, 0.0, -3.0), 1000),
]
"""Repeat and presence penalty, the logits of the chosen token, another and the recent ones, and how many these are."""


@pytest.mark.parametrize(("repeat", "presence", "logits", "count"), UNLIKE_THE_CEILING)
def test_hidden_tokens_may_change_otherwise_than_the_likeliest_of_them_would(
    repeat: float, presence: float, logits: tuple[float, float, float], count: int
) -> None:
    row = np.full(2000, -60.0, np.float32)
    row[0], row[1], row[2 : 2 + count] = logits
    s = SamplingSettings(repeat_penalty=repeat, presence_penalty=presence, penalty_last_n=-1)
    whole = Whole([row], np.arange(2, 2 + count, dtype=np.int32), np.zeros(1, np.int32), Breakers())
    rows = whole.known(alternatives=False)
    done = lowered(rows, s, histories_of(whole.prompt, whole.tokens), whole.breakers)
    assert_bounds_hold(done, rows, 0, whole.after(s, 0))


@pytest.mark.parametrize(("dry", "is_touched"), [([5, 6, 7, 5, 6], True), ([5, 6, 7, 8, 9], False)])
def test_dry_alone_leaves_the_bounds_of_hidden_tokens_that_it_does_not_lower(
    dry: list[int], is_touched: bool
) -> None:
    row = np.zeros(SIZE, np.float32)
    whole = Whole([row], np.array(dry, np.int32), np.zeros(1, np.int32), Breakers())
    rows = whole.known(alternatives=False)
    s = SamplingSettings(repeat_penalty=1.0, dry_multiplier=0.8)
    done = lowered(rows, s, histories_of(whole.prompt, whole.tokens), whole.breakers)
    spread = np.log(done.mass_high / done.mass_low) - np.log(rows.mass_high / rows.mass_low)
    assert bool(spread[0] > 1e-9) == is_touched
    assert done.mass_low[0] > 0


@pytest.mark.parametrize("reach", [1, 3, -1])
def test_only_what_is_recent_is_lowered(reach: int) -> None:
    row = np.linspace(0.0, 5.0, SIZE, dtype=np.float32)
    s = SamplingSettings(presence_penalty=2.0, repeat_penalty=1.0, penalty_last_n=reach)
    tokens = np.array([129, 128, 127, 126], np.int32)
    rows, chosen = chosen_rows(record_of([row] * 4, tokens.tolist()))
    done = lowered(rows, s, histories_of(np.array([126], np.int32), tokens), Breakers())
    fell = rows.middle[chosen] - done.middle[chosen]
    assert (fell - fell.min() > 1).tolist() == [False, False, False, reach < 0]
