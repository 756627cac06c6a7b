"""Saved states of a cache that cannot rewind: what a sliding window or a recurrent state held after some tokens.

Knows token ids and bytes; when to save and what to rewind to is the KV cache's business.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.core.words import Sentence, translate
from app.engine.backend import Backend

MOST_BYTES = 2 << 30
"""A state of more than that is not saved, and together they stay below it."""

State = npt.NDArray[np.uint8]
"""A saved state, shape (bytes,)."""


@dataclass(frozen=True)
class Checkpoint:
    """The part of a sequence that is lost when more tokens come, as it was after `ids`."""

    ids: npt.NDArray[np.int32]
    state: State

    @property
    def position(self) -> int:
        """How many tokens were in the cache."""
        return len(self.ids)


class Checkpoints:
    """The saved states of one sequence, the least recently used one first."""

    def __init__(self, backend: Backend, sequence: int, most: int, most_bytes: int = MOST_BYTES) -> None:
        """`most` states are kept at most; 0 saves none."""
        self._backend = backend
        self._sequence = sequence
        self._most = most
        self._most_bytes = most_bytes
        self._kept: list[Checkpoint] = []
        self._problem: Sentence | None = None

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def wanted(self) -> bool:
        """Whether states are saved at all."""
        return self._most > 0

    @property
    def bytes(self) -> int:
        """Bytes of all saved states."""
        return sum(checkpoint.state.nbytes for checkpoint in self._kept)

    def save(self, ids: npt.NDArray[np.int32]) -> None:
        """Save the state after these tokens, which are all that the sequence holds."""
        if not self.wanted or not len(ids):
            return
        for checkpoint in self._kept:
            if np.array_equal(checkpoint.ids, ids):
                self._use(checkpoint)
                return
        size = self._backend.state_bytes(self._sequence)
        if not 0 < size <= self._most_bytes:
            return
        while self._kept and (len(self._kept) >= self._most or self.bytes + size > self._most_bytes):
            del self._kept[0]
        try:
            self._kept.append(Checkpoint(ids.copy(), self._backend.save_state(self._sequence)))
        except (MemoryError, RuntimeError) as error:  # an answer is worth more than the way back to it
            sys.excepthook(type(error), error, error.__traceback__)
            self._problem = _not_saved(size)

    def take_problem(self) -> Sentence | None:
        """Return what people should know of a state that could not be saved, once."""
        problem, self._problem = self._problem, None
        return problem

    def best(self, prompt: npt.NDArray[np.int32], most: int) -> Checkpoint | None:
        """Return the longest saved state of at most `most` tokens that the prompt begins with."""
        return max(self._beginnings(prompt, most), key=lambda checkpoint: checkpoint.position, default=None)

    def restore(self, checkpoint: Checkpoint) -> bool:
        """Put a state back; False when llama.cpp does not take it, and then it is forgotten."""
        if self._backend.restore_state(self._sequence, checkpoint.state):
            self._use(checkpoint)
            return True
        self._kept.remove(checkpoint)
        return False

    def _beginnings(self, prompt: npt.NDArray[np.int32], most: int) -> Iterator[Checkpoint]:
        for checkpoint in self._kept:
            length = checkpoint.position
            if length <= min(most, len(prompt)) and np.array_equal(checkpoint.ids, prompt[:length]):
                yield checkpoint

    def _use(self, checkpoint: Checkpoint) -> None:
        self._kept = [*(kept for kept in self._kept if kept is not checkpoint), checkpoint]


def _not_saved(size: int) -> Sentence:
    return translate(
        "Engine",
        "The model's state ({size} MiB) could not be saved, so that the next question has to read more of the chat "
        "again. Close other programs if memory is short.",
        size=round(size / (1 << 20), 1),
    )
