"""The one queue between background threads and the thread that owns the program's state.

Knows nothing of who puts and who drains: the window's pump and the command line's pump both use it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from app.core.events import Event, PrefillProgress, Tokens

Wake = Callable[[bool], None]
"""Called by the putting thread; true when somebody waits for this very event."""


class Inbox:
    """Events from any thread, in the order they came; the first one in an empty queue wakes the reader, once.

    The first tokens of an answer wake it again, whatever waits already: people look at that moment. Of how far a prompt
    is read only the latest waits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._on_first: Wake | None = None

    def on_first(self, wake: Wake | None) -> None:
        """Set what the putting thread calls when an event enters an empty queue; called now if some wait already."""
        with self._lock:
            self._on_first = wake
            waiting = bool(self._events)
        if wake is not None and waiting:
            wake(False)

    def put(self, event: Event) -> None:
        """Add an event; safe from any thread, never blocks on the reader."""
        is_urgent = isinstance(event, Tokens) and event.first == 0
        with self._lock:
            is_first = not self._events
            self._events.append(event if is_first else _with_unheard(event, self._events))
            wake = self._on_first if is_urgent or is_first else None
        if wake is not None:
            wake(is_urgent)

    def drain(self) -> list[Event]:
        """Take everything that waits."""
        with self._lock:
            events, self._events = self._events, []
        return events


def _with_unheard(event: Event, waiting: list[Event]) -> Event:
    """Return an event that says all of what waited last, which is taken away then."""
    earlier = waiting[-1]
    if not isinstance(event, PrefillProgress) or not isinstance(earlier, PrefillProgress):
        return event
    if event.request != earlier.request:
        return event
    waiting.pop()
    return msgspec.structs.replace(event, unheard=(*earlier.unheard, (earlier.done, earlier.at_ns)))
