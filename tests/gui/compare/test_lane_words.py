"""What lanes are called where there is little room, and what a comparison says it compares."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from app.core.sampling import STAGES, SamplingSettings
from app.gui.compare.lane_words import compared_words, differing_words, lane_name, shared_words, short_lane_parts
from app.gui.widgets.stage_words import order_words
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


def test_lanes_are_named_after_their_order_and_what_is_switched_off(qapp: QApplication) -> None:
    hot = msgspec.structs.replace(PRESENT, order=("temperature", *STAGES[:-1]))
    bare = msgspec.structs.replace(PRESENT, off=("top_p",))
    assert [lane_name(each, differing((PRESENT, hot))) for each in (PRESENT, hot)] == [
        "usual order",
        "temperature first",
    ]
    assert [short_lane_parts(each, ("off",)) for each in (PRESENT, bare)] == [["with all stages"], ["without top-p"]]
    assert lane_name(hot, ("temperature", "order")) == "Temperature 0.8 · temperature first"
    assert differing_words((PRESENT, hot)) == (
        "2 lanes that differ in Order of the stages: usual order · temperature first"
    )
    assert compared_words((PRESENT, bare), 2) == "Switched off none · top-p (2 lanes)"
    assert shared_words(hot, ("temperature",)).endswith("min-p 0.05 · temperature first")
    assert shared_words(bare, ("temperature",)) == "top-k 40 · min-p 0.05 · without top-p"
    assert shared_words(PRESENT, ()).endswith("min-p 0.05")


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (STAGES, "usual order"),
        (("dry", "penalties", *STAGES[2:]), "DRY first"),
        ((*STAGES[:5], "xtc", "min_p", "temperature"), "XTC before min-p"),
        ((*STAGES[1:], "penalties"), "penalties last"),
        ((*STAGES[:2], *STAGES[3:7], "top_k", "temperature"), "top-k after XTC"),
        (STAGES[::-1], "temperature → min-p → top-p → top-k"),
    ],
)
def test_an_order_is_told_by_the_stage_that_was_moved(qapp: QApplication, order: tuple[str, ...], said: str) -> None:
    assert order_words(msgspec.structs.replace(PRESENT, order=order)) == said
