"""Prefill: the prompt goes into the KV cache in chunks, with progress and a look for a cancel between them.

Knows nothing of where the tokens came from and nothing of sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from app.engine.backend import Backend
from app.engine.kv_cache import KVCache


class NoRoom(Exception):
    """llama.cpp found no cells for a batch although the cache should hold it."""


def prefill(
    backend: Backend, cache: KVCache, prompt: npt.NDArray[np.int32], cancelled: Callable[[], bool]
) -> Iterator[int]:
    """Evaluate the tokens of a prompt that are not in the cells yet; yields the cells in use after each chunk.

    Ends early when `cancelled`; on a CPU also in the middle of a chunk, whose cells are freed. Raises `NoRoom`.
    """
    backend.set_abort(cancelled)
    try:
        while cache.used < len(prompt) and not cancelled():
            chunk = prompt[cache.used : cache.used + backend.micro_batch]
            last = cache.used + len(chunk) == len(prompt)
            result = cache.append(chunk, logits=last)
            if result == "no_room":
                raise NoRoom
            if result == "aborted":
                return
            backend.synchronize()
            yield cache.used
    finally:
        backend.set_abort(None)
