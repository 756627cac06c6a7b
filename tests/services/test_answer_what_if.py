"""What other settings would have made of one finished answer of a chat: from its record, without the model."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.commands import RecordKind, SettingsChange
from app.core.sampling import SamplingSettings
from app.core.store_commands import ReadRecord, StoreCommand
from app.probability.known_rows import part_of
from app.probability.lane import Lane
from app.probability.replayed import what_if
from app.services import analysing
from app.services.answer_what_if import AnswerWhatIf
from app.services.lane_analysis import LaneWhatIf
from app.services.turns import Turn
from tests.desk import Desk
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered, finish, write
from tests.services.recorded_lanes import BLOCK, OPEN, blocks_of, load, some_rows

COUNT = 20
ROWS = some_rows(COUNT)
USUAL = msgspec.structs.replace(OPEN, seed=None)
NARROW = msgspec.structs.replace(USUAL, top_k=2, temperature=0.7)
PENALISED = msgspec.structs.replace(USUAL, presence_penalty=1.5)
DRY = msgspec.structs.replace(USUAL, dry_multiplier=1.0, dry_allowed_length=1)
CHANCE = msgspec.structs.replace(USUAL, xtc_probability=0.5, xtc_threshold=0.05)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


def service(desk: Desk) -> AnswerWhatIf:
    return desk.program.answer_what_if


def replay_of(desk: Desk, settings: SamplingSettings) -> LaneWhatIf:
    service(desk).ask(settings)
    desk.until(lambda: not service(desk).is_busy)
    found = service(desk).found
    assert found is not None
    return found


def opened(desk: Desk, turn: Turn) -> Turn:
    assert service(desk).hindrance(turn) is None and service(desk).open(turn)
    return turn


def is_as_replayed(told: LaneWhatIf, lane: Lane, settings: SamplingSettings) -> None:
    """Assert that what is told is what the record says, and claims nothing else."""
    expected = what_if(lane, settings, settings.seed)
    assert expected is not None and told.problem is None and told.settings == settings
    states = [token.state for token in told.tokens]
    assert [place for place, state in enumerate(states) if state == "cut"] == expected.cut.tolist()
    assert [place for place, state in enumerate(states) if state == "unknown"] == expected.unknown.tolist()
    assert told.cuts == expected.cuts and told.greedy_leaves_at == expected.greedy_leaves_at
    assert (told.log_probability, told.log_probability_of_known) == (
        expected.log_probability,
        expected.log_probability_of_known,
    )


@pytest.mark.parametrize("other", [USUAL, NARROW, PENALISED, CHANCE], ids=["same", "narrow", "penalised", "xtc"])
def test_an_answer_is_replayed_from_what_the_store_has_of_it(desk: Desk, other: SamplingSettings) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    shown = service(desk).shown
    assert shown is not None and shown.settings == USUAL and shown.turn.seed == SEED
    told = replay_of(desk, other)
    is_as_replayed(told, lane, other)
    assert "".join(dict.fromkeys(turn.text[span.start : span.end] for span in told.spans if span.start < span.end))
    assert told.spans[0].start == 0 and max(span.end for span in told.spans) == len(turn.text)


def test_penalties_count_what_the_prompt_says(desk: Desk) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    settings = msgspec.structs.replace(PENALISED, penalty_last_n=-1)
    told = replay_of(desk, settings)
    is_as_replayed(told, lane, settings)
    without = what_if(Lane(lane.tokens, lane.records, lane.settings), settings)
    assert without is not None and without.log_probability_of_known != told.log_probability_of_known


def test_dry_is_replayed_with_its_usual_breakers_and_refused_with_longer_ones(desk: Desk) -> None:
    turn, _lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    assert replay_of(desk, DRY).problem is None
    problem = replay_of(desk, msgspec.structs.replace(DRY, dry_sequence_breakers=("END",))).problem
    assert problem is not None and "DRY's breakers" in problem.english()
    assert service(desk).problem == problem
    assert replay_of(desk, DRY).problem is None and service(desk).problem is None


def test_after_a_start_without_its_model_the_same_is_said(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    before, chat = replay_of(desk, NARROW), desk.program.chat.conversation_id
    desk.program.stop()
    later = Desk(tmp_path / "home", monkeypatch)
    try:
        later.program.conversations.start()
        later.program.conversations.open(chat)
        later.settle()
        opened(later, later.program.chat.turns[-1])
        told = replay_of(later, NARROW)
        is_as_replayed(told, lane, NARROW)
        assert told == before
    finally:
        later.program.stop()


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("off", "Nothing was recorded of this answer"),
        ("chosen", "Only the chosen tokens of this answer were recorded"),
    ],
)
def test_without_candidates_one_sentence_says_why_and_nothing_is_claimed(
    desk: Desk, record: RecordKind, said: str
) -> None:
    turn, _lane = answered(desk, ROWS, USUAL, record)
    opened(desk, turn)
    told = replay_of(desk, NARROW)
    assert told.problem is not None and told.tokens == () and (told.cut, told.unknown, told.known) == (0, 0, 0)
    sentence = told.problem.english()
    assert sentence.startswith(said) and "All likely candidates" in sentence and sentence.count(". ") == 0


def rewritten(desk: Desk, turn: Turn, wanted: slice) -> Turn:
    """Answer with the same tokens once more, of which only a part is recorded, in whole blocks."""
    lane = drawn(ROWS, USUAL, SEED, np.arange(PROMPT, dtype=np.int32))
    blocks = [b""] * len(blocks_of(ROWS, lane))
    blocks[wanted] = blocks_of(ROWS, lane)[wanted]
    desk.program.chat.answer_again()
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    write(desk, lane, blocks)
    finish(desk, lane, (SettingsChange(0, USUAL),))
    return desk.program.chat.turns[-1]


def test_an_answer_that_was_recorded_later_says_from_which_token_on(desk: Desk) -> None:
    turn, _lane = answered(desk, ROWS, USUAL)
    later = rewritten(desk, turn, slice(1, None))
    opened(desk, later)
    told = replay_of(desk, NARROW)
    assert told.problem is not None and told.tokens == ()
    assert f"only from token {BLOCK + 1} of {COUNT} on" in told.problem.english()


@pytest.mark.parametrize("gap", [slice(0, 1), slice(0, 3, 2)])
def test_an_answer_of_which_a_part_from_the_first_token_on_was_recorded_is_replayed_so_far(
    desk: Desk, gap: slice
) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, rewritten(desk, turn, gap))
    assert lane.records is not None
    first = dataclasses.replace(lane, tokens=lane.tokens[:BLOCK], records=part_of(lane.records, slice(0, BLOCK)))
    told = replay_of(desk, NARROW)
    expected = what_if(first, NARROW)
    assert told.problem is None and expected is not None and len(told.tokens) == BLOCK
    assert (told.cuts, told.log_probability_of_known) == (expected.cuts, expected.log_probability_of_known)


def test_an_answer_begins_with_the_settings_that_held_at_its_end(desk: Desk) -> None:
    changes = (SettingsChange(0, USUAL), SettingsChange(5, NARROW))
    turn, lane = answered(desk, ROWS, USUAL, changes=changes)
    opened(desk, turn)
    shown = service(desk).shown
    assert shown is not None and shown.settings == NARROW
    is_as_replayed(replay_of(desk, shown.settings), lane, NARROW)


def test_what_cannot_be_replayed_is_known_before(desk: Desk) -> None:
    desk.program.chat.send("One")
    desk.settle()
    desk.engine.prompt()
    desk.settle()
    turn = desk.program.chat.turns[-1]
    for state, said in (("writing", "still being written"), ("nothing", "wrote nothing")):
        if state == "nothing":
            desk.engine.finish()
            desk.settle()
        hindrance = service(desk).hindrance(turn)
        assert hindrance is not None and said in hindrance.english()
        assert not service(desk).open(turn) and service(desk).shown is None
    turn, _lane = answered(desk, ROWS, USUAL)
    desk.program.branches.edit(turn, "My own words")
    desk.settle()
    edited = desk.program.chat.turns[-1]
    hindrance = service(desk).hindrance(edited)
    assert edited.text == "My own words" and hindrance is not None and "A person wrote" in hindrance.english()


def deletes(desk: Desk, turn: Turn) -> None:
    desk.program.branches.delete(turn)


def deletes_the_question(desk: Desk, _turn: Turn) -> None:
    desk.program.branches.delete(desk.program.chat.turns[0])


def shows_another(desk: Desk, _turn: Turn) -> None:
    desk.program.preset_use.new_chat()


def deletes_the_chat(desk: Desk, _turn: Turn) -> None:
    desk.program.conversations.delete(desk.program.chat.conversation_id)


def goes_on(desk: Desk, _turn: Turn) -> None:
    desk.program.chat.go_on()


@pytest.mark.parametrize("act", [deletes, deletes_the_question, shows_another, deletes_the_chat, goes_on])
@pytest.mark.parametrize("when", ["known", "at work"])
def test_an_answer_that_is_not_there_any_more_is_left(
    desk: Desk, act: Callable[[Desk, Turn], None], when: str
) -> None:
    turn, _lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    if when == "known":
        replay_of(desk, NARROW)
    else:
        service(desk).ask(NARROW)
    told: list[bool] = []
    service(desk).changed.connect(lambda: told.append(service(desk).shown is None))
    act(desk, turn)
    desk.settle()
    assert told and told[-1] and service(desk).shown is None and service(desk).found is None
    desk.until(lambda: not service(desk).is_busy)
    assert service(desk).found is None


def test_another_version_in_view_does_not_end_it(desk: Desk) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    desk.program.chat.answer_again()
    desk.settle()
    desk.answer("uno")
    assert turn not in desk.program.chat.turns
    assert service(desk).shown is not None
    is_as_replayed(replay_of(desk, NARROW), lane, NARROW)


def test_only_the_newest_settings_and_the_newest_answer_count(desk: Desk) -> None:
    first, _lane = answered(desk, ROWS, USUAL)
    second, lane = answered(desk, some_rows(COUNT, seed=3), USUAL, question="And the sea?")
    opened(desk, first)
    service(desk).ask(PENALISED)
    opened(desk, second)
    for settings in (DRY, PENALISED, NARROW):
        service(desk).ask(settings)
    desk.until(lambda: not service(desk).is_busy)
    found = service(desk).found
    assert found is not None and found.comparison == second.message
    is_as_replayed(found, lane, NARROW)


def test_what_is_asked_before_the_record_was_read_waits_for_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    held: list[StoreCommand] = []
    send = desk.store.send
    monkeypatch.setattr(
        desk.store, "send", lambda command: held.append(command) if isinstance(command, ReadRecord) else send(command)
    )
    opened(desk, turn)
    service(desk).ask(NARROW)
    desk.settle()
    assert service(desk).is_busy and service(desk).found is None and len(held) == 1
    send(held[0])
    desk.until(lambda: not service(desk).is_busy)
    found = service(desk).found
    assert found is not None
    is_as_replayed(found, lane, NARROW)


def test_a_replay_that_breaks_is_told_and_the_next_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    opened(desk, turn)
    with monkeypatch.context() as patch, caplog.at_level(logging.CRITICAL, "app.system.jobs"):
        patch.setattr(analysing, "what_if", lambda *_values: 1 // 0)
        service(desk).ask(NARROW)
        desk.until(lambda: not service(desk).is_busy)
    problem = service(desk).problem
    assert service(desk).found is None and problem is not None and "could not be replayed" in problem.english()
    is_as_replayed(replay_of(desk, NARROW), lane, NARROW)
    assert service(desk).problem is None
