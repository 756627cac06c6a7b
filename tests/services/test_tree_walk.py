"""Random edits, answers, steps, deletions, undos and restarts, whatever the clock does.

Store and memory always agree, no message is ever lost, and each deletion is one of its own.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.events import Event
from app.core.store_commands import ReadConversation, ReadTrash
from app.core.store_events import ConversationRead, TrashRead
from app.services.chat import Chat
from app.services.turns import Turn
from tests.desk import Desk
from tests.ggufs import write_tiny_llama


class Deletion(NamedTuple):
    """What was deleted at once: its first message, what that follows, and all that was said in it."""

    top: str
    parent: int | None
    texts: frozenset[str]
    messages: frozenset[int]


class Walk(RuleBasedStateMachine):
    """One conversation that people do everything with, while the clock goes on."""

    STEP_NS = 10_000_000
    """How far the clock has gone whenever it is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory()
        moments = itertools.count(time.time_ns(), self.STEP_NS)
        self._patch.setattr("app.services.stamps.time", SimpleNamespace(time_ns=lambda: next(moments)))
        self._model = write_tiny_llama(Path(self._folder.name) / "tiny.F16.gguf")
        self.said: set[str] = set()
        """Everything that was ever said, but for what was asked or answered in vain."""
        self.deleted: list[Deletion] = []
        """What lies in the trash, the latest last."""
        self.undoable: list[Deletion] = []
        self.count = 0
        self.start()

    def start(self) -> None:
        self.desk = Desk(Path(self._folder.name) / "home", self._patch)
        self.desk.program.conversations.start()
        self.desk.load(self._model)

    def teardown(self) -> None:
        self.desk.program.stop()
        self._patch.undo()
        self._folder.cleanup()

    @property
    def chat(self) -> Chat:
        return self.desk.program.chat

    def new(self, kind: str) -> str:
        self.count += 1
        self.said.add(f"{kind} {self.count}")
        return f"{kind} {self.count}"

    def pick(self, data: st.DataObject, role: str | None = None) -> Turn | None:
        turns = [turn for turn in self.chat.turns if role in (None, turn.role)]
        return data.draw(st.sampled_from(turns)) if turns else None

    def answered(self) -> None:
        self.desk.answer(self.new("answer"))

    @initialize()
    def first(self) -> None:
        self.chat.send(self.new("question"))
        self.answered()

    @rule()
    def ask(self) -> None:
        self.chat.send(self.new("question"))
        self.answered()

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        turn = self.pick(data)
        if turn is not None and self.desk.program.branches.edit(turn, self.new("edit")) and turn.role == "user":
            self.answered()

    @rule(data=st.data())
    def answer_again(self, data: st.DataObject) -> None:
        turn = self.pick(data, "assistant")
        if turn is not None and self.desk.program.branches.answer_again(turn):
            self.answered()

    @rule(data=st.data())
    def answer_again_in_vain(self, data: st.DataObject) -> None:
        turn = self.pick(data, "assistant")
        if turn is not None and self.desk.program.branches.answer_again(turn):
            self.desk.engine.fail("model")
            self.desk.settle()

    @rule(data=st.data(), by=st.sampled_from([-1, 1]))
    def step(self, data: st.DataObject, by: int) -> None:
        turn = self.pick(data)
        if turn is not None:
            self.desk.program.branches.step(turn, by)

    @precondition(lambda self: len(self.chat.turns) > 2)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.chat.turns[1:]))
        gone = self.chat.shown.below(turn)
        texts, messages = frozenset(each.text for each in gone), frozenset(each.message for each in gone)
        deletion = Deletion(turn.text, turn.parent, texts, messages)
        latest = self.desk.program.notices.latest
        if latest is None or latest.remedy != "undo_branch":
            self.undoable.clear()
        self.desk.program.branches.delete(turn)
        self.deleted.append(deletion)
        self.undoable.append(deletion)

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        assert self.desk.program.branches.undo_delete()
        self.bring_back(self.undoable.pop())

    @rule(data=st.data())
    def bring_back_out_of_the_trash(self, data: st.DataObject) -> None:
        whole = [each for each in self.deleted if each.parent in self.chat.shown.known]
        if not whole:
            return
        deletion = data.draw(st.sampled_from(whole))
        trash = self.desk.program.trash
        trash.look()
        trash.restore(next(item for item in trash.items or () if item.text == deletion.top))
        self.undoable = [each for each in self.undoable if each is not deletion]
        self.bring_back(deletion)

    @rule(data=st.data())
    def remove_for_good(self, data: st.DataObject) -> None:
        """Whatever is undone afterwards, nothing of it is there again."""
        parents = {each.parent for each in self.deleted}
        last = [each for each in self.deleted if not parents & each.messages]
        if not last:
            return
        deletion = data.draw(st.sampled_from(last))
        trash = self.desk.program.trash
        trash.look()
        trash.erase(next(item for item in trash.items or () if item.text == deletion.top))
        self.bring_back(deletion)
        self.said -= deletion.texts
        self.undoable.clear()
        assert not self.desk.program.branches.undo_delete()

    def bring_back(self, deletion: Deletion) -> None:
        """Note that something is there again, or gone for good."""
        self.deleted = [each for each in self.deleted if each is not deletion]

    @rule()
    def start_anew(self) -> None:
        self.desk.program.stop()
        self.undoable.clear()
        self.start()

    def read(self) -> tuple[ConversationRead, TrashRead]:
        told: list[Event] = []
        self.desk.take_from_store = told.append
        self.desk.store.send(ReadConversation(0, self.chat.conversation_id))
        self.desk.store.send(ReadTrash(0))
        self.desk.take_from_store = self.desk.program.dispatch
        whole = next(event for event in told if isinstance(event, ConversationRead))
        trash = next(event for event in told if isinstance(event, TrashRead))
        return whole, trash

    @invariant()
    def store_and_memory_agree(self) -> None:
        if not self.chat.turns:
            return
        whole, trash = self.read()
        roots = self.chat.shown.versions(self.chat.turns[0])
        known = {each.message: each for root in roots for each in self.chat.shown.below(root)}
        kept = {message.id: message for message in whole.messages}
        assert {(each.message, each.parent, each.text) for each in known.values()} == {
            (message.id, message.parent, message.text) for message in kept.values()
        }
        gone = set[str]().union(*(each.texts for each in self.deleted))
        assert {each.text for each in known.values()} == self.said - gone
        expected = [(each.top, len(each.texts)) for each in reversed(self.deleted)]
        assert [(item.text, item.messages) for item in trash.items] == expected, "apart, and the latest first"
        numbers = [int(kept[key].text.split()[1]) for key in sorted(kept)]
        assert numbers == sorted(numbers), "ids grow with time"
        head = next(head for head in self.desk.program.conversations.heads if head.id == self.chat.conversation_id)
        assert head.leaf == self.chat.turns[-1].message


class WalkWhileTheClockStands(Walk):
    """Everything is done in one and the same moment."""

    STEP_NS = 0


class WalkWhileTheClockGoesBack(Walk):
    """Each moment is before the last one."""

    STEP_NS = -10_000_000


TestWalk = Walk.TestCase
TestWalkWhileTheClockStands = WalkWhileTheClockStands.TestCase
TestWalkWhileTheClockGoesBack = WalkWhileTheClockGoesBack.TestCase
TestWalk.settings = settings(max_examples=15, stateful_step_count=25)
TestWalkWhileTheClockStands.settings = TestWalkWhileTheClockGoesBack.settings = TestWalk.settings
