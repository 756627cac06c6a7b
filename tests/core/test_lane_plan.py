"""Whatever lanes want, no wave needs more cells than there are, and every lane has its turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.comparison import MOST_AT_ONCE, MOST_LANES
from app.core.lane_plan import plan_lanes

CELLS = st.integers(2, 600)
WANTED = st.lists(st.sampled_from([0, 0, 1, 2, 3, 10, 50, 100, 500, 10_000]), min_size=1, max_size=MOST_LANES)
AT_ONCE = st.integers(1, 12)


@given(WANTED, CELLS, AT_ONCE, st.data())
def test_every_lane_runs_once_and_no_wave_needs_more_than_there_is(
    wanted: list[int], cells: int, at_once: int, data: st.DataObject
) -> None:
    prompt = data.draw(st.integers(1, cells - 1))
    plan = plan_lanes(prompt, wanted, cells, at_once)
    assert [lane for wave in plan.waves for lane in wave] == list(range(len(wanted)))
    assert min(plan.limits) >= 1
    for wave in plan.waves:
        assert 1 <= len(wave) <= min(at_once, MOST_AT_ONCE)
        assert prompt + sum(plan.limits[lane] for lane in wave) <= cells
    assert all(limit <= tokens for limit, tokens in zip(plan.limits, wanted, strict=True) if tokens)


@given(WANTED, CELLS, AT_ONCE, st.data())
def test_a_limit_that_one_lane_alone_could_have_is_kept_where_all_have_one(
    wanted: list[int], cells: int, at_once: int, data: st.DataObject
) -> None:
    prompt = data.draw(st.integers(1, cells - 1))
    plan = plan_lanes(prompt, wanted, cells, at_once)
    room = cells - prompt
    if all(0 < tokens <= room for tokens in wanted):
        assert plan.limits == tuple(wanted) and not plan.lowered
    else:
        by_itself = [tokens or room for tokens in wanted]
        assert plan.lowered == any(limit < own for limit, own in zip(plan.limits, by_itself, strict=True))
        assert len(plan.waves) == -(-len(wanted) // min(at_once, MOST_AT_ONCE, room)), "no more waves than needed"


@given(WANTED, CELLS, st.data())
def test_who_is_lowered_has_as_much_as_the_others(wanted: list[int], cells: int, data: st.DataObject) -> None:
    prompt = data.draw(st.integers(1, cells - 1))
    plan = plan_lanes(prompt, wanted, cells, MOST_AT_ONCE)
    room = cells - prompt
    cut = {limit for limit, own in zip(plan.limits, wanted, strict=True) if limit < (own or room)}
    assert len(cut) <= 1 and all(limit <= max(cut) for limit in plan.limits if cut)


@given(WANTED, CELLS, st.data())
def test_one_by_one_each_lane_has_all_cells(wanted: list[int], cells: int, data: st.DataObject) -> None:
    prompt = data.draw(st.integers(1, cells - 1))
    plan = plan_lanes(prompt, wanted, cells, 1, "one_by_one")
    room = cells - prompt
    assert plan.how == "one_by_one" and plan.waves == tuple((lane,) for lane in range(len(wanted)))
    assert plan.limits == tuple(min(tokens or room, room) for tokens in wanted)
    assert plan.lowered == any(tokens > room for tokens in wanted)


def test_waves_are_as_full_as_the_limits_allow() -> None:
    assert plan_lanes(100, [200] * 5, 600, 8).waves == ((0, 1), (2, 3), (4,))
    assert plan_lanes(100, [400, 50, 50, 500], 600, 8).waves == ((0, 1, 2), (3,))
    assert plan_lanes(10, [5] * 16, 1000, 8).waves == (tuple(range(8)), tuple(range(8, 16)))
    assert plan_lanes(10, [0] * 9, 1000, 8).waves == (tuple(range(4)), tuple(range(4, 9)))


def test_lanes_that_want_little_leave_their_share_to_the_others() -> None:
    plan = plan_lanes(100, [10, 0, 0], 410, 8)
    assert (plan.limits, plan.lowered) == ((10, 150, 150), True)
    plan = plan_lanes(100, [10, 1000], 410, 8)
    assert (plan.limits, plan.lowered) == ((10, 300), True)


def test_a_prompt_that_leaves_no_room_is_refused_with_the_numbers() -> None:
    with pytest.raises(ValueError, match="256 tokens leaves no room in 256 cells"):
        plan_lanes(256, [5, 5], 256, 8)
