from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.lane import Lane
from app.probability.scores import distinct, scores
from tests.probability.recorded import record_of

P = (0.5, 0.25, 0.125, 0.125)
ROW = np.log(np.array(P)).astype(np.float32)
ENTROPY = -sum(p * math.log(p) for p in P)


def lane_of(*tokens: int) -> Lane:
    return Lane(np.array(tokens, np.int32), record_of([ROW] * len(tokens), tokens), SamplingSettings())


def test_the_figures_of_a_lane_are_those_of_the_raw_model() -> None:
    found = scores(lane_of(0, 1, 2))
    mean = (math.log(0.5) + math.log(0.25) + math.log(0.125)) / 3
    assert found.mean_log_probability == pytest.approx(mean)
    assert found.perplexity == pytest.approx(4.0)
    assert found.mean_entropy == pytest.approx(ENTROPY, rel=1e-5)
    assert found.surprise == pytest.approx([-math.log(p) for p in P[:3]])
    assert found.entropies == pytest.approx([ENTROPY] * 3, rel=1e-5)
    assert (found.length, found.recorded) == (3, 3)


def test_repetition_is_the_share_of_sequences_of_four_that_were_there_before() -> None:
    assert scores(lane_of(0, 1, 2, 3, 0, 1, 2, 3)).repetition == pytest.approx(1 / 5)
    assert scores(lane_of(*[0] * 10)).repetition == pytest.approx(6 / 7)
    found = scores(lane_of(0, 1, 0, 1))
    assert (found.repetition, found.distinct_1) == (0.0, 0.5)
    assert found.distinct_2 == pytest.approx(2 / 3)


def test_what_is_not_known_is_none() -> None:
    bare = scores(Lane(np.array([1, 2], np.int32), None, SamplingSettings()))
    assert (bare.mean_log_probability, bare.perplexity, bare.mean_entropy, bare.repetition) == (None,) * 4
    assert (bare.length, bare.recorded, bare.surprise, bare.entropies) == (2, 0, (), ())
    empty = scores(Lane(np.empty(0, np.int32), None, SamplingSettings()))
    assert (empty.length, empty.distinct_1, empty.distinct_2) == (0, None, None)


def test_no_figure_is_nan_or_infinite() -> None:
    lane = lane_of(0, 1, 2)
    assert lane.records is not None
    values = np.array([-np.inf, np.nan, math.log(0.125)], np.float32)
    records = dataclasses.replace(lane.records, log_probability=values)
    found = scores(dataclasses.replace(lane, records=records))
    assert found.surprise[:2] == (None, None)
    assert found.surprise[2] == pytest.approx(math.log(8))
    assert found.perplexity == pytest.approx(8.0)
    worst = dataclasses.replace(lane.records, log_probability=np.full(3, -5000, np.float32))
    assert scores(dataclasses.replace(lane, records=worst)).perplexity is None


def test_a_record_that_covers_a_part_counts_for_that_part() -> None:
    lane = lane_of(0, 1)
    longer = dataclasses.replace(lane, tokens=np.array([0, 1, 3, 3], np.int32))
    found = scores(longer)
    assert (found.length, found.recorded, len(found.surprise)) == (4, 2, 2)


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(1, 5))
def test_distinct_counts_sequences(tokens: list[int], length: int) -> None:
    found = distinct(np.array(tokens, np.int32), length)
    sequences = [tuple(tokens[place : place + length]) for place in range(len(tokens) - length + 1)]
    assert found == (len(set(sequences)) / len(sequences) if sequences else None)
