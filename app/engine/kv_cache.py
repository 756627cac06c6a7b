"""The cells of the KV cache: which tokens are in them, what of a prompt can be reused, and trimming.

Sequence 0 is the chat. Knows token ids and positions; what they say is the tokenizer's business.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.engine.backend import Backend, DecodeResult, TokenIds

CHAT = 0


def common_prefix(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> int:
    """Return how many leading ids two sequences share."""
    shorter = min(len(left), len(right))
    differs = np.flatnonzero(left[:shorter] != right[:shorter])
    return int(differs[0]) if len(differs) else shorter


class KVCache:
    """Mirrors the tokens whose keys and values lie in the cells of the chat's sequence."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._ids = np.zeros(backend.cells, np.int32)
        self.used = 0

    @property
    def ids(self) -> npt.NDArray[np.int32]:
        """Ids in the cells, shape (used,); a view."""
        return self._ids[: self.used]

    @property
    def cells(self) -> int:
        """Cells of this context."""
        return self._backend.cells

    def reusable(self, prompt: npt.NDArray[np.int32]) -> int:
        """Return how many leading tokens of a prompt need not be evaluated again.

        Its last token always is: only a decode gives logits. A sliding window must still hold the cells
        before the place where the prompt goes on.
        """
        count = min(common_prefix(self.ids, prompt), len(prompt) - 1)
        oldest = self._backend.min_position(CHAT)
        window = self._backend.window
        if count > 0 and (oldest < 0 or (window > 0 and oldest > max(0, count - window - 1))):
            return 0
        return max(count, 0)

    def trim(self, length: int) -> int:
        """Keep the first cells and free the rest; returns how many were kept (0 where the cache cannot cut)."""
        if not self._backend.remove(CHAT, length):
            self._backend.remove(CHAT, 0)
            length = 0
        self.used = length
        return length

    def append(self, ids: TokenIds, *, logits: bool) -> DecodeResult:
        """Evaluate tokens behind those in the cells; after an abort the cells of this call are freed."""
        count = len(ids)
        result = self._backend.decode(ids, self.used, sequence=CHAT, logits=logits)
        if result == "done":
            self._ids[self.used : self.used + count] = ids
            self.used += count
        else:
            self.trim(self.used)
        return result
