"""The attention of one token as plain values for whoever shows it: rows by layer and head, and where each went most.

Works on the bytes as they come, of which a row is a stretch: no numbers library is there. Layers and heads count from 0.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import msgspec

from app.core.attention import AttentionRead, LayerAttention

Goal = Literal["first", "before", "itself", "other"]
"""What a head looked at most: the first token, the one before, the token itself, or another."""


class Strongest(msgspec.Struct, frozen=True):
    """What one head looked at most."""

    token: int
    share: float
    goal: Goal


class Seeker(msgspec.Struct, frozen=True):
    """The head that looked most at one token."""

    layer: int
    head: int | None
    """None for the average of a layer, where only those are known."""
    share: float


class AttentionRows:
    """What the last of n tokens looked at."""

    def __init__(self, event: AttentionRead, tokens: int) -> None:
        """Raises ValueError where what was sent is not of so many tokens."""
        self.layers: tuple[LayerAttention, ...] = event.layers
        self.tokens = tokens
        """n, the token itself among them."""
        self._starts = [0, *accumulate(layer.rows for layer in event.layers)]
        self._rows = memoryview(event.rows).cast("f")
        self._strongest = memoryview(event.strongest).cast("i")
        self._mean = memoryview(event.mean).cast("f")
        self.embedding: Sequence[float] = memoryview(event.embedding).cast("f")
        """The token's row of the embedding matrix; empty where it is not known."""
        if len(self._rows) != self._starts[-1] * tokens or len(self._strongest) != self._starts[-1]:
            raise ValueError(f"{len(self._rows)} values are not the rows of {tokens} tokens")

    @property
    def nbytes(self) -> int:
        """The bytes of its rows."""
        return self._rows.nbytes

    @property
    def is_empty(self) -> bool:
        """Whether no layer has attention that can be read."""
        return not self._starts[-1]

    @property
    def are_averaged(self) -> bool:
        """Whether only the averages over the heads were sent, because the rows of all would be too much."""
        return any(layer.heads and layer.rows == 1 for layer in self.layers)

    @property
    def most_heads(self) -> int:
        """The heads of the layer that has most rows of single heads."""
        return max((layer.rows - 1 for layer in self.layers if layer.rows), default=0)

    def row(self, layer: int | None = None, head: int | None = None) -> Sequence[float] | None:
        """Return the shares of the n tokens; None as layer averages over all, as head over those of the layer.

        None where there is no such row.
        """
        if layer is None:
            return self._mean if head is None and len(self._mean) else None
        place = self._place(layer, head)
        return None if place is None else self._rows[place * self.tokens : (place + 1) * self.tokens]

    def strongest(self, layer: int, head: int | None = None) -> Strongest | None:
        """Return what a head looked at most; None where there is no such row."""
        place = self._place(layer, head)
        if place is None:
            return None
        token = self._strongest[place]
        return Strongest(token, self._rows[place * self.tokens + token], self._goal(token))

    def most_at(self, token: int) -> Seeker | None:
        """Return which head looked most at a token, the earliest of equals; None where no row has it."""
        if not 0 <= token < self.tokens:
            return None
        found: Seeker | None = None
        for layer, about in enumerate(self.layers):
            first, single = self._starts[layer], about.rows > 1
            for line in range(int(single), about.rows):
                share = self._rows[(first + line) * self.tokens + token]
                if found is None or share > found.share:
                    found = Seeker(layer, line - 1 if single else None, share)
        return found

    def most(self, count: int, layer: int | None = None, head: int | None = None) -> tuple[tuple[int, float], ...]:
        """Return the tokens that a row went to most with their shares, the largest first, earlier ones first of equals."""
        row = self.row(layer, head)
        if row is None:
            return ()
        return tuple((token, row[token]) for token in heapq.nlargest(count, range(len(row)), key=row.__getitem__))

    def _place(self, layer: int, head: int | None) -> int | None:
        if not 0 <= layer < len(self.layers):
            return None
        within = 0 if head is None else head + 1
        return self._starts[layer] + within if 0 <= within < self.layers[layer].rows else None

    def _goal(self, token: int) -> Goal:
        last = self.tokens - 1
        if token == last:
            return "itself"
        if token == 0:
            return "first"
        return "before" if token == last - 1 else "other"
