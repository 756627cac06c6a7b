"""Penalties and DRY on the bounds of many steps at once make what the stages make of each step by itself."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.bounded import LOWERING
from app.probability.candidates import Ids, candidates_of
from app.probability.dry import Breakers
from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows, chosen_rows
from app.probability.lowered_rows import Lowered, histories_of, lowered
from app.probability.stages import Stage, Step, chain
from tests.examples import examples
from tests.probability.recorded import record_of
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_stages import any_settings

SIZE = 130


def through(stages: list[Stage], ids: Ids, logits: Floats, step: Step) -> Floats:
    left = candidates_of(ids, np.maximum(logits, np.float32(-1e30)).astype(np.float32))
    for stage in stages:
        left = stage.apply(left, step)
    return left.logits.astype(np.float64)


def plainly(
    rows: KnownRows, settings: SamplingSettings, histories: list[Ids], breakers: Breakers
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the bounds of the candidates and those of what is not at hand, step by step with the stages themselves."""
    stages = [stage for stage in chain(settings) if stage.name in LOWERING]
    whole = max(history.size for history in histories)
    reach = max(settings.penalty_reach(whole), settings.dry_reach(whole))
    lines = np.empty((3, rows.ids.size))
    masses = np.empty((3, rows.steps))
    for number in range(rows.steps):
        span = slice(int(rows.starts[number]), int(rows.starts[number + 1]))
        step = Step(histories[number], breakers=breakers)
        shift, ids, ceiling = float(rows.log_sum_exp[number]), rows.ids[span], float(rows.ceiling[number])
        for line, values in zip(lines, (rows.low, rows.middle, rows.high), strict=True):
            line[span] = through(stages, ids, values[span] + shift, step) - shift
        for line, values in ((lines[0], rows.low), (lines[1], rows.middle)):
            is_least = rows.low[span] <= LEAST_LOG
            line[span][is_least] = np.minimum(line[span], values[span])[is_least]
        low, high = float(rows.mass_low[number]), float(rows.mass_high[number])
        recent = histories[number][max(histories[number].size - reach, 0) :]
        hidden = np.setdiff1d(recent, ids)
        if rows.unseen[number] > 0 and hidden.size:
            raised = through(stages, hidden, np.full(hidden.size, ceiling + shift), step) - shift
            raised = raised[raised > ceiling + MARGIN]
            low, high = 0.0, high + float(np.exp(np.minimum(raised, -LEAST_LOG)).sum())
            ceiling = max([ceiling, *raised.tolist()]) + MARGIN
        top = max(float(lines[2, span].max()) + MARGIN, ceiling if rows.unseen[number] > 0 else -np.inf)
        lines[:, span] += np.array([[-MARGIN], [0.0], [MARGIN]])
        lines[:, span] = np.maximum(lines[:, span] - top, LEAST_LOG)
        scale = np.exp(np.clip(-top, LEAST_LOG, -LEAST_LOG))
        masses[:, number] = low * scale, high * scale, ceiling - top
    return lines, masses


def of(done: Lowered) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    return np.array([done.low, done.middle, done.high]), np.array([done.mass_low, done.mass_high, done.ceiling])


@examples(500)
@given(
    given_rows=st.lists(any_row(sizes=(SIZE,)), min_size=1, max_size=12),
    s=any_settings(),
    lowers=st.sampled_from([{"repeat_penalty": 1.3}, {"presence_penalty": -0.5}, {"dry_multiplier": 0.8}]),
    seed=st.integers(0, 2**32),
    alternatives=st.booleans(),
)
def test_all_steps_at_once_are_each_step_by_itself(
    given_rows: list[Row], s: SamplingSettings, lowers: dict[str, Any], seed: int, alternatives: bool
) -> None:
    s = msgspec.structs.replace(s, **lowers, penalty_last_n=s.penalty_last_n or -1, dry_penalty_last_n=-1)
    chance = np.random.default_rng(seed)
    alphabet = chance.integers(0, SIZE, chance.integers(1, 40))
    prompt, tokens = (chance.choice(alphabet, size).astype(np.int32) for size in (1 + chance.integers(60), 12))
    tokens = tokens[: len(given_rows)]
    breakers = Breakers({int(alphabet[0]): ((),)} if seed % 2 else {})
    usable = [
        row if np.isfinite(row[token]) else np.zeros(SIZE, np.float32)
        for row, token in zip(given_rows, tokens, strict=True)
    ]
    rows, _ = chosen_rows(record_of(usable, tokens.tolist(), alternatives=alternatives))
    together = np.concatenate((prompt, tokens))
    histories = [together[: prompt.size + number] for number in range(tokens.size)]
    found = of(lowered(rows, s, histories_of(prompt, tokens), breakers))
    for ours, plain in zip(found, plainly(rows, s, histories, breakers), strict=True):
        np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("reach", [1, 3, -1])
def test_only_what_is_recent_is_lowered(reach: int) -> None:
    row = np.linspace(0.0, 5.0, SIZE, dtype=np.float32)
    s = SamplingSettings(presence_penalty=2.0, repeat_penalty=1.0, penalty_last_n=reach)
    tokens = np.array([129, 128, 127, 126], np.int32)
    rows, chosen = chosen_rows(record_of([row] * 4, tokens.tolist()))
    done = lowered(rows, s, histories_of(np.array([126], np.int32), tokens), Breakers())
    fell = rows.middle[chosen] - done.middle[chosen]
    assert (fell - fell.min() > 1).tolist() == [False, False, False, reach < 0]
