from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampling import PRESETS, SamplingSettings
from app.probability.candidates import candidates_of
from app.probability.draw import draw
from app.probability.row import RowReader
from app.probability.stages import Step, chain
from app.probability.what_if import NOT_CUT, Replay, WholeRow, replay
from tests.examples import examples
from tests.probability.cuts import is_undecided
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_stages import HISTORIES, any_settings, history_of

NO_HISTORY = np.empty(0, np.int32)
OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def of_whole(row: Row, s: SamplingSettings, history: npt.NDArray[np.int32] = NO_HISTORY) -> Replay:
    return replay(np.arange(row.size, dtype=np.int32), row, s, history, xtc_decides=True)


def of_top(row: Row, count: int, s: SamplingSettings, history: npt.NDArray[np.int32] = NO_HISTORY) -> Replay:
    facts = RowReader(row.size).read(row)
    ids, logits = facts.top(count)
    return replay(ids, logits, s, history, xtc_decides=True, whole=WholeRow(facts.log_sum_exp, row.size))


def softmax(row: Row) -> npt.NDArray[np.float64]:
    weights: npt.NDArray[np.float64] = np.exp(row.astype(np.float64) - row.max())
    weights /= weights.sum()
    return weights


@examples(200)
@given(row=any_row(), s=any_settings(), drawn=HISTORIES)
def test_a_replay_counts_and_cuts_what_the_stages_cut(
    row: Row, s: SamplingSettings, drawn: tuple[int, int, int]
) -> None:
    history = history_of(drawn, row.size)
    result = of_whole(row, s, history)
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    gone: set[int] = set()
    for number, stage in enumerate(chain(s)):
        left = stage.apply(left, Step(history, xtc_decides=True))
        name, survivors, is_exact = result.stages[number]
        assert (name, survivors, is_exact) == (stage.name, left.ids.size, True)
        now_gone = set(range(row.size)) - set(left.ids.tolist())
        assert set(np.flatnonzero(result.cut_by == number).tolist()) == now_gone - gone
        gone = now_gone
    assert len(result.stages) == len(chain(s))
    assert result.is_exact
    np.testing.assert_allclose(result.raw, softmax(row), rtol=2e-4, atol=1e-7)
    assert (result.after[result.cut_by != NOT_CUT] == 0).all()
    assert result.after.sum() == pytest.approx(1.0, abs=1e-4)
    if np.isfinite(left.logits).any():
        np.testing.assert_allclose(result.after[left.ids], softmax(left.logits), atol=1e-6)


@examples(100)
@given(row=any_row(), s=any_settings())
def test_the_walk_is_that_of_the_draw(row: Row, s: SamplingSettings) -> None:
    result = of_whole(row, s)
    walk = result.walk(row.size)
    assert sorted(walk.tolist()) == np.flatnonzero(result.cut_by == NOT_CUT).tolist()
    keys = [(-float(result.logits[place]), int(place)) for place in walk]
    assert keys == sorted(keys)
    assert result.walk(3).tolist() == walk[:3].tolist()
    assert (result.logits[result.cut_by != NOT_CUT] == -np.inf).all()
    reached = 0.0
    for place in walk.tolist():
        middle = reached + result.after[place] / 2
        reached += result.after[place]
        if result.after[place] > 1e-3:
            assert draw(walk.astype(np.int32), result.logits[walk], float(middle)).token == place


@examples(500)
@given(
    row=any_row(sizes=(65, 130, 2000, 5000)), s=any_settings(), drawn=HISTORIES, count=st.sampled_from([8, 64, 1024])
)
def test_a_replay_of_the_top_tokens_that_calls_itself_exact_is_exact(
    row: Row, s: SamplingSettings, drawn: tuple[int, int, int], count: int
) -> None:
    history = history_of(drawn, row.size)
    top = of_top(row, count, s, history)
    full = of_whole(row, s, history)
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    for stage in chain(s):
        assume(not is_undecided(stage.name, s, left))
        left = stage.apply(left, Step(history, xtc_decides=True))
    ids = RowReader(row.size).read(row).top(count)[0]
    for ours, wanted in zip(top.stages, full.stages, strict=True):
        assert not ours.is_exact or ours.survivors == wanted.survivors
    if top.is_exact:
        np.testing.assert_allclose(top.after, full.after[ids], rtol=1e-4, atol=1e-5)
        assert top.cut_by.tolist() == full.cut_by[ids].tolist()


@pytest.mark.parametrize("name", ["Greedy", "Precise", "Balanced", "Creative"])
@pytest.mark.parametrize("count", [128, 1024])
def test_presets_are_exact_from_the_top_tokens_of_real_rows(
    rows: npt.NDArray[np.float32], name: str, count: int
) -> None:
    for row in rows:
        top, full = of_top(row, count, PRESETS[name]), of_whole(row, PRESETS[name])
        assert top.is_exact
        assert top.stages == full.stages
        assert top.after.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("changes", "is_exact"),
    [
        ({}, True),
        ({"temperature": 0.5}, False),
        ({"temperature": 0.0}, True),
        ({"top_k": 64}, True),
        ({"top_k": 65}, False),
        ({"top_p": 0.5}, True),
        ({"top_p": 0.99}, False),
        ({"top_p": 0.5, "repeat_penalty": 1.2}, False),
        ({"min_p": 0.5}, True),
        ({"min_p": 0.001}, False),
        ({"typical_p": 0.5}, False),
        ({"typical_p": 0.5, "top_k": 10}, True),
        ({"xtc_probability": 0.5, "xtc_threshold": 0.1}, True),
        ({"xtc_probability": 0.5, "xtc_threshold": 0.0}, False),
        ({"repeat_penalty": 1.2, "top_k": 10}, True),
        ({"presence_penalty": 5.0, "top_k": 63}, True),
        ({"presence_penalty": 5.0, "top_k": 64}, False),
        ({"repeat_penalty": 1.2}, False),
        ({"presence_penalty": -5.0, "top_k": 10}, False),
        ({"dry_multiplier": 1.0, "top_k": 10}, True),
        ({"temperature": 3.0, "min_p": 0.1}, True),
        ({"temperature": 3.0, "min_p": 0.1, "order": ("temperature", "min_p")}, False),
        ({"temperature": 3.0, "min_p": 0.3, "order": ("temperature", "min_p")}, True),
        ({"temperature": 0.5, "top_k": 10, "order": ("temperature", "top_k")}, True),
        ({"temperature": 0.5, "top_p": 0.5, "order": ("temperature", "top_p")}, False),
        ({"temperature": 0.5, "top_p": 0.5, "off": ("temperature",)}, True),
        ({"typical_p": 0.5, "top_k": 10, "order": ("typical", "top_k")}, False),
        ({"top_k": 10, "repeat_penalty": 1.2, "order": ("top_k", "penalties")}, True),
        ({"presence_penalty": -5.0, "top_k": 10, "order": ("top_k", "penalties")}, True),
        ({"top_k": 64, "off": ("top_k",), "temperature": 0.5}, False),
        ({"off": ("temperature",), "temperature": 0.0}, True),
    ],
)
def test_a_replay_of_the_top_64_knows_when_it_is_exact(changes: dict[str, Any], is_exact: bool) -> None:
    row = (-0.05 * np.arange(500)).astype(np.float32)
    row[0] = 2.0
    s = SamplingSettings(**{**OFF, **changes})
    history = np.array([1, 499], np.int32)
    assert of_top(row, 64, s, history).is_exact is is_exact


def test_tokens_that_are_not_at_hand_are_counted_while_nothing_cuts_them() -> None:
    row = np.linspace(3, -3, 500).astype(np.float32)
    s = SamplingSettings(**{**OFF, "top_k": 200, "min_p": 0.9})
    result = of_top(row, 64, s)
    assert [(r.name, r.survivors, r.is_exact) for r in result.stages] == [
        ("top_k", 200, True),
        ("min_p", 9, True),
        ("temperature", 9, True),
    ]
    assert result.is_exact
    unknown = of_top(row, 64, SamplingSettings(**{**OFF, "typical_p": 0.9}))
    assert [r.is_exact for r in unknown.stages] == [False, False]


def test_the_raw_probability_is_that_of_the_full_row() -> None:
    row = np.linspace(3, -3, 500).astype(np.float32)
    np.testing.assert_allclose(of_top(row, 64, PRESETS["Balanced"]).raw, softmax(row)[:64], rtol=1e-5)


def test_xtc_that_does_not_decide_cuts_nothing() -> None:
    row = np.array([2.0, 2.0, 1.9, -9.0], np.float32)
    s = SamplingSettings(**{**OFF, "xtc_probability": 0.5})
    ids = np.arange(4, dtype=np.int32)
    assert replay(ids, row, s, NO_HISTORY, xtc_decides=False).stages[0].survivors == 4
    assert replay(ids, row, s, NO_HISTORY, xtc_decides=True).stages[0].survivors == 2
