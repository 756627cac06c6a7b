"""What is known of a lane is worked out once for all questions about it, and anew as soon as there is more to know."""

from __future__ import annotations

import dataclasses

import numpy as np

from app.core.commands import SettingsChange
from app.services.analysing import analyse, replayed
from app.services.known_lanes import known
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.piece_table import PieceTable
from tests.made_up_steps import pieces_of
from tests.services.recorded_lanes import OPEN, blocks_of, lane_of, pieces, some_rows, text_of

ROWS = some_rows(12)


def one_lane(prompt: bytes | None) -> LaneInputs:
    drawn = lane_of(ROWS, OPEN)
    given = LaneInput(
        index=0,
        message=1,
        text=text_of(drawn.tokens.tolist()),
        ids=drawn.tokens.tobytes(),
        blocks=tuple(blocks_of(ROWS, drawn)),
        settings=OPEN,
        changes=(SettingsChange(0, OPEN),),
        seed=OPEN.seed,
        metrics=None,
        stop_reason="length",
    )
    return LaneInputs(1, 0, (given,), prompt, PieceTable(pieces_of(pieces())), is_whole=True)


def test_every_question_about_a_lane_reads_its_record_once() -> None:
    inputs = one_lane(None)
    analyse(inputs)
    found = known(inputs, inputs.lanes[0])
    assert found.lane.records is not None
    replayed(inputs, 0, OPEN)
    assert known(inputs, inputs.lanes[0]) is found


def test_lanes_that_are_known_better_are_worked_out_anew() -> None:
    inputs = one_lane(None)
    known(inputs, inputs.lanes[0])
    prompt = np.arange(5, dtype=np.int32)
    better = dataclasses.replace(inputs, prompt=prompt.tobytes())
    assert known(better, better.lanes[0]).lane.prompt.tolist() == prompt.tolist()
    assert better == dataclasses.replace(better)
