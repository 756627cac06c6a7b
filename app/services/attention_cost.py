"""What reading attention takes, said before anybody asks for it: about so long, and about so many bytes.

The time is that of reading the tokens once more, at the speed that was measured last; unknown before anything was.
"""

from __future__ import annotations

import time

import msgspec

from app.core.model import ModelInfo

BATCH_TOKENS = 64
"""Tokens at once in the second context: two rows of logits are kept for each, where they are computed and copied."""
CELLS_AT_ONCE = 256
_KV_BYTES = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
"""Bytes a value takes in the cache: blocks of 32 values have a scale of two bytes."""


class AttentionCost(msgspec.Struct, frozen=True):
    """About what a pass takes; None is unknown."""

    tokens: int
    seconds: float | None
    memory_bytes: int | None


class PassSpeed:
    """How fast the last pass of each model was, the context's making and freeing included."""

    LEAST_TOKENS = 64
    """Below so many a pass says nothing of the speed."""

    def __init__(self) -> None:
        self._speeds: dict[str, float] = {}
        self._tokens, self._began_s = 0, 0.0

    def begin(self, tokens: int) -> None:
        """A pass over so many tokens begins."""
        self._tokens, self._began_s = tokens, time.perf_counter()

    def end(self, model: str) -> None:
        """It has ended, in the model of this file."""
        took = time.perf_counter() - self._began_s
        if self._tokens >= self.LEAST_TOKENS and took > 0:
            self._speeds[model] = self._tokens / took

    def of(self, model: str) -> float | None:
        """Return the tokens a second of the last pass; None before there was one."""
        return self._speeds.get(model)


def cost_of(model: ModelInfo, tokens: int, tokens_per_s: float | None) -> AttentionCost:
    """Return what reading so many tokens takes: keys and values as f16 in every layer, and the rows of a batch.

    A sliding window counts as a whole layer. What the graph needs beside that is small, and not known before.
    """
    memory = None
    cache, options = model.cache, model.options
    kinds = (_KV_BYTES.get(options.kv_type_k), _KV_BYTES.get(options.kv_type_v))
    if cache.full is not None or cache.window is not None:
        wide = 4.0 / (kinds[0] + kinds[1]) if kinds[0] and kinds[1] else 1.0
        per_cell = (cache.full or 0) / max(model.context, 1) + (cache.window or 0) / max(cache.window_cells or 0, 1)
        cells = -(-tokens // CELLS_AT_ONCE) * CELLS_AT_ONCE
        memory = round(per_cell * wide * cells) + (cache.state or 0) + 2 * BATCH_TOKENS * 4 * model.vocabulary
    return AttentionCost(tokens, tokens / tokens_per_s if tokens_per_s else None, memory)
