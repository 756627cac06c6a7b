"""What is known of a lane is worked out once for all questions about it, and anew as soon as there is more to know."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from app.probability.record import RecordBlock, RecordWriter, TokenRecords, read_records, unpack_block
from app.probability.row import RowReader
from app.services import known_lanes
from app.services.analysing import analyse, replayed
from app.services.comparison_reads import ComparisonReads
from app.services.known_lanes import known
from app.services.lane_inputs import inputs_of
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


def test_a_lane_that_is_as_it_was_stays_known_while_another_one_grows(desk: Desk, lead: RecordedLead) -> None:
    program = desk.program
    reads = ComparisonReads(begun(desk, lead), program.session, program.store, program.vocabulary)
    reads.begin()
    lead.draw(0, 4)
    lead.draw(1, 3)
    before = reads.inputs()
    still, growing = (known(before, each) for each in before.lanes[:2])
    lead.draw(1, 2)
    after = reads.inputs()
    assert known(after, after.lanes[0]) is still
    assert known(after, after.lanes[1]) is not growing


def test_of_a_lane_that_grows_only_the_new_blocks_are_read(
    desk: Desk, lead: RecordedLead, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, read = desk.program, list[bytes]()

    def unpack(block: bytes) -> RecordBlock:
        read.append(block)
        return unpack_block(block)

    monkeypatch.setattr(known_lanes, "unpack_block", unpack)
    reads = ComparisonReads(begun(desk, lead), program.session, program.store, program.vocabulary)
    reads.begin()
    for count in (4, 3, 9):
        lead.draw(0, count)
        reads.inputs()  # asked for by somebody else, who works nothing out of it
        now = reads.inputs()
        grown = known(now, now.lanes[0])
    blocks = [block for block in now.lanes[0].blocks if block]
    assert read == blocks and len(blocks) > 2
    anew = inputs_of(reads.run, now.prompt, now.pieces)
    expected = known(anew, anew.lanes[0])
    assert len(read) == 2 * len(blocks), "whoever knows nothing of it reads all"
    assert grown.places == expected.places and grown.places is not None
    for field in dataclasses.fields(TokenRecords):
        ours, theirs = (getattr(each.lane.records, field.name) for each in (grown, expected))
        assert np.array_equal(ours, theirs), field.name


def test_a_block_that_cannot_be_read_ends_the_record_also_of_a_lane_that_grows(
    desk: Desk, lead: RecordedLead, caplog: pytest.LogCaptureFixture
) -> None:
    program = desk.program
    reads = ComparisonReads(begun(desk, lead), program.session, program.store, program.vocabulary)
    reads.begin()
    lead.draw(0, 4)
    first = reads.inputs()
    good = known(first, first.lanes[0]).lane.recorded
    record = reads.run.lanes[0].record
    record.append(b"broken")
    for _ in range(2):
        lead.draw(0, 3)
        now = reads.inputs()
        assert known(now, now.lanes[0]).lane.recorded == good
    assert "cannot be used" in caplog.text


def test_a_record_ends_where_a_block_of_another_model_begins(caplog: pytest.LogCaptureFixture) -> None:
    """It is no record of this answer any further, whatever follows."""
    whole = lane(0, OPEN)
    other, row = RecordWriter(7), np.zeros(7, np.float32)
    other.add(3, 0.0, RowReader(7).read(row), 1, 0.5, 0)
    theirs = dataclasses.replace(whole, blocks=(*whole.blocks, b"", other.take(), *whole.blocks))
    given = inputs(theirs)
    with caplog.at_level("WARNING"):
        found, alone = known(given, given.lanes[0]).lane.records, known(inputs(whole), whole).lane.records
    assert found is not None and alone is not None and len(found) == len(alone) > 0
    assert "another model" in caplog.text


def test_a_record_that_fits_the_first_and_the_last_tokens_is_claimed_of_neither() -> None:
    """Blocks do not say where they begin."""
    whole = lane(0, OPEN)
    part = whole.blocks[0]
    size = len(read_records(part))
    ids = np.frombuffer(whole.ids, np.int32)
    assert ids.size > 2 * size
    again = np.concatenate((ids[:-size], ids[:size]))
    late = dataclasses.replace(whole, ids=again.astype(np.int32).tobytes(), blocks=(part,))
    found = known(inputs(late), late)
    assert found.lane.records is None and found.recorded_at_the_end == size
    early = dataclasses.replace(whole, blocks=(part,))
    records = known(inputs(early), early).lane.records
    assert records is not None and len(records) == size
