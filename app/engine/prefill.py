"""Prefill: the prompt goes into the KV cache in chunks, with progress and a look for a cancel between them.

Knows nothing of where the tokens came from and nothing of sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from app.core.chat import ReadStretch
from app.core.errors import UserError
from app.core.words import translate
from app.engine.backend import Backend
from app.engine.kv_cache import KVCache


class NoRoom(UserError):
    """llama.cpp found no cells for a batch although the cache should hold it."""

    def __init__(self) -> None:
        super().__init__(
            translate(
                "Engine",
                "llama.cpp found no room in the context for this chat, although it should hold it. "
                "Load the model again with a larger context, then send again.",
            )
        )


def prefill(
    backend: Backend,
    cache: KVCache,
    prompt: npt.NDArray[np.int32],
    cancelled: Callable[[], bool],
    stretches: Sequence[ReadStretch] = (),
) -> Iterator[int]:
    """Evaluate the tokens of a prompt that are not in the cells yet; yields the cells in use after each chunk.

    The first of them can be read in stretches; no chunk is longer than the rest of one. Ends early when `cancelled`; on a CPU also in the middle of a chunk, whose cells are freed. Raises `NoRoom`.
    """
    backend.set_abort(cancelled)
    try:
        while cache.used < len(prompt) and not cancelled():
            end = min(cache.used + _longest(stretches, cache.used, backend.micro_batch), len(prompt))
            if cache.saves and cache.used < len(prompt) - 1:
                end = min(end, len(prompt) - 1)
            elif cache.saves:
                cache.checkpoint()  # here, because the last token must be evaluated again for every new answer
            chunk, last = prompt[cache.used : end], end == len(prompt)
            result = cache.append(chunk, logits=last)
            if result == "no_room":
                raise NoRoom
            if result == "aborted":
                return
            backend.synchronize()
            yield cache.used
    finally:
        backend.set_abort(None)


def _longest(stretches: Sequence[ReadStretch], start: int, most: int) -> int:
    """Return how many tokens from `start` on may be read at once."""
    stretch = next((stretch for stretch in stretches if stretch.end > start), None)
    if stretch is None:
        return most
    return 1 if stretch.one_by_one else min(stretch.end - start, most)
