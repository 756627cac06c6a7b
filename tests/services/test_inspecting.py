"""The tokens of an answer one by one: which answer is looked at, what its record says, and what could have come."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.commands import RecordKind, SettingsChange
from app.core.events import Tokens
from app.core.store_commands import ReadRecord, StoreCommand
from app.services.inspecting import Inspecting
from app.services.inspection import Alternative, InspectedAnswer, TokenInsight
from tests.desk import Desk
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered, finish, write
from tests.services.recorded_lanes import BLOCK, OPEN, blocks_of, load, pieces, some_rows, text_of

COUNT = 20
ROWS = some_rows(COUNT)
USUAL = msgspec.structs.replace(OPEN, seed=None)
NARROW = msgspec.structs.replace(USUAL, top_k=3, temperature=0.7)
HOT = msgspec.structs.replace(USUAL, temperature=4.0)
DRY = msgspec.structs.replace(USUAL, dry_multiplier=1.0, dry_allowed_length=1, dry_sequence_breakers=("ab",))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


def service(desk: Desk) -> Inspecting:
    return desk.program.inspecting


def looked_at(desk: Desk) -> InspectedAnswer:
    service(desk).watch(True)
    desk.until(lambda: not service(desk).is_busy)
    answer = service(desk).answer
    assert answer is not None
    return answer


def insight_of(desk: Desk, token: int) -> TokenInsight:
    service(desk).look_at(token)
    desk.until(lambda: not service(desk).is_busy)
    insight = service(desk).insight
    assert insight is not None and insight.index == token
    return insight


def taken(insight: TokenInsight) -> Alternative:
    return next(each for each in insight.alternatives if each.is_taken)


def test_the_newest_answer_is_read_from_the_store_with_what_was_recorded_of_each_token(desk: Desk) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    answer = looked_at(desk)
    records = lane.records
    assert records is not None and service(desk).turn is turn
    assert answer.ids == tuple(lane.tokens.tolist()) and answer.recorded == COUNT and answer.has_alternatives
    assert answer.ranks == tuple(records.rank.tolist())
    assert answer.log_probabilities == pytest.approx(records.log_probability.tolist(), abs=1e-5)
    assert answer.entropies == pytest.approx(records.entropy.tolist(), abs=1e-4)
    assert answer.gaps_ms[0] is None and answer.gaps_ms[1:] == pytest.approx([13.0] * (COUNT - 1))
    said = pieces()
    halves = {30: "<0xC3>", 31: "<0xA9>", 32: "<0xA8>"}
    assert answer.texts == tuple(halves.get(token, said[token].decode("utf-8", "replace")) for token in answer.ids)
    prompt = service(desk).prompt
    assert prompt is not None and prompt.ids == tuple(range(PROMPT)) and prompt.texts[5] == " w5"


def test_nothing_is_read_while_nobody_looks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[StoreCommand] = []
    send = desk.store.send

    def note(command: StoreCommand) -> None:
        if isinstance(command, ReadRecord):
            reads.append(command)
        send(command)

    monkeypatch.setattr(desk.store, "send", note)
    answered(desk, ROWS, USUAL)
    assert not reads and service(desk).turn is None
    looked_at(desk)
    service(desk).watch(False)
    answered(desk, ROWS, USUAL, question="And the sea?")
    assert len(reads) == 1


def test_an_answer_is_followed_while_it_is_written_and_read_once_more_when_it_has_ended(desk: Desk) -> None:
    service(desk).watch(True)
    desk.program.sampling.change(**msgspec.structs.asdict(USUAL))
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    lane = drawn(ROWS, USUAL, SEED, np.arange(PROMPT, dtype=np.int32))
    blocks = blocks_of(ROWS, lane)
    short = msgspec.structs.replace(USUAL)
    part = drawn(ROWS[:BLOCK], short, SEED, np.arange(PROMPT, dtype=np.int32))
    write(desk, part, blocks)
    answer = looked_at(desk)
    assert answer.ids == tuple(lane.tokens[:BLOCK].tolist()) and answer.recorded == BLOCK
    finish(desk, lane, (SettingsChange(0, USUAL),))
    answer = looked_at(desk)
    assert answer.ids == tuple(lane.tokens.tolist()) and answer.recorded == BLOCK


def test_who_comes_late_sees_what_was_recorded_before_and_what_comes_after(desk: Desk) -> None:
    desk.program.sampling.change(**msgspec.structs.asdict(USUAL))
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    lane = drawn(ROWS, USUAL, SEED, np.arange(PROMPT, dtype=np.int32))
    blocks = blocks_of(ROWS, lane)
    one = drawn(ROWS[:BLOCK], USUAL, SEED, np.arange(PROMPT, dtype=np.int32))
    write(desk, one, blocks)
    assert looked_at(desk).recorded == BLOCK
    more = lane.tokens[BLOCK : 2 * BLOCK].tolist()
    desk.engine.say(
        Tokens(
            desk.engine.question.request,
            BLOCK,
            BLOCK,
            array("i", more).tobytes(),
            text_of(more),
            blocks[1],
            50,
            1,
            1,
        )
    )
    desk.settle()
    answer = looked_at(desk)
    assert answer.ids == tuple(lane.tokens[: 2 * BLOCK].tolist()) and answer.recorded == 2 * BLOCK


@pytest.mark.parametrize("settings", [USUAL, NARROW], ids=["open", "narrow"])
def test_what_could_have_come_is_the_stored_alternatives_with_what_the_chain_made_of_them(
    desk: Desk, settings: object
) -> None:
    assert settings in (USUAL, NARROW)
    chosen = NARROW if settings == NARROW else USUAL
    _turn, lane = answered(desk, ROWS, chosen)
    looked_at(desk)
    records = lane.records
    assert records is not None
    for token in range(COUNT):
        insight = insight_of(desk, token)
        row = ROWS[token].astype(np.float64)
        raw = np.exp(row - np.logaddexp.reduce(row))
        for each in insight.alternatives:
            assert each.raw == pytest.approx(float(raw[each.token]), rel=0.01)
        assert taken(insight).token == int(lane.tokens[token])
        assert taken(insight).after == pytest.approx(float(records.probability_after[token]), rel=1e-5)
        assert insight.rest == pytest.approx(1 - sum(each.raw or 0 for each in insight.alternatives), abs=0.01)
        by_raw = sorted((float(raw[each.token]) for each in insight.alternatives), reverse=True)
        assert [float(raw[each.token]) for each in insight.alternatives] == pytest.approx(by_raw)
        if chosen == NARROW:
            order = np.argsort(-row, kind="stable")[:3]
            left = [each.token for each in insight.alternatives if each.after]
            assert set(left) == set(order.tolist())
            assert {each.cut_by for each in insight.alternatives if each.after == 0} == {"top_k"}
            assert insight.rest_after == 0 and sum(each.after or 0 for each in insight.alternatives) == pytest.approx(
                1, abs=0.01
            )


def test_a_share_that_the_record_does_not_prove_closely_is_not_told(desk: Desk) -> None:
    answered(desk, ROWS, HOT)
    looked_at(desk)
    told = unknown = 0
    for token in range(COUNT):
        row = ROWS[token].astype(np.float64) / HOT.temperature
        true = np.exp(row - np.logaddexp.reduce(row))
        for each in insight_of(desk, token).alternatives:
            if each.after is None:
                unknown += 1
            else:
                told += 1
                assert each.after == pytest.approx(float(true[each.token]), rel=0.11)
    assert unknown > told > 0, "so hot, what is not in the record has most of the mass"


def test_what_the_record_does_not_prove_is_not_told(desk: Desk) -> None:
    answered(desk, ROWS, DRY)
    looked_at(desk)
    insight = insight_of(desk, 3)
    assert taken(insight).after is not None
    assert {each.after for each in insight.alternatives if not each.is_taken} == {None}
    assert insight.rest_after is None


@pytest.mark.parametrize("record", ["chosen", "off"])
def test_an_answer_without_alternatives_or_without_a_record_is_shown_as_far_as_it_is_known(
    desk: Desk, record: RecordKind
) -> None:
    _turn, lane = answered(desk, ROWS, USUAL, record)
    answer = looked_at(desk)
    assert answer.ids == tuple(lane.tokens.tolist()) and not answer.has_alternatives
    assert answer.recorded == (COUNT if record == "chosen" else 0)
    insight = insight_of(desk, 0)
    if record == "chosen":
        assert [each.token for each in insight.alternatives] == [answer.ids[0]]
        assert answer.log_probabilities[0] is not None
        assert insight.rest == pytest.approx(1 - math.exp(answer.log_probabilities[0]), abs=0.01)
    else:
        assert insight.alternatives == () and answer.log_probabilities == (None,) * COUNT


def test_an_older_answer_stays_until_it_is_gone_and_then_the_newest_is_looked_at(desk: Desk) -> None:
    first, _lane = answered(desk, ROWS, USUAL)
    looked_at(desk)
    second, _lane = answered(desk, ROWS, NARROW, question="And the sea?")
    looked_at(desk)
    assert service(desk).turn is second
    service(desk).open(first, 4)
    assert looked_at(desk).message == first.message and service(desk).token == 4
    third, _lane = answered(desk, ROWS, USUAL, question="And the moon?")
    assert service(desk).turn is first
    desk.program.branches.delete(desk.program.chat.turns[0])
    desk.settle()
    assert service(desk).turn is None and service(desk).token is None
    assert third.ids


def test_a_token_that_is_looked_at_is_told_once(desk: Desk) -> None:
    answered(desk, ROWS, USUAL)
    looked_at(desk)
    told: list[int | None] = []
    service(desk).token_changed.connect(told.append)
    service(desk).look_at(3)
    service(desk).look_at(3)
    service(desk).look_at(None)
    assert told == [3, None]


def test_a_token_that_is_not_worked_out_yet_stays_looked_at(desk: Desk) -> None:
    service(desk).watch(True)
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    desk.engine.write("w", 2)
    desk.settle()
    desk.engine.write("w", 2)
    desk.settle()
    service(desk).look_at(3)
    told: list[int | None] = []
    service(desk).token_changed.connect(told.append)
    desk.until(lambda: not service(desk).is_busy)
    answer = service(desk).answer
    assert answer is not None and len(answer) == 4 and service(desk).token == 3 and told == []
