"""Stage 4 for lanes: the cells of several answers behind one prompt, which all of them share.

Knows sequences, positions and token ids; the prompt's own cells are the KV cache's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.engine.backend import Backend, DecodeResult
from app.engine.kv_cache import CHAT, KVCache
from app.engine.window_cells import CellsTold


class LaneCells(Protocol):
    """The cells of the lanes of one wave, by their places in it, from 0."""

    def open(self, lanes: int) -> None:
        """Let so many lanes begin behind the prompt."""

    def append(self, places: Sequence[int], tokens: Sequence[int]) -> DecodeResult:
        """Evaluate the next token of each of these lanes; the rows of the decode are in their order.

        Raises RuntimeError when llama.cpp refuses the batch.
        """

    def told(self, place: int) -> CellsTold:
        """Return what is told of the cells with the tokens of a lane."""

    def end(self, place: int) -> None:
        """Free the cells of a lane that has ended."""

    def close(self) -> None:
        """Free what is left of all lanes: the cache holds the prompt again, and nothing else."""


class SharedCells:
    """Lanes in sequences of their own, which hold the prompt's cells together with the chat's."""

    def __init__(self, backend: Backend, cache: KVCache) -> None:
        self._backend = backend
        self._sequences = backend.sequences
        self._cache = cache
        self._ends: list[int] = []
        """By place: the position behind the last token."""
        self._running: Sequence[int] = ()
        self._numbers: tuple[int, ...] = ()

    def open(self, lanes: int) -> None:
        """Share the prompt's cells with so many sequences."""
        length = self._cache.used
        self._ends = [length] * lanes
        for place in range(lanes):
            self._sequences.share(CHAT, place + 1, length)
        self._cache.window.open(lanes)
        self._cache.beside = self

    @property
    def used(self) -> int:
        """Cells of all lanes, beside the prompt's."""
        return sum(self._ends) - self._cache.used * len(self._ends)

    @property
    def window_used(self) -> int:
        """Those of them that layers with a sliding window have."""
        length, window = self._cache.used, self._cache.window
        return sum(
            end - max(window.lane_from(place, end), length) for place, end in enumerate(self._ends) if end > length
        )

    def append(self, places: Sequence[int], tokens: Sequence[int]) -> DecodeResult:
        """Evaluate a token in each of these sequences, all in one batch."""
        if places != self._running:
            self._running = places
            self._numbers = tuple(place + 1 for place in places)
        ends = self._ends
        result = self._sequences.decode(tokens, [ends[place] for place in places], self._numbers)
        if result == "done":
            for place in places:
                ends[place] += 1
            self._cache.window.lanes_grew(places, ends, self._cache.used)
        return result

    def told(self, place: int) -> CellsTold:
        """Return what is told of the cells with the tokens of a lane."""
        first = self._cache.window.lane_from(place, self._ends[place])
        return self._cache.told._replace(window_from=first)

    def end(self, place: int) -> None:
        """Free what a lane holds beside the prompt."""
        self._backend.remove(place + 1, 0)
        self._ends[place] = self._cache.used

    def close(self) -> None:
        """Free what all lanes hold; sequences that no longer share the prompt would keep it from being cut."""
        for place in range(len(self._ends)):
            self._backend.remove(place + 1, 0)
        self._ends = []
        self._cache.beside = None


class ChatCells:
    """One lane at a time in the chat's own sequence, which goes back to the prompt behind each."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._prompt = cache.place()

    def open(self, lanes: int) -> None:
        """Begin behind the prompt: it is there."""
        if lanes != 1:
            raise ValueError(f"one lane runs at a time, not {lanes}")

    def append(self, places: Sequence[int], tokens: Sequence[int]) -> DecodeResult:
        """Evaluate the lane's next token; where that comes to nothing, a state that it spoilt is the prompt's again."""
        return self._cache.append(tokens, logits=True, back=self._prompt)

    def told(self, place: int) -> CellsTold:
        """Return what is told: the lane and its prompt are one sequence."""
        return self._cache.told

    def end(self, place: int) -> None:
        """Go back to the prompt; raises RuntimeError where llama.cpp does not."""
        self.close()
        if self._cache.used != self._prompt.length:
            raise RuntimeError("llama.cpp does not go back to the prompt")

    def close(self) -> None:
        """Go back to the prompt, as far as that is possible."""
        if self._cache.used > self._prompt.length:
            self._cache.go_back(self._prompt)
