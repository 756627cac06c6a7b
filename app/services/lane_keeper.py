"""Keeps comparisons and their lanes, as `keeper` keeps other answers."""

from __future__ import annotations

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Chunk
from app.core.events import PromptReady
from app.core.store_commands import KeepChunk, KeepComparison, KeepLanes, KeepPrompt
from app.services.keeper import Keeper, answer_of, message_of
from app.services.lanes_run import LanesRun
from app.services.turns import Turn


class LaneKeeper:
    """Speaks to the store for comparisons."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def begun(self, run: LanesRun) -> None:
        """Keep that a comparison begins: what was asked if that is new, and an empty answer for each lane."""
        conversation = run.conversation
        changes = {"leaf": conversation.leaf} if run.asked is not None else {}
        model = run.turns[0].model or conversation.head.model
        conversation.change_head(changed_ms=self._keeper.stamps.now_ms(), deleted_ms=None, model=model, **changes)
        asked = (message_of(conversation.head.id, run.asked),) if run.asked is not None else ()
        answers = tuple(answer_of(turn, "open") for turn in run.turns)
        self._keeper.send(KeepLanes(run.request, conversation.head, asked, run.comparison, answers))

    def prompt(self, turn: Turn, ready: PromptReady) -> None:
        """Keep the prompt that a lane gets: it is the same one for all of them."""
        self._keeper.send(KeepPrompt(AnswerPrompt(turn.message, ready.ids, ready.spans, ready.dropped)))

    def chunk(self, turn: Turn, text: str, ids: bytes, record: bytes = b"") -> None:
        """Keep a stretch of a lane."""
        if text or ids:
            self._keeper.send(KeepChunk(Chunk(turn.message, text, ids, record)))

    def comparison(self, comparison: Comparison) -> None:
        """Keep what is known of a comparison now."""
        self._keeper.send(KeepComparison(comparison))
