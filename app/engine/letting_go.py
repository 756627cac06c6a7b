"""Models that are no longer used, and when each can be freed: once no native work that is left to itself reads it.

For the thread that loads models alone.
"""

from __future__ import annotations

from threading import Thread

from app.engine.aside import work_left
from app.engine.backend import Backend

LOOK_S = 1.0
"""So often it is looked whether what a model waits for is over."""


class LettingGo:
    """Frees models, each as soon as that can be."""

    def __init__(self) -> None:
        self._others: frozenset[Thread] = frozenset()
        self._waiting: list[tuple[Backend, frozenset[Thread]]] = []

    @property
    def waits_s(self) -> float | None:
        """After how many seconds `free_unread` is to be called again; None while no model waits."""
        return LOOK_S if self._waiting else None

    def note_loaded(self) -> None:
        """Say that a model was loaded: what is left by now reads another one."""
        self._others = work_left()

    def free(self, backend: Backend) -> None:
        """Free the model that was loaded last, at once or once no work reads it."""
        self._waiting.append((backend, work_left() - self._others))
        self.free_unread()

    def free_unread(self) -> None:
        """Free the models whose work is over."""
        running, waiting = work_left(), self._waiting
        self._waiting = [(backend, readers) for backend, readers in waiting if readers & running]
        for backend, readers in waiting:
            if not readers & running:
                backend.close()
