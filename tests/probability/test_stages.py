from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from llama_cpp import llama_cpp

from app.core.sampling import PRESETS, STAGES, SamplingSettings
from app.probability import stages
from app.probability.candidates import Candidates, candidates_of
from app.probability.stages import Step, chain
from tests.examples import examples
from tests.probability import native
from tests.probability.cuts import is_undecided
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row

MANY = examples(300)


def assert_same(ours: Candidates, theirs: Candidates, *, order_too: bool = True) -> None:
    """`order_too` is whether both must know alike that they are in order: native DRY forgets it where it lowers nobody."""
    assert sorted(ours.ids.tolist()) == sorted(theirs.ids.tolist())
    by_id, by_native_id = np.argsort(ours.ids), np.argsort(theirs.ids)
    np.testing.assert_allclose(ours.logits[by_id], theirs.logits[by_native_id], rtol=1e-6, atol=1e-6)
    assert ours.is_sorted == theirs.is_sorted or not order_too
    if ours.is_sorted:
        assert (ours.logits[:-1] >= ours.logits[1:]).all()
    if theirs.is_sorted:
        assert ours.logits.tolist() == pytest.approx(theirs.logits.tolist(), rel=1e-6, abs=1e-6)


def some(row: Row, is_sorted: bool) -> Candidates:
    if not is_sorted:
        return native.whole_row(row)
    order = np.argsort(-row, kind="stable")
    return candidates_of(order.astype(np.int32), row[order], is_sorted=True)


@MANY
@given(any_row(), st.integers(-1, 6000), st.booleans())
def test_top_k_equals_the_native_stage(row: Row, k: int, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(not is_undecided("top_k", SamplingSettings(top_k=k), before))
    assert_same(stages.top_k(before, k), native.apply(llama_cpp.llama_sampler_init_top_k(k), before))


@MANY
@given(any_row(), st.floats(0, 1.125, width=32), st.booleans())
def test_top_p_equals_the_native_stage(row: Row, p: float, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(not is_undecided("top_p", SamplingSettings(top_p=p), before))
    assert_same(stages.top_p(before, p), native.apply(llama_cpp.llama_sampler_init_top_p(p, 1), before))


@MANY
@given(any_row(), st.floats(0, 1, width=32), st.booleans())
def test_min_p_equals_the_native_stage(row: Row, p: float, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(p == 0 or not is_undecided("min_p", SamplingSettings(min_p=p), before))
    assert_same(stages.min_p(before, p), native.apply(llama_cpp.llama_sampler_init_min_p(p, 1), before))


@MANY
@given(any_row(with_infinity=False), st.floats(0, 1.125, width=32), st.booleans())
def test_typical_equals_the_native_stage(row: Row, p: float, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(p >= 1 or not is_undecided("typical", SamplingSettings(typical_p=p), before))
    assert_same(stages.typical(before, p), native.apply(llama_cpp.llama_sampler_init_typical(p, 1), before))


@MANY
@given(any_row(), st.floats(0, 0.625, width=32), st.booleans())
def test_xtc_equals_the_native_stage(row: Row, threshold: float, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(not is_undecided("xtc", SamplingSettings(xtc_threshold=threshold), before))
    assert_same(
        stages.xtc(before, threshold), native.apply(llama_cpp.llama_sampler_init_xtc(1.0, threshold, 1, 0), before)
    )


@MANY
@given(any_row(), st.floats(-1, 5, width=32), st.booleans())
def test_temperature_equals_the_native_stage(row: Row, t: float, is_sorted: bool) -> None:
    before = some(row, is_sorted)
    assume(not is_undecided("temperature", SamplingSettings(temperature=t), before))
    native_left = native.apply(llama_cpp.llama_sampler_init_temp(t), before)
    if t <= 0:
        native_left = native_left.kept(np.flatnonzero(native_left.logits > -np.inf), is_sorted=True)
    assert_same(stages.temperature(before, t), native_left)


PENALTY = st.sampled_from([0.0, -2.0, 0.5, 1.3, 2.0])
HISTORIES = st.tuples(st.integers(0, 300), st.integers(1, 60), st.integers(0, 2**32))


def history_of(drawn: tuple[int, int, int], size: int) -> npt.NDArray[np.int32]:
    """Return a history over few tokens, so that much of it repeats."""
    length, variety, seed = drawn
    chance = np.random.default_rng(seed)
    alphabet = chance.integers(0, size, variety)
    return alphabet[chance.integers(0, variety, length)].astype(np.int32)


@MANY
@given(any_row(), HISTORIES, st.integers(0, 80), st.sampled_from([0.5, 1.0, 1.1, 3.0]), PENALTY, PENALTY)
def test_penalties_equal_the_native_stage(
    row: Row, drawn: tuple[int, int, int], last_n: int, repeat: float, frequency: float, presence: float
) -> None:
    before, history = native.whole_row(row), history_of(drawn, row.size)
    sampler = llama_cpp.llama_sampler_init_penalties(row.size, last_n, repeat, frequency, presence)
    wanted = SamplingSettings(
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        min_p=0.0,
        penalty_last_n=last_n,
        repeat_penalty=repeat,
        frequency_penalty=frequency,
        presence_penalty=presence,
    )
    left = before
    for stage in chain(wanted):
        left = stage.apply(left, Step(history))
    assert_same(left, native.apply(sampler, before, history.tolist()))


@st.composite
def any_settings(draw: st.DrawFn) -> SamplingSettings:
    return SamplingSettings(
        temperature=draw(st.sampled_from([0.0, 0.3, 0.8, 1.0, 1.7])),
        top_k=draw(st.sampled_from([0, 1, 5, 40, 200, 2000])),
        top_p=draw(st.sampled_from([0.0, 0.5, 0.9, 0.95, 0.999, 1.0])),
        min_p=draw(st.sampled_from([0.0, 0.01, 0.05, 0.3, 1.0])),
        typical_p=draw(st.sampled_from([1.0, 1.0, 0.2, 0.8, 0.95])),
        repeat_penalty=draw(st.sampled_from([1.0, 1.0, 1.1, 0.8])),
        frequency_penalty=draw(st.sampled_from([0.0, 0.0, 0.4])),
        presence_penalty=draw(st.sampled_from([0.0, 0.0, 1.0, -1.0])),
        penalty_last_n=draw(st.sampled_from([-1, 0, 8, 64])),
        dry_multiplier=draw(st.sampled_from([0.0, 0.8])),
        dry_sequence_breakers=(),
        xtc_probability=draw(st.sampled_from([0.0, 0.5])),
        xtc_threshold=draw(st.sampled_from([0.05, 0.1, 0.3])),
        order=draw(st.just(STAGES) | st.permutations(STAGES).map(tuple)),
        off=draw(st.just(()) | st.lists(st.sampled_from(STAGES), unique=True, max_size=3).map(tuple)),
    )


def ours(row: Row, s: SamplingSettings, history: npt.NDArray[np.int32]) -> Candidates | None:
    """Run our chain; None where a cut of it is undecided."""
    left = native.whole_row(row)
    for stage in chain(s):
        if is_undecided(stage.name, s, left):
            return None
        left = stage.apply(left, Step(history, xtc_decides=True))
    return left


def theirs(
    row: Row, s: SamplingSettings, history: npt.NDArray[np.int32], vocabulary: native.StarterVocabulary
) -> Candidates:
    left = native.whole_row(row)
    for sampler in native.samplers(s, vocabulary, row.size).values():
        left = native.apply(sampler, left, history.tolist())
    return left.kept(np.flatnonzero(left.logits > -np.inf), is_sorted=True) if s.is_greedy else left


@MANY
@given(row=any_row(), s=any_settings(), drawn=HISTORIES)
def test_whole_chains_equal_the_native_ones(
    starter: native.StarterVocabulary, row: Row, s: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, row.size)
    left = ours(row, s, history)
    assume(left is not None)
    assert left is not None
    assert_same(left, theirs(row, s, history, starter), order_too=False)


@examples(150)
@given(number=st.integers(0, 29), s=any_settings(), drawn=HISTORIES)
def test_whole_chains_equal_the_native_ones_on_real_rows(
    starter: native.StarterVocabulary, rows: Row, number: int, s: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, rows[number].size)
    left = ours(rows[number], s, history)
    assume(left is not None)
    assert left is not None
    assert_same(left, theirs(rows[number], s, history, starter), order_too=False)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_equal_the_native_chains_on_real_rows(
    starter: native.StarterVocabulary, rows: npt.NDArray[np.float32], name: str
) -> None:
    history = np.arange(50, dtype=np.int32)
    pairs = [(ours(row, PRESETS[name], history), theirs(row, PRESETS[name], history, starter)) for row in rows]
    decided = [(left, native_left) for left, native_left in pairs if left is not None]
    assert len(decided) >= len(rows) // 2
    for left, native_left in decided:
        assert_same(left, native_left)


OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def names(**changes: Any) -> list[str]:
    return [stage.name for stage in chain(SamplingSettings(**{**OFF, **changes}))]


def test_a_chain_has_the_active_stages_in_the_order_of_the_engine() -> None:
    assert names() == ["temperature"]
    every: dict[str, Any] = {
        "repeat_penalty": 1.1,
        "dry_multiplier": 0.8,
        "top_k": 40,
        "typical_p": 0.9,
        "top_p": 0.9,
        "min_p": 0.1,
        "xtc_probability": 0.5,
    }
    order = ["penalties", "dry", "top_k", "typical", "top_p", "min_p", "xtc", "temperature"]
    assert names(**every) == order
    assert names(**every, temperature=0.0) == ["penalties", "dry", "temperature"]
    for change, stage in zip(every.items(), order, strict=False):
        assert names(**dict([change])) == [stage, "temperature"]


def test_what_is_off_is_no_stage() -> None:
    assert names(repeat_penalty=1.5, penalty_last_n=0) == ["temperature"]
    assert names(dry_multiplier=1.0, dry_penalty_last_n=0) == ["temperature"]
    assert names(xtc_probability=0.5, xtc_threshold=0.51) == ["temperature"]
    assert names(top_p=0.999999999, typical_p=0.999999999) == ["temperature"]


def test_xtc_waits_for_its_decision() -> None:
    [stage, _] = chain(SamplingSettings(top_k=0, top_p=1.0, min_p=0.0, xtc_probability=0.5))
    row = native.whole_row(np.array([2.0, 2.0, 2.0, -9.0], np.float32))
    history = np.empty(0, np.int32)
    assert stage.apply(row, Step(history, xtc_decides=False)).ids.size == 4
    assert stage.apply(row, Step(history, xtc_decides=True)).ids.tolist() == [2, 3]


def test_typical_cuts_by_surprise_where_probabilities_round_to_nothing() -> None:
    p = [0.4] + [0.01] * 60
    row = np.array([*np.log(p), -300.0, -np.inf], np.float32)
    kept = stages.typical(native.whole_row(row), 0.3).ids
    assert kept.size == 31
    assert not {0, 61, 62} & set(kept.tolist())


@pytest.mark.parametrize("is_sorted", [True, False])
def test_min_p_1_keeps_all_that_equal_the_most_likely(is_sorted: bool) -> None:
    before = some(np.array([1.0, 3.0, 3.0, 2.999], np.float32), is_sorted)
    left = stages.min_p(before, 1.0)
    assert sorted(left.ids.tolist()) == [1, 2]
    assert_same(left, native.apply(llama_cpp.llama_sampler_init_min_p(1.0, 1), before))
