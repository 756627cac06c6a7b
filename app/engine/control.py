"""What the parent may change while a request runs; written by the reader thread, read by the loop."""

from __future__ import annotations

from app.core.sampling import SamplingSettings


class Control:
    """Plain attributes: each is one value, so that no lock is needed."""

    def __init__(self, request: int) -> None:
        self.request = request
        self.cancelled = False
        self.stopped: frozenset[int] = frozenset()
        """Lanes of a comparison that are to end by themselves."""
        self.settings: SamplingSettings | None = None
        """Settings to use from the next token on; the loop takes them and sets None."""

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
