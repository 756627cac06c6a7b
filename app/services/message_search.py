"""What is found in all conversations: hits as they come, for what was typed last, and the way to one of them.

One question is under way at a time: of what is typed meanwhile only the newest is asked then.
"""

from __future__ import annotations

from app.core.literal_text import needle
from app.core.ports import StorePort
from app.core.search import PAGE, FoundChat, FoundMessage, SearchPlace, titles_holding
from app.core.signal import Signal
from app.core.store_commands import FindMessages
from app.core.store_events import MessagesFound, SearchReady
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.conversations import Conversations


class MessageSearch:
    """One search at a time, which is over when nothing is typed."""

    def __init__(self, store: StorePort, conversations: Conversations, chat: Chat, branches: Branches) -> None:
        self.changed: Signal[()] = Signal()
        """Something more or something else is found, or the search is over."""
        self.reached: Signal[int, str] = Signal()
        """A message that was found is shown now: its id, and what was looked for."""
        self.arrived: Signal[()] = Signal()
        """A chat that was found by its title is shown now."""
        self._store = store
        self._conversations = conversations
        self._chat = chat
        self._branches = branches
        self._text = ""
        self._hits: list[FoundMessage] = []
        self._titles: tuple[FoundChat, ...] = ()
        self._rest: SearchPlace | None = None
        self._is_whole = True
        self._wanted = 0
        """So many hits are looked for."""
        self._count = 0
        self._asked: int | None = None
        """The request that is under way."""
        self._must_ask = False
        self._begins = False
        """Whether the next answer takes the place of what is shown: until then that stays, and nothing flickers."""
        self._target: tuple[int | None, str] | None = None
        """The message that somebody goes to, None for the chat itself, and what was looked for."""
        chat.deleted.connect(self._take_deleted)

    @property
    def text(self) -> str:
        """What is looked for; empty where nothing is."""
        return self._text

    @property
    def hits(self) -> tuple[FoundMessage, ...]:
        """What was found, newest first."""
        return tuple(self._hits)

    @property
    def titles(self) -> tuple[FoundChat, ...]:
        """The chats whose titles hold it, newest first."""
        return self._titles

    @property
    def is_busy(self) -> bool:
        """Whether more is being looked for."""
        return self._asked is not None or self._must_ask

    @property
    def is_more(self) -> bool:
        """Whether there may be more than was looked for."""
        return self._rest is not None

    @property
    def is_whole(self) -> bool:
        """Whether older messages were looked at, too; else they are as soon as they are indexed."""
        return self._is_whole

    def search(self, text: str) -> None:
        """Look for a text as it was typed; nothing but white space ends the search."""
        if text == self._text:
            return
        self._text = text if needle(text) else ""
        self._begin()
        if not self._text:
            self._hits.clear()
            self._titles = ()
            self._is_whole = True
        self.changed.emit()

    def again(self) -> None:
        """Look for the same once more: messages may have come meanwhile."""
        if self._text:
            self._begin()

    def more(self) -> None:
        """Look for a page more."""
        if self._text and self._rest is not None and not self.is_busy:
            self._wanted = len(self._hits) + PAGE
            self._ask()

    def open(self, hit: FoundMessage | FoundChat) -> None:
        """Show a message that was found, or a chat; `reached` or `arrived` follows once it is there."""
        self._target = (hit.message if isinstance(hit, FoundMessage) else None, self._text)
        if self._chat.conversation_id == hit.conversation:
            self.arrive()
        else:
            self._conversations.open(hit.conversation)

    def arrive(self) -> None:
        """A conversation is shown: go to the message in it that somebody wanted, or no longer."""
        target, self._target = self._target, None
        if target is None:
            return
        message, text = target
        if message is None:
            self.arrived.emit()
            return
        turn = self._chat.shown.known.get(message)
        if turn is None:
            return
        if turn not in self._chat.shown.turns:
            self._branches.show(turn)
        self.reached.emit(message, text)

    def take(self, event: MessagesFound | SearchReady) -> None:
        """Take in what the store says."""
        if isinstance(event, SearchReady):
            if not self._is_whole:
                self.again()
            return
        if event.request != self._asked:
            return
        self._asked = None
        if self._must_ask:
            self._must_ask = False
            self._ask()
            return
        if not self._text:
            return
        if self._begins:
            self._begins = False
            self._hits.clear()
            self._titles = titles_holding(self._conversations.heads, needle(self._text), event.found)
        self._hits += event.found
        self._rest, self._is_whole = event.rest, event.is_whole
        if self._rest is not None and len(self._hits) < self._wanted:
            self._ask()
        self.changed.emit()

    def _begin(self) -> None:
        """Ask anew, as soon as nothing else is under way."""
        self._rest, self._wanted, self._begins = None, PAGE, True
        if self._asked is not None:
            self._must_ask = bool(self._text)
        elif self._text:
            self._ask()

    def _ask(self) -> None:
        self._count += 1
        self._asked = self._count
        there = 0 if self._begins else len(self._hits)
        self._store.send(FindMessages(self._count, self._text, self._rest, self._wanted - there))

    def _take_deleted(self, conversation: int, messages: tuple[int, ...]) -> None:
        """Show no longer what went to the trash."""
        gone = set(messages)
        left = [hit for hit in self._hits if hit.conversation != conversation or (gone and hit.message not in gone)]
        titles = tuple(found for found in self._titles if gone or found.conversation != conversation)
        if len(left) < len(self._hits) or titles != self._titles:
            self._hits, self._titles = left, titles
            self.changed.emit()
