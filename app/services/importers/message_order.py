"""Brings the nodes of a foreign tree into an order, whatever is wrong with it: missing parents, circles, missing times.

Knows nothing of what the nodes say. However long a branch is, nothing here calls itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from app.services.importers.losses import Losses


class Linked(Protocol):
    """What is known of a node here; times are milliseconds since 1970, None is unknown."""

    @property
    def parent(self) -> str | None:
        """Which one it says it follows."""

    @property
    def children(self) -> Sequence[str]:
        """Which ones it says follow it, the oldest first."""

    @property
    def ms(self) -> int | None:
        """When it was written."""


class Placed(NamedTuple):
    """A node with the one that it follows, and its own time or that of the one before."""

    key: str
    parent: str | None
    ms: int


def in_order(nodes: Mapping[str, Linked], losses: Losses) -> list[Placed]:
    """Return all nodes, the oldest first, each behind the one it follows."""
    walk = _Walk(nodes, losses)
    walk.go(walk.behind.get(None, ()))
    for key in nodes:
        if key not in walk.reached:
            losses.note("circles")
            walk.cut(key)
    return walk.found


class _Walk:
    """Goes through the tree from what begins it."""

    def __init__(self, nodes: Mapping[str, Linked], losses: Losses) -> None:
        self.found: list[Placed] = []
        self.reached: set[str] = set()
        self._nodes = nodes
        self._numbers = {key: number for number, key in enumerate(nodes)}
        self._ranks: dict[str, int] = {}
        """Of the nodes that follow the same one: which one each is."""
        self._parents = self._parents_of(losses)
        self.behind: dict[str | None, list[str]] = {}
        for key, parent in self._parents.items():
            self.behind.setdefault(parent, []).append(key)
        self._earliest = min((node.ms for node in nodes.values() if node.ms is not None), default=0)

    def go(self, firsts: Iterable[str]) -> None:
        """Go from some nodes to everything behind them."""
        heap: list[tuple[int, int, int, str]] = []
        self._reach(heap, firsts, self._earliest)
        while heap:
            ms, _, _, key = heapq.heappop(heap)
            self.found.append(Placed(key, self._parents[key], ms))
            self._reach(heap, self.behind.get(key, ()), ms)

    def cut(self, key: str) -> None:
        """Let the circle that a node leads back to begin with its first node."""
        seen: set[str] = set()
        above: str | None = key
        while above is not None and above not in seen:
            seen.add(above)
            key, above = above, self._parents[above]
        circle = [key]
        while (before := self._parents[circle[-1]]) is not None and before != key:
            circle.append(before)
        first = min(circle, key=self._numbers.__getitem__)
        self.behind[self._parents[first]].remove(first)
        self._parents[first] = None
        self.go((first,))

    def _reach(self, heap: list[tuple[int, int, int, str]], keys: Iterable[str], since: int) -> None:
        for key in keys:
            own = self._nodes[key].ms
            ms = own if own is not None else since
            self.reached.add(key)
            heapq.heappush(heap, (ms, self._ranks.get(key, 0), self._numbers[key], key))

    def _parents_of(self, losses: Losses) -> dict[str, str | None]:
        """Return what each node follows: by its own word, else by that of one that has it as a child."""
        named: dict[str, str] = {}
        for key, node in self._nodes.items():
            for rank, child in enumerate(node.children):
                if child != key and child not in named:
                    named[child], self._ranks[child] = key, rank
        found: dict[str, str | None] = {}
        for key, node in self._nodes.items():
            is_told = node.parent is not None and node.parent in self._nodes and node.parent != key
            found[key] = node.parent if is_told else named.get(key)
            if found[key] is None and node.parent is not None:
                losses.note("orphans")
        return found
