"""What people say of a model of their library, and what is known of its use: kept under `ModelRef.identity`."""

from __future__ import annotations

import msgspec

LONGEST_NOTE = 10_000
"""Characters of what people write of one model."""


class ModelNote(msgspec.Struct, frozen=True):
    """What people say of one model, wherever its file lies and whatever that is called."""

    model: str
    """Which model it is: `FoundModel.identity`."""
    note: str = ""
    name: str = ""
    """What people call it; empty where its file says it well enough."""
    favourite: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return not (self.note or self.name or self.favourite)


class ModelUse(msgspec.Struct, frozen=True):
    """When a model answered last here, and how fast; None is unknown."""

    model: str
    last_ms: int
    """Milliseconds since 1970."""
    decode: float | None = None
    """Tokens a second over the newest answers in which that was measured."""
    prefill: float | None = None
    decode_answers: int = 0
    """Over so many answers."""
    prefill_answers: int = 0


class KeptOfModels(msgspec.Struct, frozen=True):
    """What is kept of all models together."""

    notes: tuple[ModelNote, ...] = ()
    uses: tuple[ModelUse, ...] = ()
