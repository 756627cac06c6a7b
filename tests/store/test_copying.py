from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt, Conversation
from app.core.store_commands import CopyBranch, KeepPrompt, ReadRecord
from app.core.store_events import Kept, RecordRead
from tests.store.shelf import Shelf, chunk, end, head, ids, locked, question, shelf

COPY = Conversation(9, "Copy", created_ms=9, changed_ms=9, leaf=94)
COPIES = ((1, 91), (2, 92), (3, 93), (4, 94))


def talk(kept: Shelf) -> None:
    """Keep two turns, and another version of the second one."""
    kept.send(question(1, head(), 1), KeepPrompt(AnswerPrompt(2, ids(1, 2), (PromptSpan(0, 2, "prompt", 0),))))
    kept.send(chunk(2, "First", 7, record=b"one"), end(2, "First"))
    kept.send(question(2, head(), 3, parent=2), KeepPrompt(AnswerPrompt(4, ids(1, 2, 7, 5), (), dropped=(0,))))
    kept.send(chunk(4, "Sec", 8, record=b"two"), chunk(4, "ond", 9, record=b"three"))
    kept.sql("INSERT INTO attachment (message, name, text) VALUES (1, 'file', 'words')")
    kept.send(question(3, head(), 5, parent=2), end(6, "Other"))


def prompt(kept: Shelf, answer: int) -> AnswerPrompt | None:
    writer = kept.store.work.database.writer
    assert writer is not None
    return writer.prompts.read(answer)


def test_a_copy_has_everything_of_its_branch_and_stays_when_the_branch_goes(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept)
        before = kept.read()
        assert kept.ask(CopyBranch(6, COPY, COPIES), Kept) == Kept(6, on_disk=True)
        assert kept.read() == before
        copied = kept.read(9)
        assert [(m.id, m.parent, m.text) for m in copied.messages] == [
            (91, None, "Question 1"),
            (92, 91, "First"),
            (93, 92, "Question 3"),
            (94, 93, "Second"),
        ]
        states = {answer.message: answer.state for answer in copied.answers}
        assert states == {92: "done", 94: "interrupted"}, "nobody writes on in the copy"
        assert [answer.ids for answer in copied.answers] == [ids(7), ids(8, 9)]
        assert copied.dropped == {94: 1}
        for column in (
            "answer_prompt WHERE message",
            "chunk WHERE answer",
            "answer WHERE message",
            "message WHERE id",
        ):
            kept.sql(f"DELETE FROM {column} < 10")
        kept.sql("DELETE FROM attachment WHERE message < 10")
        kept.sql("DELETE FROM conversation WHERE id = 1")
    with shelf(tmp_path) as again:
        assert again.open().conversations == (COPY,)
        assert again.read(9) == copied
        assert prompt(again, 92) == AnswerPrompt(92, ids(1, 2), (PromptSpan(0, 2, "prompt", 0),))
        assert prompt(again, 94) == AnswerPrompt(94, ids(1, 2, 7, 5), (), dropped=(0,))
        assert again.ask(ReadRecord(1, 94), RecordRead).blocks == (b"two", b"three")
        assert again.sql("SELECT name, text FROM attachment WHERE message = 91") == [("file", "words")]
        again.send(chunk(94, "!", 3), end(94, "Second!", 9))
        assert again.sql("PRAGMA foreign_key_check") == []


def test_a_copy_of_a_lane_is_in_no_comparison_but_was_one_and_what_was_never_kept_is_left_out(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept)
        kept.sql("UPDATE answer SET comparison = 5, lane = 1 WHERE message = 2")
        kept.send(CopyBranch(6, COPY, ((1, 91), (2, 92), (77, 93))))
        assert [message.id for message in kept.read(9).messages] == [91, 92]
        assert [(answer.comparison, answer.lane) for answer in kept.read(9).answers] == [(None, 1)]


def test_a_prompt_that_builds_on_something_off_the_branch_is_copied_whole(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept)
        kept.send(CopyBranch(6, COPY, COPIES[2:]))
        assert [(m.id, m.parent) for m in kept.read(9).messages] == [(93, None), (94, 93)]
        assert prompt(kept, 94) == AnswerPrompt(94, ids(1, 2, 7, 5), (), dropped=(0,))


def test_a_copy_that_waits_for_the_disk_is_read_as_it_will_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    with shelf(tmp_path) as kept:
        talk(kept)
        with locked(kept.path):
            late = end(8, "Late")
            kept.send(question(4, head(), 7, parent=4), replace(late, answer=replace(late.answer, lane=1)))
            assert Kept(6, on_disk=False) in kept.send(CopyBranch(6, COPY, (*COPIES, (7, 97), (8, 98))))
            waits = kept.read(9)
            assert [message.id for message in waits.messages] == [91, 92, 93, 94, 97, 98]
            assert waits.answers[-1].lane == 1
        kept.store.work.do(())
        assert kept.read(9) == waits
