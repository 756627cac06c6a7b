from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import msgspec
import pytest

from app.core.conversation import AnswerPrompt, Message, StoredAnswer
from app.core.job_events import JobFailed
from app.core.store_commands import (
    EndAnswer,
    KeepConversation,
    KeepPrompt,
    KeepQuestion,
    ReadConversation,
    ReadRecord,
    RemoveMessages,
    Settle,
)
from app.core.store_events import (
    ConversationRead,
    Kept,
    RecordRead,
    StoreFailed,
    StoreOpened,
    StoreRecovered,
    StoreRenewed,
)
from app.store import opening
from app.store.opening import FILE_NAME, SUSPECT_NAME
from app.store.patience import Patience
from tests.store.shelf import Shelf, break_pages, chunk, end, head, ids, locked, question, shelf

LONG = "long " * 20_000


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings and errors in the log; how much else is in it depends on who logs."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def fill_disk(kept: Shelf) -> None:
    connection = kept.store.work.database.connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def free_disk(kept: Shelf) -> None:
    connection = kept.store.work.database.connection
    assert connection is not None
    connection.execute("PRAGMA max_page_count = 1000000")


def long_question(request: int, first: int, parent: int | None = None) -> KeepQuestion:
    asked = question(request, head(), first, parent)
    first_message = msgspec.structs.replace(asked.messages[0], text=LONG)
    return msgspec.structs.replace(asked, messages=(first_message, asked.messages[1]))


def test_a_full_disk_is_told_once_and_everything_is_there_once_it_has_room(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        fill_disk(kept)
        failed, answered = kept.send(long_question(1, 1))
        assert isinstance(failed, StoreFailed) and failed.sentence.template.startswith("The disk is full")
        assert failed.waits
        assert answered == Kept(1, on_disk=False)
        assert kept.send(chunk(2, LONG, 5, record=b"block"), end(2, LONG)) == []
        assert kept.send(long_question(2, 3, parent=2)) == [Kept(2, on_disk=False)]
        assert kept.store.work.behind
        assert kept.sql("SELECT count(*) FROM message") == [(0,)]
        free_disk(kept)
        kept.store.work.do(())
        assert kept.events[-1] == StoreRecovered()
        assert not kept.store.work.behind
    with shelf(tmp_path) as again:
        read = again.read()
        assert [message.text for message in read.messages] == [LONG, LONG, LONG, ""]
        assert [answer.state for answer in read.answers] == ["done", "interrupted"]
        assert again.ask(ReadRecord(1, 2), RecordRead).blocks == (b"block",)


def test_what_waits_to_be_written_is_read_as_if_it_were(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "One ", 1), question(9, head(), 91))
        fill_disk(kept)
        kept.send(
            chunk(2, LONG, 2, 3),
            end(2, f"One {LONG}"),
            KeepPrompt(AnswerPrompt(2, ids(*range(90_000)), (), dropped=(1, 2, 3))),
            RemoveMessages((91, 92), 1),
            question(2, head(2), 21),
            long_question(3, 3, parent=2),
            EndAnswer(Message(4, 1, 3, "assistant", "whole", 3), StoredAnswer(4, "done", seed=4)),
            long_question(4, 5, parent=4),
            chunk(6, "un", 7),
            chunk(6, "finished", 8),
            end(6, "unfinished"),
            KeepQuestion(5, head(), (), StoredAnswer(6, "open")),
            chunk(6, " business", 9),
        )
        waiting = kept.read()
        assert [message.text for message in waiting.messages] == [
            "Question 1",
            f"One {LONG}",
            LONG,
            "whole",
            LONG,
            "unfinished business",
        ]
        free_disk(kept)
        assert kept.read() == waiting
        assert waiting.dropped == {2: 3}
        assert waiting.answers[0].ids == ids(1, 2, 3)


def test_another_program_that_writes_for_long_is_told_and_waited_for(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        with locked(kept.path):
            failed, answered = kept.send(question(1, head(), 1))
            assert isinstance(failed, StoreFailed) and "Another program is using" in failed.sentence.template
            assert answered == Kept(1, on_disk=False)
        assert kept.send(question(2, head(), 3)) == [Kept(2, on_disk=True), StoreRecovered()]


def test_another_trouble_is_told_after_the_first(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        with locked(kept.path):
            kept.send(long_question(1, 1))
        fill_disk(kept)
        (failed,) = kept.send(KeepConversation(head()))
        assert isinstance(failed, StoreFailed) and failed.sentence.template.startswith("The disk is full")
        free_disk(kept)
        assert kept.send(KeepConversation(head())) == [StoreRecovered()]


def test_what_could_never_be_written_is_in_the_log_when_the_program_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Shelf(tmp_path)
    kept.open()
    fill_disk(kept)
    kept.send(long_question(1, 1))
    with caplog.at_level(logging.WARNING):
        kept.close()
    (line,) = warned(caplog)
    assert line.startswith("1 changes could not be written: What was written last could not be saved with the chats.")


def test_a_value_that_no_database_takes_costs_only_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    impossible = msgspec.structs.replace(question(2, head(), 3), answer=StoredAnswer(4, "open", seed=2**64))
    with shelf(tmp_path) as kept:
        before = len(kept.events)
        kept.store.work.do((question(1, head(), 1), impossible, question(3, head(), 5)))
        failed, *answered = kept.events[before:]
        assert isinstance(failed, JobFailed) and failed.job == "store"
        assert answered == [Kept(1, on_disk=True), Kept(2, on_disk=False), Kept(3, on_disk=True)]
        assert [message.id for message in kept.read().messages] == [1, 2, 5, 6]
    assert "KeepQuestion" in warned(caplog)[0]


def test_a_damaged_page_costs_what_is_on_it_and_the_rest_is_in_a_new_database_at_once(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "text", 5, record=b"block"), end(2, "text"))
    break_pages(tmp_path / FILE_NAME, "chunk")
    damaged = (tmp_path / FILE_NAME).read_bytes()
    with shelf(tmp_path) as kept:
        failed, renewed, record = kept.send(ReadRecord(2, 2))
        assert isinstance(renewed, StoreRenewed)
        assert isinstance(failed, StoreFailed) and "What could be read was taken over" in failed.sentence.template
        assert record == RecordRead(2, 2, ())
        (read,) = kept.send(ReadConversation(1, 1))
        assert isinstance(read, ConversationRead)
        assert [message.text for message in read.messages] == ["Question 1", "text"]
        assert [(answer.state, answer.ids) for answer in read.answers] == [("done", ids(5))]
        assert kept.send(question(2, head(), 3), chunk(4, "new", 5)) == [Kept(2, on_disk=True)]
    (aside,) = tmp_path.glob("tokenlight-damaged-*.sqlite3")
    assert aside.read_bytes() == damaged
    with shelf(tmp_path) as again:
        assert [message.text for message in again.read().messages] == ["Question 1", "text", "Question 3", "new"]


def test_a_conversation_on_a_damaged_page_is_answered_as_empty(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), end(2, "text"))
    break_pages(tmp_path / FILE_NAME, "message", "answer_prompt")
    with shelf(tmp_path) as kept:
        failed, renewed, read = kept.send(ReadConversation(1, 1))
        assert isinstance(renewed, StoreRenewed)
        assert isinstance(failed, StoreFailed)
        assert read == ConversationRead(1, 1, (), ())


def test_what_a_damaged_database_cannot_take_is_in_a_new_one_at_once(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(1), 1), end(2, "old"))
    break_pages(tmp_path / FILE_NAME, "message")
    with shelf(tmp_path) as kept:
        failed, renewed, answered = kept.send(question(2, head(7), 71))
        assert isinstance(renewed, StoreRenewed)
        assert isinstance(failed, StoreFailed) and "was damaged and is kept as" in failed.sentence.template
        assert not failed.waits
        assert answered == Kept(2, on_disk=True)
        assert kept.send(question(3, head(7), 73), end(72, "new", key=7)) == [Kept(3, on_disk=True)]
    with shelf(tmp_path) as again:
        assert {each.id for each in again.open().conversations} == {1, 7}
        assert [message.text for message in again.read(7).messages] == ["Question 71", "new", "Question 73", ""]


def test_damage_that_a_new_database_does_not_cure_is_told_once_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def corrupt(*_: object) -> None:
        error = sqlite3.DatabaseError("on purpose")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    openings: list[Path] = []

    def counted_open(folder: Path, patience: Patience) -> opening.Opened:
        openings.append(folder)
        return opening.open_database(folder, patience)

    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1))
        monkeypatch.setattr("app.store.answering.read_record", corrupt)
        monkeypatch.setattr("app.store.keeper.open_database", counted_open)
        renewed, failed, read = kept.send(ReadRecord(1, 2))
        assert isinstance(renewed, StoreRenewed)
        assert isinstance(failed, StoreFailed) and "is damaged in places" in failed.sentence.template
        assert read == RecordRead(1, 2, ())
        assert kept.send(ReadRecord(1, 2)) == [RecordRead(1, 2, ())]
        monkeypatch.setattr("app.store.writing.pack_ids", corrupt)
        (failed,) = kept.send(chunk(2, "kept", 1))
        assert isinstance(failed, StoreFailed)
        assert kept.send(question(2, head(), 3)) == [Kept(2, on_disk=False)]
        assert len(openings) == 1
        monkeypatch.undo()
        assert kept.send(question(3, head(), 5)) == [Kept(3, on_disk=True), StoreRecovered()]
        assert [message.text for message in kept.read().messages[:2]] == ["Question 1", "kept"]


def test_a_damaged_database_on_a_full_disk_is_put_right_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), end(2, "text"))
    break_pages(tmp_path / FILE_NAME, "message")
    damaged = (tmp_path / FILE_NAME).read_bytes()
    connect = opening.connect

    def on_full_disk(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 3")
        return connection

    with shelf(tmp_path) as kept:
        monkeypatch.setattr(opening, "connect", on_full_disk)
        *_, failed, answered = kept.send(question(2, head(7), 71))
        assert isinstance(failed, StoreFailed) and "is full" in failed.sentence.template
        assert answered == Kept(2, on_disk=False)
        assert kept.store.work.behind
        assert kept.send(question(3, head(7), 73)) == [Kept(3, on_disk=False)]
        (settled,) = kept.send(Settle(4))
        assert isinstance(settled, Kept) and settled.problem is not None
        assert not list(tmp_path.glob("*.new*")) and (tmp_path / SUSPECT_NAME).exists()
        assert (tmp_path / FILE_NAME).read_bytes() == damaged
        assert not warned(caplog)
        monkeypatch.setattr(opening, "connect", connect)
        opened, *_, settled = kept.send(Settle(5))
        assert isinstance(opened, StoreOpened) and [each.id for each in opened.conversations] == [7, 1]
        assert "was damaged and is kept as" in opened.problems[0].template
        assert settled == Kept(5, on_disk=True)
    with shelf(tmp_path) as again:
        assert {each.id for each in again.open().conversations} == {1, 7}


def test_an_answer_that_goes_on_is_read_the_same_whether_it_is_written_or_waits(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(AnswerPrompt(2, ids(1, 2), (), dropped=(0, 1))))
        kept.send(chunk(2, "Half", 7), end(2, "Half"))
        with locked(kept.path):
            kept.send(chunk(2, " of", 8), KeepPrompt(AnswerPrompt(2, ids(1, 2, 7), ())))
            kept.send(KeepQuestion(0, head(), (), StoredAnswer(2, "open")), chunk(2, " it", 9))
            waiting = kept.read()
        kept.store.work.do(())
        written = kept.read()
        assert not kept.store.work.behind
        for read in (waiting, written):
            assert (read.messages[1].text, read.answers[0].ids, read.dropped) == ("Half of it", ids(7, 8, 9), {})
