"""Quick starts of a comparison: what differs from lane to lane, and that nothing else does."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.comparison import MOST_LANES
from app.core.sampling import MAX_SEED, STAGES, SamplingSettings
from app.services.lane_starts import (
    GRID_SETTINGS,
    GRID_STEPS,
    STARTS,
    STEPS,
    Start,
    another,
    differing,
    grid_for,
    is_greedy,
    lanes_for,
    same_as,
)

PRESENT = SamplingSettings(temperature=0.7, top_k=30, top_p=0.9, min_p=0.02, seed=11, max_tokens=200, stop=("END",))


@pytest.mark.parametrize("start", ["temperature", "top_p", "top_k", "min_p"])
def test_steps_differ_in_one_setting_alone(start: Start) -> None:
    lanes = lanes_for(start, PRESENT)
    assert [getattr(each, start) for each in lanes.settings] == list(STEPS[start])
    assert differing(lanes.settings) == (start,)
    assert differing((PRESENT, lanes.settings[0])) == (start,)


def test_the_lane_nearest_to_the_present_settings_is_the_baseline() -> None:
    lanes = lanes_for("temperature", PRESENT)
    assert lanes.settings[lanes.baseline].temperature == 0.8
    assert lanes_for("top_k", SamplingSettings(top_k=0)).baseline == len(STEPS["top_k"]) - 1


def test_seeds_go_up_from_the_present_one_and_over_the_largest_to_zero() -> None:
    lanes = lanes_for("seeds", PRESENT, seeds=3)
    assert [each.seed for each in lanes.settings] == [11, 12, 13]
    assert differing(lanes.settings) == ("seed",)
    last = lanes_for("seeds", msgspec.structs.replace(PRESENT, seed=MAX_SEED), seeds=2)
    assert [each.seed for each in last.settings] == [MAX_SEED, 0]


def test_greedy_stands_beside_the_present_settings_with_their_limits() -> None:
    greedy, present = lanes_for("greedy", PRESENT).settings
    assert present == PRESENT
    assert (greedy.temperature, greedy.seed, greedy.max_tokens, greedy.stop) == (0.0, 11, 200, ("END",))


def test_of_greedy_and_the_present_settings_only_what_has_an_effect_differs() -> None:
    lanes = lanes_for("greedy", PRESENT).settings
    assert differing(lanes) == ("temperature",)
    assert [is_greedy(each) for each in lanes] == [True, False]
    greedy = lanes[0]
    other = msgspec.structs.replace(PRESENT, top_p=0.5, seed=12)
    assert differing((greedy, PRESENT, other)) == ("temperature", "top_p", "seed"), (
        "two lanes draw, and differ in these"
    )
    assert differing((greedy, msgspec.structs.replace(greedy, top_k=3))) == ("top_k",), "no lane draws"
    penalised = msgspec.structs.replace(PRESENT, repeat_penalty=1.2)
    assert differing((greedy, penalised)) == ("temperature", "repeat_penalty")


@pytest.mark.parametrize("drawn", [0, -1])
def test_a_seed_that_is_made_up_and_its_neighbours_have_four_digits(
    drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.lane_starts.secrets.randbelow", lambda below: drawn % below)
    lanes = lanes_for("seeds", SamplingSettings(), seeds=MOST_LANES).settings
    assert {len(str(each.seed)) for each in lanes} == {4}


@given(st.sampled_from(STARTS))
def test_lanes_without_a_seed_get_the_same_one(start: Start) -> None:
    lanes = lanes_for(start, SamplingSettings())
    seeds = [each.seed for each in lanes.settings]
    assert all(seed is not None for seed in seeds)
    assert len(set(seeds)) == (len(seeds) if start == "seeds" else 1)


def test_a_grid_goes_row_by_row() -> None:
    lanes = grid_for(PRESENT, "temperature", (0.0, 0.8), "top_p", (0.5, 0.9, 1.0))
    assert [(each.top_p, each.temperature) for each in lanes.settings] == [
        (0.5, 0.0),
        (0.5, 0.8),
        (0.9, 0.0),
        (0.9, 0.8),
        (1.0, 0.0),
        (1.0, 0.8),
    ]
    assert (lanes.layout.columns, lanes.layout.column_setting, lanes.layout.row_setting) == (
        2,
        "temperature",
        "top_p",
    )
    assert lanes.baseline == 3, "temperature 0.7 and top-p 0.9"
    between = grid_for(SamplingSettings(temperature=0.8), "temperature", (0.4, 1.2), "top_k", (20, 40))
    assert between.baseline == 2, "as near to both, and the first of them"


def test_every_grid_of_two_settings_has_as_many_lanes_as_there_can_be() -> None:
    for column in GRID_SETTINGS:
        for row in GRID_SETTINGS:
            if column == row:
                continue
            lanes = grid_for(PRESENT, column, GRID_STEPS[column], row, GRID_STEPS[row])
            assert len(lanes.settings) == MOST_LANES
            assert set(differing(lanes.settings)) == {column, row}


@pytest.mark.parametrize(
    ("column", "columns", "row", "rows"),
    [
        ("temperature", (0.0, 1.0), "temperature", (0.5,)),
        ("temperature", (0.0, 1.0), "seed", (1,)),
        ("temperature", (), "top_p", (0.5,)),
        ("temperature", (0.0, 0.1, 0.2, 0.3, 0.4), "top_p", (0.5,)),
    ],
)
def test_what_is_no_grid_is_refused(
    column: str, columns: tuple[float, ...], row: str, rows: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="grid"):
        grid_for(PRESENT, column, columns, row, rows)


def test_one_more_lane_is_like_the_last_with_another_seed_until_there_are_sixteen() -> None:
    lanes = [PRESENT, msgspec.structs.replace(PRESENT, seed=MAX_SEED)]
    while (more := another(lanes)) is not None:
        assert msgspec.structs.replace(more, seed=11) == PRESENT
        lanes.append(more)
    assert len(lanes) == MOST_LANES
    assert len({each.seed for each in lanes}) == MOST_LANES


def test_lanes_that_must_write_the_same_are_known() -> None:
    greedy = msgspec.structs.replace(PRESENT, temperature=0.0)
    lanes = (
        greedy,
        PRESENT,
        msgspec.structs.replace(greedy, top_p=0.5, seed=12),
        msgspec.structs.replace(PRESENT, seed=12),
        PRESENT,
        msgspec.structs.replace(greedy, repeat_penalty=1.2),
    )
    assert same_as(lanes) == (None, None, 0, None, 1, None)


def test_no_cell_of_the_grid_that_is_offered_first_must_write_what_another_does() -> None:
    lanes = grid_for(PRESENT, "temperature", GRID_STEPS["temperature"], "top_p", GRID_STEPS["top_p"])
    assert not any(same is not None for same in same_as(lanes.settings))


def test_lanes_differ_in_their_order_where_they_draw() -> None:
    other = msgspec.structs.replace(PRESENT, order=("temperature", *STAGES[:-1]))
    assert differing((PRESENT, other)) == ("order",)
    assert differing((PRESENT, msgspec.structs.replace(PRESENT, off=("top_p",)))) == ("off",)
    greedy = msgspec.structs.replace(other, temperature=0.0)
    assert "order" not in differing((greedy, PRESENT))


def test_lanes_whose_chains_do_the_same_must_write_the_same() -> None:
    def lane(**changes: object) -> SamplingSettings:
        return msgspec.structs.replace(PRESENT, top_k=40, top_p=0.9, min_p=0.0, **changes)

    swapped = lane(order=("top_p", "top_k", "min_p"))
    lanes = (
        lane(),
        swapped,
        lane(order=("min_p", *STAGES)),  # it does nothing wherever it is
        lane(off=("xtc", "min_p")),
        msgspec.structs.replace(lane(), top_p=0.5, off=("top_p",)),
        msgspec.structs.replace(swapped, top_p=1.0),
        msgspec.structs.replace(lane(off=("temperature",)), temperature=0.0),
        msgspec.structs.replace(lane(), temperature=1.0),
    )
    assert same_as(lanes) == (None, None, 0, 0, None, 4, None, 6)
