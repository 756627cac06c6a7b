"""What the parent may change while a request runs; written by the reader thread, read by the loop."""

from __future__ import annotations

from app.core.sampling import SamplingSettings
from app.engine.pacing import Pacing


class Control:
    """Plain attributes, each one value, so that no lock is needed; a pace, which can be waited for, has its own."""

    def __init__(self, request: int, rate: float | None = None) -> None:
        self.request = request
        self.pacing = Pacing(rate)
        self.cancelled = False
        self.stopped: frozenset[int] = frozenset()
        """Lanes of a comparison that are to end by themselves."""
        self.settings: SamplingSettings | None = None
        """Settings to use from the next token on; the loop takes them and sets None."""

    def cancel(self) -> None:
        """Ask for the end of this request; what waits for somebody waits no more."""
        self.cancelled = True
        self.pacing.end()

    def is_cancelled(self) -> bool:
        """Return whether somebody asked for the end of this request."""
        return self.cancelled

    def is_stopped(self, lane: int) -> bool:
        """Return whether somebody asked for the end of this lane, or of all."""
        return self.cancelled or lane in self.stopped

    def take_settings(self) -> SamplingSettings | None:
        """Return moved settings once."""
        settings, self.settings = self.settings, None
        return settings
