"""An order that was worked out before says what sorting anew would say, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids, Logits, Ranking, candidates_of, falling
from app.probability.stages import _closest
from app.probability.what_if import Replay, WholeRow, replay
from tests.examples import examples
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_stages import HISTORIES, any_settings, history_of

MANY = examples(300)


def by_id(row: Row) -> tuple[Ids, Logits, Ranking]:
    ids = np.arange(row.size, dtype=np.int32)
    return ids, row, Ranking(falling(row, row.size), where=ids)


def by_rank(row: Row) -> tuple[Ids, Logits, Ranking]:
    order = falling(row, row.size)
    where = np.empty(row.size, np.int32)
    where[order] = np.arange(row.size, dtype=np.int32)
    return order.astype(np.int32), row[order], Ranking(where=where)


@MANY
@given(any_row(), st.integers(0, 2**32), st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_a_few_that_moved_are_put_where_sorting_puts_them(
    row: Row, seed: int, first: int, second: int, rounds: bool
) -> None:
    for ids, logits, ranking in (by_id(row), by_rank(row)):
        chance = np.random.default_rng(seed)
        candidates = candidates_of(ids, logits, is_sorted=ranking.order is None, ranking=ranking)
        for count in (first, second):
            tokens = np.unique(chance.integers(0, row.size, count)).astype(np.int32)
            places = candidates.places_of(tokens)
            assert places.tolist() == sorted(np.flatnonzero(np.isin(ids, tokens)).tolist())
            moved = candidates.logits.copy()
            moved[places] += chance.standard_normal(places.size).astype(np.float32) * np.float32(3)
            candidates = candidates.with_logits(moved.round() if rounds else moved, places)
            if rounds:  # so that many are equal, all of them have to have moved
                candidates = candidates.with_logits(candidates.logits, np.arange(row.size))
        wanted = falling(candidates.logits, row.size)
        assert candidates.in_order(row.size).tolist() == wanted.tolist()
        assert candidates.in_order(5).tolist() == wanted[:5].tolist()


@MANY
@given(any_row(), st.integers(0, 2**32), st.integers(1, 40))
def test_one_that_moved_among_equals_stands_by_its_place(row: Row, seed: int, count: int) -> None:
    ids, logits, ranking = by_id(row)
    chance = np.random.default_rng(seed)
    places = np.unique(chance.integers(0, row.size, count))
    moved = logits.copy()
    moved[places] = moved[chance.integers(0, row.size, places.size)]
    candidates = candidates_of(ids, logits, ranking=ranking).with_logits(moved, places)
    assert candidates.in_order(row.size).tolist() == falling(moved, row.size).tolist()


@MANY
@given(any_row(), HISTORIES, any_settings())
def test_a_replay_that_knows_the_order_is_the_replay_that_sorts(
    row: Row, drawn: tuple[int, int, int], s: SamplingSettings
) -> None:
    history = history_of(drawn, row.size)
    for ids, logits, ranking in (by_id(row), by_rank(row)):
        slow = _replay(ids, logits, s, history, None)
        fast = _replay(ids, logits, s, history, ranking)
        assert fast.stages == slow.stages
        assert fast.is_exact == slow.is_exact
        for name in ("cut_by", "raw", "after", "logits"):
            assert getattr(fast, name).tobytes() == getattr(slow, name).tobytes(), name


def _replay(ids: Ids, logits: Logits, s: SamplingSettings, history: Ids, ranking: Ranking | None) -> Replay:
    largest = float(logits.max())
    total = np.log(np.exp(logits.astype(np.float64) - largest).sum()) + largest if np.isfinite(largest) else largest
    return replay(ids, logits, s, history, xtc_decides=True, whole=WholeRow(float(total), ids.size, ranking))


@MANY
@given(any_row(with_infinity=False), st.floats(-2, 12), st.sampled_from([1, 3, 40, 256]), st.booleans())
def test_looking_around_the_closest_finds_what_sorting_all_finds(
    row: Row, middle: float, count: int, swaps: bool
) -> None:
    closeness = -np.abs(np.sort(row)[::-1] - np.float32(middle))
    if swaps:  # a curve with more than one hill: arithmetic in float32 may give one
        closeness[::7] = closeness[::-1][::7]
    assert _closest(closeness, count).tolist() == falling(closeness, count).tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_rows_of_hardly_any_tokens_have_an_order_too(size: int) -> None:
    ids, logits, ranking = by_id(np.zeros(size, np.float32))
    candidates = candidates_of(ids, logits, ranking=ranking)
    everything = candidates.with_logits(logits, np.arange(size))
    assert candidates.in_order(size).tolist() == everything.in_order(size).tolist() == list(range(size))
    assert everything.places_of(np.array([0, 99], np.int32)).tolist() == [0]
