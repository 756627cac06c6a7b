"""In which stretches a prompt is read again: as it had come into the cache, whoever wrote what in whatever order."""

from __future__ import annotations

import msgspec
import pytest

from app.core.chat import PromptSpan, ReadStretch
from app.core.conversation import AnswerPrompt, Conversation
from app.core.sampling import SamplingSettings
from app.services.open_conversation import OpenConversation
from app.services.reread_prompt import stretches_of, written_before
from app.services.turns import Turn

IDS = bytes(4)
LENGTH = 10
"""Tokens of each message."""


def conversation(*said: tuple[str, str, bytes]) -> OpenConversation:
    """Return a conversation of one branch: role, text and ids of each message."""
    turns = []
    for number, (role, text, ids) in enumerate(said, 1):
        turn = Turn(0, "assistant" if role == "assistant" else "user", text, ids=ids)
        turn.message, turn.parent = number, number - 1 or None
        turns.append(turn)
    return OpenConversation(Conversation(1, "", 0, 0, SamplingSettings()), turns)


def prompt(*messages: int) -> AnswerPrompt:
    """Return a prompt that has these messages, the last of them the question."""
    spans = [
        PromptSpan(place * LENGTH, (place + 1) * LENGTH, "history" if message != messages[-1] else "prompt", message)
        for place, message in enumerate(messages)
    ]
    return AnswerPrompt(9, bytes(4 * LENGTH * len(messages)), tuple(spans))


QUESTION, ANSWER, EMPTY, EDITED = (
    ("user", "Why?", b""),
    ("assistant", "So.", IDS),
    ("assistant", "", b""),
    (
        "assistant",
        "Mine.",
        b"",
    ),
)


def read(of: OpenConversation, sent: AnswerPrompt, cached: int) -> tuple[ReadStretch, ...]:
    return stretches_of(sent, written_before(of, of.turns[-1]), cached)


def test_answers_are_read_one_by_one() -> None:
    said = conversation(QUESTION, ANSWER, QUESTION, ANSWER, QUESTION, ANSWER)
    expected = (ReadStretch(10), ReadStretch(20, True), ReadStretch(30), ReadStretch(35, True), ReadStretch(35))
    assert read(said, prompt(0, 1, 2, 3, 4), 35) == expected
    assert read(said, prompt(0, 1, 2, 3, 4), 0) == ()


def test_the_thinking_of_an_answer_is_read_in_one_stretch_with_what_it_said() -> None:
    said = conversation(QUESTION, ANSWER, QUESTION, ANSWER)
    whole = prompt(0, 1, 2)
    first, answer, last = whole.spans
    parts = (PromptSpan(10, 16, "thinking", answer.message), PromptSpan(16, 20, "history", answer.message))
    apart = msgspec.structs.replace(whole, spans=(first, *parts, last))
    for cached in (13, 16, 18, 25):
        assert read(said, apart, cached) == read(said, whole, cached) != ()


def test_an_answer_without_a_word_was_not_sent() -> None:
    said = conversation(QUESTION, ANSWER, QUESTION, EMPTY, QUESTION, ANSWER)
    assert read(said, prompt(0, 1, 2, 3), 35) == (ReadStretch(10), ReadStretch(20, True), ReadStretch(35))


def test_what_a_person_wrote_for_an_answer_is_read_in_one() -> None:
    said = conversation(QUESTION, EDITED, QUESTION, ANSWER, QUESTION, ANSWER)
    assert read(said, prompt(0, 1, 2, 3, 4), 45) == (ReadStretch(30), ReadStretch(40, True), ReadStretch(45))


@pytest.mark.parametrize("sent", [prompt(0, 1, 2), prompt(1, 2, 3)])
def test_a_system_prompt_that_came_or_went_moves_nothing(sent: AnswerPrompt) -> None:
    said = conversation(QUESTION, ANSWER, QUESTION, ANSWER)
    assert read(said, sent, 25) == (ReadStretch(10), ReadStretch(20, True), ReadStretch(25))


def test_the_oldest_messages_may_have_been_left_out() -> None:
    said = conversation(QUESTION, EMPTY, QUESTION, ANSWER, QUESTION, ANSWER)
    assert read(said, prompt(1, 2, 3), 25) == (ReadStretch(10), ReadStretch(20, True), ReadStretch(25))
