"""A lane that is written, or waits for its wave, has not ended where its tokens do."""

from __future__ import annotations

from app.core.comparison import LanePlan
from app.services.lane_starts import Lanes
from tests.desk import Desk
from tests.services.recorded_lanes import OPEN, RecordedLead
from tests.services.test_comparison_analysis import COUNT, NARROW, analysed, desk, lead

__all__ = ["desk", "lead"]


def test_a_lane_that_waits_for_its_wave_is_the_same_so_far(desk: Desk, lead: RecordedLead) -> None:
    assert desk.program.comparing.begin(Lanes((OPEN, NARROW, OPEN)), None, "Why?")
    desk.settle()
    lead.begin(LanePlan(((0, 1), (2,)), (COUNT, COUNT, COUNT)))
    lead.finish_drawn(0)
    lead.finish_drawn(1)
    found = analysed(desk)
    assert found.divergence(1) is not None and found.divergence(2) is None
    assert [each.is_open for each in found.lanes] == [False, False, True]


def test_a_lane_that_is_written_is_the_same_so_far_until_it_ends(desk: Desk, lead: RecordedLead) -> None:
    assert desk.program.comparing.begin(Lanes((OPEN, OPEN)), None, "Why?")
    desk.settle()
    lead.begin()
    lead.draw(1, 8)
    lead.finish_drawn(0)
    assert analysed(desk).divergence(1) is None
    lead.finish_drawn(1, 8, "length")
    lead.end()
    found = analysed(desk).divergence(1)
    assert found is not None and (found.token, found.kind) == (8, "ended")
