"""What people do with the tree of a conversation: step between versions, edit, answer again, fork, delete a branch.

Nothing is ever destroyed here: what is changed becomes another version, and what is deleted goes to the trash.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from itertools import count as count_from
from typing import NamedTuple

import msgspec

from app.core.chat import clean_text
from app.core.conversation import LONGEST_TITLE, Conversation, Trashed
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.keeper import Keeper
from app.services.notices import Notice, Notices
from app.services.open_conversation import OpenConversation, Run, is_shown
from app.services.thinking import Thoughts
from app.services.turns import Turn


class Version(NamedTuple):
    """Which version of a message is shown, from 1, and how many there are."""

    number: int
    of: int


class _Deletion(NamedTuple):
    """What was deleted at once: its ids alone, for the conversation can be long and closed long before it is undone."""

    head: Conversation
    way: tuple[int, ...]
    """The messages that led to it: it comes back with those of them that came to nothing meanwhile."""
    gone: tuple[int, ...]
    leaf: int | None
    """Where the branch that was shown ended before."""
    messages: int
    """How many of what is gone people saw: lanes of comparisons stand in no branch."""


class Branches:
    """Acts on the conversation that is shown."""

    def __init__(self, chat: Chat, answers: Answers, keeper: Keeper, notices: Notices) -> None:
        self.forked: Signal[OpenConversation] = Signal()
        """A conversation was begun with what is said in another one so far."""
        self.emptied: Signal[int] = Signal()
        """Nothing would be left of a conversation: it is to be deleted as a whole."""
        self.brought_back: Signal[Conversation] = Signal()
        """A branch is back in a conversation that is not shown, or was read again meanwhile."""
        self.unused: Signal[Turn, str] = Signal()
        """Another version of an answer came to nothing that was to begin with words: they are free for the next."""
        self._chat = chat
        self._answers = answers
        self._keeper = keeper
        self._notices = notices
        self.titles: Callable[[], Iterable[str]] = tuple
        """The titles that chats have: a fork gets another one."""
        self.in_memory: Callable[[int], OpenConversation | None] = lambda _conversation: None
        """Finds a conversation that is in memory, shown or not."""
        self._deleted: list[_Deletion] = []
        """What can be brought back, the latest last."""
        answers.ended.connect(self._take_ended)

    def version(self, turn: Turn) -> Version:
        """Return which version of its message a turn is."""
        versions = self._chat.shown.versions(turn)
        return Version(next(n for n, each in enumerate(versions, 1) if each is turn), len(versions))

    def step(self, turn: Turn, by: int) -> bool:
        """Show a version further on or back, with what was looked at behind it last; False where there is none."""
        shown = self._chat.shown
        versions = shown.versions(turn)
        place = next(n for n, each in enumerate(versions) if each is turn) + by
        if not 0 <= place < len(versions):
            return False
        self.show(versions[place])
        return True

    def show(self, turn: Turn) -> None:
        """Show the branch through a message, with what was looked at behind it last."""
        shown = self._chat.shown
        if turn.message in shown.known:
            self._show(shown, shown.leaf_through(turn))

    def edit(self, turn: Turn, text: str) -> bool:
        """Say something else in a message: a question is asked anew, an answer gets another version.

        False where that says the same or nothing, or an answer is being written and a question cannot be asked.
        """
        text = clean_text(text)
        if not text.strip() or text == turn.text:
            return False
        shown = self._chat.shown
        if turn.role == "user":
            if self._chat.busy:
                return False
            self._chat.asking.question(shown, text, turn.parent)
            self._chat.head_changed.emit()
            return True
        edited = self._chat.asking.turn("assistant", turn.parent, text)
        edited.edited, edited.author, edited.model = True, turn.author, turn.model
        edited.thoughts = Thoughts.edited(text, turn.thoughts.thinking if turn.thoughts is not None else None)
        first = shown.add(edited)
        shown.change_head(leaf=edited.message, changed_ms=self._keeper.stamps.now_ms())
        self._keeper.keep_answer(shown, edited)
        self._keeper.head(shown.head)
        self._chat.asking.rebranched.emit(shown, first)
        self._chat.head_changed.emit()
        return True

    def answer_again(self, turn: Turn, begins: str = "") -> bool:
        """Write any answer anew, with given first words if there are any; False while another one is written."""
        begins = clean_text(begins)
        if self._chat.busy or turn.role != "assistant":
            return False
        self._chat.asking.version(self._chat.shown, turn, begins)
        return True

    def fork(self, turn: Turn) -> OpenConversation:
        """Begin a conversation with what was said up to a message, that message included, and show it."""
        shown = self._chat.shown
        way = [*shown.before(turn), turn]
        copies: list[Turn] = []
        ids: dict[int, int] = {}
        for each in way:
            copy = dataclasses.replace(each, number=0, notes=list(each.notes), comparison=None)
            copy.message = self._keeper.stamps.new_id()
            copy.parent = copies[-1].message if copies else None
            if copy.state not in ("done", "interrupted"):
                copy.state, copy.reason = "interrupted", _FORKED
                if each.thoughts is not None:  # which go on, but not here
                    copy.thoughts = Thoughts.kept(copy.text, each.thoughts.thinking)
            ids[each.message] = copy.message
            copies.append(copy)
        now = self._keeper.stamps.now_ms()
        head = msgspec.structs.replace(
            shown.head,
            id=self._keeper.stamps.new_id(),
            title=numbered_title(shown.head.title, (shown.head.title, *self.titles())),
            created_ms=now,
            changed_ms=now,
            leaf=copies[-1].message,
        )
        self._keeper.fork(head, tuple(ids.items()))
        fork = OpenConversation(head, copies)
        for each, copy in zip(way, copies, strict=True):
            if each.state != copy.state:
                self._keeper.keep_answer(fork, copy)  # as people see it: given words are not written yet
        self._chat.show(fork)
        self._chat.head_changed.emit()
        self.forked.emit(fork)
        begun = translate("Branches", "“{title}” begins with what was said up to here.", title=head.title)
        self._notices.post(Notice(begun, level="hint", brief=True))
        return fork

    def delete(self, turn: Turn) -> None:
        """Put a message and everything that follows it into the trash; a notice offers to undo that."""
        shown = self._chat.shown
        if turn.message not in shown.known:
            return
        if shown.leaf_without(turn) is None:
            self.emptied.emit(shown.head.id)
            return
        standing = self._ended(shown, turn)
        if standing is None:
            return
        leaf, next_leaf, was_shown = shown.leaf, shown.leaf_without(standing), is_shown(shown, standing)
        way, lanes = tuple(each.message for each in shown.before(standing)), set(shown.lanes.hidden)
        gone = shown.remove(standing)
        deletion_ms = self._keeper.removed([each.message for each in gone])
        for each in gone:
            each.deleted_ms = deletion_ms
        latest = self._notices.latest
        if latest is None or latest.remedy != "undo_branch":
            self._deleted.clear()  # nobody remembers what was deleted long ago
        ids = tuple(each.message for each in gone)
        self._deleted.append(_Deletion(shown.head, way, ids, leaf, len(set(ids) - lanes)))
        self._chat.deleted.emit(shown.head.id, ids)
        if was_shown:
            self._show(shown, next_leaf)
        else:
            self._chat.asking.rebranched.emit(shown, len(shown.turns))  # what goes on behind it has to know
        self._offer_undo()

    def _ended(self, shown: OpenConversation, turn: Turn) -> Turn | None:
        """End the answer that is written in a branch that goes; return what stands for its message then, if anything.

        A version that says nothing yet goes as if it had been stopped: nothing of it could be brought back.
        """
        run = shown.run
        if run is None or all(each is not run.turn for each in shown.below(turn)):
            return turn
        self._answers.leave(shown, _DELETED)
        if (standing := shown.known.get(turn.message)) is not None:
            return standing  # one that was to go on is there as it was before
        earlier = run.turn  # an answer that went on is deleted as people saw it
        return earlier if turn.text and earlier.text == turn.text and earlier.message in shown.known else None

    def undo_delete(self) -> bool:
        """Bring back what was deleted last, and offer the one before; False where there is nothing."""
        if not self._deleted:
            return False
        deletion = self._deleted.pop()
        self._offer_undo()
        conversation = self.in_memory(deletion.head.id)
        gone = _turns_of(conversation, deletion.gone) if conversation is not None else None
        if conversation is None or gone is None:  # it was read again since, or will be
            self._keeper.restored((*deletion.way, *deletion.gone))
            self.brought_back.emit(msgspec.structs.replace(deletion.head, leaf=deletion.leaf))
            return True
        back = [*gone, *conversation.bring_back(gone)]
        for each in back:
            each.deleted_ms = None
        self._keeper.restored(sorted({each.message for each in back}))
        conversation.change_head(deleted_ms=None)
        if conversation is self._chat.shown:
            self._show(conversation, conversation.leaf_behind(deletion.leaf))  # something may follow it meanwhile
        else:
            conversation.change_head(leaf=deletion.leaf)
            self.brought_back.emit(conversation.head)
        return True

    def forget(self, item: Trashed) -> None:
        """Something of a conversation goes for good: what else was deleted in it comes back out of the trash alone."""
        self._keep_offering(lambda each: each.head.id != item.conversation)

    def take_returned(self, item: Trashed) -> None:
        """A branch is back out of the trash: it is offered no longer, what else was deleted still is."""
        self._keep_offering(lambda each: item.message not in each.gone)

    def _keep_offering(self, is_offered: Callable[[_Deletion], bool]) -> None:
        before = self._deleted
        self._deleted = [each for each in before if is_offered(each)]
        latest = self._notices.latest
        if len(self._deleted) < len(before) and latest is not None and latest.remedy == "undo_branch":
            self._offer_undo()

    def _take_ended(self, run: Run) -> None:
        is_of_people = run.beginning.is_given and not run.forced
        if run.came_to_nothing and is_of_people and run.beginning.text != run.turn.text:
            self.unused.emit(run.turn, run.beginning.text)

    def _show(self, conversation: OpenConversation, leaf: int | None) -> None:
        first = conversation.show(leaf)
        conversation.change_head(leaf=leaf)
        self._keeper.head(conversation.head)
        self._chat.asking.rebranched.emit(conversation, first)
        self._chat.head_changed.emit()

    def _offer_undo(self) -> None:
        """Say what was deleted last, in place of what was said before; each is brought back by itself."""
        self._notices.settle("undo_branch")
        if not self._deleted:
            return
        count = self._deleted[-1].messages
        sentence = translate("Branches", "A message was deleted.")
        if count > 1:
            sentence = translate("Branches", "{count} messages were deleted.", count=count)
        self._notices.post(Notice(sentence, level="hint", remedy="undo_branch", brief=True))


def _turns_of(conversation: OpenConversation, messages: tuple[int, ...]) -> list[Turn] | None:
    """Return turns that a conversation in memory has or had; None where one of them never was there."""
    found = [conversation.removed.get(message) or conversation.known.get(message) for message in messages]
    turns = [turn for turn in found if turn is not None]
    return turns if len(turns) == len(found) else None


def numbered_title(title: str, taken: Iterable[str]) -> str:
    """Return a title with the first number behind it that nothing else is called by: “Rain (2)”."""
    known = set(taken)
    begins = _NUMBER.sub("", title)
    number = next(each for each in count_from(2) if _numbered(begins, each) not in known)
    return _numbered(begins, number)


def _numbered(title: str, number: int) -> str:
    ending = f" ({number})"
    return title[: LONGEST_TITLE - len(ending)].rstrip() + ending


_NUMBER = re.compile(r"(?<=\S) \(\d{1,3}\)$")
"""A year in brackets is no number."""
_DELETED: Sentence = translate("Branches", "Interrupted: this is what was written when it was deleted.")
_FORKED: Sentence = translate("Branches", "Interrupted: this is what was written when the chat was forked.")
