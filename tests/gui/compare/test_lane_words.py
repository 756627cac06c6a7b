"""What lanes are called where there is little room, and what a comparison says it compares."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from app.core.sampling import SamplingSettings
from app.gui.compare.lane_words import compared_words, differing_words, lane_name, short_lane_parts
from app.services.lane_starts import differing, lanes_for

PRESENT = SamplingSettings(temperature=0.8, seed=3303384156)


def test_neighbours_of_a_long_seed_are_told_apart_in_a_short_name(qapp: QApplication) -> None:
    lanes = lanes_for("seeds", PRESENT, seeds=2).settings
    assert [short_lane_parts(each, ("seed",)) for each in lanes] == [["Seed 33…4156"], ["Seed 33…4157"]]
    assert lane_name(lanes[0], ("seed",)) == "Seed 3303384156"
    assert compared_words(lanes, 2) == "Seed 33…4156 · 33…4157 (2 lanes)"


@pytest.mark.parametrize("seed", [0, 42, 123456])
def test_a_short_seed_is_whole(qapp: QApplication, seed: int) -> None:
    assert short_lane_parts(msgspec.structs.replace(PRESENT, seed=seed), ("seed",)) == [f"Seed {seed}"]


def test_greedy_beside_the_present_settings_is_named_after_what_has_an_effect(qapp: QApplication) -> None:
    lanes = lanes_for("greedy", PRESENT).settings
    assert differing_words(lanes) == "2 lanes that differ in Temperature: 0 · 0.8"
    assert [lane_name(each, differing(lanes)) for each in lanes] == ["Greedy", "Temperature 0.8"]
