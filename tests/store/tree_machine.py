"""A machine that does to the store what people do to conversations, beside a plain model of them."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt, Chunk, Conversation, Message, StoredAnswer, Thinking
from app.core.store_commands import (
    CopyBranch,
    EndAnswer,
    EraseTrash,
    KeepChunk,
    KeepConversation,
    KeepPrompt,
    KeepQuestion,
    OpenStore,
    ReadConversation,
    ReadRecord,
    ReadTrash,
    RemoveMessages,
    RestoreMessages,
    RestoreTrash,
    StoreCommand,
)
from app.core.store_events import ConversationRead, Kept, RecordRead, Restored, StoreOpened, TrashRead
from tests.store.shelf import Shelf, ids
from tests.store.tree_model import DAY_MS, ERASED, TreeModel

TEXTS = st.sampled_from(["", " \n ", "a", "\n  Grüße 🦙\nline", "x" * 300])
TOKENS = st.lists(st.sampled_from([0, 7, 65_535, 70_000]), max_size=3)


class Trees(RuleBasedStateMachine):
    """What people do to conversations, beside a plain model of it; the store may be killed at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.model = TreeModel()
        self.undo: tuple[int, ...] = ()
        self.is_marked = False
        clock = SimpleNamespace(time=lambda: self.model.now_ms / 1000)
        self.patches = ExitStack()
        self.patches.enter_context(patch("app.store.deletions.time", clock))
        self.patches.enter_context(patch("app.store.erasing.STEP_S", 0.0))
        self.patches.enter_context(patch("app.store.deletions.DAYS_OF_USE", 2))
        self.kept = Shelf(Path(self.folder.name) / "0")
        self.opened: StoreOpened | None = None
        self.open()

    def teardown(self) -> None:
        self.kept.close()
        self.patches.close()
        self.folder.cleanup()

    def do(self, *commands: StoreCommand) -> list[object]:
        """Do commands without the work that can wait."""
        before = len(self.kept.events)
        self.kept.store.work.do(commands)
        return list(self.kept.events[before:])

    def open(self) -> None:
        (opened,) = self.do(OpenStore())
        assert isinstance(opened, StoreOpened) and opened.problems == ()
        self.opened, self.is_marked = opened, False
        self.undo = ()

    @initialize(shape=st.lists(st.tuples(st.integers(0, 5), TOKENS, st.booleans()), min_size=4, max_size=6))
    def begin(self, shape: list[tuple[int, list[int], bool]]) -> None:
        """Begin with a conversation of some branches, so that there is something to delete."""
        key = self.model.new_id()
        self.model.heads[key] = Conversation(key, "First", key, key)
        for back, tokens, ends in shape:
            answers = [None, *(message for message in self.model.live_everywhere() if message in self.model.answers)]
            self.put(key, answers[max(len(answers) - 1 - back, 0)], f"Question {back}", tokens, ends=ends)

    @rule(data=st.data(), text=TEXTS, tokens=TOKENS, is_new=st.booleans(), ends=st.booleans())
    def ask(self, data: st.DataObject, text: str, tokens: list[int], *, is_new: bool, ends: bool) -> None:
        model = self.model
        heads = model.seen_heads()
        if is_new or not heads:
            key = model.new_id()
            model.heads[key] = Conversation(key, f"Chat {key}", key, key)
        else:
            key = data.draw(st.sampled_from(heads)).id
        parent = data.draw(st.sampled_from([None, *(m.id for m in model.live(key))]))
        self.put(key, parent, text, tokens, ends=ends)

    def put(self, key: int, parent: int | None, text: str, tokens: list[int], *, ends: bool) -> None:
        """Ask something in a conversation, and begin the answer."""
        model = self.model
        asked = Message(model.new_id(), key, parent, "user", text, model.last_id)
        answer = Message(model.new_id(), key, asked.id, "assistant", "", model.last_id)
        head = model.heads[key] = replace(model.heads[key], leaf=answer.id, changed_ms=model.last_id)
        stored = StoredAnswer(answer.id, "open", seed=5)
        model.messages |= {asked.id: asked, answer.id: answer}
        model.answers[answer.id] = stored
        prompt = self.prompted(answer.id, tokens)
        assert self.do(KeepQuestion(1, head, (asked, answer), stored), KeepPrompt(prompt)) == [Kept(1, on_disk=True)]
        self.write(answer.id, "said", tokens)
        if ends:
            self.end(answer.id)

    def prompted(self, answer: int, tokens: list[int]) -> AnswerPrompt:
        """Give an answer a prompt that goes on where the one above it ended."""
        model = self.model
        prompt = AnswerPrompt(answer, ids(*tokens, 1, 2), (PromptSpan(0, 1, "prompt", 0),), tuple(tokens))
        before = next((model.prompts[each] for each in model.path(answer)[-2::-1] if each in model.prompts), None)
        if before is not None:
            prompt = replace(prompt, ids=before.ids + model.answers[before.message].ids + prompt.ids)
        model.prompts[answer], model.blocks[answer] = prompt, ()
        model.dropped[answer] = len(tokens)
        return prompt

    def write(self, key: int, text: str, tokens: list[int]) -> None:
        model = self.model
        model.answers[key] = replace(model.answers[key], ids=model.answers[key].ids + ids(*tokens))
        model.messages[key] = replace(model.messages[key], text=model.messages[key].text + text)
        model.blocks[key] += (b"block",)
        self.do(KeepChunk(Chunk(key, text, ids(*tokens), b"block")))

    def end(self, key: int) -> None:
        model = self.model
        stored = replace(model.answers[key], state="done", stop_reason="end", thinking=Thinking(tokens=3))
        model.answers[key] = stored
        model.messages[key] = replace(model.messages[key], text=model.messages[key].text + "!")
        # Who ends an answer does not know whether its branch was deleted meanwhile.
        self.do(EndAnswer(replace(model.messages[key], deleted_ms=None), replace(stored, ids=b"")))

    def running(self) -> list[int]:
        there = self.model.must_be_there()
        return [key for key, answer in self.model.answers.items() if answer.state == "open" and key in there]

    @precondition(lambda self: self.running())
    @rule(data=st.data(), tokens=TOKENS, ends=st.booleans())
    def go_on(self, data: st.DataObject, tokens: list[int], *, ends: bool) -> None:
        key = data.draw(st.sampled_from(self.running()))
        self.write(key, " more", tokens)
        if ends:
            self.end(key)

    @precondition(lambda self: any(key in self.model.answers for key in self.model.live_everywhere()))
    @rule(data=st.data(), text=TEXTS)
    def edit(self, data: st.DataObject, text: str) -> None:
        model = self.model
        key = data.draw(st.sampled_from([key for key in model.live_everywhere() if key in model.answers]))
        edited = replace(model.messages[key], id=model.new_id(), text=text, edited=True)
        model.messages[edited.id] = edited
        model.answers[edited.id], model.blocks[edited.id] = StoredAnswer(edited.id, "done"), ()
        self.do(EndAnswer(edited, model.answers[edited.id]))

    @precondition(lambda self: self.model.live_everywhere())
    @rule(data=st.data())
    def delete_branch(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.model.live_everywhere()))
        self.model.now_ms += 1
        self.undo = tuple(self.model.below(key, deleted_ms=None))
        self.do(RemoveMessages(self.undo, self.model.now_ms))
        self.model.mark(list(self.undo), self.model.now_ms)

    @precondition(lambda self: self.undo)
    @rule()
    def undo_deletion(self) -> None:
        self.do(RestoreMessages(self.undo))
        self.model.mark([key for key in self.undo if self.model.messages[key].deleted_ms != ERASED], None)
        self.undo = ()

    @precondition(lambda self: self.model.seen_heads())
    @rule(data=st.data(), undoes=st.booleans())
    def delete_conversation(self, data: st.DataObject, *, undoes: bool) -> None:
        head = data.draw(st.sampled_from(self.model.seen_heads()))
        self.model.now_ms += 1
        self.undo = ()
        gone = replace(head, deleted_ms=self.model.now_ms)
        self.do(KeepConversation(gone))
        if undoes:
            self.do(KeepConversation(head))
        else:
            self.model.heads[head.id] = gone

    @precondition(lambda self: self.model.trash())
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.model.trash()))
        self.undo = ()
        (restored,) = self.do(RestoreTrash(4, item.conversation, item.message))
        self.model.restore(item.conversation, item.message)
        assert restored == Restored(4, self.model.heads[item.conversation])

    @precondition(lambda self: self.model.trash())
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.model.trash()))
        self.undo = ()
        assert self.do(EraseTrash(item.conversation, item.message)) == []
        self.model.erase(item.conversation, item.message)
        self.is_marked = False
        assert self.do(RestoreTrash(4, item.conversation, item.message)) == [Restored(4, None)]
        if item.message is None:  # a head that somebody still had in mind changes nothing
            self.do(KeepConversation(replace(self.model.heads[item.conversation], deleted_ms=None)))

    @precondition(lambda self: self.model.live_everywhere())
    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        model = self.model
        path = model.path(data.draw(st.sampled_from(model.live_everywhere())))
        key = model.new_id()
        copies = {message: model.new_id() for message in path}
        head = model.heads[key] = Conversation(key, f"Copy {key}", key, model.last_id, leaf=model.last_id)
        for message, copy in copies.items():
            parent = model.messages[message].parent
            model.messages[copy] = replace(
                model.messages[message], id=copy, conversation=key, parent=None if parent is None else copies[parent]
            )
            if (answer := model.answers.get(message)) is not None:
                state = "interrupted" if answer.state == "open" else answer.state
                model.answers[copy] = replace(answer, message=copy, state=state, comparison=None)
                model.blocks[copy] = model.blocks[message]
            if message in model.prompts:
                model.prompts[copy] = replace(model.prompts[message], message=copy)
                model.dropped[copy] = model.dropped[message]
        assert self.do(CopyBranch(6, head, tuple(copies.items()))) == [Kept(6, on_disk=True)]

    @rule(days=st.sampled_from([-1, 1, 29, 31]))
    def let_time_pass(self, days: int) -> None:
        self.model.now_ms += days * DAY_MS

    @rule(steps=st.integers(1, 8))
    def rest(self, steps: int) -> None:
        """Do some of the work that can wait; with no time at all each step erases one message."""
        for _ in range(steps):
            if not self.is_marked:
                self.model.mark_old()
                self.is_marked = True
            self.kept.store.work.rest()

    @rule()
    def rest_to_the_end(self) -> None:
        self.rest(1)
        while self.kept.store.work.rest():
            continue
        there = {key for (key,) in self.kept.sql("SELECT id FROM message")}
        assert there == self.model.must_be_there()
        answers = {key for key in there if key in self.model.answers}
        assert {key for (key,) in self.kept.sql("SELECT DISTINCT answer FROM chunk")} <= answers
        assert {key for (key,) in self.kept.sql("SELECT message FROM answer_prompt")} <= answers

    @rule()
    def kill(self) -> None:
        """Go on with the files as they lie, without a word to whoever has them open."""
        folder = Path(self.folder.name) / str(time.monotonic_ns())
        folder.mkdir()
        for path in self.kept.folder.iterdir():
            if not path.name.endswith("-shm"):
                shutil.copyfile(path, folder / path.name)
        self.kept.close()
        self.kept = Shelf(folder)
        self.model.restart()
        self.open()

    @rule()
    def close(self) -> None:
        self.kept.close()
        self.kept = Shelf(self.kept.folder)
        self.model.restart()
        self.open()

    @invariant()
    def the_store_is_sound(self) -> None:
        assert self.kept.sql("PRAGMA integrity_check") == [("ok",)]
        assert self.kept.sql("PRAGMA foreign_key_check") == []

    @invariant()
    def what_people_see_is_what_they_did(self) -> None:
        model = self.model
        for head in model.seen_heads():
            live = model.live(head.id)
            (read,) = self.do(ReadConversation(1, head.id))
            assert isinstance(read, ConversationRead)
            assert list(read.messages) == live
            assert list(read.answers) == [model.answers[m.id] for m in live if m.id in model.answers]
            assert read.dropped == {m.id: model.dropped[m.id] for m in live if model.dropped.get(m.id)}

    @invariant()
    def the_trash_holds_what_was_deleted(self) -> None:
        assert self.do(ReadTrash(2)) == [TrashRead(2, self.model.trash())]

    @invariant()
    def no_message_is_lost_that_was_not_erased(self) -> None:
        rows = self.kept.sql("SELECT id, deleted_ms FROM message")
        there = {row[0]: row[1] for row in rows}
        writer = self.kept.store.work.database.writer
        assert writer is not None
        for key in self.model.must_be_there():
            assert there[key] == self.model.messages[key].deleted_ms
            assert writer.prompts.read(key) == self.model.prompts.get(key)
            if key in self.model.blocks:
                assert self.do(ReadRecord(1, key)) == [RecordRead(1, key, self.model.blocks[key])]

    @invariant()
    def the_list_is_whole(self) -> None:
        rows = self.kept.sql("SELECT id FROM conversation WHERE deleted_ms IS NULL ORDER BY changed_ms DESC, id DESC")
        assert [key for (key,) in rows] == [head.id for head in self.model.seen_heads()]
