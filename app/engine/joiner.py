"""Joins the tokens of about a fifteenth of a second into one event; the first visible one goes at once.

Knows nothing of what receives the events.
"""

from __future__ import annotations

import array

from app.core.events import Tokens

JOIN_NS = 66_000_000
"""Fifteen pictures a second read as a stream; what the window costs the processor grows with their number."""
MICROSECOND_NS = 1_000
LONGEST_GAP = 2**32 - 1


class TokenJoiner:
    """Collects ids and visible text of one answer and says when they are due."""

    def __init__(self, request: int) -> None:
        self._request = request
        self._sent = 0
        self._due_ns = 0
        self._ids = array.array("i")
        self._gaps = array.array("I")
        self._text: list[str] = []
        self._first_ns = 0
        self._last_ns = 0
        self._shown = False

    def add(self, token: int, text: str, at_ns: int) -> None:
        """Add a token and the text that became visible with it."""
        if not self._ids:
            self._first_ns = at_ns
        else:
            self._gaps.append(min(max(at_ns - self._last_ns, 0) // MICROSECOND_NS, LONGEST_GAP))
        self._ids.append(token)
        self._last_ns = at_ns
        if text:
            self._text.append(text)

    def add_text(self, text: str) -> None:
        """Add text that was held back."""
        if text:
            self._text.append(text)

    def due(self) -> bool:
        """Return whether it is time to send: the first token, the first visible text, then every 66 ms."""
        return self._last_ns >= self._due_ns or (bool(self._text) and not self._shown)

    def __bool__(self) -> bool:
        return bool(self._ids or self._text)

    def take(self, record: bytes, cells_used: int, held_ns: int = 0, window_from: int = 0) -> Tokens:
        """Return what was collected as an event and start anew; `held_ns` is what the times leave out."""
        count = len(self._ids)
        event = Tokens(
            request=self._request,
            first=self._sent,
            count=count,
            ids=self._ids.tobytes(),
            text="".join(self._text),
            record=record,
            cells_used=cells_used,
            first_ns=self._first_ns,
            last_ns=self._last_ns,
            gaps=self._gaps.tobytes(),
            held_ns=held_ns,
            window_from=window_from,
        )
        self._sent += count
        self._shown = self._shown or bool(self._text)
        self._ids, self._gaps, self._text = array.array("i"), array.array("I"), []
        self._due_ns = self._last_ns + JOIN_NS
        return event
