"""What is asked of the engine to count a prompt: plain values."""

from __future__ import annotations

from typing import NamedTuple

from app.core.chat import ChatPrompt
from app.core.commands import WhenFull
from app.services.turns import Turn


class Send(NamedTuple):
    """What would be sent, and what decides what is left out of it."""

    prompt: ChatPrompt
    when_full: WhenFull
    max_tokens: int


class AskedCount(NamedTuple):
    """A prompt that is being counted."""

    request: int
    message: str
    send: Send
    turns: tuple[Turn | None, ...]
    """Whose its messages are, but for the one that is written now."""
    is_ahead: bool
    """The answer before it is still being written: all that is learned is what is left out at least."""
