"""Asks the session of a desk, and notes how questions ended."""

from __future__ import annotations

from typing import NamedTuple

from app.core.chat import ChatPrompt, PromptMessage
from app.core.sampling import SamplingSettings
from app.services.engine_session import Phase
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
