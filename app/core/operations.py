"""What the engine tells of a pass that takes a computation apart: how long each kind of operation took in one decode step and
in one chunk of a prefill.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.bandwidth import MemorySpeed

OperationKind = Literal["weights", "attention", "norm", "feed_forward", "rest"]
"""Matrix products with weights; attention itself (its scores, their softmax, the weighted sum); normalisation; what the
feed-forward does between its matrix products; all else, such as positions, sums and copies."""
WeightPlace = Literal["", "attention", "feed_forward", "output", "other"]
"""Which matrix a product is with: one around attention, one of the feed-forward, the one that makes logits, or another."""


WATCHED_STEPS = 5
"""So many decode steps are watched, and as many of the same unwatched: other programs disturb some of them."""
LEAST_TOKENS = 2 * WATCHED_STEPS + 2
"""A token for the chunk, one to warm up with, and one for each step."""


class OperationTime(msgspec.Struct, frozen=True, gc=False):
    """All nodes of the graph of one kind."""

    kind: OperationKind
    ns: int
    """Together, without what watching adds to each; only what share it is of all is true."""
    nodes: int
    weight: str = ""
    """How the weights of a matrix product are kept, “Q4_1” for instance."""
    place: WeightPlace = ""


class OperationsProgress(msgspec.Struct, frozen=True, tag="operations_progress"):
    """How many of the tokens were read."""

    request: int
    done: int
    total: int


class OperationsTimed(msgspec.Struct, frozen=True, tag="operations_timed"):
    """One decode step and one chunk of a prefill, taken apart; nothing where the computation could not be watched."""

    request: int
    decode: tuple[OperationTime, ...]
    prefill: tuple[OperationTime, ...]
    decode_nodes: int = 0
    """Nodes of the graph of the step, those that only look at others in another way included."""
    prefill_nodes: int = 0
    chunk: int = 0
    """Tokens in the chunk."""
    cells: int = 0
    """Tokens in the cache behind the step."""
    slowdown: float | None = None
    """How many times as long a watched step took as one that is not watched."""


class BandwidthMeasured(msgspec.Struct, frozen=True, tag="bandwidth_measured"):
    """The memory of each device that this build of llama.cpp computes on; empty where it was cancelled."""

    request: int
    speeds: tuple[MemorySpeed, ...]


OperationsEvent = OperationsProgress | OperationsTimed | BandwidthMeasured
"""What is told of such a pass, and of how fast memory is; `Failed` ends either, too."""
