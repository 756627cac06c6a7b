"""Several sequences of one context: shared cells, and a batch with a token of each.

Knows nothing of lanes, prompts or settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.core.devices import GPU_KINDS, MainMemory
from app.core.lane_memory import most_sequences
from app.core.model import CacheSizes
from app.engine.backend import DecodeResult, TokenIds
from app.engine.devices import list_devices
from app.engine.llama import api
from app.engine.llama_context import LlamaContext
from app.engine.llama_parameters import LANES


class LlamaSequences:
    """The sequences of a context, whichever it is at the time; freed with `free`."""

    def __init__(self, context: LlamaContext) -> None:
        self._context = context
        self._batch: Any = api.llama_batch_init(LANES, 0, 1)
        self._tokens = np.ctypeslib.as_array(self._batch.token, (LANES,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (LANES,))
        np.ctypeslib.as_array(self._batch.logits, (LANES,))[:] = 1
        np.ctypeslib.as_array(self._batch.n_seq_id, (LANES,))[:] = 1
        self._sequences: Sequence[int] = ()

    @property
    def count(self) -> int:
        """How many the context has, the chat's included."""
        return self._context.sequences

    @property
    def cache(self) -> CacheSizes:
        """What the context keeps of the past with so many."""
        return self._context.cache

    def fitting(self, count: int, main_memory: MainMemory | None) -> int:
        """Return how many of so many would fit into memory, by what is known of it; at least as many as there are."""
        if count <= self.count:
            return count
        context = self._context
        gpus = {device.name: device.free for device in list_devices() if device.kind in GPU_KINDS}
        return most_sequences(context.sizes, self.count, count, context.state_bytes(), main_memory, gpus)

    def open(self, count: int) -> bool:
        """Have at least so many, with what the chat holds."""
        return count <= self.count or self._context.remake(count)

    def close(self) -> bool:
        """Have as many as were there at the load; False where the larger context stays."""
        return self._context.give_back()

    def share(self, source: int, target: int, length: int) -> None:
        """Let one sequence hold the first cells of another, too."""
        api.llama_memory_seq_cp(self._context.memory, source, target, 0, length)

    def decode(self, ids: TokenIds, positions: TokenIds, sequences: Sequence[int]) -> DecodeResult:
        """Evaluate a token in each of these sequences; raises RuntimeError when llama.cpp refuses the batch."""
        count, batch = len(ids), self._batch
        if not 0 < count <= LANES:
            raise ValueError(f"a batch holds 1 to {LANES} sequences, not {count}")
        if sequences != self._sequences:
            for place, sequence in enumerate(sequences):
                batch.seq_id[place][0] = sequence
            self._sequences = tuple(sequences)
        batch.n_tokens = count
        self._tokens[:count] = ids
        self._positions[:count] = positions
        return self._context.evaluate(batch)

    def free(self) -> None:
        """Free the batch; calling it twice is harmless."""
        if self._batch is not None:
            api.llama_batch_free(self._batch)
        self._batch = None
