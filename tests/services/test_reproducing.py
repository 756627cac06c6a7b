"""Writing an answer once more: what is asked of store and engine, in which turn, and what people are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.chat import PromptSpan, ReadStretch
from app.core.commands import Cancel, ChangeSettings, Generate, Reproduce
from app.core.events import PromptReady
from app.core.replay_events import Difference
from app.services.reproducing import Reproducing
from app.services.reproduction import Reproduction
from tests.desk import Desk
from tests.services.asking import half_an_answer, say
from tests.services.counting import render
from tests.services.replaying import answer, asked, compared, end, ids, known, read, told


@pytest.fixture(autouse=True)
def _with_chats(desk: Desk) -> None:
    desk.program.conversations.start()
    desk.settle()


@pytest.fixture
def reproducing(desk: Desk, model: Path) -> Reproducing:
    desk.load(model)
    say(desk, "One", "a", "b", "c")
    return desk.program.reproducing


def test_the_engine_gets_the_prompt_the_tokens_and_the_settings_of_the_answer(
    desk: Desk, reproducing: Reproducing
) -> None:
    turn = answer(desk)
    assert turn.finished is not None
    assert reproducing.begin(turn)
    desk.settle()
    command = asked(desk)
    assert (command.prompt, command.ids, command.given) == (ids(40), turn.ids, 0)
    assert (command.settings, command.seed) == (turn.finished.settings, 7)
    assert command.spans == (PromptSpan(0, 40, "prompt", 0),)
    assert known(desk).phase == "waiting"
    read(desk, done=20)
    assert known(desk) == Reproduction(turn.message, "reading", 20, 40)
    compared(desk, 2)
    assert known(desk) == Reproduction(turn.message, "comparing", 2, 3)
    end(desk)
    assert (known(desk).phase, told(known(desk))) == ("same", "Identical: all 3 tokens.")


def test_no_message_is_written_and_no_figure_but_the_cells_is_shown(desk: Desk, reproducing: Reproducing) -> None:
    turns, text, before = desk.program.chat.turns, answer(desk).text, desk.program.live.figures
    reproducing.begin(answer(desk))
    read(desk)
    compared(desk, 3)
    assert (desk.program.chat.turns, answer(desk).text) == (turns, text)
    during = desk.program.live.figures
    assert during.kv_cells_used == 42
    assert [(part.name, part.tokens) for part in during.kv_parts] == [("prompt", 40), ("answer", 2)]
    assert not during.is_writing and during.decode_tokens_per_s == before.decode_tokens_per_s
    assert desk.program.prompt_count.count.in_cache == 42
    end(desk, same=1, stop_reason="cancelled")
    assert desk.program.live.figures.kv_cells_used == desk.program.prompt_count.count.in_cache == 41
    assert not desk.program.chat.busy


def test_a_question_that_is_asked_meanwhile_waits_for_it(desk: Desk, reproducing: Reproducing) -> None:
    reproducing.begin(answer(desk))
    read(desk)
    questions = len(desk.engine.all(Generate))
    first = answer(desk)
    assert desk.program.session.phase == "busy"
    desk.program.chat.send("Two")
    desk.program.sampling.change(temperature=1.5)
    desk.program.answers.use_settings(desk.program.chat.shown)
    desk.settle()
    assert len(desk.engine.all(Generate)) == questions
    assert desk.engine.all(ChangeSettings) == []
    end(desk)
    assert len(desk.engine.all(Generate)) == questions + 1
    assert known(desk, first).phase == "same"


def test_it_waits_for_the_answer_that_is_being_written(desk: Desk, reproducing: Reproducing) -> None:
    first = answer(desk)
    desk.program.chat.send("Two")
    desk.settle()
    reproducing.begin(first)
    desk.settle()
    assert (desk.engine.all(Reproduce), known(desk, first).phase) == ([], "waiting")
    desk.answer("2")
    assert asked(desk).ids == first.ids


@pytest.mark.parametrize("when", ["waiting", "reading", "comparing"])
def test_it_can_be_cancelled_in_whatever_phase(desk: Desk, reproducing: Reproducing, when: str) -> None:
    first = answer(desk)
    if when == "waiting":
        desk.program.chat.send("Two")
    desk.settle()
    reproducing.begin(first)
    desk.settle()
    if when != "waiting":
        read(desk)
    if when == "comparing":
        compared(desk, 2)
    reproducing.cancel()
    desk.settle()
    if when != "waiting":
        assert desk.engine.all(Cancel)[-1].request == asked(desk).request
        end(desk, same=2 if when == "comparing" else 0, stop_reason="cancelled")
    assert known(desk, first).phase == "stopped"
    words = {"comparing": "Stopped: identical up to token 2 of 3."}
    assert told(known(desk, first)) == words.get(when, "Stopped before a token was compared.")
    reproducing.dismiss(first)
    assert reproducing.of(first) is None


def test_it_can_be_cancelled_while_the_store_is_asked(desk: Desk, reproducing: Reproducing) -> None:
    desk.take_from_store = lambda _event: None
    reproducing.begin(answer(desk))
    reproducing.cancel()
    assert known(desk).phase == "stopped"
    assert reproducing.hindrance(answer(desk)) is None


def test_only_one_is_written_again_at_a_time(desk: Desk, reproducing: Reproducing) -> None:
    reproducing.begin(answer(desk))
    desk.settle()
    hindrance = reproducing.hindrance(answer(desk))
    assert hindrance is not None and "at the moment" in hindrance.english()
    assert not reproducing.begin(answer(desk))
    reproducing.dismiss(answer(desk))
    assert known(desk).is_open


def test_an_answer_that_went_on_is_written_again_from_its_first_word(desk: Desk, model: Path) -> None:
    desk.load(model)
    half_an_answer(desk)
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer", count=2)
    desk.engine.finish()
    desk.settle()
    desk.program.reproducing.begin(answer(desk))
    desk.settle()
    command = asked(desk)
    assert (command.prompt, command.given, len(command.ids) // 4) == (ids(40), 2, 4)
    assert command.settings[0].token == 0
    assert [span.part for span in command.spans] == ["prompt"]


def test_an_engine_that_ends_ends_it(desk: Desk, reproducing: Reproducing) -> None:
    reproducing.begin(answer(desk))
    read(desk)
    desk.engine.die(asked(desk).request)
    desk.settle()
    assert (known(desk).phase, reproducing.hindrance(answer(desk))) == ("failed", None)


def test_the_answer_of_an_earlier_start_is_written_again(
    desk: Desk, reproducing: Reproducing, again: Callable[[], Desk]
) -> None:
    before = answer(desk)
    later = again()
    later.program.conversations.open(later.program.conversations.heads[0].id)
    later.settle()
    later.program.reproducing.begin(answer(later))
    later.settle()
    assert (asked(later).ids, asked(later).prompt, asked(later).seed) == (before.ids, ids(40), 7)


def test_what_is_known_is_of_the_answer_as_it_was(desk: Desk, model: Path) -> None:
    desk.load(model)
    half_an_answer(desk)
    desk.program.reproducing.begin(answer(desk))
    desk.settle()
    read(desk)
    end(desk, same=2)
    assert told(known(desk)) == "Identical: all 2 tokens."
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer", count=2)
    desk.engine.finish()
    desk.settle()
    assert desk.program.reproducing.of(answer(desk)) is None


def test_a_difference_is_told_with_what_is_kept(desk: Desk, reproducing: Reproducing) -> None:
    reproducing.begin(answer(desk))
    read(desk)
    end(desk, same=1, difference=Difference(1, 5, 6, 0.006, 0.004, None))
    assert known(desk).phase == "tie"
    assert told(known(desk)).startswith(
        "First difference at token 2 of 3: “#5” then, “#6” now; 0.004 apart in log-probability then, 0.006 now. "
    )


def test_a_chat_that_is_deleted_meanwhile_ends_it_and_has_room_for_another(
    desk: Desk, reproducing: Reproducing
) -> None:
    turn, conversations = answer(desk), desk.program.conversations
    reproducing.begin(turn)
    read(desk)
    conversations.delete(desk.program.chat.conversation_id)
    assert desk.engine.all(Cancel)[-1].request == asked(desk).request
    end(desk, same=0, stop_reason="cancelled")
    conversations.undo_delete()
    desk.settle()
    assert known(desk).phase == "stopped"
    assert reproducing.hindrance(answer(desk)) is None


def test_a_message_that_is_deleted_meanwhile_ends_it(desk: Desk, reproducing: Reproducing) -> None:
    first = answer(desk)
    say(desk, "Two", "2")
    reproducing.begin(answer(desk))
    read(desk)
    desk.program.branches.delete(answer(desk))
    assert desk.engine.all(Cancel)[-1].request == asked(desk).request
    end(desk, same=0, stop_reason="cancelled")
    reproducing.begin(first)
    read(desk)
    assert known(desk, first).phase == "reading"


def test_an_answer_that_is_deleted_after_its_chat_was_left_and_opened_again_ends_it(
    desk: Desk, reproducing: Reproducing
) -> None:
    say(desk, "Two", "2")
    turn, conversation = answer(desk), desk.program.chat.conversation_id
    reproducing.begin(turn)
    read(desk)
    desk.program.conversations.new()
    desk.program.conversations.open(conversation)
    desk.until(lambda: desk.program.chat.conversation_id == conversation)
    reopened = answer(desk)
    assert reopened is not turn and reopened.message == turn.message
    assert (known(desk).phase, desk.engine.all(Cancel)) == ("reading", [])
    desk.program.branches.delete(reopened)
    assert desk.engine.all(Cancel)[-1].request == asked(desk).request
    end(desk, same=0, stop_reason="cancelled")
    assert reproducing.begin(desk.program.chat.turns[1])


def test_an_answer_goes_with_the_question_before_it(desk: Desk, reproducing: Reproducing) -> None:
    say(desk, "Two", "2")
    reproducing.begin(answer(desk))
    read(desk)
    desk.program.branches.delete(desk.program.chat.turns[2])
    assert desk.engine.all(Cancel)[-1].request == asked(desk).request


def test_a_deletion_elsewhere_does_not_end_it(desk: Desk, reproducing: Reproducing) -> None:
    first = answer(desk)
    say(desk, "Two", "2")
    reproducing.begin(first)
    read(desk)
    desk.program.branches.delete(answer(desk))
    assert (known(desk, first).phase, desk.engine.all(Cancel)) == ("reading", [])


def test_questions_in_a_row_are_read_in_one_as_no_model_wrote_the_first(
    desk: Desk, model: Path, again: Callable[[], Desk]
) -> None:
    desk.load(model)
    desk.program.chat.send("One")
    desk.settle()
    later = again()
    later.program.conversations.open(later.program.conversations.heads[0].id)
    later.settle()
    later.program.chat.send("Two")
    later.settle()
    request = later.engine.question.request
    spans = (PromptSpan(0, 6, "history", 0), PromptSpan(6, 8, "template", -1), PromptSpan(8, 40, "prompt", 1))
    later.engine.say(PromptReady(request, ids(40), spans, 12, 0, seed=7))
    later.engine.write("2")
    later.engine.finish()
    later.settle()
    assert [turn.text for turn in later.program.chat.turns] == ["One", "", "Two", "2"]
    later.program.reproducing.begin(answer(later))
    later.settle()
    assert asked(later).stretches == (ReadStretch(12),)


def test_another_chat_can_be_shown_meanwhile(desk: Desk, reproducing: Reproducing) -> None:
    first = answer(desk)
    reproducing.begin(first)
    read(desk)
    desk.program.conversations.new()
    asked_before = len(desk.engine.all(Generate))
    desk.program.chat.send("Two")
    desk.settle()
    assert (desk.engine.all(Cancel), len(desk.engine.all(Generate))) == ([], asked_before)
    end(desk)
    assert len(desk.engine.all(Generate)) == asked_before + 1
    assert known(desk, first).phase == "same"


def test_what_the_next_send_finds_in_the_cache_follows_it(desk: Desk, reproducing: Reproducing) -> None:
    desk.program.prompt_count.set_draft("And?")
    desk.settle()
    render(desk, 50)
    before = desk.program.prompt_count.count
    assert before.cached >= 40
    reproducing.begin(answer(desk))
    desk.settle()
    desk.engine.say(PromptReady(asked(desk).request, asked(desk).prompt, asked(desk).spans, 0, 0))
    desk.settle()
    assert desk.program.prompt_count.count.cached == 0
    read(desk, done=20)
    assert desk.program.prompt_count.count.cached == 20
    end(desk)
    assert desk.program.prompt_count.count.cached == 40
