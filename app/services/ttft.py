"""The parts of the time to the first token, as far as they are known.

Definitions are the engine's clock's; the window adds when the first text was painted.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.metrics import TtftParts

TtftKind = Literal[
    "save", "queue", "queue_and_tokens", "tokens", "prefill", "first_sample", "held_back", "until_shown", "paint"
]
_MS = 1e6


class TtftPart(msgspec.Struct, frozen=True):
    """One part, in ms."""

    kind: TtftKind
    ms: float


def parts_so_far(moments: tuple[int | None, ...]) -> tuple[TtftPart, ...]:
    """Return the parts between what was told while an answer is written.

    The moments, in ns: sent, prompt ready, prompt read, first token, painted; nothing is said where one is unknown or
    they are out of order.
    """
    known = [moment for moment in moments if moment is not None]
    if len(known) < len(moments) or sorted(known) != known:
        return ()
    kinds: tuple[TtftKind, ...] = ("queue_and_tokens", "prefill", "first_sample", "until_shown")
    return tuple(
        TtftPart(kind, (after - before) / _MS) for kind, before, after in zip(kinds, known, known[1:], strict=False)
    )


def parts_at_end(parts: TtftParts, engine_ms: float | None, painted_ms: float | None) -> tuple[TtftPart, ...]:
    """Return all parts of an answer that has ended: `engine_ms` and `painted_ms` are the times to the first text."""
    paint = parts.paint
    if painted_ms is not None and engine_ms is not None:
        paint = max(0.0, painted_ms - engine_ms)
    named: tuple[tuple[TtftKind, float | None], ...] = (
        ("save", parts.save),
        ("queue", parts.queue),
        ("tokens", parts.tokens),
        ("prefill", parts.prefill),
        ("first_sample", parts.first_sample),
        ("held_back", parts.held_back),
        ("paint", paint),
    )
    return tuple(TtftPart(kind, ms) for kind, ms in named if ms is not None)
