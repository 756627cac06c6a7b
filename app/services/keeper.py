"""Turns what happens in a conversation into commands to the store.

Decides what is kept and when; how it is kept is the store's.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.conversation import AnswerPrompt, AnswerState, Chunk, Conversation, Message, StoredAnswer
from app.core.draft import Draft
from app.core.events import PromptReady, Tokens
from app.core.ports import StorePort
from app.core.store_commands import (
    CopyBranch,
    EndAnswer,
    KeepChunk,
    KeepComparison,
    KeepConversation,
    KeepDraft,
    KeepPrompt,
    KeepQuestion,
    RemoveMessages,
    RestoreMessages,
    Settle,
    StoreCommand,
)
from app.services.engine_session import EngineSession
from app.services.open_conversation import OpenConversation, Run
from app.services.stamps import Stamps
from app.services.turns import Turn

NO_REQUEST = 0
"""Nobody waits for the answer."""


class Keeper:
    """Speaks to the store for the conversations in memory."""

    def __init__(self, store: StorePort, session: EngineSession) -> None:
        self._store = store
        self._session = session
        self.stamps = Stamps()
        self._said_anything = False

    def settle(self, request: int) -> bool:
        """Have everything written that waits, answered by `Kept`; False when nothing was ever said."""
        if self._said_anything:
            self._store.send(Settle(request))
        return self._said_anything

    def head(self, head: Conversation) -> None:
        """Keep the head of a conversation."""
        self.send(KeepConversation(head))

    def draft(self, draft: Draft) -> None:
        """Keep what is written and not sent."""
        self.send(KeepDraft(draft, self.stamps.now_ms()))

    def question(self, run: Run) -> None:
        """Keep what was asked and that an answer follows; with a question the branch ends there from now on."""
        conversation = run.conversation
        conversation.change_head(
            changed_ms=self.stamps.now_ms(),
            deleted_ms=None,
            leaf=run.message if run.asked is not None else run.back_to,
            model=self._session.ref or conversation.head.model,
        )
        messages = [message_of(conversation.head.id, run.asked)] if run.asked is not None else []
        if run.goes_on and run.earlier is not None:
            answer = answer_of(run.earlier, _ended(run.earlier))  # nothing is changed of it before its first new text
        else:
            messages.append(self._empty_answer(run))
            answer = self._begun(run)
        self.send(KeepQuestion(run.request, conversation.head, tuple(messages), answer))

    def made(self, run: Run) -> None:
        """Keep what an answer is made of and begins with: one that is cut off goes on as if nothing had stopped it."""
        self.send(KeepQuestion(run.request, run.conversation.head, (self._empty_answer(run),), self._begun(run)))
        if run.beginning.goes_on:
            first, *more = run.beginning.record or (b"",)
            self.send(KeepChunk(Chunk(run.message, run.beginning.kept, run.beginning.ids, first)))
            for block in more:
                self.send(KeepChunk(Chunk(run.message, "", b"", block)))

    def more(self, run: Run, earlier: Turn) -> None:
        """Keep that there is more of an answer: it is open again, and what it had ended with is over."""
        answer = msgspec.structs.replace(answer_of(earlier, "open"), reason=None)
        self.send(KeepQuestion(NO_REQUEST, run.conversation.head, (), answer))

    def prompt(self, run: Run, ready: PromptReady) -> None:
        """Keep the prompt that the model gets."""
        self.send(KeepPrompt(AnswerPrompt(run.message, ready.ids, ready.spans, ready.dropped)))

    def chunk(self, run: Run, event: Tokens) -> None:
        """Keep a stretch of the answer."""
        self.send(KeepChunk(Chunk(run.message, event.text, event.ids, event.record)))

    def rest(self, run: Run, text: str, ids: bytes) -> None:
        """Keep what came with the end of an answer and not before."""
        if text or ids:
            self.send(KeepChunk(Chunk(run.message, text, ids)))

    def keep_answer(self, conversation: OpenConversation, turn: Turn) -> None:
        """Keep an answer that ended as it is now."""
        self.send(EndAnswer(message_of(conversation.head.id, turn), answer_of(turn, _ended(turn))))

    def keep_all(self, conversation: OpenConversation) -> None:
        """Keep everything that is in memory of a conversation, because the file that held it was made anew."""
        turns = [*conversation.known.values(), *conversation.lanes.hidden.values()]
        asked = tuple(message_of(conversation.head.id, turn) for turn in turns if turn.role == "user")
        written = [turn for turn in turns if turn.role == "assistant"]
        for number, turn in enumerate(written):
            answer = answer_of(turn, "open" if turn.state in ("waiting", "writing") else _ended(turn))
            if not number:
                self.send(KeepQuestion(NO_REQUEST, conversation.head, asked, answer))
            self.send(EndAnswer(message_of(conversation.head.id, turn), answer))
        for comparison in conversation.lanes.comparisons.values():
            self.send(KeepComparison(comparison))

    def removed(self, messages: Sequence[int]) -> int:
        """Mark messages that came to nothing or were deleted, as one deletion; return its time."""
        deletion_ms = self.stamps.deletion_ms()
        self.send(RemoveMessages(tuple(messages), deletion_ms))
        return deletion_ms

    def restored(self, messages: Sequence[int]) -> None:
        """Take a deletion back."""
        self.send(RestoreMessages(tuple(messages)))

    def fork(self, head: Conversation, messages: Sequence[tuple[int, int]]) -> None:
        """Copy a branch into a new conversation: the ids of its messages and of their copies."""
        self.send(CopyBranch(self._session.new_request(), head, tuple(messages)))

    def send(self, command: StoreCommand) -> None:
        """Send a command to the store."""
        self._said_anything = True
        self._store.send(command)

    def _empty_answer(self, run: Run) -> Message:
        turn = run.turn
        return Message(run.message, run.conversation.head.id, turn.parent, "assistant", "", self.stamps.now_ms())

    def _begun(self, run: Run) -> StoredAnswer:
        """Return an answer of which nothing is written yet."""
        made = run.made
        return StoredAnswer(
            message=run.message,
            state="open",
            model=made.model or self._session.ref,
            model_name=self._session.name or "",
            tokenizer=made.tokenizer,
            seed=made.seed,
            settings=made.settings,
        )


def _ended(turn: Turn) -> AnswerState:
    return "done" if turn.state == "done" else "interrupted"


def message_of(conversation: int, turn: Turn) -> Message:
    """Return a turn as a message is kept."""
    return Message(
        id=turn.message,
        conversation=conversation,
        parent=turn.parent,
        role=turn.role,
        text=turn.text,
        created_ms=turn.created_ms,
        deleted_ms=turn.deleted_ms,
        edited=turn.edited,
    )


def answer_of(turn: Turn, state: AnswerState) -> StoredAnswer:
    """Return what is kept of how a turn was written."""
    answer = StoredAnswer(
        message=turn.message,
        state=state,
        model=turn.model,
        model_name=turn.author,
        tokenizer=turn.tokenizer,
        settings=turn.settings,
        seed=turn.seed,
        ttft_ms=turn.ttft_ms,
        reason=turn.reason,
        notes=tuple(turn.notes),
        thinking=turn.thoughts.thinking if turn.thoughts is not None else None,
        comparison=turn.comparison,
        lane=turn.lane,
    )
    finished = turn.finished
    if finished is None:
        return answer
    return msgspec.structs.replace(
        answer,
        settings=finished.settings,
        seed=finished.seed,
        metrics=finished.metrics,
        stop_reason=finished.stop_reason,
    )
