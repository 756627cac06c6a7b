"""How many layers go to the GPU when nobody said: all that fit, experts of a mixture giving way before whole layers.

Where people allow it, the context gives way before both.
Pure: it asks a function what a configuration would take. Where a figure is unknown it chooses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from app.core.model import ALL_LAYERS, CONTEXT_STEP

MIB = 1024 * 1024
MARGIN = 1024 * MIB
"""Left free on a GPU: the driver's own share of a decode, cuBLAS, other windows. llama.cpp leaves as much."""
MARGIN_SHARE = 8
"""A small GPU gets an eighth of its memory as margin instead: a gigabyte would be most of it."""
SHORTEST_CONTEXT = 4096
"""A context is not shortened below this: llama.cpp's own limit (`common/fit.cpp`)."""
GUESSES = 6
"""Interpolated tries before halving takes over; two or three are enough where layers are alike."""

Measure = Callable[[int, int], Mapping[str, int | None]]
"""(layers on the GPU, first layers with their experts in main memory) → bytes on each GPU; None where unknown."""


MeasureContext = Callable[[int], Mapping[str, int | None]]
"""cells of the cache → bytes on each GPU; None where unknown."""


class Room(msgspec.Struct, frozen=True):
    """What one GPU has, in bytes; None is unknown."""

    total: int | None
    free: int | None

    @property
    def limit(self) -> int | None:
        """How much of it a model may take."""
        if self.free is None:
            return None
        margin = MARGIN if self.total is None else min(MARGIN, self.total // MARGIN_SHARE)
        return self.free - margin


class Choice(msgspec.Struct, frozen=True):
    """Layers on the GPU, the output layer counted, and where the experts of a mixture are."""

    gpu_layers: int
    experts_on_cpu: int
    """Of so many layers, the first ones, the experts lie in main memory; -1 is all."""


def choose_layers(measure: Measure, rooms: Mapping[str, Room], layers: int, *, mixture: bool) -> Choice | None:
    """Return the choice for a model of `layers` layers, the output layer counted; None where something is unknown.

    `mixture` says that the experts are still to be decided on.
    """
    limits = {name: limit for name, room in rooms.items() if (limit := room.limit) is not None}
    search = _Search(measure, limits)
    try:
        if search.excess(layers, 0) <= 0:
            return Choice(layers, experts_on_cpu=0)
        if mixture and (moved := search.fewest_experts(layers, layers - 1)) is not None:
            return Choice(layers, experts_on_cpu=moved)
        fitting = search.most_layers(layers, ALL_LAYERS if mixture else 0)
    except _Unknown:
        return None
    return Choice(fitting, experts_on_cpu=ALL_LAYERS if mixture and fitting else 0)


def choose_experts(measure: Measure, rooms: Mapping[str, Room], layers: int, blocks: int) -> int | None:
    """Return of how many of `blocks` layers the experts have to lie in main memory so that `layers` fit, -1 being all.

    None where they do not fit then either, or where something is unknown.
    """
    limits = {name: limit for name, room in rooms.items() if (limit := room.limit) is not None}
    search = _Search(measure, limits)
    try:
        return 0 if search.excess(layers, 0) <= 0 else search.fewest_experts(layers, blocks)
    except _Unknown:
        return None


def choose_context(measure: MeasureContext, rooms: Mapping[str, Room], cells: int) -> int | None:
    """Return the longest context up to `cells`, a multiple of 256, that fits on every GPU.

    None where not even the shortest fits that is worth it (4096, or `cells`), or where something is unknown.
    """
    limits = {name: limit for name, room in rooms.items() if (limit := room.limit) is not None}
    known: dict[int, int] = {}

    def excess(steps: int) -> int:
        if steps not in known:
            known[steps] = _excess(measure(steps * CONTEXT_STEP), limits)
        return known[steps]

    most, shortest = cells // CONTEXT_STEP, min(cells, SHORTEST_CONTEXT) // CONTEXT_STEP
    try:
        if excess(most) <= 0:
            return cells
        if excess(shortest) > 0:
            return None
        return _most(shortest, most, excess) * CONTEXT_STEP
    except _Unknown:
        return None


class _Unknown(Exception):
    """A figure that the choice needs is not known."""


class _Search:
    """Finds the largest number of layers that fits; measures every configuration once."""

    def __init__(self, measure: Measure, limits: Mapping[str, int]) -> None:
        self._measure = measure
        self._limits = limits
        self._known: dict[tuple[int, int], int] = {}

    def excess(self, layers: int, experts_on_cpu: int) -> int:
        """Return by how many bytes the fullest GPU is beyond its limit; 0 or less fits."""
        key = (layers, experts_on_cpu)
        if key not in self._known:
            self._known[key] = _excess(self._measure(layers, experts_on_cpu), self._limits)
        return self._known[key]

    def most_layers(self, layers: int, experts_on_cpu: int) -> int:
        """Return the largest number below `layers`, which do not fit, that does; 0 where nothing fits."""
        if self.excess(0, experts_on_cpu) > 0:
            return 0
        return _most(0, layers, lambda count: self.excess(count, experts_on_cpu))

    def fewest_experts(self, layers: int, blocks: int) -> int | None:
        """Return of how few of `blocks` layers the experts have to move, where some have to.

        All are -1; None where even that is not enough.
        """
        if self.excess(layers, ALL_LAYERS) > 0:
            return None
        staying = _most(0, blocks, lambda count: self.excess(layers, blocks - count if count else ALL_LAYERS))
        return blocks - staying if staying else ALL_LAYERS


def _excess(sizes: Mapping[str, int | None], limits: Mapping[str, int]) -> int:
    """Return by how many bytes the fullest GPU is beyond its limit; 0 or less fits."""
    beyond = []
    for name, size in sizes.items():
        limit = limits.get(name)
        if size is None or limit is None:
            raise _Unknown
        beyond.append(size - limit)
    return max(beyond, default=0)


def _most(low: int, high: int, excess: Callable[[int], int]) -> int:
    """Return the largest number below `high`, which does not fit, that does; `low` is known to."""
    for step in range(high - low):
        if high - low <= 1:
            break
        below, above = -excess(low), excess(high)
        guess = low + (high - low) * below // (below + above) if step < GUESSES else (low + high) // 2
        middle = min(max(guess, low + 1), high - 1)
        if excess(middle) <= 0:
            low = middle
        else:
            high = middle
    return low
