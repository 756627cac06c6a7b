"""Asks the session of a desk, and notes how questions ended."""

from __future__ import annotations

from typing import NamedTuple

from app.core.chat import ChatPrompt, PromptMessage
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.engine_session import Phase
from app.services.program import Program
from app.services.wishes import Question
from tests.desk import Desk


def ask(desk: Desk, text: str = "Hi") -> int:
    request = desk.program.session.new_request()
    prompt = ChatPrompt((PromptMessage("user", text),))
    desk.program.session.ask(Question(request, prompt, SamplingSettings()))
    return request


def phase(desk: Desk) -> Phase:
    return desk.program.session.phase


class End(NamedTuple):
    """How a question ended."""

    request: int
    kind: str
    text: str


def texts(program: Program) -> list[tuple[str, str, str]]:
    """Return role, text and state of every turn that is shown."""
    return [(turn.role, turn.text, turn.state) for turn in program.chat.turns]


def shown(chat: Chat) -> list[str]:
    """Return the text of every turn that is shown."""
    return [turn.text for turn in chat.turns]


def say(desk: Desk, question: str, *answer: str) -> None:
    """Ask in the chat that is shown, and let the engine answer."""
    assert desk.program.chat.send(question)
    desk.answer(*answer)


def half_an_answer(desk: Desk, text: str = "Half an ans") -> None:
    """Ask in the chat that is shown, and let the answer end at its limit after two tokens."""
    assert desk.program.chat.send("One")
    desk.engine.prompt()
    desk.engine.write(text, count=2)
    desk.engine.finish("length")
    desk.settle()
