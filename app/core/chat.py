"""What is sent to a model: messages, and the three ways to give a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant"]


class PromptMessage(msgspec.Struct, frozen=True):
    """One message of a prompt; an answer carries the token ids it was sampled as (int32, little endian)."""

    role: Role
    text: str
    ids: bytes = b""


class ChatPrompt(msgspec.Struct, frozen=True, tag="chat"):
    """A conversation that the model's chat template turns into a prompt."""

    messages: tuple[PromptMessage, ...]
    template: str | None = None
    """Jinja source of the template that people chose; None takes the model's own."""
    continue_last: bool = False
    """The last message is the beginning of the answer, which goes on where it stopped.

    A U+FFFD at its end may be half of a character: the new text begins with it again, whole if the tokens complete it.
    """


class TextPrompt(msgspec.Struct, frozen=True, tag="text"):
    """Plain text that the model continues, without a template."""

    text: str


class TokenPrompt(msgspec.Struct, frozen=True, tag="ids"):
    """Token ids as they are (int32, little endian)."""

    ids: bytes


Prompt = ChatPrompt | TextPrompt | TokenPrompt


class PromptSpan(msgspec.Struct, frozen=True):
    """Where a part of the prompt lies, in tokens: `start` to `end` (exclusive)."""

    start: int
    end: int
    part: Literal["template", "system", "history", "thinking", "files", "prompt", "answer"]
    """“thinking” is that of an earlier answer, whose rest is “history”; “files” are those in any message of a user."""
    message: int
    """Index of the message, or -1 for the template's own text."""


def last_asked(spans: Sequence[PromptSpan]) -> int | None:
    """Return the index of the message that was asked last, by its words or its files; None where there is none."""
    return max((span.message for span in spans if span.part in ("files", "prompt")), default=None)


class ReadStretch(msgspec.Struct, frozen=True):
    """How a stretch of a prompt came into the cache: the tokens up to `end`, behind the stretch before."""

    end: int
    one_by_one: bool = False
    """Each token by itself, as they are where the model itself wrote them."""


def clean_text(text: str) -> str:
    """Return text that can be stored and tokenised: lone surrogates become U+FFFD, NUL characters go."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")


def clean_value(value: object) -> object:
    """Return a value of lists, dicts and plain values in which every text is clean."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_value(key): clean_value(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(element) for element in value]
    return value
