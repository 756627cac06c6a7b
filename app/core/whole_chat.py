"""A whole conversation as one value: all that is kept of it, as it goes into a file and comes back out of one.

What was deleted and what is not sent yet is no part of it. Byte strings stand in JSON as base64.
"""

from __future__ import annotations

import msgspec

from app.core.chat import PromptSpan
from app.core.comparison import Comparison
from app.core.conversation import Conversation, Message, StoredAnswer

MOST_IDS = 400_000
"""Messages and comparisons of one conversation together; no larger one is taken out of a file."""


class WholeStretch(msgspec.Struct, frozen=True, gc=False):
    """One stretch of an answer as it was kept: its text, its tokens, and the blocks of their record."""

    text: str
    ids: bytes = b""
    """int32, little endian."""
    blocks: tuple[bytes, ...] = ()
    """Of `app.probability.record`."""


class WholePrompt(msgspec.Struct, frozen=True):
    """What a prompt adds to that of an earlier answer and to this answer itself, so that a long chat takes no n² tokens."""

    ids: bytes
    """The tokens behind those that are shared, int32, little endian."""
    spans: tuple[PromptSpan, ...] = ()
    """The parts behind those that are shared."""
    base: int | None = None
    """The answer that it builds on; None where it is all here."""
    shared: int = 0
    """How many tokens it begins with of the prompt and the tokens of `base`."""
    shared_spans: int = 0
    dropped: tuple[int, ...] = ()
    """Indices of the messages that were not sent."""


class WholeAnswer(msgspec.Struct, frozen=True):
    """How a message was written by a model, with everything that made it."""

    answer: StoredAnswer
    """Without its tokens, which are those of the stretches."""
    stretches: tuple[WholeStretch, ...] = ()
    prompt: WholePrompt | None = None
    """None where it is not kept."""


class WholeFile(msgspec.Struct, frozen=True):
    """The text of a file that was sent with a message."""

    message: int
    name: str
    text: str
    tokens: int | None = None


class WholeChat(msgspec.Struct, frozen=True):
    """A conversation with its messages, oldest first, and everything that is kept of them."""

    head: Conversation
    messages: tuple[Message, ...] = ()
    answers: tuple[WholeAnswer, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    files: tuple[WholeFile, ...] = ()

    @property
    def ids(self) -> int:
        """How many ids it takes: of itself, its messages and its comparisons."""
        return 1 + len(self.messages) + len(self.comparisons)
