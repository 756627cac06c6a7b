"""The state of a conversation on disk: where it lies, whose it is, and what the engine tells of it."""

from __future__ import annotations

import msgspec

from app.core.words import Sentence


class StatePlace(msgspec.Struct, frozen=True):
    """Where the keys and values of a conversation may be kept."""

    path: str
    model: str
    """`ModelRef.identity`: the state of another model is none of this one's."""
    most_bytes: int
    """A larger state is not kept."""
    lacks_memory: bool = False
    """Whether it is memory that allows no more, and not what people set."""


class StateKept(msgspec.Struct, frozen=True, tag="state_kept"):
    """What a conversation's cells hold was written to disk, or could not be."""

    path: str
    tokens: int
    bytes: int
    """Of the file; 0 where there is none."""
    problem: Sentence | None = None
    """Why it could not be written, or may not be."""
