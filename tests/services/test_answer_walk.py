"""Random deletions, steps, edits, forks, undos, other chats and re-reading, in every phase of an answer.

Whatever comes together: nothing is raised, no answer hangs, and what was said is there until somebody deletes it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.events import Event, FailureKind
from app.core.metrics import StopReason
from app.core.store_commands import ReadConversation
from app.core.store_events import ConversationRead
from app.services.chat import Chat
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn
from app.services.wishes import Wish
from tests.desk import Desk
from tests.ggufs import write_tiny_llama

OPEN = ("waiting", "writing")
FAILURES: tuple[FailureKind, ...] = ("model", "prompt_too_long", "engine", "cancelled")
ENDS: tuple[StopReason, ...] = ("end", "length", "cancelled")
MOST_ENDS = 40


class AnswerWalk(RuleBasedStateMachine):
    """Some chats, in which people do what they like while the engine answers."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory()
        self._model = write_tiny_llama(Path(self._folder.name) / "tiny.F16.gguf")
        self.said: dict[int, dict[int, str]] = {}
        """By conversation and message: what was said and not deleted."""
        self.returned: list[str] = []
        self.prompted = 0
        self.count = 0
        self.start()

    def start(self) -> None:
        self.desk = Desk(Path(self._folder.name) / "home", self._patch)
        self.program = self.desk.program
        self.program.chat.draft_returned.connect(self.returned.append)
        self.program.conversations.start()
        self.program.prompt_count.set_draft("And then?")
        self.desk.load(self._model)

    def teardown(self) -> None:
        try:
            self.let_all_end()
            self.all_is_well()
        finally:
            self.program.stop()
            self._patch.undo()
            self._folder.cleanup()

    @property
    def chat(self) -> Chat:
        return self.program.chat

    @property
    def shown(self) -> OpenConversation:
        return self.chat.shown

    def new(self, kind: str) -> str:
        self.count += 1
        return f"{kind} {self.count}"

    def pick(self, data: st.DataObject, role: str | None = None) -> Turn | None:
        turns = [turn for turn in self.chat.turns if role in (None, turn.role)]
        return turns[data.draw(st.integers(0, len(turns) - 1))] if turns else None

    def settle(self) -> None:
        """Hand on everything, and wait for the check of a model's file where there is one."""
        self.desk.settle()
        if self.program.session.phase == "starting":
            self.desk.until(lambda: self.program.session.phase != "starting")

    def note(self) -> None:
        """Note what there is now in the chat that is shown."""
        known = {
            turn.message: turn.text for turn in self.shown.known.values() if turn.text and turn.state not in OPEN
        }
        if known:
            self.said.setdefault(self.chat.conversation_id, {}).update(known)

    @initialize()
    def first(self) -> None:
        self.chat.send(self.new("question"))
        self.desk.answer(self.new("answer"))

    # What people do

    @rule()
    def ask(self) -> None:
        is_free = not self.chat.busy
        assert self.chat.send(self.new("question")) == is_free

    @rule()
    def ask_later(self) -> None:
        self.program.queue.add(self.new("queued"))

    @rule()
    def send_what_waits(self) -> None:
        self.program.queue.send()

    @rule()
    def stop(self) -> None:
        self.chat.stop()

    @rule()
    def go_on(self) -> None:
        self.chat.go_on()

    @rule(data=st.data(), begins=st.booleans())
    def answer_again(self, data: st.DataObject, begins: bool) -> None:
        if (turn := self.pick(data, "assistant")) is not None:
            self.program.branches.answer_again(turn, self.new("given") if begins else "")

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        if (turn := self.pick(data)) is not None:
            self.program.branches.edit(turn, self.new("edit"))

    @rule(data=st.data(), by=st.sampled_from([-1, 1]))
    def step(self, data: st.DataObject, by: int) -> None:
        if (turn := self.pick(data)) is not None:
            self.program.branches.step(turn, by)

    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        if (turn := self.pick(data)) is not None:
            self.program.branches.fork(turn)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        turn = self.pick(data)
        if turn is None:
            return
        shown, deletes_chat = self.shown, self.shown.leaf_without(turn) is None
        before, below = dict(shown.known), {each.message for each in shown.below(turn)}
        is_running = shown.run is not None and shown.run.message in below
        self.program.branches.delete(turn)
        if deletes_chat:
            assert self.shown is not shown
            return
        gone = {message: each.text for message, each in before.items() if message not in shown.known}
        assert all(turn is not each for each in self.chat.turns), "it goes at once"
        assert not is_running or shown.run is None
        assert gone.keys() <= below
        self.said[shown.head.id] = {
            message: text for message, text in self.said.get(shown.head.id, {}).items() if message not in gone
        }
        if any(gone.values()) and turn.state != "waiting":  # given words go with the version that waits
            assert self.desk.notice.remedy == "undo_branch"

    @rule()
    def delete_and_undo(self) -> None:
        """What goes with the last message comes back."""
        if len(self.chat.turns) > 1:
            turn, shown, before = self.chat.turns[-1], self.shown, dict(self.shown.known)
            self.program.branches.delete(turn)
            taken = [shown.removed[message] for message in before if message not in shown.known]
            gone = [each for each in taken if each.state != "waiting"]  # one that was to go on is what it was before
            if gone:
                assert self.program.branches.undo_delete()
                assert self.shown is shown
            assert all(shown.known[each.message] is each for each in gone)

    @rule()
    def undo(self) -> None:
        self.program.branches.undo_delete()

    @rule()
    def delete_chat(self) -> None:
        self.program.conversations.delete(self.chat.conversation_id)

    @rule()
    def undo_deleted_chat(self) -> None:
        self.program.conversations.undo_delete()

    @rule()
    def begin_chat(self) -> None:
        self.program.conversations.new()

    @rule(data=st.data())
    def open_chat(self, data: st.DataObject) -> None:
        heads = [head.id for head in self.program.conversations.heads]
        if heads:
            self.program.conversations.open(data.draw(st.sampled_from(sorted(heads))))

    @rule()
    def leave_and_come_back(self) -> None:
        shown = self.chat.conversation_id
        self.program.conversations.new()
        self.program.conversations.open(shown)

    @rule()
    def bring_back_out_of_the_trash(self) -> None:
        trash = self.program.trash
        trash.look()
        if trash.items:
            trash.restore(trash.items[0])

    @rule()
    def start_anew(self) -> None:
        self.program.stop()
        self.start()

    # What the engine does

    @property
    def is_read(self) -> bool:
        """Whether the engine has told the prompt that it works on."""
        return self.prompted == self.desk.engine.question.request

    @precondition(lambda self: self.program.session.phase == "busy" and not self.is_read)
    @rule()
    def read_the_prompt(self) -> None:
        answer = (5, 6) if self.desk.engine.chat.continue_last else ()
        self.desk.engine.prompt(answer=answer)
        self.prompted = self.desk.engine.question.request
        self.settle()

    @precondition(lambda self: self.program.session.phase == "busy" and self.is_read)
    @rule()
    def write(self) -> None:
        self.desk.engine.write(self.new(" word"))
        self.settle()

    @precondition(lambda self: self.program.session.phase == "busy")
    @rule(reason=st.sampled_from(ENDS), rest=st.booleans())
    def finish(self, reason: StopReason, rest: bool) -> None:
        self.desk.engine.finish(reason, self.new(" rest") if rest and self.is_read else "")
        self.settle()

    @precondition(lambda self: self.program.session.phase == "busy")
    @rule(kind=st.sampled_from(FAILURES))
    def fail(self, kind: FailureKind) -> None:
        self.desk.engine.fail(kind)
        self.settle()

    @precondition(lambda self: self.program.session.phase in ("busy", "ready"))
    @rule()
    def die(self) -> None:
        self.desk.engine.die()
        self.settle()

    @precondition(lambda self: self.program.session.phase in ("busy", "ready"))
    @rule()
    def unload(self) -> None:
        self.program.session.unload()
        self.settle()

    @precondition(lambda self: self.program.session.phase not in ("busy", "ready"))
    @rule()
    def load(self) -> None:
        self.settle()
        if self.program.session.phase in ("gone", "no_model"):
            self.program.session.use(Wish(self._model))
            self.settle()
        self.desk.engine.loaded()
        self.settle()

    @rule()
    def let_all_end(self) -> None:
        """Everything that was asked ends, and one can ask again."""
        self.settle()
        for _ in range(MOST_ENDS):
            if self.program.session.phase == "busy":
                self.finish("end", rest=True)
            elif self.program.answers.runs:
                self.load()
            else:
                break
        assert not self.program.answers.runs
        assert not self.chat.busy

    # What always holds

    @invariant()
    def all_is_well(self) -> None:
        self.settle()
        self.no_run_hangs()
        self.nothing_is_lost()
        self.store_and_memory_agree()

    def no_run_hangs(self) -> None:
        runs = self.program.answers.runs
        for run in runs:
            assert run.conversation.run is run
            assert run.conversation.known.get(run.message) is run.turn
            assert run.turn.state in OPEN
        assert self.shown.run is None or self.shown.run in runs
        writing = [turn for turn in self.shown.known.values() if turn.state in OPEN]
        assert writing == ([self.shown.run.turn] if self.shown.run is not None else [])
        if self.program.session.phase in ("ready", "gone", "no_model"):
            assert not runs, "the engine has nothing to do"

    def nothing_is_lost(self) -> None:
        known = self.shown.known
        for message, text in self.said.get(self.chat.conversation_id, {}).items():
            if message not in known:
                assert text in self.returned, f"{text!r} is lost"
            else:
                assert known[message].text.startswith(text)
        said = self.said.get(self.chat.conversation_id, {})
        self.said[self.chat.conversation_id] = {key: text for key, text in said.items() if key in known}
        self.note()

    def store_and_memory_agree(self) -> None:
        if self.shown.is_new:
            return
        kept = {message.id: message.text for message in self.read().messages}
        known = self.shown.known
        assert known.keys() <= kept.keys()
        assert not any(kept[message] for message in kept.keys() - known.keys())
        ended = {turn.message: turn.text for turn in known.values() if turn.state not in OPEN}
        assert ended == {message: kept[message] for message in ended}
        head = next(head for head in self.program.conversations.heads if head.id == self.chat.conversation_id)
        assert head.deleted_ms is None
        assert self.shown.run is not None or self.shown.leaf_behind(head.leaf) == self.shown.leaf

    def read(self) -> ConversationRead:
        told: list[Event] = []
        self.desk.take_from_store = told.append
        self.desk.store.send(ReadConversation(0, self.chat.conversation_id))
        self.desk.take_from_store = self.program.dispatch
        return next(event for event in told if isinstance(event, ConversationRead))


TestAnswerWalk = AnswerWalk.TestCase
TestAnswerWalk.settings = settings(max_examples=30, stateful_step_count=40)
