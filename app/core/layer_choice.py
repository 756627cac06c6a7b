"""How many layers go to the GPU when nobody said: all that fit, the experts of a mixture giving way before whole layers.

Pure: it asks a function what a configuration would take. Where a figure is unknown it chooses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

MIB = 1024 * 1024
MARGIN = 1024 * MIB
"""Left free on a GPU: the driver's own share of a decode, cuBLAS, other windows. llama.cpp leaves as much."""
MARGIN_SHARE = 8
"""A small GPU gets an eighth of its memory as margin instead: a gigabyte would be most of it."""
GUESSES = 6
"""Interpolated tries before halving takes over; two or three are enough where layers are alike."""

Measure = Callable[[int, bool], Mapping[str, int | None]]
"""(layers on the GPU, experts on the CPU) → bytes on each GPU; None where unknown."""


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
    experts_on_cpu: bool


def choose_layers(measure: Measure, rooms: Mapping[str, Room], layers: int, *, mixture: bool) -> Choice | None:
    """Return the choice for a model of `layers` layers, the output layer counted; None where something is unknown.

    `mixture` says that the experts are still to be decided on.
    """
    limits = {name: room.limit for name, room in rooms.items()}
    search = _Search(measure, {name: limit for name, limit in limits.items() if limit is not None})
    try:
        if search.excess(layers, experts_on_cpu=False) <= 0:
            return Choice(layers, experts_on_cpu=False)
        if mixture and search.excess(layers, experts_on_cpu=True) <= 0:
            return Choice(layers, experts_on_cpu=True)
        fitting = search.most_layers(layers, experts_on_cpu=mixture)
    except _Unknown:
        return None
    return Choice(fitting, experts_on_cpu=mixture and fitting > 0)


class _Unknown(Exception):
    """A figure that the choice needs is not known."""


class _Search:
    """Finds the largest number of layers that fits; measures every configuration once."""

    def __init__(self, measure: Measure, limits: Mapping[str, int]) -> None:
        self._measure = measure
        self._limits = limits
        self._known: dict[tuple[int, bool], int] = {}

    def excess(self, layers: int, *, experts_on_cpu: bool) -> int:
        """Return by how many bytes the fullest GPU is beyond its limit; 0 or less fits."""
        key = (layers, experts_on_cpu)
        if key not in self._known:
            beyond = []
            for name, size in self._measure(layers, experts_on_cpu).items():
                limit = self._limits.get(name)
                if size is None or limit is None:
                    raise _Unknown
                beyond.append(size - limit)
            self._known[key] = max(beyond, default=0)
        return self._known[key]

    def most_layers(self, layers: int, *, experts_on_cpu: bool) -> int:
        """Return the largest number below `layers`, which do not fit, that does; 0 where nothing fits."""
        low, high = 0, layers
        if self.excess(0, experts_on_cpu=experts_on_cpu) > 0:
            return 0
        for step in range(layers):
            if high - low <= 1:
                break
            below = -self.excess(low, experts_on_cpu=experts_on_cpu)
            above = self.excess(high, experts_on_cpu=experts_on_cpu)
            guess = low + (high - low) * below // (below + above) if step < GUESSES else (low + high) // 2
            middle = min(max(guess, low + 1), high - 1)
            if self.excess(middle, experts_on_cpu=experts_on_cpu) <= 0:
                low = middle
            else:
                high = middle
        return low
