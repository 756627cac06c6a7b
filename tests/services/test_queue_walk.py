"""Random questions, stops, other chats, deletions and restarts: whatever waits is asked once, and shown in one place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.draft import Draft
from app.services.drafts import place_of
from app.services.program import Program
from tests.desk import Desk
from tests.ggufs import write_tiny_llama


class QueueWalk(RuleBasedStateMachine):
    """Some chats, and a composer that writes what it shows into their drafts."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory()
        self._model = write_tiny_llama(Path(self._folder.name) / "tiny.F16.gguf")
        self.asked: dict[int, list[str]] = {}
        """By conversation: every question that people wrote there."""
        self.count = 0
        self.start()

    def start(self) -> None:
        self.desk = Desk(Path(self._folder.name) / "home", self._patch)
        self.program: Program = self.desk.program
        self.program.chat.draft_returned.connect(lambda text: self.write(text, self.draft))
        self.program.conversations.start()
        self.desk.load(self._model)

    def teardown(self) -> None:
        try:
            for head in self.program.conversations.heads:
                self.program.conversations.open(head.id)
                self.all_are_there_once()
        finally:
            self.program.stop()
            self._patch.undo()
            self._folder.cleanup()

    @property
    def here(self) -> int:
        return self.program.chat.conversation_id

    @property
    def draft(self) -> str:
        """What the composer shows."""
        return self.program.chat.drafts.of(place_of(self.program.chat.shown)).text

    @property
    def is_begun(self) -> bool:
        return not self.program.chat.shown.is_new

    def write(self, *texts: str) -> None:
        text = "\n\n".join(filter(None, texts))
        self.program.chat.drafts.write(Draft(place_of(self.program.chat.shown), text))

    def new_question(self) -> str:
        self.count += 1
        question = f"<{self.count}>"
        self.asked.setdefault(self.here, []).append(question)
        return question

    def ask(self, text: str) -> None:
        if not self.program.queue.add(text):
            self.program.chat.send(text)

    @initialize()
    def first(self) -> None:
        self.begin_chat()

    # What people do

    @rule()
    def begin_chat(self) -> None:
        self.program.conversations.new()
        self.ask(self.new_question())
        self.desk.settle()

    @precondition(lambda self: self.is_begun)
    @rule(times=st.integers(1, 3))
    def queue(self, times: int) -> None:
        for _ in range(times):
            self.ask(self.new_question())

    @precondition(lambda self: self.is_begun)
    @rule()
    def type(self) -> None:
        self.write(self.draft, self.new_question())

    @precondition(lambda self: self.is_begun and self.draft)
    @rule()
    def send(self) -> None:
        text = self.draft
        self.ask(text)
        self.write()

    @precondition(lambda self: self.program.queue.shown)
    @rule()
    def take_back(self) -> None:
        self.write(self.program.queue.take_back(self.program.queue.shown[0].number), self.draft)

    @rule()
    def send_what_waits(self) -> None:
        self.program.queue.send()

    @rule(data=st.data())
    def open_chat(self, data: st.DataObject) -> None:
        heads = sorted(head.id for head in self.program.conversations.heads)
        if heads:
            self.program.conversations.open(data.draw(st.sampled_from(heads)))

    @rule()
    def leave_and_come_back(self) -> None:
        shown = self.here
        self.program.conversations.new()
        self.program.conversations.open(shown)

    @rule()
    def delete_chat(self) -> None:
        self.program.conversations.delete(self.here)

    @rule()
    def undo_deleted_chat(self) -> None:
        self.program.conversations.undo_delete()

    @rule()
    def bring_back_out_of_the_trash(self) -> None:
        self.program.trash.look()
        chats = [item for item in self.program.trash.items or () if item.message is None]
        if chats:
            self.program.trash.restore(chats[0])

    @rule()
    def start_anew(self) -> None:
        self.program.stop()
        self.start()

    # What the engine does

    @precondition(lambda self: self.program.session.phase == "busy")
    @rule(stops=st.booleans())
    def end(self, stops: bool) -> None:
        self.desk.engine.prompt()
        self.desk.engine.write("word")
        self.desk.engine.finish("cancelled" if stops else "end")
        self.desk.settle()

    @precondition(lambda self: self.program.session.phase == "busy" and len(self.program.chat.turns) > 2)
    @rule()
    def fail(self) -> None:
        self.desk.engine.fail("template")
        self.desk.settle()

    # What always holds

    @invariant()
    def all_are_there_once(self) -> None:
        self.desk.settle()
        if not self.is_begun:
            return
        said = [turn.text for turn in self.program.chat.shown.known.values() if turn.role == "user"]
        waits = [queued.text for queued in self.program.queue.shown]
        everything = "\n\n".join((*said, *waits, self.draft)).split("\n\n")
        assert sorted(filter(None, everything)) == sorted(self.asked.get(self.here, ()))


TestQueueWalk = QueueWalk.TestCase
TestQueueWalk.settings = settings(max_examples=30, stateful_step_count=30)
