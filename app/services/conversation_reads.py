"""Reads a conversation out of the store and makes turns of it: of a long one in the background.

Must not know what is done with it then.
"""

from __future__ import annotations

from collections.abc import Callable

from app.core.conversation import Conversation
from app.core.job_events import ConversationMade
from app.core.ports import StorePort
from app.core.store_commands import ReadConversation
from app.core.store_events import ConversationRead
from app.services.open_conversation import OpenConversation
from app.services.stored_turns import turns_of
from app.system.jobs import Jobs

LONG_MESSAGES = 1_000
"""Turns of so many messages are made in the background: the window can go on meanwhile."""


class ConversationReads:
    """Of what was asked for only the latest counts; what comes of the rest is passed over."""

    def __init__(self, store: StorePort, jobs: Jobs, done: Callable[[int, OpenConversation | None], None]) -> None:
        self._store = store
        self._jobs = jobs
        self._done = done
        self._wanted: int | None = None
        self._count = 0
        self._making: tuple[int, list[OpenConversation]] = (0, [])
        """The request whose turns are being made, and where they will be."""

    def want(self, conversation: int) -> None:
        """Read a conversation; `done` is told its id and what was made of it, or None where that failed."""
        self._wanted = conversation
        self._count += 1
        self._store.send(ReadConversation(self._count, conversation))

    def forget(self) -> None:
        """Want nothing any more."""
        self._wanted = None

    def take_read(self, event: ConversationRead, head: Conversation | None) -> None:
        """Make turns of what was read; without a head there is no such conversation any more."""
        if event.request != self._count or event.conversation != self._wanted:
            return
        if head is None or len(event.messages) < LONG_MESSAGES:
            self._end(event.conversation, _made(head, event) if head is not None else None)
            return
        made: list[OpenConversation] = []
        self._making = (event.request, made)
        ready = ConversationMade(event.request, event.conversation)

        def make() -> ConversationMade:
            made.append(_made(head, event))
            return ready

        self._jobs.submit("turns of a chat", make, lambda: ready)

    def take_made(self, event: ConversationMade) -> None:
        """Hand on what was made in the background."""
        request, made = self._making
        if event.request != request:
            return
        self._making = (0, [])
        if event.request == self._count and event.conversation == self._wanted:
            self._end(event.conversation, made[0] if made else None)

    def _end(self, conversation: int, made: OpenConversation | None) -> None:
        self._wanted = None
        self._done(conversation, made)


def _made(head: Conversation, event: ConversationRead) -> OpenConversation:
    """Return a conversation with everything that was read of it."""
    turns = turns_of(event.messages, event.answers, event.dropped, head.leaf)
    return OpenConversation(head, turns, head.leaf, event.comparisons)
