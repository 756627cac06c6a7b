"""Answers that were stopped before their end, and chats that the context cannot hold."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptMessage
from app.core.commands import Generate, SettingsChange
from app.core.events import Finished, PromptReady
from app.core.metrics import StopReason
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.turns import Beginning, Turn
from tests.desk import Desk
from tests.fake_engine import metrics


@pytest.fixture
def chat(desk: Desk, model: Path) -> Chat:
    desk.load(model)
    return desk.program.chat


def stopped(desk: Desk, chat: Chat, text: str = "Half an ans", reason: StopReason = "length") -> Turn:
    """Ask, and let the answer end early with two tokens."""
    chat.send("One")
    desk.engine.prompt()
    desk.engine.write(text, count=2)
    desk.engine.finish(reason)
    desk.settle()
    return chat.turns[-1]


def ids(data: bytes) -> list[int]:
    return array("i", data).tolist()


@pytest.mark.parametrize("reason", ["length", "cancelled", "context_full"])
def test_an_answer_that_ended_early_goes_on_in_its_own_turn(desk: Desk, chat: Chat, reason: StopReason) -> None:
    grown: list[str] = []
    stopped(desk, chat, reason=reason)
    chat.text_added.connect(lambda _turn, text: grown.append(text))
    assert chat.can_go_on
    chat.go_on()
    asked = desk.engine.question
    assert desk.engine.chat.continue_last
    assert desk.engine.chat.messages == (
        PromptMessage("user", "One"),
        PromptMessage("assistant", "Half an ans", array("i", [0, 1]).tobytes()),
    )
    assert (asked.first_token, asked.settings.seed) == (2, 7)
    assert (chat.turns[-1].text, chat.turns[-1].state) == ("Half an ans", "waiting")
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer")
    desk.settle()
    assert (chat.turns[-1].text, chat.turns[-1].state) == ("Half an answer", "writing")
    desk.engine.finish(rest="!")
    desk.settle()
    turn = chat.turns[-1]
    assert len(chat.turns) == 2
    assert (turn.text, turn.state, ids(turn.ids)) == ("Half an answer!", "done", [0, 1, 0])
    assert "".join(grown) == "wer!"
    assert turn.finished is not None
    assert (turn.finished.text, turn.finished.stop_reason, turn.finished.seed) == (turn.text, "end", 7)
    assert not chat.can_go_on


def test_the_next_question_sends_the_whole_answer_with_all_of_its_tokens(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer")
    desk.engine.finish()
    desk.settle()
    chat.send("Two")
    assert desk.engine.chat.messages[1] == PromptMessage(
        "assistant", "Half an answer", array("i", [0, 1, 0]).tobytes()
    )
    assert not desk.engine.chat.continue_last
    assert (desk.engine.question.first_token, desk.engine.question.settings.seed) == (0, None)


def test_the_tokens_of_the_beginning_are_those_that_the_model_got(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.engine.prompt(answer=(8, 9, 10))
    desk.engine.write("wer")
    desk.settle()
    assert ids(chat.turns[-1].ids) == [8, 9, 10, 0]
    desk.engine.finish()
    desk.settle()
    assert ids(chat.turns[-1].ids) == [8, 9, 10, 0]


@pytest.mark.parametrize("reason", ["end", "stop_string"])
def test_an_answer_that_came_to_its_end_has_nothing_to_go_on_with(desk: Desk, chat: Chat, reason: StopReason) -> None:
    stopped(desk, chat, reason=reason)
    assert not chat.can_go_on
    chat.go_on()
    assert len(desk.engine.all(Generate)) == 1


def test_without_a_text_there_is_nothing_to_go_on_with(desk: Desk, chat: Chat) -> None:
    assert not chat.can_go_on
    chat.send("One")
    assert not chat.can_go_on
    desk.engine.finish("cancelled")
    desk.settle()
    assert not chat.can_go_on
    assert chat.can_answer_again


@pytest.mark.parametrize("end", ["prompt_too_long", "model", "stop", "die"])
def test_going_on_that_comes_to_nothing_loses_nothing(desk: Desk, chat: Chat, end: str) -> None:
    before = stopped(desk, chat, reason="context_full")
    kept = (before.text, before.ids, before.finished, before.state, before.dropped)
    chat.go_on()
    if end == "stop":
        desk.engine.prompt(dropped=(0, 1))
        desk.engine.finish("cancelled")
    elif end == "die":
        desk.engine.prompt()
        desk.engine.die(desk.engine.question.request)
    elif end == "model":
        desk.engine.fail("model")
    else:
        desk.engine.fail("prompt_too_long", text="The chat has 512 tokens and the context holds 512.")
    desk.settle()
    turn = chat.turns[-1]
    assert (turn.text, turn.ids, turn.finished, turn.state, turn.dropped) == kept
    assert not chat.busy and chat.can_go_on
    if end == "prompt_too_long":
        assert desk.told == "The chat has 512 tokens and the context holds 512."


def test_going_on_that_fails_after_some_words_keeps_old_and_new_ones(desk: Desk, chat: Chat, model: Path) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer and")
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    turn = chat.turns[-1]
    assert (turn.text, turn.state) == ("Half an answer and", "interrupted")
    assert chat.can_go_on
    desk.load(model)
    chat.go_on()
    assert desk.engine.chat.messages[-1].text == "Half an answer and"
    desk.engine.prompt(answer=(3, 4, 5, 6))
    desk.engine.write(" more")
    desk.engine.finish()
    desk.settle()
    turn = chat.turns[-1]
    assert (turn.text, ids(turn.ids), turn.state) == ("Half an answer and more", [3, 4, 5, 6, 0], "done")
    assert turn.finished is not None and turn.finished.seed == 7
    assert turn.finished.metrics.sampled_tokens == 1  # other tokens than were drawn are given ones


def test_stopping_again_keeps_what_was_added(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat, reason="cancelled")
    chat.go_on()
    desk.engine.prompt()
    desk.engine.write("wer")
    desk.settle()
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    assert chat.turns[-1].text == "Half an answer"
    assert chat.can_go_on


def test_a_model_that_adds_nothing_ends_the_answer(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.engine.prompt()
    desk.engine.write("")
    desk.engine.finish("end")
    desk.settle()
    turn = chat.turns[-1]
    assert (turn.text, turn.state, ids(turn.ids)) == ("Half an ans", "done", [0, 1, 0])
    assert not chat.can_go_on


def test_half_a_character_becomes_a_whole_one(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat, text="so \ufffd")
    chat.go_on()
    assert desk.engine.chat.messages[-1].text == "so \ufffd"
    desk.engine.prompt()
    desk.settle()
    assert chat.turns[-1].text == "so \ufffd"
    desk.engine.write("😀")
    desk.settle()
    assert chat.turns[-1].text == "so 😀"
    desk.engine.finish()
    desk.settle()
    assert chat.turns[-1].text == "so 😀"


def test_a_slider_moved_meanwhile_leaves_the_seed_alone(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.program.sampling.change(temperature=1.5, seed=99)
    moved = desk.engine.moved_settings[-1].settings
    assert (moved.temperature, moved.seed) == (1.5, 7)
    desk.engine.finish("cancelled")
    desk.settle()
    chat.send("Two")
    assert desk.engine.question.settings.seed == 99


def test_answering_again_begins_from_the_first_word(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.answer_again()
    assert not desk.engine.chat.continue_last
    assert desk.engine.question.first_token == 0
    desk.engine.prompt()
    desk.engine.write("New")
    desk.engine.finish()
    desk.settle()
    assert chat.turns[-1].text == "New"


def test_a_new_chat_while_an_answer_goes_on_forgets_the_beginning(desk: Desk, chat: Chat) -> None:
    stopped(desk, chat)
    chat.go_on()
    desk.program.conversations.new()
    chat.send("Fresh")
    desk.answer("wer")
    assert not desk.engine.chat.continue_last
    desk.answer("Hello")
    assert [turn.text for turn in chat.turns] == ["Fresh", "Hello"]


@pytest.mark.parametrize("policy", ["stop", "drop_oldest"])
def test_the_policy_that_was_chosen_goes_with_every_question(desk: Desk, chat: Chat, policy: str) -> None:
    desk.program.settings.change(when_full=policy)
    stopped(desk, chat)
    assert desk.engine.question.when_full == policy
    chat.go_on()
    assert desk.engine.question.when_full == policy


def test_how_many_messages_were_not_sent_stays_with_the_answer(desk: Desk, chat: Chat) -> None:
    changed: list[Turn] = []
    chat.send("One")
    chat.changed.connect(changed.append)
    desk.engine.prompt(dropped=tuple(range(12)))
    desk.settle()
    assert chat.turns[-1].dropped == 12
    assert changed == [chat.turns[-1]]
    desk.engine.write("1")
    desk.engine.finish()
    desk.settle()
    assert chat.turns[-1].dropped == 12
    assert desk.program.notices.latest is None
    chat.answer_again()
    desk.answer("2")
    assert chat.turns[-1].dropped == 0


def part(text: str, tokens: int, **changes: object) -> Finished:
    settings = (SettingsChange(0, SamplingSettings()),)
    given = {"metrics": metrics(tokens), "settings": settings, "stop_reason": "length", "seed": 7, **changes}
    return Finished(1, text, array("i", range(tokens)).tobytes(), **given)  # type: ignore[arg-type]


def test_the_figures_of_an_answer_in_parts_are_those_of_the_whole() -> None:
    slow = msgspec.structs.replace(metrics(11), decode_tokens_per_s=10.0, ttft_ms=100.0, prompt_tokens=40)
    fast = msgspec.structs.replace(
        metrics(31), decode_tokens_per_s=30.0, ttft_ms=20.0, prompt_tokens=51, traffic_gb_per_s=3.0
    )
    first = part("a", 11, metrics=slow)
    warm = SettingsChange(11, SamplingSettings(temperature=1.5, seed=7))
    rest = part("b", 31, metrics=fast, settings=(warm,), stop_reason="end")
    whole = Beginning("a", first.ids, first).joined(rest)
    assert (whole.text, len(whole.ids) // 4, whole.stop_reason) == ("ab", 42, "end")
    assert whole.metrics.sampled_tokens == 42
    assert whole.metrics.decode_tokens_per_s == pytest.approx(40 / 2.0)
    assert whole.metrics.traffic_gb_per_s == pytest.approx(2.0)
    assert (whole.metrics.ttft_ms, whole.metrics.prompt_tokens, whole.metrics.itl_ms) == (100.0, 40, None)
    assert whole.metrics.kv == fast.kv
    assert [(change.token, change.settings.temperature) for change in whole.settings] == [(0, 0.8), (11, 1.5)]
    assert whole.settings[1].settings.seed is None


def test_parts_of_one_token_have_no_speed_of_their_own() -> None:
    first, rest = part("a", 1), part("b", 1)
    whole = Beginning("a", first.ids, first).joined(rest)
    assert (whole.metrics.decode_tokens_per_s, whole.metrics.traffic_gb_per_s) == (None, None)
    assert len(whole.settings) == 1
    longer = Beginning("a", first.ids, first).joined(part("b", 5))
    assert longer.metrics.decode_tokens_per_s == pytest.approx(77.6)


def test_an_answer_that_was_interrupted_keeps_the_settings_of_its_beginning() -> None:
    rest = part("b", 3, settings=(SettingsChange(2, SamplingSettings(temperature=1.5)),))
    begun = (SettingsChange(0, SamplingSettings()),)
    whole = Beginning("a", array("i", [1, 2]).tobytes(), None, 7, begun).joined(rest)
    assert [(change.token, change.settings.temperature) for change in whole.settings] == [(0, 0.8), (2, 1.5)]
    same = Beginning("a", array("i", [1, 2]).tobytes(), None, 7, begun).joined(part("b", 3))
    assert same.settings == begun


def test_what_begins_with_nothing_is_whole_already() -> None:
    rest = part("b", 3)
    assert Beginning().joined(rest) is rest
    ready = PromptReady(1, b"", (), 0, 0)
    assert Beginning("a", b"").as_sent(ready) == Beginning("a", b"")
