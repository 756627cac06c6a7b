"""How an answer begins: with a question, as another version of an answer, or as more of one that was stopped.

Puts the new turns into the tree of their conversation, shows them, and hands the run to `answers`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal, NamedTuple

from app.core.signal import Signal
from app.services.answers import Answers
from app.services.engine_session import EngineSession
from app.services.keeper import Keeper
from app.services.open_conversation import OpenConversation, Run
from app.services.turns import Beginning, Turn, chosen_words


class Cut(NamedTuple):
    """Where an answer goes on by other tokens than it had."""

    forced: tuple[int, ...]
    """The tokens that follow, which somebody chose."""
    chosen: int
    """How many tokens of the new version are chosen by hand, those before the cut among them."""


class Asking:
    """Begins answers, in whatever conversation."""

    def __init__(self, session: EngineSession, answers: Answers, keeper: Keeper) -> None:
        self.rebranched: Signal[OpenConversation, int] = Signal()
        """From this place on the branch that is shown of a conversation is another."""
        self.prepare: Callable[[], None] = lambda: None
        """Lets a conversation that is shown and has no message yet take over what is set for new ones."""
        self._session = session
        self._answers = answers
        self._keeper = keeper
        self._numbers = 0

    def question(self, conversation: OpenConversation, text: str, parent: int | None) -> None:
        """Ask something behind a message, and show that."""
        back_to = conversation.leaf
        question = self.turn("user", parent, text)
        first = conversation.add(question)
        answer = self._waiting(question.message)
        conversation.add(answer)
        self.rebranched.emit(conversation, first)
        self._answers.begin(Run(self._session.new_request(), conversation, answer, asked=question, back_to=back_to))

    def question_aside(self, conversation: OpenConversation, text: str, parent: int) -> Turn:
        """Ask something in a branch that is not shown, which stays so; return the answer that is waited for."""
        back_to = conversation.leaf
        question = self.turn("user", parent, text)
        conversation.add(question, aside=True)
        answer = self._waiting(question.message)
        conversation.add(answer, aside=True)
        self._answers.begin(Run(self._session.new_request(), conversation, answer, asked=question, back_to=back_to))
        conversation.change_head(leaf=back_to)  # keeping a question has the branch end with it
        self._keeper.head(conversation.head)
        return answer

    def version(self, conversation: OpenConversation, of: Turn, begins: str = "") -> None:
        """Write an answer anew, beside the one that is there; that one is shown again if it comes to nothing."""
        back_to = conversation.leaf
        answer = self._waiting(of.parent, begins)
        first = conversation.add(answer)
        self.rebranched.emit(conversation, first)
        run = Run(self._session.new_request(), conversation, answer, _given(begins), earlier=of)
        run.back_to = back_to
        self._answers.begin(run)

    def branch(self, conversation: OpenConversation, of: Turn, beginning: Beginning, cut: Cut) -> Turn:
        """Write another version that begins with the first tokens of an answer and goes on by chosen ones."""
        back_to = conversation.leaf
        answer = self._waiting(of.parent, beginning.text)
        answer.ids, answer.notes = beginning.ids, [chosen_words(cut.chosen)]
        answer.model, answer.tokenizer = of.model, of.tokenizer
        run = Run(self._session.new_request(), conversation, answer, beginning, earlier=of, forced=cut.forced)
        run.back_to = back_to
        first = conversation.add(answer)
        self.rebranched.emit(conversation, first)
        self._answers.begin(run)
        return answer

    def more(self, conversation: OpenConversation) -> None:
        """Let the last answer go on where it was stopped; nothing of it is lost if that comes to nothing."""
        turn = conversation.turns[-1]
        earlier = dataclasses.replace(turn, notes=list(turn.notes))
        turn.state, turn.reason = "waiting", None
        self._answers.changed.emit(conversation, turn)
        run = Run(self._session.new_request(), conversation, turn, Beginning.of(turn), earlier=earlier)
        run.back_to = turn.message
        self._answers.begin(run)

    def turn(self, role: Literal["user", "assistant"], parent: int | None, text: str = "") -> Turn:
        """Return a new turn with an id of its own, which is in no conversation yet."""
        turn = Turn(0, role, text)
        turn.message, turn.parent, turn.created_ms = (
            self._keeper.stamps.new_id(),
            parent,
            self._keeper.stamps.now_ms(),
        )
        self.number(turn)
        return turn

    def number(self, turn: Turn) -> None:
        """Give a turn the number that views know it by, unless it has one."""
        if not turn.number:
            self._numbers += 1
            turn.number = self._numbers

    def _waiting(self, parent: int | None, begins: str = "") -> Turn:
        answer = self.turn("assistant", parent, begins)
        answer.state, answer.author = "waiting", self._session.name or ""
        return answer


def _given(words: str) -> Beginning:
    return Beginning(words, is_given=bool(words))
