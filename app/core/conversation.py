"""Conversations as they are kept: heads, messages in a tree, answers with everything that made them.

Ids are made by whoever makes the value, grow with time, and are never used twice.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.chat import PromptSpan
from app.core.commands import SettingsChange
from app.core.metrics import Metrics, StopReason
from app.core.model import ModelRef
from app.core.sampling import SamplingSettings
from app.core.words import Sentence

LONGEST_TITLE = 200
"""Characters of a conversation's title."""
LONGEST_GLIMPSE = 80
"""Characters that are shown of what lies in the trash."""
AnswerState = Literal["open", "done", "interrupted"]
"""“open” is being written; the program that opens the store next makes it “interrupted”."""


class Conversation(msgspec.Struct, frozen=True):
    """What is known of a conversation without its messages; times are milliseconds since 1970."""

    id: int
    title: str
    created_ms: int
    changed_ms: int
    """When a message was added last: the list is in this order, newest first."""
    settings: SamplingSettings = SamplingSettings()
    system_prompt: str = ""
    model: ModelRef | None = None
    """The model that was used in it last."""
    leaf: int | None = None
    """The message that the shown branch ends with."""
    folder: str = ""
    pinned: bool = False
    deleted_ms: int | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message of the tree; the text of an answer is whole once it has ended."""

    id: int
    conversation: int
    parent: int | None
    role: Literal["user", "assistant"]
    text: str
    created_ms: int
    deleted_ms: int | None = None
    edited: bool = False
    """Whether a person wrote or changed this text of an answer."""


class Thinking(msgspec.Struct, frozen=True, gc=False):
    """What an answer thought before it said anything: how it is told apart, and what it took."""

    opened: bool = False
    """Whether the prompt ended inside the thinking: then the answer has no opening tag."""
    tag: str = "think"
    tokens: int = 0
    ms: float = 0.0
    first_answer_ms: float | None = None
    """Send to the first token of the answer proper; None where there was none."""
    closed: bool = True


class StoredAnswer(msgspec.Struct, frozen=True, gc=False):
    """What is kept of how a message was written by a model; None is unknown."""

    message: int
    state: AnswerState
    model: ModelRef | None = None
    model_name: str = ""
    tokenizer: str = ""
    """`ModelInfo.tokenizer`: whose token ids these are."""
    ids: bytes = b""
    """The sampled tokens, int32, little endian; put together from the chunks by whoever keeps them."""
    settings: tuple[SettingsChange, ...] = ()
    seed: int | None = None
    metrics: Metrics | None = None
    ttft_ms: float | None = None
    """Send to the first painted character."""
    stop_reason: StopReason | None = None
    reason: Sentence | None = None
    """Why it ended early, where the model did not end it."""
    notes: tuple[Sentence, ...] = ()
    comparison: int | None = None
    """Of which comparison it is one lane: until it is kept, it is no version that people step to."""
    lane: int | None = None
    """Which of its lanes; where there is no comparison, it is the copy of a lane in a fork."""
    thinking: Thinking | None = None
    """None for an answer that did not think."""


class AnswerPrompt(msgspec.Struct, frozen=True):
    """The prompt that an answer was given: all of its token ids (int32), the parts, and what was left out of it."""

    message: int
    ids: bytes
    spans: tuple[PromptSpan, ...]
    dropped: tuple[int, ...] = ()
    """Indices of the messages that were not sent, as in `PromptReady`."""


class Chunk(msgspec.Struct, frozen=True):
    """A stretch of an answer as it was written: what became visible, the tokens, and their record."""

    message: int
    text: str
    ids: bytes
    """int32, little endian."""
    record: bytes = b""
    """One block of `app.probability.record`, or nothing."""


class Trashed(msgspec.Struct, frozen=True):
    """Something that was deleted and can be brought back: a conversation, or a branch of one."""

    conversation: int
    message: int | None
    """The first message of the branch; None for the whole conversation."""
    title: str
    text: str
    """The first line of what was said in it, at most `LONGEST_GLIMPSE` characters."""
    messages: int
    """How many messages come back with it that people saw in the chat."""
    deleted_ms: int
    """When that was by the clock; a later deletion may lie before it where the clock was set back."""
    lanes: int = 0
    """How many lanes of comparisons come back with it that nobody made an answer of the chat."""


class Pieces(msgspec.Struct, frozen=True):
    """What tokens say, as bytes: the tokens from `first` on, of one tokenizer."""

    tokenizer: str
    first: int
    ends: bytes
    """uint32, little endian: where the text of each token ends in `data`; it begins where the one before ended."""
    data: bytes
