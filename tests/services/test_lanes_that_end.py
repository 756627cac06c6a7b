"""When lanes are analysed that have ended, were stopped, or come back."""

from __future__ import annotations

import pytest

from app.core.job_events import LanesAnalysed
from app.services import analysing, comparison_analysis
from app.services.lane_analysis import Analysis
from app.services.lane_inputs import LaneInputs
from app.services.lane_starts import Lanes
from tests.desk import Desk
from tests.services.recorded_lanes import OPEN, RecordedLead
from tests.services.test_comparison_analysis import COLD, LANES, analysed, begun, chat, desk, lead, ran

__all__ = ["chat", "desk", "lead"]


def test_lanes_that_end_together_are_analysed_once_and_another_baseline_at_once(
    desk: Desk, lead: RecordedLead, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[int, int]] = []
    analyse = analysing.analyse

    def noted(inputs: LaneInputs) -> Analysis:
        done.append((inputs.baseline, sum(not each.is_open for each in inputs.lanes)))
        return analyse(inputs)

    monkeypatch.setattr(analysing, "analyse", noted)
    monkeypatch.setattr(comparison_analysis, "PICTURE_S", 3600.0)  # the moment is over when the test says so
    begun(desk, lead)
    analysis = desk.program.comparison_analysis
    for number in range(len(LANES.settings)):
        lead.finish_drawn(number)
    lead.end()
    assert done == [] and analysis.is_busy
    analysis.take(LanesAnalysed(0, comparison_analysis.SOON))
    analysed(desk)
    assert done == [(LANES.baseline, len(LANES.settings))]
    desk.program.comparing.pin(2)
    assert analysed(desk).baseline == 2 and len(done) == 2


def test_a_lane_that_was_stopped_leaves_nothing_and_nothing_leaves_it(desk: Desk, lead: RecordedLead) -> None:
    begun(desk, lead, Lanes((OPEN, OPEN, COLD)))
    lead.finish_drawn(0, 10, reason="cancelled")
    lead.finish_drawn(1)
    lead.finish_drawn(2)
    lead.end()
    found = analysed(desk)
    assert found.divergence(1) is None, "what it would have written next is not known"
    assert found.lanes[0].is_cut_short and not found.lanes[1].is_cut_short
    apart = found.divergence(2)
    assert apart is not None and apart.token < 10 and apart.kind != "ended"


def test_a_deleted_lane_comes_back_with_its_record(desk: Desk, lead: RecordedLead) -> None:
    before = ran(desk, lead)
    assert desk.program.comparing.keep(1)
    desk.program.branches.delete(desk.program.chat.turns[-1])
    desk.settle()
    assert [lane.index for lane in analysed(desk).lanes] == [0, 2, 3]
    assert desk.program.branches.undo_delete()
    desk.settle()
    assert analysed(desk).lanes == before.lanes
