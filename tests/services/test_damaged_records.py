"""A record of which a part is damaged: it is told as damaged, and what lies beside the damage is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from app.probability.record import read_records
from app.services.analysing import replayed
from app.services.known_lanes import Known, known
from app.services.token_insights import insight, inspected
from tests.desk import Desk
from tests.services import recorded_answers
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import BLOCK, OPEN, load, some_rows
from tests.services.recorded_lanes import blocks_of as whole_blocks
from tests.services.test_analysing import inputs, lane, parted, settings

pytestmark = pytest.mark.usefixtures("caplog")  # a damage is logged
ROWS = some_rows(20)
LAST = 5


def spoilt(block: bytes) -> bytes:
    return block[:60] + bytes([block[60] ^ 0xFF]) + block[61:]


def headless(block: bytes) -> bytes:
    return b"???" + block[3:]


def found_with(*damage: Any, **changes: Any) -> Known:
    """Return a lane of three blocks, some of which are damaged as told."""
    given = lane(0, OPEN)
    assert len(given.blocks) == 3
    blocks = tuple(spoil(block) if spoil else block for spoil, block in zip(damage, given.blocks, strict=True))
    given = dataclasses.replace(given, blocks=blocks, **changes)
    return known(inputs(given), given)


def told(found: Known) -> list[int]:
    """Return the tokens of which there is a record, each held against its own."""
    whole = lane(0, OPEN)
    records = read_records(*whole.blocks)
    places = []
    for index in range(-1, len(records) + 1):
        if (there := found.record_at(index)) is not None:
            part, at = there
            assert int(part.tokens[at]) == int(records.tokens[index]) and part.entropy[at] == records.entropy[index]
            assert np.array_equal(part.alternatives(at)[0], records.alternatives(index)[0])
            places.append(index)
    return places


FIRST, MIDDLE, END = range(BLOCK), range(BLOCK, 2 * BLOCK), range(2 * BLOCK, len(ROWS))


@pytest.mark.parametrize("how", [spoilt, headless])
@pytest.mark.parametrize(
    ("places", "left"),
    [
        ((), (FIRST, MIDDLE, END)),
        ((0,), (MIDDLE, END)),
        ((1,), (FIRST, END)),
        ((0, 1), (END,)),
        ((2,), (FIRST, MIDDLE)),
    ],
)
def test_what_lies_beside_a_damage_is_read(how: Any, places: tuple[int, ...], left: tuple[range, ...]) -> None:
    found = found_with(*(how if number in places else None for number in range(3)))
    assert found.is_damaged == bool(places)
    assert told(found) == [index for span in left for index in span]
    assert found.lane.recorded == (0 if 0 in places else BLOCK if 1 in places else found.lane.recorded)


def test_between_two_damages_only_a_place_that_is_certain_is_told() -> None:
    assert told(found_with(spoilt, None, spoilt)) == [*MIDDLE]
    assert told(found_with(headless, None, spoilt)) == [], "nobody knows how many tokens lie before it"
    assert told(found_with(spoilt, None, None, is_open=True)) == [], "more may come behind it"
    longer = lane(0, OPEN).ids + bytes(4 * LAST)
    assert told(found_with(headless, None, None, ids=longer)) == [], "nor how many behind it have none"


def test_of_a_damaged_answer_each_token_is_told_that_can_be() -> None:
    whole = lane(0, OPEN)
    torn = dataclasses.replace(whole, blocks=(spoilt(whole.blocks[0]), *whole.blocks[1:]))
    answer, expected = inspected(inputs(torn)), inspected(inputs(whole))
    assert answer.is_damaged and not expected.is_damaged and answer.has_alternatives
    assert answer.recorded == 0 and expected.recorded == len(ROWS)
    for name in ("log_probabilities", "after", "ranks", "entropies"):
        assert getattr(answer, name) == (*(None,) * BLOCK, *getattr(expected, name)[BLOCK:])
    assert answer.gaps_ms == (*(None,) * (BLOCK + 1), *expected.gaps_ms[BLOCK + 1 :])
    assert insight(inputs(torn), BLOCK + 2) == insight(inputs(whole), BLOCK + 2)
    assert insight(inputs(torn), 2).alternatives == ()
    given = inputs(torn)
    problem = replayed(given, 0, OPEN).problem  # type: ignore[union-attr]  # the lane is there
    assert problem is not None and "damaged where it begins" in problem.english()


def test_where_two_lanes_part_in_a_damage_it_is_not_called_unrecorded() -> None:
    one, other = lane(0, settings(top_k=3)), lane(1, settings(temperature=3.0))
    torn = [dataclasses.replace(each, blocks=tuple(map(spoilt, each.blocks))) for each in (one, other)]
    assert "damaged" in parted(inputs(*torn)).reason.english()
    bare = [dataclasses.replace(each, blocks=()) for each in (one, other)]
    assert "nothing was recorded" in parted(inputs(*bare)).reason.english()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    made.program.inspecting.watch(True)
    made.program.laboratory.watch(True)
    yield made
    made.program.stop()


def test_the_laboratory_has_cards_beside_a_damage_and_says_there_that_it_is_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blocks_of(*of: Any, **more: Any) -> list[bytes]:
        first, *others = whole_blocks(*of, **more)
        return [spoilt(first), *others]

    monkeypatch.setattr(recorded_answers, "blocks_of", blocks_of)
    _turn, drawn = answered(desk, ROWS, msgspec.structs.replace(OPEN, seed=None))
    program = desk.program
    desk.until(lambda: program.inspecting.answer is not None)
    for place in (LAST, BLOCK + LAST):
        program.inspecting.look_at(place)
        desk.until(lambda: not program.laboratory.is_busy and program.laboratory.result is not None)
        result = program.laboratory.result
        assert result is not None
        if place == LAST:
            assert result.cards is None and result.problem is not None and "damaged" in result.problem.english()
        else:
            assert result.cards is not None and result.cards.draw.drawn is not None
            assert result.cards.draw.drawn.token == int(drawn.tokens[place])
