"""The lanes of a script: each follows an answer of its own, all of them at the speed of the script.

Knows nothing of time and of what an answer says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.devices import MainMemory
from app.core.model import CacheSizes
from app.engine.backend import DecodeResult, TokenIds

SEQUENCES = 9
"""The chat and eight lanes."""


class ScriptedSequences:
    """Counts the tokens of each lane; the first of a lane comes with the prompt and is the chat's."""

    def __init__(self, step: Callable[[int], None], evaluated: Callable[[Sequence[tuple[int, int]]], None]) -> None:
        """`step` takes the time of the tokens with this index; `evaluated` gets (lane from 0, index of its next token)."""
        self._step = step
        self._evaluated = evaluated
        self._drawn: dict[int, int] = {}
        self.cache = CacheSizes()
        """What the script keeps of the past."""

    @property
    def count(self) -> int:
        """How many a script has, the chat's included."""
        return SEQUENCES

    def fitting(self, count: int, main_memory: MainMemory | None) -> int:
        """A script needs no memory."""
        return count

    def open(self, count: int) -> bool:
        """A script has as many as it has."""
        return count <= SEQUENCES

    def close(self) -> bool:
        """Nothing was made."""
        return True

    def share(self, source: int, target: int, length: int) -> None:
        """Begin a lane."""
        self._drawn[target] = 0

    def decode(self, ids: TokenIds, positions: TokenIds, sequences: Sequence[int]) -> DecodeResult:
        """Go one token on in each of these lanes, in the time of one token."""
        self._step(max(self._drawn[sequence] for sequence in sequences))
        for sequence in sequences:
            self._drawn[sequence] += 1
        self._evaluated([(sequence - 1, self._drawn[sequence]) for sequence in sequences])
        return "done"

    def forget(self, sequence: int) -> None:
        """End a lane."""
        self._drawn.pop(sequence, None)
