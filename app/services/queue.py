"""Questions that were asked while an answer is written: each is sent when the answer before it has ended well.

After a stop or a failure they wait until somebody sends them. They are kept with the draft of their conversation.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from app.core.chat import clean_text
from app.core.metrics import StopReason
from app.core.signal import Signal
from app.core.words import translate
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.notices import Notice, Notices
from app.services.open_conversation import OpenConversation, title_of
from app.services.turns import Turn

_GOOD_ENDS: frozenset[StopReason] = frozenset({"end", "length", "stop_string"})


class Queued(NamedTuple):
    """A question that waits."""

    number: int
    text: str
    since_ns: int


class Queue:
    """The questions that wait, in every conversation."""

    def __init__(self, chat: Chat, answers: Answers, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """Others wait in the conversation that is shown, or another one is shown."""
        self._chat = chat
        self._notices = notices
        self._withdrawn: list[tuple[int, int, Queued]] = []
        """What can be brought back, the latest last: of which conversation, and at which place it waited."""
        self._waiting: dict[int, list[Queued]] = {}
        self._numbers = 0
        answers.changed.connect(self._take_changed)
        chat.opened.connect(self.changed.emit)

    @property
    def shown(self) -> tuple[Queued, ...]:
        """What waits in the conversation that is shown, in order."""
        return tuple(self._waiting.get(self._chat.conversation_id, ()))

    def add(self, text: str) -> bool:
        """Let a question wait for the answer that is written; False where none is, or it is blank."""
        text = clean_text(text)
        if not self._chat.busy or not text.strip():
            return False
        self._numbers += 1
        queued = Queued(self._numbers, text, time.perf_counter_ns())
        self._waiting.setdefault(self._chat.conversation_id, []).append(queued)
        self._tell(self._chat.conversation_id)
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
        """Send the first question that waits here; False where an answer is written or nothing waits."""
        return not self._chat.busy and self._send_next(self._chat.shown)

    def _take_changed(self, conversation: OpenConversation, turn: Turn) -> None:
        is_over = conversation.run is None and turn.state == "done" and turn.finished is not None
        if is_over and turn.finished is not None and turn.finished.stop_reason in _GOOD_ENDS:
            self._send_next(conversation)

    def _send_next(self, conversation: OpenConversation) -> bool:
        waiting = self._waiting.get(conversation.head.id)
        if not waiting or conversation.head.deleted_ms is not None:
            return False
        queued = waiting.pop(0)
        seconds = (time.perf_counter_ns() - queued.since_ns) / 1e9
        self._chat.asking.question(conversation, queued.text, conversation.leaf)
        if conversation.run is not None:
            waited = translate("Queue", "Waited {seconds} s for the answer before.", seconds=f"{seconds:.1f}")
            conversation.run.turn.notes.append(waited)
        self._tell(conversation.head.id)
        return True

    def _tell(self, conversation: int) -> None:
        self._chat.drafts.hold(conversation, tuple(queued.text for queued in self._waiting.get(conversation, ())))
        if conversation == self._chat.conversation_id:
            self.changed.emit()
