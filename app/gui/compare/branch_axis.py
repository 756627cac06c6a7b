"""Where each token of a tree of lanes lies from left to right: one ruler for all lanes, stretched where they fork.

The same token of all lanes lies at the same place, so a longer lane always reaches further. Knows no widget.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from app.services.lane_analysis import BranchNode

_STEPS = (1, 2, 5)


class Axis(NamedTuple):
    """A ruler, straight between the tokens at which a stretch begins or ends."""

    tokens: tuple[int, ...]
    """So many tokens lie before each of these places; rising from 0."""
    arrives: tuple[float, ...]
    """Where the token before each of them ends, in pixels."""
    leaves: tuple[float, ...]
    """Where the one behind it begins: further to the right where lanes fork."""

    def x(self, token: float) -> float:
        """Return where so many tokens end."""
        place = bisect_left(self.tokens, token)
        if place >= len(self.tokens):
            return self.arrives[-1]
        if place == 0 or self.tokens[place] == token:
            return self.arrives[place]
        first, last = self.tokens[place - 1], self.tokens[place]
        share = (token - first) / (last - first)
        return self.leaves[place - 1] + share * (self.arrives[place] - self.leaves[place - 1])

    def token(self, x: float) -> float:
        """Return how many tokens lie before a place."""
        place = bisect_left(self.arrives, x)
        if place >= len(self.tokens):
            return self.tokens[-1]
        if place == 0 or x <= self.leaves[place - 1]:
            return self.tokens[max(place - 1, 0)]
        share = (x - self.leaves[place - 1]) / (self.arrives[place] - self.leaves[place - 1])
        return self.tokens[place - 1] + share * (self.tokens[place] - self.tokens[place - 1])

    def ticks(self, apart: float) -> tuple[tuple[float, int], ...]:
        """Return the places and numbers of a ruler: round ones, in steps as fine as there is room, none too close."""
        steps = [step * 10**power for power in range(5, -1, -1) for step in reversed(_STEPS)]
        fine = [self._step(place, apart, steps) for place in range(len(self.tokens))]
        numbers = [0]
        for (first, last), step in zip(pairwise(self.tokens), fine[1:], strict=True):
            numbers += range((first // step + 1) * step, last + 1, step)
        taken: list[float] = []
        ticks: dict[int, float] = {}
        for step in steps:
            for number in numbers:
                if number in ticks or number % step:
                    continue
                x = self.x(number)
                beside = bisect_left(taken, x)
                if all(abs(x - each) >= apart for each in taken[max(beside - 1, 0) : beside + 1]):
                    taken.insert(beside, x)
                    ticks[number] = x
        return tuple(sorted((x, number) for number, x in ticks.items()))

    def _step(self, place: int, apart: float, steps: Sequence[int]) -> int:
        """Return the finest step whose numbers have room before one of the places."""
        if place == 0:
            return 1
        width = self.arrives[place] - self.leaves[place - 1]
        tokens = self.tokens[place] - self.tokens[place - 1]
        return min((step for step in steps if step * width >= apart * tokens), default=steps[0])


def axis_of(
    tree: Sequence[BranchNode], least: Sequence[float], gaps: Mapping[int, float], per_token: float, left: float
) -> Axis:
    """Return the ruler that begins at `left`.

    Each stretch is at least as long as `least` says, and behind so many tokens there is a gap for those that fork there.
    """
    tokens = sorted({0} | {place for node in tree for place in (node.start, node.end)})
    ending: dict[int, list[int]] = {}
    for number, node in enumerate(tree):
        ending.setdefault(node.end, []).append(number)
    arrives: list[float] = []
    leaves: dict[int, float] = {}
    for place, token in enumerate(tokens):
        x = left if place == 0 else leaves[tokens[place - 1]] + per_token * (token - tokens[place - 1])
        for number in ending.get(token, ()):
            begun = left if tree[number].start == token else leaves[tree[number].start]
            x = max(x, begun + least[number])
        arrives.append(x)
        leaves[token] = x + gaps.get(token, 0.0)
    return Axis(tuple(tokens), tuple(arrives), tuple(leaves[token] for token in tokens))
