from __future__ import annotations

import dataclasses
import math
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampling import PRESETS, SamplingSettings
from app.probability.bounded import CUT_SOMEWHERE, UNKNOWN
from app.probability.candidates import Candidates, candidates_of
from app.probability.draw import XTC_STREAM, uniform
from app.probability.lane import Lane
from app.probability.replayed import KNOWN_WITHIN, WhatIf, what_if
from app.probability.stages import Step, chain
from app.probability.what_if import NOT_CUT
from tests.examples import examples
from tests.probability import native
from tests.probability.cuts import is_undecided
from tests.probability.recorded import record_of
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_stages import HISTORIES, any_settings, history_of, ours, theirs

SEED = 11
OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
PLAIN: dict[str, Any] = {
    "repeat_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "dry_multiplier": 0.0,
    "typical_p": 1.0,
}
"""Without the stages that look at earlier tokens, or do not cut at the ends of the order."""
NO_PROMPT = np.empty(0, np.int32)


def lane_of(
    rows: list[Row], tokens: list[int], prompt: npt.NDArray[np.int32] = NO_PROMPT, *, alternatives: bool = True
) -> Lane:
    records = record_of(rows, tokens, alternatives=alternatives)
    return Lane(np.array(tokens, np.int32), records, SamplingSettings(), SEED, prompt)


def asked(lane: Lane, s: SamplingSettings) -> WhatIf:
    result = what_if(lane, s)
    assert result is not None
    return result


def some_tokens(row: Row, chance: np.random.Generator) -> int:
    """Return a token of any rank, the likely ones more often."""
    order = np.argsort(-row, kind="stable")
    finite = int(np.isfinite(row).sum())
    return int(order[min(int(chance.exponential(chance.choice([1.0, 6.0, 60.0]))), finite - 1)])


def assert_true(
    result: WhatIf, step: int, token: int, s: SamplingSettings, steps: list[tuple[str, Candidates]], row: Row
) -> None:
    """Hold what is claimed of one token against what the stages leave of a row, one after another."""
    cut_by = next((number for number, (_, left) in enumerate(steps) if token not in left.ids), NOT_CUT)
    claimed = int(result.cut_by[step])
    if claimed == CUT_SOMEWHERE:
        assert cut_by != NOT_CUT
    elif claimed != UNKNOWN:
        assert claimed == cut_by
    left = steps[-1][1] if steps else native.whole_row(row)
    assert (
        left.ids.size == result.survivors[step] if result.is_exact[step] else left.ids.size >= result.survivors[step]
    )
    logits = left.logits.astype(np.float64)
    weights = np.ones(1) if s.is_greedy else np.exp(logits - logits.max())
    after = float((weights[left.ids == token] / weights.sum()).sum())
    assert result.after_low[step] - 1e-4 <= after <= result.after_high[step] + 1e-4
    assert result.after_low[step] <= result.after[step] <= result.after_high[step]


@examples(600)
@given(
    given_rows=st.lists(any_row(sizes=(800,)), min_size=1, max_size=3),
    s=any_settings(),
    drawn=HISTORIES,
    seed=st.integers(0, 2**32),
    alternatives=st.booleans(),
    is_plain=st.booleans(),
)
def test_nothing_is_claimed_that_the_full_rows_do_not_show(
    given_rows: list[Row],
    s: SamplingSettings,
    drawn: tuple[int, int, int],
    seed: int,
    alternatives: bool,
    is_plain: bool,
) -> None:
    s = msgspec.structs.replace(s, **PLAIN) if is_plain else s
    chance = np.random.default_rng(seed)
    tokens = [some_tokens(row, chance) for row in given_rows]
    prompt = history_of(drawn, 800)
    result = asked(lane_of(given_rows, tokens, prompt, alternatives=alternatives), s)
    for number, row in enumerate(given_rows):
        decides = uniform(SEED, number, XTC_STREAM) < s.xtc_probability
        history = np.concatenate((prompt, np.array(tokens[:number], np.int32)))
        left = candidates_of(np.arange(row.size, dtype=np.int32), row)
        steps: list[tuple[str, Candidates]] = []
        for stage in chain(s):
            if stage.name != "xtc" or decides:
                assume(not is_undecided(stage.name, s, left))
            left = stage.apply(left, Step(history, xtc_decides=decides))
            steps.append((stage.name, left))
        assert_true(result, number, tokens[number], s, steps, row)


def native_steps(
    row: Row, s: SamplingSettings, history: npt.NDArray[np.int32], vocabulary: native.StarterVocabulary
) -> list[tuple[str, Candidates]]:
    """Return what each native stage that does something leaves."""
    left = native.whole_row(row)
    active = [stage.name for stage in chain(s)]
    steps = []
    for name, sampler in native.samplers(s, vocabulary, row.size).items():
        left = native.apply(sampler, left, history.tolist())
        if name == "temperature" and s.is_greedy:
            left = left.kept(np.flatnonzero(left.logits > -np.inf), is_sorted=True)
        if name in active:
            steps.append((name, left))
    return steps


@examples(120)
@given(number=st.integers(0, 29), s=any_settings(), drawn=HISTORIES, seed=st.integers(0, 2**32))
def test_what_is_claimed_of_real_rows_is_what_llama_cpp_does(
    starter: native.StarterVocabulary,
    rows: npt.NDArray[np.float32],
    number: int,
    s: SamplingSettings,
    drawn: tuple[int, int, int],
    seed: int,
) -> None:
    # The native stage always acts, so that ours must too.
    s = msgspec.structs.replace(s, xtc_probability=float(s.xtc_probability > 0))
    row, history = rows[number], history_of(drawn, rows.shape[1])
    assume(ours(row, s, history) is not None)
    token = some_tokens(row, np.random.default_rng(seed))
    result = asked(lane_of([row], [token], history), s)
    assert_true(result, 0, token, s, native_steps(row, s, history, starter), row)


def test_where_the_survivors_lie_inside_the_record_the_replay_equals_llama_cpp(
    starter: native.StarterVocabulary, rows: npt.NDArray[np.float32]
) -> None:
    chance = np.random.default_rng(5)
    history = history_of((60, 40, 3), rows.shape[1])
    inside = decided = 0
    for number in range(400):
        row, s = rows[chance.integers(len(rows))], random_settings(chance)
        s = msgspec.structs.replace(s, **PLAIN) if number % 2 else s
        left = theirs(row, s, history, starter)
        token = some_tokens(row, chance)
        lane = lane_of([row], [token], history)
        assert lane.records is not None
        if ours(row, s, history) is None or not set(left.ids.tolist()) <= set(lane.records.alternative_ids.tolist()):
            continue
        inside += 1
        result = asked(lane, s)
        is_left = token in left.ids
        if result.cut_by[0] != UNKNOWN:
            decided += 1
            assert bool(result.cut_by[0] == NOT_CUT) is is_left
        if result.is_exact[0]:
            assert result.survivors[0] == left.ids.size
        if result.is_known[0]:
            weights = np.exp(left.logits.astype(np.float64) - left.logits.max())
            after = float((weights[left.ids == token] / weights.sum()).sum()) if not s.is_greedy else 1.0
            within = 0.03 if result.is_exact[0] else math.expm1(KNOWN_WITHIN)
            assert result.after[0] == pytest.approx(after, rel=within)
    assert inside >= 200
    assert decided >= 0.95 * inside


def random_settings(chance: np.random.Generator) -> SamplingSettings:
    """Return settings of any values, of which some leave few tokens."""

    def one_of(*values: float) -> float:
        return float(chance.choice(values))

    return SamplingSettings(
        temperature=one_of(0.0, chance.uniform(0.1, 2.0), chance.uniform(0.1, 2.0), 1.0),
        top_k=int(one_of(0, int(chance.integers(1, 60)), int(chance.integers(1, 60)))),
        top_p=one_of(1.0, chance.uniform(0.1, 0.97), chance.uniform(0.1, 0.97)),
        min_p=one_of(0.0, chance.uniform(0.01, 0.5)),
        typical_p=one_of(1.0, 1.0, chance.uniform(0.2, 0.95)),
        repeat_penalty=one_of(1.0, 1.0, chance.uniform(0.8, 1.5)),
        presence_penalty=one_of(0.0, 0.0, chance.uniform(-0.5, 1.0)),
        xtc_probability=one_of(0.0, 0.0, 1.0),
        xtc_threshold=chance.uniform(0.05, 0.4),
        dry_sequence_breakers=(),
    )


def plain_rows(count: int) -> list[Row]:
    chance = np.random.default_rng(count)
    return [(-1.5 * np.log(np.arange(1, 501)) + 0.1 * chance.random(500)).astype(np.float32) for _ in range(count)]


def test_a_whole_answer_has_its_cuts_its_probability_and_where_greedy_leaves_it() -> None:
    lane = lane_of(plain_rows(5), [0, 0, 6, 1, 30])
    opened = asked(lane, SamplingSettings(**{**OFF, "top_k": 50}))
    assert (opened.cut.size, opened.unknown.size, opened.greedy_leaves_at) == (0, 0, 2)
    assert lane.records is not None
    left = [np.exp(row.astype(np.float64))[:50].sum() for row in plain_rows(5)]
    wanted = sum(
        float(row[token]) - math.log(total)
        for row, token, total in zip(plain_rows(5), [0, 0, 6, 1, 30], left, strict=True)
    )
    assert opened.log_probability == opened.log_probability_of_known == pytest.approx(wanted, abs=0.02)
    assert opened.survivors.tolist() == [50] * 5 and opened.is_exact.all()
    closed = asked(lane, SamplingSettings(**{**OFF, "top_k": 5, "temperature": 0.7}))
    assert closed.cut.tolist() == [2, 4] and closed.cuts == {"top_k": 2}
    assert closed.log_probability is None and closed.log_probability_of_known is not None
    greedy = asked(lane, PRESETS["Greedy"])
    assert greedy.cut.tolist() == [2, 3, 4] and greedy.cuts == {"temperature": 3}
    assert greedy.after.tolist() == [1, 1, 0, 0, 0]
    assert asked(lane_of(plain_rows(3), [0, 1, 6]), PRESETS["Greedy"]).greedy_leaves_at == 1


def test_survivors_that_are_not_stored_are_counted_at_least_and_their_mass_is_told() -> None:
    lane = lane_of(plain_rows(1), [0])
    assert lane.records is not None
    stored = lane.records.alternative_ids.size
    result = asked(lane, SamplingSettings(**{**OFF, "top_p": 0.9999}))
    assert (result.survivors[0], bool(result.is_exact[0])) == (stored, False)
    row = plain_rows(1)[0].astype(np.float64)
    weights = np.exp(row) / np.exp(row).sum()
    assert result.unseen[0] == pytest.approx(weights[stored:].sum(), abs=1e-3)
    assert result.cut_by[0] == NOT_CUT
    inside = asked(lane, SamplingSettings(**{**OFF, "top_p": 0.5}))
    assert inside.unseen[0] == 0.0 and inside.is_exact[0]


def test_a_cut_closer_than_the_rounding_of_the_record_is_not_claimed() -> None:
    row = plain_rows(1)[0]
    weights = np.exp(row.astype(np.float64)) / np.exp(row.astype(np.float64)).sum()
    lane = lane_of([row], [6])
    mass = float(weights[:6].sum())
    assert asked(lane, SamplingSettings(**{**OFF, "top_p": mass})).cut_by[0] == UNKNOWN
    assert asked(lane, SamplingSettings(**{**OFF, "top_p": mass + 0.01})).cut_by[0] == NOT_CUT
    assert asked(lane, SamplingSettings(**{**OFF, "top_p": mass - 0.01})).cut_by[0] == 0


def test_what_was_chosen_alone_still_says_what_its_rank_proves() -> None:
    lane = lane_of(plain_rows(3), [0, 6, 200], alternatives=False)
    assert asked(lane, SamplingSettings(**{**OFF, "top_k": 5})).cut.tolist() == [1, 2]
    assert asked(lane, PRESETS["Greedy"]).cut.tolist() == [1, 2]
    opened = asked(lane, SamplingSettings(**OFF))
    assert lane.records is not None
    assert opened.log_probability == pytest.approx(float(lane.records.log_probability.sum()), abs=1e-3)
    assert asked(lane, SamplingSettings(**{**OFF, "min_p": 0.9})).cut_by[0] == NOT_CUT


def test_without_a_seed_nobody_knows_where_xtc_acts() -> None:
    lane = dataclasses.replace(lane_of(plain_rows(40), [0] * 40), seed=None)
    s = SamplingSettings(**{**OFF, "top_k": 20, "xtc_probability": 0.5, "xtc_threshold": 0.1})
    assert asked(lane, s).unknown.size == 40
    seeded = what_if(lane, s, seed=3)
    assert seeded is not None
    acts = [uniform(3, position, XTC_STREAM) < 0.5 for position in range(40)]
    assert (seeded.cut_by >= 0).tolist() == acts
    later = what_if(dataclasses.replace(lane, first=7), s, seed=3)
    assert later is not None
    assert (later.cut_by[:33] >= 0).tolist() == acts[7:]


def test_penalties_look_at_prompt_and_answer_up_to_their_reach() -> None:
    lane = lane_of(plain_rows(3), [0, 0, 0], prompt=np.array([0, 9, 9], np.int32))
    s = SamplingSettings(**{**OFF, "top_k": 1, "presence_penalty": 2.0, "penalty_last_n": 2})
    assert asked(lane, s).cuts == {"top_k": 2}
    assert asked(lane, s).cut.tolist() == [1, 2]
    s = msgspec.structs.replace(s, penalty_last_n=-1)
    assert asked(lane, s).cut.tolist() == [0, 1, 2]


def test_an_answer_without_a_record_has_no_what_if_and_a_part_has_that_part() -> None:
    lane = lane_of(plain_rows(3), [0, 1, 2])
    assert what_if(dataclasses.replace(lane, records=None), PRESETS["Balanced"]) is None
    longer = dataclasses.replace(lane, tokens=np.array([0, 1, 2, 3], np.int32))
    assert asked(longer, PRESETS["Balanced"]).cut_by.size == 3
    shorter = dataclasses.replace(lane, tokens=lane.tokens[:2])
    assert asked(shorter, PRESETS["Balanced"]).cut_by.size == 2


@pytest.mark.parametrize("best", [15.0, -100.0, -198.5])
@pytest.mark.parametrize("change", [{"min_p": 0.05}, {"temperature": 0.0}])
def test_a_token_that_was_ruled_out_is_raised_by_no_penalty(best: float, change: dict[str, Any]) -> None:
    row = np.full(130, -np.inf, np.float32)
    row[:2] = best, best - 1
    settings = SamplingSettings(**{"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, **change})
    settings = msgspec.structs.replace(settings, repeat_penalty=0.1, penalty_last_n=-1)
    prompt = np.array([5], np.int32)  # one that the model rules out stood in the prompt
    told = what_if(Lane(np.array([0], np.int32), record_of([row], [0]), settings, 7, prompt), settings)
    assert told is not None
    assert told.cut_by.tolist() in ([NOT_CUT], [UNKNOWN])


def test_no_bound_of_the_models_own_distribution_cuts_behind_a_temperature() -> None:
    settings = SamplingSettings(temperature=0.3, top_k=0, top_p=1.0, min_p=0.05, order=("temperature", "min_p"))
    lane = lane_of([np.zeros(400, np.float32)], [7], alternatives=False)
    assert asked(lane, settings).cut.size == 0, "all tokens are as likely"
    usual = msgspec.structs.replace(settings, temperature=1.0)
    assert asked(lane, usual).cut.size == 0
