"""Which commands are requests, what phase each begins in, what is the last word on it, and the orders that are open.

Knows no process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.core.attention import AttentionRead
from app.core.commands import (
    Command,
    Compare,
    Generate,
    ListDevices,
    ListPieces,
    Load,
    MeasureBandwidth,
    MeasureMemory,
    Quit,
    ReadAttention,
    Render,
    Reproduce,
    ScorePrompt,
    TimeOperations,
    Tokenize,
    Watch,
)
from app.core.events import (
    Compared,
    DevicesListed,
    Failed,
    Finished,
    Loaded,
    MemoryMeasured,
    PiecesListed,
    Rendered,
    Tokenized,
)
from app.core.operations import BandwidthMeasured, OperationsTimed
from app.core.prompt_scores import PromptScored
from app.core.replay_events import Reproduced
from app.engine.death import Phase

FIRST_PHASES: dict[type[Command], Phase] = {
    Load: "loading",
    Generate: "preparing",
    Reproduce: "preparing",
    Compare: "preparing",
    ScorePrompt: "scoring",
    ReadAttention: "scoring",
    TimeOperations: "scoring",
    MeasureBandwidth: "scoring",
    Render: "preparing",
    Tokenize: "preparing",
    MeasureMemory: "loading",
    ListPieces: "preparing",
    ListDevices: "answering",
}
ANSWERED = (
    Load,
    Generate,
    Reproduce,
    Compare,
    ScorePrompt,
    ReadAttention,
    TimeOperations,
    MeasureBandwidth,
    Render,
    Tokenize,
    ListPieces,
    MeasureMemory,
    ListDevices,
)
"""Commands that are requests: they start a process where there is none, and something answers each of them."""
LAST_EVENTS = (
    Loaded,
    Finished,
    Reproduced,
    Compared,
    PromptScored,
    AttentionRead,
    OperationsTimed,
    BandwidthMeasured,
    Failed,
    Rendered,
    Tokenized,
    PiecesListed,
    MemoryMeasured,
    DevicesListed,
)


class Order(NamedTuple):
    """A command and its bytes."""

    command: Command
    data: bytes


def requests_of(orders: Iterable[Order]) -> list[int]:
    """Return the numbers of those orders that are requests."""
    return [order.command.request for order in orders if isinstance(order.command, ANSWERED)]


def without(orders: Iterable[Order], request: int) -> list[Order]:
    """Return the orders that do not concern a request."""
    return [order for order in orders if isinstance(order.command, Watch | Quit) or order.command.request != request]
