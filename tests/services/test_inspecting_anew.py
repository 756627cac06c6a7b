"""What is known of an answer's tokens is worked out anew once more is known, and said not to be where it cannot be."""

from __future__ import annotations

import dataclasses
import zlib
from array import array
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from app.core.commands import SettingsChange
from app.core.events import Tokens
from app.probability.lane import Lane
from app.probability.record import RESUMED, join_blocks
from app.probability.record_layout import BODY_AT, CHECKSUM, HEAD, step_layout
from app.services import token_insights
from app.services.comparison_reads import ComparisonReads
from app.services.piece_table import PieceTable
from tests.desk import Desk
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered, finish
from tests.services.recorded_lanes import BLOCK, SIZE, blocks_of, text_of
from tests.services.test_inspecting import COUNT, ROWS, USUAL, desk, insight_of, looked_at, service, taken

__all__ = ["desk"]


def begun(desk: Desk) -> Lane:
    """Have a question asked whose answer is written now; return all that will be drawn."""
    desk.program.sampling.change(**msgspec.structs.asdict(USUAL))
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    service(desk).watch(True)
    return drawn(ROWS, USUAL, SEED, np.arange(PROMPT, dtype=np.int32))


def say(desk: Desk, lane: Lane, start: int, end: int, record: bytes = b"") -> None:
    """Let some tokens follow, with a record that need not be theirs."""
    ids = lane.tokens[start:end].tolist()
    request, data = desk.engine.question.request, array("i", ids).tobytes()
    desk.engine.say(Tokens(request, start, len(ids), data, text_of(ids), record, 50, end, end))
    desk.settle()


def test_what_could_have_come_is_worked_out_anew_once_its_record_is_there(desk: Desk) -> None:
    lane = begun(desk)
    say(desk, lane, 0, 3)
    answer = looked_at(desk)
    assert insight_of(desk, 2).alternatives == () and answer.is_pending(2) and answer.log_probabilities[2] is None
    say(desk, lane, 3, BLOCK, blocks_of(ROWS, lane)[0])
    answer = looked_at(desk)
    insight = service(desk).insight
    assert insight is not None and taken(insight).token == answer.ids[2] and not answer.pending


def test_what_could_have_come_gets_its_names_once_they_are_known(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(desk, ROWS, USUAL)
    monkeypatch.setattr(service(desk)._vocabulary, "_table", PieceTable())
    monkeypatch.setattr(ComparisonReads, "_look_for_pieces", lambda _self: None)
    answer = looked_at(desk)
    assert {each.text for each in insight_of(desk, 2).alternatives} == {None} and set(answer.texts) == {None}
    monkeypatch.undo()
    desk.program.vocabulary.changed.emit()
    answer = looked_at(desk)
    insight = service(desk).insight
    assert insight is not None and None not in {each.text for each in insight.alternatives} | set(answer.texts)


def test_what_could_have_come_is_not_worked_out_again_while_nothing_of_it_is_new(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = begun(desk)
    blocks = blocks_of(ROWS, lane)
    say(desk, lane, 0, BLOCK, blocks[0])
    looked_at(desk)
    insight = insight_of(desk, 2)
    monkeypatch.setattr(token_insights, "insight", lambda *_given: pytest.fail("nothing is new"))
    say(desk, lane, BLOCK, 2 * BLOCK, blocks[1])
    assert looked_at(desk).recorded == 2 * BLOCK and service(desk).insight is insight


def test_only_the_last_tokens_of_an_open_answer_may_still_get_a_record(desk: Desk) -> None:
    lane = begun(desk)
    say(desk, lane, 0, BLOCK - 1)
    assert looked_at(desk).pending == BLOCK - 1
    say(desk, lane, BLOCK - 1, BLOCK)
    assert looked_at(desk).pending == 0, "its record would have come"
    say(desk, lane, BLOCK, COUNT)
    finish(desk, lane, (SettingsChange(0, USUAL),))
    answer = looked_at(desk)
    assert answer.pending == 0 and not answer.is_pending(COUNT - 1)


def test_a_job_that_breaks_is_told_and_the_next_one_is_as_good_as_ever(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answered(desk, ROWS, USUAL)
    broken = {"inspected": True, "insight": True}
    for name in broken:
        monkeypatch.setattr(token_insights, name, _breaking(name, broken, getattr(token_insights, name)))
    service(desk).watch(True)
    desk.until(lambda: not service(desk).is_busy)
    problem = service(desk).problems.answer
    assert service(desk).answer is None and problem is not None and "come back" in problem.english()
    broken["inspected"] = False
    service(desk).watch(False)
    assert looked_at(desk).recorded == COUNT and service(desk).problems.answer is None
    service(desk).look_at(2)
    desk.until(lambda: not service(desk).is_busy)
    problem = service(desk).problems.insight
    assert service(desk).insight is None and problem is not None and "another token" in problem.english()
    broken["insight"] = False
    assert insight_of(desk, 3).index == 3 and service(desk).problems.insight is None
    assert insight_of(desk, 2).index == 2
    assert {record.name for record in caplog.records} == {"app.system.jobs"}
    caplog.clear()


def _breaking(name: str, broken: dict[str, bool], work: Callable[..., object]) -> Callable[..., object]:
    def run(*given: object) -> object:
        if broken[name]:
            raise ValueError(name)
        return work(*given)

    return run


def test_the_time_between_two_parts_of_an_answer_is_no_time_of_a_token(desk: Desk) -> None:
    _turn, lane = answered(desk, ROWS, USUAL)
    records = lane.records
    assert records is not None
    looked_at(desk)
    inputs = service(desk).inputs
    assert inputs is not None
    block = bytearray(join_blocks(inputs.lanes[0].blocks))
    step = step_layout(SIZE)
    flags_at = BODY_AT + 5 * step.size + step.size - 1
    block[flags_at] |= RESUMED
    head = bytes(block[: HEAD.size])
    block[HEAD.size : BODY_AT] = CHECKSUM.pack(zlib.crc32(bytes(block[BODY_AT:]), zlib.crc32(head)))
    given = dataclasses.replace(inputs.lanes[0], blocks=(bytes(block),))
    answer = token_insights.inspected(dataclasses.replace(inputs, lanes=(given,)))
    assert [place for place, gap in enumerate(answer.gaps_ms) if gap is None] == [0, 5]
    assert set(answer.flags) == {0}, "how a token came is told by the others"
