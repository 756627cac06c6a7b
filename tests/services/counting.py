"""Lets the engine of tests count drafts and prompts."""

from __future__ import annotations

from array import array

from app.core.commands import Command, Render, Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.words import translate
from tests.desk import Desk
from tests.fake_engine import CONTEXT


def ids(count: int) -> bytes:
    return array("i", range(count)).tobytes()


def tokenize(desk: Desk, tokens: int, question: Tokenize | None = None) -> None:
    """Let the engine count the text that it was asked for last, or another one."""
    desk.engine.say(Tokenized((question or desk.engine.all(Tokenize)[-1]).request, ids(tokens)))
    desk.settle()


def render(desk: Desk, tokens: int, question: Render | None = None, *, dropped: tuple[int, ...] = ()) -> None:
    """Let the engine count the prompt that it was asked for last, or another one; what is too long it refuses."""
    request = (question or desk.engine.all(Render)[-1]).request
    if tokens < CONTEXT:
        desk.engine.say(Rendered(request, "", ids(tokens), (), dropped=dropped))
    else:
        desk.engine.say(Failed(request, "prompt_too_long", translate("Test", "Too long."), tokens=tokens))
    desk.settle()


def asked(desk: Desk, kind: type[Command]) -> int:
    return sum(isinstance(command, kind) for command in desk.engine.sent)
