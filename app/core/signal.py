"""A small synchronous signal for one thread: services announce, views listen.

Knows nothing of threads and nothing of Qt; crossing from a background thread is the inbox's work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVarTuple, Unpack

Arguments = TypeVarTuple("Arguments")


class Signal(Generic[*Arguments]):
    """Calls every connected slot, in the order of connection, with the emitted arguments."""

    def __init__(self) -> None:
        self._slots: list[Callable[[Unpack[Arguments]], object]] = []

    def connect(self, slot: Callable[[Unpack[Arguments]], object]) -> Callable[[], None]:
        """Connect a slot and return the function that disconnects it (calling that twice is harmless)."""
        self._slots.append(slot)

        def disconnect() -> None:
            if slot in self._slots:
                self._slots.remove(slot)

        return disconnect

    def emit(self, *arguments: *Arguments) -> None:
        """Call the slots that were connected when the emission began; a slot's error reaches the caller."""
        for slot in tuple(self._slots):
            slot(*arguments)
