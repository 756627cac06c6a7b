"""The list of conversations: which there are, which is open, and opening, renaming and deleting them.

What is said in them is the chat's; where they are kept is the store's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from app.core.conversation import LONGEST_TITLE, Conversation, Trashed
from app.core.job_events import ConversationMade
from app.core.ports import StorePort
from app.core.signal import Signal
from app.core.store_commands import OpenStore
from app.core.store_events import ChatsAdded, ConversationRead, StoreFailed, StoreOpened, StoreRecovered, StoreRenewed
from app.core.words import translate
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.conversation_reads import ConversationReads
from app.services.keeper import Keeper
from app.services.notices import Notice, Notices
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile


class Conversations:
    """Newest first; a new conversation joins the list with its first message."""

    def __init__(
        self,
        store: StorePort,
        chat: Chat,
        answers: Answers,
        keeper: Keeper,
        settings: SettingsFile,
        notices: Notices,
        jobs: Jobs,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The list, a title, the open conversation or what is being answered is another one."""
        self.leaves: Signal[OpenConversation] = Signal()
        """A conversation is about to be deleted: whatever goes on in it ends."""
        self.compared: Callable[[], Sequence[OpenConversation]] = tuple
        """The conversations in which a comparison runs: they stay in memory."""
        self._store = store
        self._chat = chat
        self._answers = answers
        self._keeper = keeper
        self._settings = settings
        self._notices = notices
        self._heads: dict[int, Conversation] = {}
        self._ordered: tuple[Conversation, ...] | None = ()
        self._reads = ConversationReads(store, jobs, self._show_read)
        self._deleted: list[Conversation] = []
        """What can be brought back, the latest last."""
        self._left = chat.shown
        """The conversation that was shown before."""
        self._fault: Notice | None = None
        """What was told of something that waits to be written: it is over once that is on disk."""
        self._opens = False
        """Whether the store is being opened."""
        self._starts = False
        """Whether the conversation of the last time is being read, which gives way to what people do meanwhile."""
        self._unkept: dict[int, OpenConversation] = {}
        """Conversations that could not be kept: they are in memory alone."""
        chat.head_changed.connect(self._take_head)
        chat.opened.connect(self._chat_opened)
        answers.busy_changed.connect(self._busy_changed)
        answers.unkept.connect(self._take_unkept)

    @property
    def heads(self) -> tuple[Conversation, ...]:
        """The conversations, newest first; a new one without messages is not among them."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self._heads.values(), key=lambda head: (-head.changed_ms, -head.id)))
        return self._ordered

    @property
    def open_id(self) -> int:
        """The conversation that is shown."""
        return self._chat.conversation_id

    @property
    def is_opening(self) -> bool:
        """Whether it is not known yet what there is, or the conversation of the last time is still being read."""
        return self._opens or self._starts

    @property
    def busy(self) -> frozenset[int]:
        """The conversations that are being answered."""
        answered = (run.conversation for run in self._answers.runs)
        return frozenset(each.head.id for each in (*answered, *self.compared()))

    def in_memory(self, conversation: int) -> OpenConversation | None:
        """Return a conversation that is shown, answered, or could not be kept; None for one that must be read."""
        return next((each for each in self._all_in_memory() if each.head.id == conversation), None)

    def start(self) -> None:
        """Read the list; the conversation that was open last is shown again, unless somebody began a new one."""
        self._opens = True
        self.changed.emit()
        self._store.send(OpenStore())

    def new(self) -> None:
        """Show a new, empty conversation; what went wrong before is over."""
        self._notices.begin_anew()
        self._reads.forget()
        self._end_start()
        if not self._chat.shown.is_new:
            self._chat.show(self._chat.new_conversation())

    def open(self, conversation: int) -> None:
        """Show a conversation; its messages are read first where they are not in memory."""
        self._reads.forget()
        self._end_start()
        if conversation == self.open_id:
            return
        opened = self.in_memory(conversation)
        if opened is not None:
            self._chat.show(opened)
        elif conversation in self._heads:
            self._reads.want(conversation)

    def rename(self, conversation: int, title: str) -> None:
        """Give a conversation another title; a blank one changes nothing."""
        title = " ".join(title.split())[:LONGEST_TITLE]
        if title and conversation in self._heads:
            self.change(conversation, title=title)

    def change(self, *conversations: int, **changes: object) -> None:
        """Give the heads of conversations in the list other values, and keep them."""
        for conversation in conversations:
            head = msgspec.structs.replace(self._heads[conversation], **changes)
            opened = self.in_memory(conversation)
            if opened is not None:
                opened.change_head(**changes)
                head = opened.head
            self._heads[conversation] = head
            self._keeper.head(head)
        self._ordered = None
        self.changed.emit()

    def delete(self, conversation: int) -> None:
        """Delete a conversation, ending its answer; a notice offers to undo that."""
        head = self._heads.get(conversation)
        if head is None:
            return
        opened = self.in_memory(conversation)
        if opened is not None:
            self._answers.stop(opened)
            self.leaves.emit(opened)
        self.change(conversation, deleted_ms=self._keeper.stamps.deletion_ms())
        latest = self._notices.latest
        if latest is None or latest.remedy != "undo_delete":
            self._deleted.clear()  # nobody remembers what was deleted long ago
        self._deleted.append(self._heads.pop(conversation))
        self._ordered = None
        self._offer_undo()
        self._chat.deleted.emit(conversation, ())
        if conversation == self.open_id:
            self._chat.show(self._chat.new_conversation())
        self.changed.emit()

    def undo_delete(self) -> None:
        """Bring back the conversation that was deleted last, and show it; the one before can follow."""
        if not self._deleted:
            return
        head = self._deleted.pop()
        self._offer_undo()
        self._heads[head.id] = head
        self.change(head.id, deleted_ms=None)
        self.open(head.id)
        self.changed.emit()

    def forget(self, item: Trashed) -> None:
        """Offer no longer to bring back what goes for good, or is back."""
        before = self._deleted
        if item.message is None and any(head.id == item.conversation for head in before):
            self._deleted = [head for head in before if head.id != item.conversation]
            latest = self._notices.latest
            if latest is not None and latest.remedy == "undo_delete":
                self._offer_undo()

    def bring_back(self, head: Conversation) -> None:
        """Show a conversation that is back out of the trash, whole or with a branch more."""
        self._end_start()
        self._heads.setdefault(head.id, head)  # what is in the list may be newer, but for where it ends
        self.change(head.id, leaf=head.leaf, deleted_ms=None)
        self._reads.want(head.id)

    def take(
        self,
        event: StoreOpened
        | ChatsAdded
        | ConversationRead
        | ConversationMade
        | StoreFailed
        | StoreRecovered
        | StoreRenewed,
    ) -> None:
        """Take in what the store says, and what was made of it."""
        match event:
            case StoreOpened():
                self._take_opened(event)
            case ChatsAdded(heads):
                self._heads.update((head.id, head) for head in heads)
                self._ordered = None
                self.changed.emit()
            case ConversationRead():
                self._chat.drafts.take(event.draft)
                self._reads.take_read(event, self._heads.get(event.conversation))
            case ConversationMade():
                self._reads.take_made(event)
            case StoreRenewed():
                for conversation in self._all_in_memory():
                    self._keeper.keep_all(conversation)
            case StoreFailed():
                self._take_failed(event)
            case StoreRecovered():
                self._unkept.clear()
                self._end_fault()

    def _take_failed(self, event: StoreFailed) -> None:
        """Tell what the store could not do; of what waits to be written only the latest reason holds."""
        notice = Notice(event.sentence, lasts=True)
        if event.waits:
            self._end_fault()
            self._fault = notice
        self._notices.post(notice)

    def _end_fault(self) -> None:
        if self._fault is not None:
            self._notices.withdraw(self._fault)
            self._fault = None

    def _offer_undo(self) -> None:
        """Say what was deleted last and how many with it, in place of what was said before."""
        self._notices.settle("undo_delete")
        if not self._deleted:
            return
        title, count = self._deleted[-1].title, len(self._deleted)
        sentence = translate("Conversations", "“{title}” was deleted.", title=title)
        if count > 1:
            sentence = translate(
                "Conversations", "{count} chats were deleted, the last one was “{title}”.", count=count, title=title
            )
        self._notices.post(Notice(sentence, level="hint", remedy="undo_delete", brief=True))

    def _end_start(self) -> None:
        """Wait no longer for the conversation of the last time: it is shown, or something else is wanted."""
        if self._starts:
            self._starts = False
            self.changed.emit()

    def _take_opened(self, event: StoreOpened) -> None:
        self._opens = False
        self._keeper.stamps.go_beyond(event.newest, event.newest_deletion)
        shown = self._chat.shown
        if shown.is_new and shown.head.id <= event.newest:
            shown.change_head(id=self._keeper.stamps.new_id())
        self._chat.drafts.take(event.draft)
        for head in event.conversations:
            self._heads.setdefault(head.id, head)
        self._ordered = None
        for problem in event.problems:
            self._notices.post(Notice(problem, lasts=True))
        last = next((head.id for head in self.heads if str(head.id) == self._settings.values.last_conversation), None)
        self._starts = last is not None and self._chat.shown.is_new
        self.changed.emit()
        if last is not None and self._starts:
            self._reads.want(last)

    def _show_read(self, conversation: int, made: OpenConversation | None) -> None:
        """Show what was made of a conversation that was read, unless something else came first."""
        starts, self._starts = self._starts, False
        head = self._heads.get(conversation)
        gives_way = starts and not self._chat.shown.is_new
        is_there = made is not None and not made.is_new and not gives_way
        opened = self.in_memory(conversation)
        if head is not None and made is not None and is_there:
            if opened is not None:
                opened.lanes.join(made.lanes)
                self._join(opened, (*made.known.values(), *made.lanes.hidden.values()), head)
            else:
                made.head = head
                self._chat.show(made)
        elif starts:
            self.changed.emit()
        elif head is not None:
            sentence = translate(
                "Conversations", "“{title}” could not be read: try again, or start Tokenlight anew.", title=head.title
            )
            self._notices.post(Notice(sentence))

    def _join(self, opened: OpenConversation, turns: Sequence[Turn], head: Conversation) -> None:
        """Put what is back of a conversation in memory to the rest of it, and show where that ends."""
        opened.bring_back(turns)
        opened.show(opened.leaf_behind(head.leaf))
        opened.change_head(leaf=opened.leaf, deleted_ms=None)
        self._chat.show(opened)

    def _take_unkept(self, conversation: OpenConversation) -> None:
        self._unkept[conversation.head.id] = conversation

    def _take_head(self) -> None:
        shown = self._chat.shown
        if not shown.is_new and shown.head.deleted_ms is None:
            self._heads[shown.head.id] = shown.head
            self._ordered = None
            self._settings.change(last_conversation=str(shown.head.id))
            self.changed.emit()

    def _chat_opened(self) -> None:
        shown, left = self._chat.shown, self._left
        if left.head.id in self._heads:
            self._heads[left.head.id] = left.head  # its settings may be others
        self._left = shown
        self._settings.change(last_conversation="" if shown.is_new else str(shown.head.id))
        self.changed.emit()

    def _busy_changed(self, conversation: OpenConversation) -> None:
        head = conversation.head
        self._deleted = [head if each.id == head.id else each for each in self._deleted]
        if head.deleted_ms is not None:
            self._heads.pop(head.id, None)
        elif head.id in self._heads:
            self._heads[head.id] = head
        self._ordered = None
        self.changed.emit()

    def _all_in_memory(self) -> tuple[OpenConversation, ...]:
        running = (run.conversation for run in self._answers.runs)
        return (self._chat.shown, *running, *self.compared(), *self._unkept.values())
