"""Random edits, answers, steps, deletions and undos: store and memory always agree, and no message is ever lost."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.events import Event
from app.core.store_commands import ReadConversation, ReadTrash
from app.core.store_events import ConversationRead, TrashRead
from app.services.chat import Chat
from app.services.keeper import Keeper
from app.services.turns import Turn
from tests.desk import Desk
from tests.ggufs import write_tiny_llama


class Walk(RuleBasedStateMachine):
    """One conversation that people do everything with."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory()
        home = Path(self._folder.name)
        self.desk = Desk(home / "home", self._patch)
        # What is deleted in one millisecond is one deletion: here no two things are done in the same.
        moments = itertools.count(time.time_ns() // 1_000_000, 10)
        self._patch.setattr(Keeper, "now_ms", lambda _self: next(moments))
        self.desk.program.conversations.start()
        self.desk.load(write_tiny_llama(home / "tiny.F16.gguf"))
        self.said: set[str] = set()
        """Everything that was ever said, but for what was asked or answered in vain."""
        self.deleted: list[set[str]] = []
        self.count = 0

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
        gone = {each.text for each in self.chat.shown.below(turn)}
        self.desk.program.branches.delete(turn)
        self.deleted.append(gone)

    @precondition(lambda self: self.deleted)
    @rule()
    def undo(self) -> None:
        if self.desk.program.branches.undo_delete():
            self.deleted.pop()

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
        gone = set().union(*self.deleted)
        assert {each.text for each in known.values()} == self.said - gone
        assert sum(item.messages for item in trash.items) == len(gone)
        head = next(head for head in self.desk.program.conversations.heads if head.id == self.chat.conversation_id)
        assert head.leaf == self.chat.turns[-1].message


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=25, stateful_step_count=25)
