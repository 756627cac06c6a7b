"""How answers end: whole, interrupted, or as if they had never been asked for. Whatever goes wrong, their chat is free.

Knows no view, and not how they began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from app.core.events import Failed, Finished, PrefillProgress
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.engine_session import EngineSession
from app.services.failure_remedies import KEPT_WITH_ITS_QUESTION, REMEDIES
from app.services.keeper import Keeper
from app.services.larger_context import beyond_training, larger_context
from app.services.notices import Notice, Notices
from app.services.open_conversation import OpenConversation, Run, is_shown
from app.services.turns import Turn
from app.services.wishes import Unkept


class AnswerEnds:
    """The runs there are, and how each of them goes."""

    def __init__(self, session: EngineSession, keeper: Keeper, notices: Notices) -> None:
        self.changed: Signal[OpenConversation, Turn] = Signal()
        """A turn is another one than it was: its state, or all of its text."""
        self.grew: Signal[OpenConversation, Turn, str] = Signal()
        """An answer grew by a text."""
        self.rebranched: Signal[OpenConversation, int] = Signal()
        """From this place on the branch that is shown of a conversation is another: turns were taken back."""
        self.returned: Signal[str] = Signal()
        """A question came to nothing, and its text goes back to where it was written."""
        self.prefilled: Signal[OpenConversation, PrefillProgress | None] = Signal()
        """How far the prompt is read; None when that is over."""
        self.busy_changed: Signal[OpenConversation] = Signal()
        """An answer began or ended."""
        self.ended: Signal[Run] = Signal()
        """An answer is over and all of that was told; its run says how."""
        self.shown: OpenConversation | None = None
        """The conversation that people look at: only there a question that came to nothing goes back to the draft."""
        self.seen: Callable[[Finished], Finished] = lambda event: event
        """Adds to the end of an answer what was around it while it was written."""
        self._session = session
        self._keeper = keeper
        self._notices = notices
        self._too_long: Notice | None = None
        """What was told of a prompt that the context does not hold: it is over with the next load."""
        self._too_long_draft: str | None = None
        """The draft since its question went back there; None until that is known."""
        self._was_returned = False
        """Whether the question that was too long went back to the draft."""
        self._runs: dict[int, Run] = {}
        self._unkept: dict[int, Unkept] = {}

    def _finish(self, run: Run, event: Finished) -> None:
        turn = run.turn
        wrote = turn.state == "writing"
        if not wrote:
            stopped = event.stop_reason == "cancelled"
            if run.earlier is not None and not event.text and (stopped or not run.beginning.goes_on):
                self._restore(run, run.earlier)
                if not stopped:
                    self._tell((_NOTHING,))
                return
            turn.ttft_ms = turn.ttft_ms if run.beginning.continues else None
        with self._ending(run):
            if not wrote:
                self._keep_more(run)
                self._take_over(run)
            text, ids = run.complete(self.seen(event))
            run.stop_reason = event.stop_reason
            self._keeper.rest(run, text, ids)
            self._keeper.keep_answer(run.conversation, turn)
            if wrote and text:
                self.grew.emit(run.conversation, turn, text)
            self._tell(event.notes)
        self.changed.emit(run.conversation, turn)
        self.ended.emit(run)

    def _keep_more(self, run: Run) -> None:
        """Keep that there is more of an answer that was there; until now nothing was changed of what is kept of it.

        Where it cannot be one with its beginning it becomes another version, and the earlier one is as it was.
        """
        earlier = run.earlier
        if earlier is None or not run.goes_on:
            return
        if run.parts_ways:
            run.conversation.split(run.turn, earlier, self._keeper.stamps.new_id())
            self._keeper.keep_answer(run.conversation, earlier)
            self._keeper.made(run)
        # The text first: whoever is killed between the two finds the old answer, or the new one with its beginning.
        for event in run.early:
            self._keeper.chunk(run, event)
        if run.prompt is not None:
            self._keeper.prompt(run, run.prompt)
        if run.goes_on:
            self._keeper.more(run, earlier)

    def _take_over(self, run: Run) -> None:
        """Let the turn say what it is made with, and the conversation end with it if that is what people look at."""
        run.take_over()
        if run.asked is None and is_shown(run.conversation, run.turn):
            run.conversation.change_head(leaf=run.message)
            self._keeper.head(run.conversation.head)

    def _fail(self, run: Run, event: Failed) -> None:
        wrote = run.turn.state == "writing"
        if event.kind == "prompt_too_long":
            self._was_returned = False
        if not wrote and run.earlier is not None:
            self._restore(run, run.earlier)
        elif wrote or run.asked is None or event.kind in KEPT_WITH_ITS_QUESTION or run.conversation is not self.shown:
            self._interrupt(run, event.sentence)
        else:
            self._take_back(run, run.asked)
        if event.kind != "cancelled":
            notice = Notice(event.sentence, remedy=REMEDIES.get(event.kind), details=event.details)
            if event.kind == "prompt_too_long":
                notice = self._too_long = self._of_too_long(event, notice)
                self._too_long_draft = None
            self._notices.post(notice)
        elif not wrote and self._session.phase == "no_model":
            self._notices.post(Notice(event.sentence, level="hint", remedy="load_again"))

    @property
    def tells_too_long(self) -> bool:
        """Whether people are told of a question that was too long and is in the draft."""
        return self._too_long is not None and self._was_returned

    def note_draft(self, text: str, *, fits: bool = False) -> None:
        """Take away what was told of a question that was too long once its text is another one, gone, or known to fit."""
        if self._too_long is None or not self._was_returned:
            return
        if self._too_long_draft is None:
            self._too_long_draft = text
        if fits or text != self._too_long_draft:
            self._notices.withdraw(self._too_long)
            self._too_long = None

    def _of_too_long(self, event: Failed, notice: Notice) -> Notice:
        """Return what is told of a prompt that does not fit: with the context that it needs, or that none would help."""
        model = self._session.model
        if model is None:
            return notice
        context = larger_context(event.tokens, model.context, model.trained_context)
        if context is None and model.trained_context:
            beyond = beyond_training(model.trained_context)
            return msgspec.structs.replace(notice, more=(beyond,), remedy=None)
        return msgspec.structs.replace(notice, context=context)

    def _interrupt(self, run: Run, reason: Sentence) -> None:
        """Let what was written of an answer stay."""
        with self._ending(run):
            run.interrupt(reason)
            self._keeper.keep_answer(run.conversation, run.turn)
        self.changed.emit(run.conversation, run.turn)
        self.ended.emit(run)

    def _restore(self, run: Run, earlier: Turn) -> None:
        """Go back to the answer that was there before."""
        conversation = run.conversation
        if run.goes_on:
            with self._ending(run):
                conversation.put(earlier)
                run.turn = earlier
                self._keeper.keep_answer(conversation, earlier)
            self.changed.emit(conversation, earlier)
            self.ended.emit(run)
            return
        with self._ending(run):
            first = self._take_out(conversation, run.turn, run.back_to)
            run.turn = earlier
        self._tell_branch(conversation, first)
        self.ended.emit(run)

    def _take_back(self, run: Run, asked: Turn) -> None:
        """Take a question back with the answer that never came; it stays where something else answers it, lanes too."""
        conversation = run.conversation
        is_answered = len(conversation.below(asked)) > len((asked, run.turn)) or conversation.lanes.answers(
            asked.message
        )
        with self._ending(run):
            if is_answered:
                first = self._take_out(conversation, run.turn, None)
            else:
                first = self._take_question(conversation, asked, run.back_to)
        self._tell_branch(conversation, first)
        if not is_answered:
            self._was_returned = True
            self.returned.emit(asked.text)
        self.ended.emit(run)

    def return_question(self, conversation: OpenConversation, asked: Turn) -> None:
        """Take a question back to which nobody wrote an answer; its text goes back to where it was written."""
        if conversation is not self.shown or len(conversation.below(asked)) > 1:
            return
        self._tell_branch(conversation, self._take_question(conversation, asked, asked.parent))
        self._was_returned = True
        self.returned.emit(asked.text)

    def _take_question(self, conversation: OpenConversation, asked: Turn, back_to: int | None) -> int | None:
        first = self._take_out(conversation, asked, back_to)
        if conversation.leaf is None:
            conversation.change_head(leaf=None, deleted_ms=self._keeper.stamps.deletion_ms())
            self._keeper.head(conversation.head)
        return first

    def _take_out(self, conversation: OpenConversation, turn: Turn, back_to: int | None) -> int | None:
        """Remove a turn with what follows it; return from where on another branch is shown, if one is.

        What was shown before may be deleted meanwhile: then what is beside the turn or before it is shown.
        """
        was_shown, beside = is_shown(conversation, turn), conversation.leaf_without(turn)
        gone = conversation.remove(turn)
        self._keeper.removed([each.message for each in gone])
        if not was_shown:
            return None
        first = conversation.show(back_to if back_to in conversation.known else beside)
        if conversation.head.leaf != conversation.leaf:
            conversation.change_head(leaf=conversation.leaf)
            self._keeper.head(conversation.head)
        return first

    def _tell_branch(self, conversation: OpenConversation, first: int | None) -> None:
        if first is not None:
            self.rebranched.emit(conversation, first)

    @contextmanager
    def _ending(self, run: Run) -> Iterator[None]:
        """Let a run go, then take its end in: whatever goes wrong with that, its chat can be used."""
        conversation, turn = run.conversation, run.turn
        del self._runs[run.request]
        self._unkept.pop(run.request, None)
        conversation.run = None
        is_whole = False
        try:
            yield
            is_whole = True
        finally:
            if not is_whole and turn.state in ("waiting", "writing"):
                run.interrupt(_WENT_WRONG)
            self.prefilled.emit(conversation, None)
            self.busy_changed.emit(conversation)
            if not is_whole:
                self.changed.emit(conversation, turn)

    def _tell(self, notes: tuple[Sentence, ...]) -> None:
        for note in notes:
            self._notices.post(Notice(note, level="hint"))


_WENT_WRONG = translate("Chat", "Interrupted: something went wrong when this answer ended. What was written is here.")
_NOTHING = translate("Chat", "The model had nothing to say this time, so the earlier answer stays.")
