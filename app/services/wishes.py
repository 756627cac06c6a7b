"""What people want of the engine: a model, and an answer.

Plain values; knows nothing of what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from app.core.chat import Prompt
from app.core.commands import RecordKind, WhenFull
from app.core.kept_state import StatePlace
from app.core.model import LoadOptions, ModelRef
from app.core.sampling import SamplingSettings


class Wish(msgspec.Struct, frozen=True):
    """A model that somebody wants to use, and how it should differ from what is remembered of it."""

    path: Path
    changes: Mapping[str, object] = {}
    """Fields of `LoadOptions` that were asked for."""
    remember: bool = True
    """Whether a load that works is remembered for the next time."""
    anyway: bool = False
    """Load it although memory does not seem to be enough."""


def moved(wish: Wish | None, old: frozenset[str], new: str) -> Wish | None:
    """Return a wish for a model whose file has another path now; None where it has none any more."""
    if wish is None or str(wish.path) not in old:
        return wish
    return msgspec.structs.replace(wish, path=Path(new)) if new else None


class Question(msgspec.Struct, frozen=True):
    """A prompt that waits for its model or is being answered."""

    request: int
    prompt: Prompt
    settings: SamplingSettings
    record: RecordKind = "all"
    when_full: WhenFull = "stop"
    first_token: int = 0
    """How many tokens an answer that goes on has already."""
    saved_ns: int = 0
    """How long it took to save the question before it could go: part of the time to the first token."""
    forced: tuple[int, ...] = ()
    """Its first tokens where somebody chose them."""
    tokens_per_s: float | None = None
    """The pace of the answer, as `SetPace` says it."""
    conversation: int | None = None
    """The chat that it belongs to; None where it belongs to none."""


class Unkept(Question, frozen=True):
    """A question that is not kept yet: it has its place among the others, and goes once it is kept."""

    def kept(self, settings: SamplingSettings, tokens_per_s: float | None, saved_ns: int) -> Question:
        """Return the question as it goes to the engine, with what holds now and the time that keeping it took."""
        changes = {"settings": settings, "tokens_per_s": tokens_per_s, "saved_ns": saved_ns}
        return Question(**{**msgspec.structs.asdict(self), **changes})


class LanesQuestion(msgspec.Struct, frozen=True):
    """A prompt that waits to be answered in several lanes, or is being answered so."""

    request: int
    prompt: Prompt
    lanes: tuple[SamplingSettings, ...]
    record: RecordKind = "all"
    when_full: WhenFull = "stop"


class Loading(msgspec.Struct, frozen=True):
    """A wish that the engine was asked to fulfil."""

    request: int
    wish: Wish
    ref: ModelRef
    options: LoadOptions


StatePlaces = Callable[[int | None, ModelRef | None], StatePlace | None]
"""Tells where the state of a conversation with a model may be kept; None where it may not be."""


def nowhere(_conversation: int | None, _model: ModelRef | None) -> None:
    """Keep no state of any conversation."""
    return
