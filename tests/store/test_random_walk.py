from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from app.core.conversation import Conversation, Message, StoredAnswer
from app.core.store_commands import EndAnswer, KeepChunk, KeepConversation, KeepQuestion, ReadRecord, RemoveMessages
from app.core.store_events import RecordRead
from tests.store.shelf import Shelf, chunk, ids

TEXTS = ["", "a", "Grüße 🦙", "line\nline", "x" * 5000]
IDS = [0, 7, 65_535, 65_536, 150_000]


class Model:
    """What the store should hold, as plain dictionaries."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.heads: dict[int, Conversation] = {}
        self.messages: dict[int, Message] = {}
        self.answers: dict[int, StoredAnswer] = {}
        self.written: dict[int, str] = {}
        self.blocks: dict[int, list[bytes]] = {}
        self.next = 1

    def new_id(self) -> int:
        self.next += self.choose.randint(1, 3)
        return self.next

    def head(self) -> Conversation:
        if not self.heads or self.choose.random() < 0.2:
            key = self.new_id()
            self.heads[key] = Conversation(key, self.choose.choice(TEXTS), key, key)
            return self.heads[key]
        return self.choose.choice(list(self.heads.values()))

    def ask(self) -> KeepQuestion:
        head = msgspec.structs.replace(self.head(), changed_ms=self.next)
        own = [message.id for message in self.messages.values() if message.conversation == head.id]
        parent = self.choose.choice([None, *own])
        asked = Message(self.new_id(), head.id, parent, "user", self.choose.choice(TEXTS), self.next)
        answer = Message(self.new_id(), head.id, asked.id, "assistant", "", self.next)
        head = self.heads[head.id] = msgspec.structs.replace(head, leaf=answer.id)
        self.messages |= {asked.id: asked, answer.id: answer}
        stored = self.answers[answer.id] = StoredAnswer(answer.id, "open", seed=self.choose.randint(0, 2**32 - 1))
        self.written[answer.id], self.blocks[answer.id] = "", []
        return KeepQuestion(self.next, head, (asked, answer), stored)

    def write(self) -> KeepChunk | None:
        running = [answer.message for answer in self.answers.values() if answer.state == "open"]
        if not running:
            return None
        key = self.choose.choice(running)
        text, number = self.choose.choice(TEXTS), self.choose.choice(IDS)
        block = self.choose.choice([b"", b"block", b"\0" * 300])
        self.written[key] += text
        self.blocks[key] += [block] if block else []
        self.answers[key] = msgspec.structs.replace(self.answers[key], ids=self.answers[key].ids + ids(number))
        self.messages[key] = msgspec.structs.replace(self.messages[key], text=self.written[key])
        return chunk(key, text, number, record=block)

    def end(self) -> EndAnswer | None:
        running = [answer.message for answer in self.answers.values() if answer.state == "open"]
        if not running:
            return None
        key = self.choose.choice(running)
        self.answers[key] = msgspec.structs.replace(self.answers[key], state="done", stop_reason="end", ttft_ms=1.5)
        self.messages[key] = msgspec.structs.replace(self.messages[key], text=self.written[key] + "!")
        return EndAnswer(self.messages[key], msgspec.structs.replace(self.answers[key], ids=b""))

    def rename(self) -> KeepConversation:
        head = self.head()
        gone = self.choose.choice([None, None, 2**52])
        self.heads[head.id] = msgspec.structs.replace(head, title=self.choose.choice(TEXTS), deleted_ms=gone)
        return KeepConversation(self.heads[head.id])

    def remove(self) -> RemoveMessages | None:
        if not self.messages:
            return None
        key = self.choose.choice(list(self.messages))
        self.messages[key] = msgspec.structs.replace(self.messages[key], deleted_ms=2**52)
        running = self.answers.get(key)
        if running is not None and running.state == "open":
            self.answers[key] = msgspec.structs.replace(running, state="interrupted")
        return RemoveMessages((key,), 2**52)

    def restart(self) -> None:
        """What a new run of the program makes of what was running."""
        for key, answer in self.answers.items():
            if answer.state == "open":
                self.answers[key] = msgspec.structs.replace(answer, state="interrupted")


def compare(kept: Shelf, model: Model) -> None:
    heads = sorted(
        (head for head in model.heads.values() if head.deleted_ms is None),
        key=lambda head: (-head.changed_ms, -head.id),
    )
    assert list(kept.open().conversations) == heads
    for head in model.heads.values():
        messages = [m for m in model.messages.values() if m.conversation == head.id and m.deleted_ms is None]
        read = kept.read(head.id)
        assert list(read.messages) == messages
        assert list(read.answers) == [model.answers[m.id] for m in messages if m.id in model.answers]
    for key, blocks in model.blocks.items():
        assert kept.ask(ReadRecord(1, key), RecordRead).blocks == tuple(blocks)


@pytest.mark.parametrize("seed", range(8))
def test_after_any_walk_of_commands_the_store_holds_what_a_dictionary_would(tmp_path: Path, seed: int) -> None:
    model = Model(seed)
    kept = Shelf(tmp_path)
    kept.open()
    steps = (model.ask, model.write, model.write, model.write, model.end, model.rename, model.remove)
    for _ in range(12):
        batch = [model.choose.choice(steps)() for _ in range(model.choose.randint(1, 12))]
        kept.store.work.do([command for command in batch if command is not None])
        if model.choose.random() < 0.3:
            compare(kept, model)
        if model.choose.random() < 0.2:
            kept.close()
            kept = Shelf(tmp_path)
            kept.open()
            model.restart()
    compare(kept, model)
    kept.close()
