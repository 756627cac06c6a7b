"""Lanes that another version of the generator drew: their numbers cannot be worked out again, and nothing is claimed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from app.probability.draw import GENERATOR_VERSION
from app.probability.record import RecordWriter
from app.probability.row import RowReader
from app.services.analysing import analyse
from app.services.lane_inputs import LaneInput
from tests.services.recorded_lanes import SIZE
from tests.services.test_analysing import ROWS, inputs, lane, parted, replay, settings


def by_another_generator(given: LaneInput) -> LaneInput:
    """Return a lane whose record says that another version drew it."""
    writer = RecordWriter(SIZE, GENERATOR_VERSION + 1)
    for row, token in zip(ROWS, np.frombuffer(given.ids, "<i4").tolist(), strict=True):
        facts = RowReader(SIZE).read(row)
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.5, 0)
    return dataclasses.replace(given, blocks=(writer.take(),))


def test_draws_of_another_generator_are_not_known() -> None:
    found = parted(inputs(lane(0, settings()), by_another_generator(lane(1, settings(top_k=2)))))
    assert found.lane_number is None and found.baseline_number is not None and found.draws is None


@pytest.mark.parametrize(("chance", "said"), [(0.5, "its draws, and where XTC acted,"), (0.0, "its draws cannot")])
def test_where_the_draws_of_another_generator_decided_that_is_said(chance: float, said: str) -> None:
    made = [settings(seed=seed, xtc_probability=chance, xtc_threshold=0.02) for seed in (7, 8, 9, 10)]
    lanes = [by_another_generator(lane(number, each)) for number, each in enumerate(made)]
    told = [each for each in analyse(inputs(*lanes)).divergences if each is not None]
    assert len(told) == 3 and all(each.kind == "unknown" and said in each.reason.english() for each in told)


def test_xtc_is_not_named_for_a_lane_whose_draws_are_known() -> None:
    lanes = [by_another_generator(lane(0, settings()))]
    lanes += [lane(number, settings(seed=seed, xtc_probability=0.5)) for number, seed in enumerate((8, 9, 10), 1)]
    told = [each for each in analyse(inputs(*lanes)).divergences if each is not None]
    assert any(each.kind == "unknown" for each in told)
    assert all("XTC" not in each.reason.english() for each in told if each.kind == "unknown")


def test_where_another_generator_let_xtc_act_is_not_replayed() -> None:
    made = settings(xtc_probability=0.5, xtc_threshold=0.02)
    given = inputs(by_another_generator(lane(0, made)))
    assert made.seed is not None and replay(inputs(lane(0, made)), made).unknown == 0
    assert replay(given, made).unknown > 0
