"""Lets the engine of tests count drafts and prompts."""

from __future__ import annotations

from array import array

from app.core.commands import Command, Render, Tokenize
from app.core.events import Rendered, Tokenized
from tests.desk import Desk


def ids(count: int) -> bytes:
    return array("i", range(count)).tobytes()


def tokenize(desk: Desk, tokens: int, question: Tokenize | None = None) -> None:
    """Let the engine count the text that it was asked for last, or another one."""
    desk.engine.say(Tokenized((question or desk.engine.all(Tokenize)[-1]).request, ids(tokens)))
    desk.settle()


def render(desk: Desk, tokens: int, question: Render | None = None) -> None:
    """Let the engine count the prompt that it was asked for last, or another one."""
    desk.engine.say(Rendered((question or desk.engine.all(Render)[-1]).request, "", ids(tokens), ()))
    desk.settle()


def asked(desk: Desk, kind: type[Command]) -> int:
    return sum(isinstance(command, kind) for command in desk.engine.sent)
