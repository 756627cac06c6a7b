from __future__ import annotations

from array import array

import pytest

from app.core.sampling import SamplingSettings
from app.services.lanes_run import Lane
from app.services.live_lane import LiveLane
from app.services.turns import Turn
from tests.services.recorded_lanes import OPEN, blocks_of, lane_of, some_rows


def lane(*ids: int) -> Lane:
    return Lane(0, Turn(1, "assistant", ids=array("i", ids).tobytes()), SamplingSettings())


def test_entropies_are_those_of_the_record_and_each_block_is_read_once() -> None:
    rows = some_rows(20)
    drawn = lane_of(rows, OPEN)
    assert drawn.records is not None
    blocks, written = blocks_of(rows, drawn), lane()
    live = LiveLane(written)
    assert not live.look() and live.entropies == []
    written.record += blocks[:2]
    assert live.look() and live.entropies == pytest.approx(drawn.records.entropy[:16].tolist())
    written.record += blocks[2:]
    assert live.look() and not live.look()
    assert live.entropies == pytest.approx(drawn.records.entropy.tolist())
    assert live.most_entropy == pytest.approx(float(drawn.records.entropy.max()))


def test_the_first_token_that_is_another_one_is_found_as_both_grow() -> None:
    one, other = lane(1, 2), lane(1)
    live = LiveLane(one)
    assert live.leaves(other) is None
    other.turn.ids += array("i", [2, 5]).tobytes()
    assert live.leaves(other) is None
    one.turn.ids += array("i", [4, 6]).tobytes()
    assert live.leaves(other) == 2
    assert (live.leaves(lane(7)), live.leaves(lane(1, 9))) == (0, 1)
