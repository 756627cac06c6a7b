"""Seconds of prefill by the operations of a prompt and what a GPU gets done of them."""

from __future__ import annotations

from collections.abc import Sequence

from app.planner.decode_speed import Part
from app.planner.gpu import PrefillTime


def prefill_time(parts: Sequence[Part], prompt: int, cached: int = 0, micro_batch: int = 512) -> PrefillTime | None:
    """Return the time to the first token of a prompt, of which so many tokens are in the cache; None is unknown."""
    raise NotImplementedError
