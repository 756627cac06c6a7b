"""A comparison on its way: its lanes, what the engine is asked, and how fast each lane goes.

Plain state; who changes it says so.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, field, replace

from app.core.comparison import LETTERS, Comparison
from app.core.events import FailureKind, PrefillProgress, PromptReady
from app.core.sampling import SamplingSettings
from app.services.open_conversation import OpenConversation
from app.services.pace import Pace
from app.services.turns import Turn


@dataclass
class Lane:
    """One lane as people see it, while it is written and afterwards."""

    index: int
    turn: Turn
    settings: SamplingSettings
    pace: Pace = field(default_factory=Pace)
    record: list[bytes] = field(default_factory=list)
    """Blocks of its per-token record, as far as they are known."""

    @property
    def letter(self) -> str:
        """What it is called."""
        return LETTERS[self.index]

    @property
    def is_open(self) -> bool:
        """Whether it is being waited for or written."""
        return self.turn.state in ("waiting", "writing")

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        return len(self.turn.ids) // 4


@dataclass
class LanesRun:
    """The lanes of one comparison and what is known of them."""

    request: int
    conversation: OpenConversation
    comparison: Comparison
    question: Turn
    lanes: list[Lane]
    """Those that are there."""
    deleted: list[Lane] = field(default_factory=list, kw_only=True)
    """Those that were deleted while it is looked at: they come back with all that is known of them."""
    asked: Turn | None = None
    """The question, where it came with the comparison."""
    is_running: bool = True
    is_kept: bool = False
    """Whether it is on disk, so that the engine may see it."""
    stopped: list[int] = field(default_factory=list)
    """Lanes that were stopped before that."""
    failure: FailureKind | None = None
    """Why the engine ended it, where it did."""
    reading: PrefillProgress | None = None
    """How far the prompt is read, while it is."""
    ready: PromptReady | None = None
    began_ns: int = field(default_factory=time.perf_counter_ns)
    cells_used: int | None = None
    """Cells that the prompt and all lanes take, while they run."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The lanes' turns, in their order."""
        return tuple(lane.turn for lane in self.lanes)

    @property
    def wrote(self) -> bool:
        """Whether any lane says anything."""
        return any(lane.turn.text for lane in self.lanes)


def still_run(run: LanesRun) -> LanesRun:
    """Return a comparison as it is now, of which nothing changes any more: for whoever reads it beside the window."""
    question = copy(run.question)
    conversation = run.conversation
    before = (
        [copy(turn) for turn in conversation.before(run.question)] if question.message in conversation.known else []
    )
    lanes = [replace(lane, turn=copy(lane.turn), record=list(lane.record)) for lane in run.lanes]
    still = OpenConversation(conversation.head, [*before, question], question.message)
    return replace(run, conversation=still, question=question, lanes=lanes)
