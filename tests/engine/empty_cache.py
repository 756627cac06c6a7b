"""What a model says from an empty cache: llama.cpp alone, asked directly, to compare the engine's answers with.

It must not use the engine's cache, prefill or loop.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from app.engine.llama import api
from app.probability.record import TokenRecords

LogProbabilities = npt.NDArray[np.float64]
"""Shape (tokens, vocabulary)."""
MOST_OUTPUTS = 128


class EmptyCache:
    """A model with a context that is emptied before every answer; llama.cpp is started already."""

    def __init__(self, path: Path, context: int) -> None:
        self._model = api.llama_model_load_from_file(str(path).encode(), api.llama_model_default_params())
        params = api.llama_context_default_params()
        params.n_ctx = params.n_batch = context
        params.n_seq_max, params.kv_unified, params.n_outputs_max = 1, True, MOST_OUTPUTS
        params.n_threads = params.n_threads_batch = 1
        self._context = api.llama_init_from_model(self._model, params)
        self._batch = api.llama_batch_init(context, 0, 1)
        self._size = int(api.llama_vocab_n_tokens(api.llama_model_get_vocab(self._model)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        api.llama_batch_free(self._batch)
        api.llama_free(self._context)
        api.llama_model_free(self._model)

    def log_probabilities(self, prompt: list[int], answer: list[int]) -> LogProbabilities:
        """Return the distributions that the tokens of an answer of at most `MOST_OUTPUTS` were drawn from."""
        api.llama_memory_clear(api.llama_get_memory(self._context), True)
        ids, first = [*prompt, *answer[:-1]], len(prompt) - 1
        self._evaluate(ids[:first], 0, outputs=False)
        self._evaluate(ids[first:], first, outputs=True)
        rows = [self._row(index) for index in range(len(answer))]
        return np.stack([row - np.logaddexp.reduce(row) for row in rows])

    def _evaluate(self, ids: list[int], start: int, *, outputs: bool) -> None:
        if not ids:
            return
        batch: Any = self._batch
        batch.n_tokens = len(ids)
        for index, token in enumerate(ids):
            batch.token[index], batch.pos[index] = token, start + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = outputs
        assert api.llama_decode(self._context, batch) == 0

    def _row(self, index: int) -> npt.NDArray[np.float64]:
        pointer = api.llama_get_logits_ith(self._context, index)
        return np.ctypeslib.as_array(pointer, (self._size,)).astype(np.float64)


def assert_as_from_empty(records: TokenRecords, expected: LogProbabilities, nearness: float) -> float:
    """Each token's log-probability is the expected one, and each was the likeliest there; returns the largest gap."""
    steps = np.arange(len(records))
    gap = float(np.abs(records.log_probability - expected[steps, records.tokens]).max(initial=0.0))
    lead = float((expected.max(axis=1) - expected[steps, records.tokens]).max(initial=0.0))
    assert gap <= nearness and lead <= nearness, f"log-probabilities {gap:.4f} apart, {lead:.4f} behind the likeliest"
    return gap
