"""The time to the first token as the command line measures it: to the first byte of the answer that was written."""

from __future__ import annotations

import time

import msgspec

from app.core.metrics import Metrics
from app.services.ask import Ask


class FirstByte:
    """Marks when the first text of an answer was written, and puts that into the figures of the engine."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._written_ns: int | None = None

    def mark(self, text: str) -> None:
        """A text was written; only the first one that is not empty counts."""
        if text and self._written_ns is None:
            self._written_ns = time.perf_counter_ns()

    def measured(self, metrics: Metrics) -> Metrics:
        """Return the figures with the time to the first byte; what the engine's parts leave of it is the writing."""
        sent_ns = self._ask.sent_ns
        if self._written_ns is None or sent_ns is None:
            return metrics
        ttft_ms = (self._written_ns - sent_ns) / 1e6
        parts = msgspec.structs.replace(metrics.ttft_parts_ms, paint=None)
        before_ms = sum(part for part in msgspec.structs.astuple(parts) if part is not None)
        parts = msgspec.structs.replace(parts, paint=ttft_ms - before_ms)
        return msgspec.structs.replace(metrics, ttft_ms=ttft_ms, ttft_parts_ms=parts)
