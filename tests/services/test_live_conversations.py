"""The figures follow the conversation that is shown, whatever the engine works on."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import msgspec
import pytest

from app.core.events import Finished, Tokens
from app.core.metrics import DeviceMemory, ItlQuantiles
from app.services.figures import Elsewhere, Figures, figures_of_turn
from app.services.live import Live
from app.services.turns import Turn
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics
from tests.services.asking import ask, half_an_answer, say

MS = 1_000_000


@pytest.fixture
def live(desk: Desk, model: Path) -> Live:
    program = desk.program
    desk.load(model)
    return Live(program.session, chat=program.chat, answers=program.answers)


def told(figures: Figures) -> tuple[float | None, float | None, str | None, str]:
    """Return the time to the first token, the rate, how the answer ended, and where the time went."""
    sentence = figures.diagnosis.sentence.english() if figures.diagnosis is not None else ""
    return figures.ttft_ms, figures.decode_tokens_per_s, figures.stop_reason, sentence


def leave(desk: Desk) -> int:
    """Leave a conversation that was answered, so that it has to be read again, and return which one it is."""
    first = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.settle()
    return first


def test_a_new_chat_has_no_figures_and_the_cache_says_what_it_holds(desk: Desk, live: Live) -> None:
    say(desk, "Blue sky", "a", "b")
    assert told(live.figures)[1:3] == (77.6, "end")
    assert live.figures.kv_holds == ""
    desk.program.conversations.new()
    assert told(live.figures) == (None, None, None, "")
    assert (live.figures.itl_ms, live.figures.ttft_parts, live.gaps_ms) == (None, (), ())
    assert (live.figures.kv_cells_used, live.figures.kv_cells, live.figures.kv_holds) == (42, CONTEXT, "Blue sky")


def test_a_conversation_that_is_shown_again_has_its_figures_and_gaps_again(desk: Desk, live: Live) -> None:
    assert desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.engine.write("abc", count=3, step_ms=13)
    desk.settle()
    live.first_text_painted(desk.program.chat.turns[-1], desk.engine.question.sent_ns + 120 * MS)
    desk.engine.finish("length")
    desk.settle()
    before, gaps = live.figures, live.gaps_ms
    assert before.ttft_ms == pytest.approx(120.0) and gaps == pytest.approx((13.0, 13.0))
    first = leave(desk)
    say(desk, "Something else", "c")
    assert live.figures != before and live.gaps_ms == ()
    desk.program.conversations.open(first)
    desk.settle()
    assert told(live.figures) == told(before)
    assert (live.figures.itl_ms, live.figures.ttft_parts, live.gaps_ms) == (before.itl_ms, before.ttft_parts, gaps)
    assert live.figures.kv_holds == "Something else"


@pytest.mark.usefixtures("live")
def test_a_conversation_of_an_earlier_day_shows_what_is_stored_of_its_last_answer(desk: Desk) -> None:
    say(desk, "Blue sky", "a", "b")
    first = leave(desk)
    later = Live(desk.program.session, chat=desk.program.chat, answers=desk.program.answers)
    assert told(later.figures) == (None, None, None, "")
    desk.program.conversations.open(first)
    desk.settle()
    figures = later.figures
    assert told(figures)[:3] == (112.4, 77.6, "end")
    assert figures.itl_ms == ItlQuantiles(13.0, 15.0, 19.0)
    assert [part.kind for part in figures.ttft_parts][:3] == ["save", "queue", "tokens"]
    assert (figures.prompt_tokens, figures.prompt_tokens_from_cache, figures.prefill_tokens_per_s) == (40, 12, 131.2)
    assert figures.diagnosis is not None and not figures.is_writing


def test_an_answer_elsewhere_is_told_with_its_rate_and_its_figures_stay_there(desk: Desk, live: Live) -> None:
    assert desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.engine.write("abc", count=3, step_ms=20)
    desk.settle()
    assert live.figures.is_writing and live.figures.elsewhere is None
    first = desk.program.chat.shown
    desk.program.conversations.new()
    assert live.figures.elsewhere == Elsewhere("Blue sky", 50.0)
    assert not live.figures.is_writing and live.figures.sampled_tokens == 0
    live.first_text_painted(first.turns[-1], desk.engine.question.sent_ns + 500 * MS)
    assert live.figures.ttft_ms is None
    desk.engine.write("def", count=10, step_ms=10)
    desk.settle()
    assert live.figures.elsewhere is not None and live.figures.elsewhere.decode_tokens_per_s != 50.0
    assert live.figures.kv_cells_used == 52
    desk.program.conversations.open(first.head.id)
    assert live.figures.elsewhere is None and live.figures.sampled_tokens == 13
    assert live.figures.ttft_ms == pytest.approx(120.0)
    desk.program.conversations.new()
    desk.engine.finish()
    desk.settle()
    assert live.figures.elsewhere is None and live.figures.stop_reason is None
    desk.program.conversations.open(first.head.id)
    desk.settle()
    assert live.figures.stop_reason == "end" and len(live.gaps_ms) == 12


def test_a_question_behind_another_chats_answer_has_dashes_until_its_turn_comes(desk: Desk, live: Live) -> None:
    say(desk, "One", "a")
    conversation = desk.program.chat.conversation_id
    desk.program.conversations.new()
    assert desk.program.chat.send("Blue sky")
    desk.engine.write("a")
    desk.settle()
    desk.program.conversations.open(conversation)
    desk.settle()
    assert desk.program.chat.send("Two")
    desk.settle()
    assert live.figures.is_writing and told(live.figures) == (None, None, None, "")
    assert live.figures.elsewhere is not None and live.figures.elsewhere.title == "Blue sky"
    desk.engine.finish()
    desk.settle()
    desk.engine.prompt()
    desk.settle()
    assert live.figures.elsewhere is None
    assert (live.figures.prompt_tokens, live.figures.kv_holds) == (40, "")


def test_an_answer_that_came_to_nothing_leaves_the_figures_of_the_one_before(desk: Desk, live: Live) -> None:
    half_an_answer(desk)
    before, gaps = live.figures, live.gaps_ms
    assert len(gaps) == 1
    desk.program.chat.go_on()
    desk.settle()
    assert live.figures.is_writing and live.figures.stop_reason is None
    desk.engine.prompt(answer=(0, 1))
    desk.engine.finish("cancelled")
    desk.settle()
    assert told(live.figures) == told(before) and live.gaps_ms == gaps


def test_an_answer_that_went_on_has_the_figures_of_the_whole(desk: Desk, live: Live) -> None:
    half_an_answer(desk)
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer", count=3)
    desk.engine.finish()
    desk.settle()
    turn = desk.program.chat.turns[-1]
    assert turn.finished is not None
    assert live.figures.sampled_tokens == turn.finished.metrics.sampled_tokens == 5
    assert live.figures.itl_ms is None, "of both parts together nobody knows them, now as after a restart"


def test_an_answer_that_goes_on_keeps_the_time_to_its_first_token_as_its_turn_has_it(desk: Desk, live: Live) -> None:
    half_an_answer(desk)
    chat, turn = desk.program.chat, desk.program.chat.turns[-1]
    ttft_ms = live.first_text_painted(turn, desk.engine.question.sent_ns + 120 * MS)
    assert ttft_ms is not None
    chat.note_ttft(turn, ttft_ms)
    assert turn.ttft_ms == pytest.approx(120.0)
    parts = live.figures.ttft_parts
    chat.go_on()
    desk.settle()
    assert (live.figures.ttft_ms, live.figures.ttft_parts) == (turn.ttft_ms, parts)
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer", count=3)
    desk.settle()
    live.first_text_painted(desk.program.chat.turns[-1], desk.engine.question.sent_ns + 500 * MS)
    assert live.figures.ttft_ms == turn.ttft_ms
    desk.engine.finish()
    desk.settle()
    assert (live.figures.ttft_ms, live.figures.ttft_parts) == (turn.ttft_ms, parts)


def test_short_answers_that_questions_waited_behind_keep_their_own_times(desk: Desk, live: Live) -> None:
    chat, queue, sent_ns = desk.program.chat, desk.program.queue, list[int]()
    assert chat.send("One")
    assert queue.add("Two")
    assert queue.add("Three")
    desk.settle()
    for text in "ab":
        sent_ns.append(desk.engine.question.sent_ns)
        desk.answer(text)
    first, second, third = chat.turns[1::2]
    assert live.first_text_painted(third, desk.engine.question.sent_ns + 9 * MS) is None
    for turn, sent, ms in ((first, sent_ns[0], 120), (second, sent_ns[1], 130)):
        ttft_ms = live.first_text_painted(turn, sent + ms * MS)
        assert ttft_ms == pytest.approx(ms)
        assert live.first_text_painted(turn, sent + 999 * MS) is None
        chat.note_ttft(turn, ttft_ms)
    assert (live.figures.ttft_ms, third.ttft_ms) == (None, None)
    assert [turn.ttft_ms for turn in (first, second)] == pytest.approx([120.0, 130.0])


def test_an_answer_that_began_while_another_chat_was_shown_has_the_engines_time_at_once(
    desk: Desk, live: Live
) -> None:
    assert desk.program.chat.send("Blue sky")
    asked, conversation = desk.engine.question, desk.program.chat.conversation_id
    desk.program.conversations.new()
    at_ns = asked.sent_ns + 110 * MS
    desk.engine.say(Tokens(asked.request, 0, 1, b"\0\0\0\0", "a", b"", 41, at_ns, at_ns))
    desk.settle()
    assert live.figures.ttft_ms is None
    desk.program.conversations.open(conversation)
    desk.settle()
    assert live.figures.is_writing and live.figures.ttft_ms == pytest.approx(110.0)


def test_an_answer_that_was_cut_off_keeps_what_was_seen_of_it_until_the_next_start(desk: Desk, live: Live) -> None:
    assert desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.engine.write("abc", count=3, step_ms=20)
    desk.settle()
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(50.0) and not live.figures.is_writing
    later = Live(desk.program.session, chat=desk.program.chat, answers=desk.program.answers)
    desk.program.chat.opened.emit()
    assert told(later.figures) == (None, None, None, "")


def test_a_question_of_no_conversation_is_shown_until_one_is_opened(desk: Desk, live: Live) -> None:
    ask(desk)
    desk.answer("a", "b")
    assert live.figures.stop_reason == "end"
    desk.program.chat.opened.emit()
    assert live.figures.stop_reason is None


@pytest.mark.parametrize(("device", "helps"), [("CPU", "a GPU"), ("CUDA0", "")])
def test_a_stored_answer_knows_whether_a_gpu_computed_it(device: str, helps: str) -> None:
    measured = msgspec.structs.replace(
        metrics(201), decode_tokens_per_s=20.0, memory=(DeviceMemory(device, 100, 10, 10),)
    )
    turn = Turn(1, "assistant", "a", finished=Finished(0, "a", b"", "end", measured, 7, ()))
    figures = figures_of_turn(turn)
    assert figures.diagnosis is not None
    assert ("GPU" in figures.diagnosis.sentence.english()) is bool(helps)


def test_an_answer_that_has_ended_is_remembered_by_its_figures_alone(desk: Desk, live: Live) -> None:
    say(desk, "Blue sky", "a", "b")
    live.first_text_painted(desk.program.chat.turns[-1], desk.engine.question.sent_ns + 120 * MS)
    first, run = desk.program.chat.conversation_id, live._followed
    assert run is not None
    followed = weakref.ref(run)
    del run
    desk.program.conversations.new()
    say(desk, "Something else", "c")
    gc.collect()
    assert followed() is None
    desk.program.conversations.open(first)
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(120.0) and len(live.gaps_ms) == 1


def test_a_question_whose_model_was_unloaded_is_one_that_was_cut_off(desk: Desk, live: Live) -> None:
    say(desk, "Blue sky", "a", "b")
    assert not live.figures.is_cut_off
    assert desk.program.chat.send("And then?")
    desk.engine.write("Half")
    desk.settle()
    desk.program.session.unload()
    desk.settle()
    assert live.figures.is_cut_off and live.figures.stop_reason is None
    first = leave(desk)
    assert not live.figures.is_cut_off
    later = Live(desk.program.session, chat=desk.program.chat, answers=desk.program.answers)
    desk.program.conversations.open(first)
    desk.settle()
    assert later.figures.is_cut_off and later.figures.sampled_tokens == 0


def test_a_version_that_is_stepped_to_has_its_own_figures(desk: Desk, live: Live) -> None:
    chat, branches = desk.program.chat, desk.program.branches
    say(desk, "Blue sky", "a", "b")
    first = told(live.figures)
    chat.answer_again()
    desk.engine.prompt()
    desk.engine.write("c", count=9)
    desk.engine.finish("length")
    desk.settle()
    second = told(live.figures)
    assert (first[2], second[2]) == ("end", "length")
    assert branches.step(chat.turns[-1], -1)
    assert told(live.figures) == first
    assert branches.edit(chat.turns[-1], "What a person wrote")
    assert told(live.figures) == (None, None, None, "")
    assert branches.step(chat.turns[-1], -1)
    assert told(live.figures) == second
