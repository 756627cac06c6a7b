"""What reading attention takes, said before anybody asks for it: about so long, and about so many bytes.

The time is that of reading the tokens once more, at the speed that was measured last, else as answers showed it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from app.core.model import INSPECTION_BATCH, KV_ELEMENT_BYTES, ModelInfo
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting

CELLS_AT_ONCE = 256
Computed = tuple[object, ...]
"""What times hold for: a model's file, the options that it was loaded with, and what computes it."""


class AttentionCost(msgspec.Struct, frozen=True):
    """About what a pass takes; None is unknown."""

    tokens: int
    seconds: float | None
    memory_bytes: int | None


class PassSpeed:
    """How fast the last pass of each model was, as it was loaded; the context's making and freeing included."""

    LEAST_TOKENS = 64
    """Below so many a pass says nothing of the speed."""

    def __init__(self) -> None:
        self._speeds: dict[Computed, float] = {}
        self._tokens, self._began_s = 0, 0.0

    def begin(self, tokens: int) -> None:
        """A pass over so many tokens begins."""
        self._tokens, self._began_s = tokens, time.perf_counter()

    def end(self, computed: Computed) -> None:
        """It has ended, in a model that was loaded so."""
        took = time.perf_counter() - self._began_s
        if self._tokens >= self.LEAST_TOKENS and took > 0:
            self._speeds[computed] = self._tokens / took

    def of(self, computed: Computed) -> float | None:
        """Return the tokens a second of the last pass; None before there was one."""
        return self._speeds.get(computed)


WATCHED = 1.8
"""So much longer than a prefill alone a pass takes in which every operation is watched, as measured."""


class ReadingSpeed:
    """How fast the loaded model reads, before a pass of the same kind told: from answers, else as the machine showed itself.

    `expected` tells the tokens a second for so many tokens, from what is known of the machine; None where nothing is.
    """

    def __init__(self, session: EngineSession, inspecting: Inspecting) -> None:
        self._session = session
        self._inspecting = inspecting
        self.expected: Callable[[int], float | None] = lambda _tokens: None

    def of(self, tokens: int) -> float | None:
        """Return the tokens a second: of the answer that is looked at, else of the newest, else what is expected."""
        ref = self._session.ref
        for turn in (self._inspecting.turn, *reversed(self._inspecting.answers)):
            if turn is None or turn.finished is None or turn.model is None or ref is None:
                continue
            told = turn.finished.metrics.prefill_tokens_per_s
            if told is not None and turn.model.identity == ref.identity:
                return told
        return self.expected(tokens)


def computed(model: ModelInfo) -> Computed:
    """Return what a time belongs to that was measured with a model as it is loaded."""
    return model.path, model.options, model.context, model.devices, model.gpu_layers, model.threads


def cost_of(model: ModelInfo, tokens: int, tokens_per_s: float | None) -> AttentionCost:
    """Return what reading so many tokens takes: keys and values as f16 in every layer, and two rows of logits for
    each token of a batch, where they are computed and copied.

    A sliding window counts as a whole layer. What the graph needs beside that is small, and not known before.
    """
    memory = None
    cache, options = model.cache, model.options
    chosen = KV_ELEMENT_BYTES[options.kv_type_k] + KV_ELEMENT_BYTES[options.kv_type_v]
    if cache.full is not None or cache.window is not None:
        wide = 2 * KV_ELEMENT_BYTES["f16"] / chosen
        per_cell = (cache.full or 0) / max(model.context, 1) + (cache.window or 0) / max(cache.window_cells or 0, 1)
        cells = -(-tokens // CELLS_AT_ONCE) * CELLS_AT_ONCE
        memory = round(per_cell * wide * cells) + (cache.state or 0) + 2 * INSPECTION_BATCH * 4 * model.vocabulary
    return AttentionCost(tokens, tokens / tokens_per_s if tokens_per_s else None, memory)
