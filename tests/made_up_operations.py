"""Operations that nobody computed, with shares that are known."""

from __future__ import annotations

from app.core.operations import OperationsTimed, OperationTime

DECODE = (
    OperationTime("weights", 5_000, 90, "Q4_1", "feed_forward"),
    OperationTime("weights", 2_000, 120, "Q4_1", "attention"),
    OperationTime("weights", 1_500, 1, "Q8_0", "output"),
    OperationTime("attention", 900, 120),
    OperationTime("rest", 400, 241),
    OperationTime("norm", 150, 122),
    OperationTime("feed_forward", 50, 30),
)
PREFILL = (
    OperationTime("weights", 60_000, 90, "Q4_1", "feed_forward"),
    OperationTime("weights", 25_000, 120, "Q4_1", "attention"),
    OperationTime("attention", 10_000, 120),
    OperationTime("feed_forward", 3_000, 30),
    OperationTime("norm", 1_500, 122),
    OperationTime("rest", 500, 242),
)


def timed(request: int) -> OperationsTimed:
    """Return a step and a chunk."""
    return OperationsTimed(request, DECODE, PREFILL, 1086, 1086, 64, 512, 1.8)
