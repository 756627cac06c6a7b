"""Questions that were asked while an answer is written: each is sent behind that answer when it has ended well.

What is shown meanwhile stays: a question whose answer is in another branch is sent there, and people are told. After a
stop or a failure, and where the answer was deleted, they wait: until somebody sends them or asks something else, which
goes behind them, or until the next answer in their conversation has ended well. Only a question that came back to the
draft goes before those that were asked after it. They are kept with the draft of their conversation.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from app.core.chat import clean_text
from app.core.metrics import StopReason
from app.core.signal import Signal
from app.core.words import translate
from app.services.answers import Answers
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.notices import Notice, Notices
from app.services.open_conversation import OpenConversation, Run, is_shown, title_of
from app.services.turns import Turn

_GOOD_ENDS: frozenset[StopReason] = frozenset({"end", "length", "stop_string"})


class Queued(NamedTuple):
    """A question that waits."""

    number: int
    text: str
    since_ns: int


class Queue:
    """The questions that wait, in every conversation."""

    def __init__(self, chat: Chat, answers: Answers, branches: Branches, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """Others wait in the conversation that is shown, or another one is shown."""
        self._chat = chat
        self._branches = branches
        self._notices = notices
        self._aside: Turn | None = None
        """The answer to the question that was sent last in a branch that is not shown, while that is offered."""
        self._withdrawn: list[tuple[int, int, Queued]] = []
        """What can be brought back, the latest last: of which conversation, and at which place it waited."""
        self._waiting: dict[int, list[Queued]] = {}
        self._numbers = 0
        self._came_back: set[int] = set()
        """The conversations in which the question that was asked before those that wait is in the draft again."""
        answers.ended.connect(self._take_ended)
        chat.opened.connect(self.changed.emit)
        chat.opened.connect(self._forget_aside)
        chat.rebranched.connect(self._take_branch)
        chat.draft_returned.connect(self._take_returned)

    @property
    def shown(self) -> tuple[Queued, ...]:
        """What waits in the conversation that is shown, in order."""
        return tuple(self._waiting.get(self._chat.conversation_id, ()))

    @property
    def is_behind_draft(self) -> bool:
        """Whether the next question goes before what waits: it was asked before, and came back."""
        return self._chat.conversation_id in self._came_back

    def add(self, text: str) -> bool:
        """Let a question wait for the answer that is written, or behind what waits already, which goes on with that.

        False where it is to be asked now, or is blank.
        """
        text, is_first = clean_text(text), self.is_behind_draft or not self.shown
        if not text.strip():
            return False
        if not self._chat.busy and is_first:
            self._came_back.discard(self._chat.conversation_id)
            return False
        self._numbers += 1
        queued = Queued(self._numbers, text, time.perf_counter_ns())
        self._waiting.setdefault(self._chat.conversation_id, []).append(queued)
        self._tell(self._chat.conversation_id)
        self.send()
        return True

    def take_back(self, number: int) -> str:
        """Take a question out of the queue, and return what it says; empty where it was sent meanwhile."""
        for conversation, waiting in self._waiting.items():
            for queued in waiting:
                if queued.number == number:
                    waiting.remove(queued)
                    self._tell(conversation)
                    return queued.text
        return ""

    def withdraw(self, number: int) -> bool:
        """Take a question out of the queue; a notice offers to undo that. False where it was sent meanwhile."""
        for conversation, waiting in self._waiting.items():
            for place, queued in enumerate(waiting):
                if queued.number == number:
                    del waiting[place]
                    self._withdrawn.append((conversation, place, queued))
                    self._tell(conversation)
                    self._notices.settle("undo_withdraw")
                    said = translate("Queue", "“{words}” is not sent.", words=title_of(queued.text))
                    self._notices.post(Notice(said, level="hint", remedy="undo_withdraw", brief=True))
                    return True
        return False

    def undo_withdraw(self) -> bool:
        """Let the question that was withdrawn last wait again; False where there is none."""
        if not self._withdrawn:
            return False
        conversation, place, queued = self._withdrawn.pop()
        self._waiting.setdefault(conversation, []).insert(place, queued)
        self._tell(conversation)
        self._notices.settle("undo_withdraw")
        return True

    def send(self) -> bool:
        """Send the first question that waits behind what is shown; False where an answer is written or none waits."""
        return not self._chat.busy and self._send_next(self._chat.shown, self._chat.shown.leaf)

    def show_sent(self) -> None:
        """Show the branch in which a question was sent that was not shown."""
        if self._aside is not None:
            self._branches.show(self._aside)

    def _take_ended(self, run: Run) -> None:
        """Go on behind an answer, whatever is shown of its conversation."""
        conversation = run.conversation
        if conversation.run is None and run.stop_reason in _GOOD_ENDS and run.message in conversation.known:
            self._send_next(conversation, run.message)

    def _send_next(self, conversation: OpenConversation, parent: int | None) -> bool:
        waiting = self._waiting.get(conversation.head.id)
        if not waiting or conversation.head.deleted_ms is not None:
            return False
        self._came_back.discard(conversation.head.id)
        queued = waiting.pop(0)
        seconds = (time.perf_counter_ns() - queued.since_ns) / 1e9
        if parent is None or parent == conversation.leaf:
            self._chat.asking.question(conversation, queued.text, parent)
        else:
            answer = self._chat.asking.question_aside(conversation, queued.text, parent)
            self._tell_aside(conversation, answer, queued.text)
        if conversation.run is not None:
            waited = translate("Queue", "Waited {seconds} s for the answer before.", seconds=f"{seconds:.1f}")
            conversation.run.turn.notes.append(waited)
        self._tell(conversation.head.id)
        return True

    def _tell_aside(self, conversation: OpenConversation, answer: Turn, text: str) -> None:
        """Say where a question went that nobody sees; in another conversation the list says that it is answered."""
        if conversation is self._chat.shown:
            self._forget_aside()
            self._aside = answer
            sent = translate("Queue", "“{words}” was sent in another version of this chat.", words=title_of(text))
            self._notices.post(Notice(sent, level="hint", remedy="show_sent", brief=True))

    def _take_branch(self, _first: int) -> None:
        """Offer no longer to show what is shown, or gone; without its chat what waits goes back to the draft."""
        shown, aside = self._chat.shown, self._aside
        if shown.is_new and (waiting := self._waiting.pop(shown.head.id, None)):
            self._tell(shown.head.id)
            self._chat.draft_returned.emit("\n\n".join(queued.text for queued in waiting))
        if aside is not None and (is_shown(shown, aside) or aside.message not in shown.known):
            self._forget_aside()

    def _take_returned(self, _text: str) -> None:
        if self.shown:
            self._came_back.add(self._chat.conversation_id)
            self.changed.emit()

    def _forget_aside(self) -> None:
        if self._aside is not None:
            self._aside = None
            self._notices.settle("show_sent")

    def _tell(self, conversation: int) -> None:
        if not self._waiting.get(conversation):
            self._came_back.discard(conversation)
        self._chat.drafts.hold(conversation, tuple(queued.text for queued in self._waiting.get(conversation, ())))
        if conversation == self._chat.conversation_id:
            self.changed.emit()
