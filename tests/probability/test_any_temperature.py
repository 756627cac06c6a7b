"""What is told of a replayed record holds at any temperature that the settings allow, however it is rounded."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import numpy.typing as npt
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampling import LEAST_TEMPERATURE, SamplingSettings
from app.probability.candidates import Candidates, candidates_of, weights_of
from app.probability.deciding import replay_at
from app.probability.draw import XTC_STREAM, draw, uniform
from app.probability.known_rows import chosen_rows
from app.probability.stages import Step, chain
from tests.examples import examples
from tests.probability.cuts import is_undecided
from tests.probability.rows import Row
from tests.probability.test_replayed import OFF, PLAIN, SEED, asked, lane_of, some_tokens
from tests.probability.test_stages import HISTORIES, any_settings, history_of


@st.composite
def any_temperature(draws: st.DrawFn) -> float:
    """Draw a temperature that the settings allow, of any magnitude."""
    return draws(st.sampled_from([LEAST_TEMPERATURE, 1.0, 5.0]) | st.floats(-6, 0.69).map(lambda power: 10.0**power))


def close_rows(seed: int, count: int) -> list[Row]:
    """Return rows in which many tokens lie as near to each other as a record rounds, or a little farther apart."""
    chance = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        row = chance.standard_normal(400) * chance.choice([0.001, 0.01, 1.0, 5.0]) + chance.choice([-20.0, 0.0, 25.0])
        near = chance.integers(0, 400, 12)
        row[near] = row.max() - chance.exponential(chance.choice([1e-6, 1e-4, 0.003, 0.1, 2.0]), near.size)
        rows.append(row.astype(np.float32))
    return rows


@examples(400)
@given(
    seed=st.integers(0, 2**32),
    heat=any_temperature(),
    s=any_settings(),
    drawn=HISTORIES,
    alternatives=st.booleans(),
    kind=st.sampled_from(["open", "plain", "any"]),
)
def test_the_bounds_of_a_probability_hold_at_any_temperature(
    seed: int, heat: float, s: SamplingSettings, drawn: tuple[int, int, int], alternatives: bool, kind: str
) -> None:
    s = SamplingSettings(**OFF) if kind == "open" else msgspec.structs.replace(s, **PLAIN) if kind == "plain" else s
    s = msgspec.structs.replace(s, temperature=heat)
    chance = np.random.default_rng(seed)
    rows = close_rows(seed, 3)
    tokens = [some_tokens(row, chance) for row in rows]
    prompt = history_of(drawn, 400)
    result = asked(lane_of(rows, tokens, prompt, alternatives=alternatives), s)
    for step, row in enumerate(rows):
        left = left_of(row, s, step, np.concatenate((prompt, np.array(tokens[:step], np.int32))))
        weights = weights_of(left.logits)
        after = float((weights[left.ids == tokens[step]] / weights.sum()).sum())
        assert result.after_low[step] <= after * (1 + 1e-6) + 1e-300
        assert after <= result.after_high[step] * (1 + 1e-6)
        assert result.after_low[step] <= result.after[step] <= result.after_high[step] <= 1.0


def left_of(row: Row, s: SamplingSettings, step: int, history: npt.NDArray[np.int32]) -> Candidates:
    """Return what the chain leaves of a row; a row is passed over on which float32 cannot say that."""
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    decides = uniform(SEED, step, XTC_STREAM) < s.xtc_probability
    for stage in chain(s):
        if stage.name != "xtc" or decides:
            assume(not is_undecided(stage.name, s, left))
        left = stage.apply(left, Step(history, xtc_decides=decides))
    return left


@examples(300)
@given(seed=st.integers(0, 2**32), heat=any_temperature(), s=any_settings(), drawn=HISTORIES, is_open=st.booleans())
def test_what_is_said_of_a_draw_holds_at_any_temperature(
    seed: int, heat: float, s: SamplingSettings, drawn: tuple[int, int, int], is_open: bool
) -> None:
    s = msgspec.structs.replace(SamplingSettings(**OFF) if is_open else s, temperature=heat)
    chance = np.random.default_rng(seed)
    (row,), prompt = [row.round(3) for row in close_rows(seed, 1)], history_of(drawn, 400)
    lane = dataclasses.replace(lane_of([row], [some_tokens(row, chance)], prompt), settings=s)
    assert lane.records is not None
    known, _ = chosen_rows(lane.records)
    done = replay_at(known, lane, 0)
    left, undivided = left_of(row, s, 0, prompt), left_of(row, msgspec.structs.replace(s, temperature=1.0), 0, prompt)
    # The draw walks equal logits by their ids, and dividing in float32 can make near ones equal.
    assume(np.unique(left.logits).size == np.unique(undivided.logits).size)
    for number in (*chance.random(8), 0.0, 1e-9, 1 - 1e-9):
        falls_on = draw(left.ids, left.logits, number).token
        for place, token in enumerate(known.ids.tolist()):
            assert done.falls_on(place, number) in (None, token == falls_on)
