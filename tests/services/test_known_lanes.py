"""What is known of a lane is worked out once for all questions about it, and anew as soon as there is more to know."""

from __future__ import annotations

from app.services.analysing import analyse, replayed
from app.services.comparison_reads import ComparisonReads
from app.services.known_lanes import known
from tests.desk import Desk
from tests.services.recorded_lanes import OPEN, RecordedLead
from tests.services.test_analysing import inputs, lane
from tests.services.test_comparison_analysis import begun, chat, desk, lead

__all__ = ["chat", "desk", "lead"]


def test_every_question_about_a_lane_reads_its_record_once() -> None:
    given = inputs(lane(0, OPEN))
    analyse(given)
    found = known(given, given.lanes[0])
    assert found.lane.records is not None
    replayed(given, 0, OPEN)
    assert known(given, given.lanes[0]) is found


def test_a_lane_that_grew_is_worked_out_anew_and_one_that_did_not_is_not(desk: Desk, lead: RecordedLead) -> None:
    program = desk.program
    reads = ComparisonReads(begun(desk, lead), program.session, program.store, program.vocabulary)
    reads.begin()
    lead.draw(0, 4)
    before = reads.inputs()
    assert known(before, before.lanes[0]).lane.tokens.size == 4
    assert reads.inputs() is before
    lead.draw(0, 2)
    after = reads.inputs()
    assert known(after, after.lanes[0]).lane.tokens.size == len(after.lanes[0].ids) // 4 > 4
