"""Files that go away under a database that is in use, where writing them anew does not work at once either."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.draft import Draft
from app.core.store_commands import KeepConversation, KeepDraft, OpenStore, Settle
from app.core.store_events import Kept, StoreFailed, StoreOpened, StoreRecovered
from app.core.words import Sentence
from app.store import opening, rescue
from tests.store.shelf import chunk, end, head, names, question, shelf
from tests.store.test_rescue import ANEW, delete_all, said, talk, unseen

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue, "LOOK_S", 0.0)


@contextmanager
def full_disk() -> Iterator[None]:
    """Have no room for another database."""
    connect = sqlite3.connect

    def on_full_disk(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 3")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", on_full_disk)
        yield


@contextmanager
def unopenable() -> Iterator[None]:
    """Let files be written, and none of them be opened as the store's."""

    def refuse(_path: Path) -> sqlite3.Connection:
        error = sqlite3.OperationalError("on purpose")
        error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "connect", refuse)
        yield


@pytest.mark.parametrize("look_s", [0.0, 1.0])
def test_a_disk_without_room_for_a_new_file_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_s: float
) -> None:
    now = [100.0]
    monkeypatch.setattr(rescue, "LOOK_S", look_s)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
        now[0] += 1.0
        with full_disk():
            failed, answered = kept.send(question(3, head(), 3))
            assert isinstance(failed, StoreFailed) and failed.sentence.template.startswith("The disk is full")
            assert answered == Kept(3, on_disk=False)
            for later_s in (0.0, 0.5, 1.0):
                now[0] += later_s
                assert kept.send(KeepConversation(head())) == []
                assert kept.store.work.behind
            assert kept.send(question(5, head(), 5)) == [Kept(5, on_disk=False)]
            (settled,) = kept.send(Settle(8))
            assert isinstance(settled, Kept) and settled.problem is not None
            assert names(tmp_path) == []
        recovered, told = kept.send(KeepConversation(head()))
        assert recovered == StoreRecovered()
        assert isinstance(told, StoreFailed) and ANEW in told.sentence.template
        assert kept.send(Settle(9)) == [Kept(9, on_disk=True)]
    assert said(tmp_path) == ["Question 1", "Answer 1", "Question 3", "", "Question 5", ""]


def test_files_that_were_gone_and_cannot_be_looked_at_now_are_not_taken_for_saved(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
        with full_disk():
            kept.send(question(3, head(), 3))
            with unseen():
                assert kept.send(KeepConversation(head())) == []
        assert kept.send(KeepConversation(head()))[0] == StoreRecovered()
    assert said(tmp_path) == ["Question 1", "Answer 1", "Question 3", ""]


def test_what_was_written_anew_and_cannot_be_opened_costs_no_word_and_is_tried_again(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
        with unopenable():
            failed, answered = kept.send(question(3, head(), 3))
            assert isinstance(failed, StoreFailed) and failed.sentence.template.startswith(
                "This chat cannot be saved"
            )
            assert answered == Kept(3, on_disk=False)
            assert kept.send(chunk(4, "Answer 3", 5), KeepDraft(Draft(1, "unsent"), 5), end(4, "Answer 3")) == []
            assert kept.send(question(5, head(), 5)) == [Kept(5, on_disk=False)]
            assert kept.store.work.behind
            (settled,) = kept.send(Settle(8))
            assert isinstance(settled, Kept) and settled.problem is not None
        recovered, told = kept.send(KeepConversation(head()))
        assert recovered == StoreRecovered()
        assert isinstance(told, StoreFailed) and ANEW in told.sentence.template
        assert kept.read().draft == Draft(1, "unsent")
        assert kept.send(question(7, head(), 7)) == [Kept(7, on_disk=True)]
    assert said(tmp_path) == ["Question 1", "Answer 1", "Question 3", "Answer 3", "Question 5", "", "Question 7", ""]


def test_an_empty_database_never_passes_for_the_one_that_was_written_anew(tmp_path: Path) -> None:
    with shelf(tmp_path / "data") as kept:
        talk(kept, 1)
        delete_all(kept.folder)
        with unopenable():
            kept.send(question(3, head(), 3))
        kept.folder.rename(tmp_path / "away")
        assert kept.send(KeepConversation(head())) == []
        assert kept.store.work.behind and not kept.folder.exists()
        (tmp_path / "away").rename(kept.folder)
        assert kept.send(KeepConversation(head()))[0] == StoreRecovered()
    assert said(tmp_path / "data") == ["Question 1", "Answer 1", "Question 3", ""]


def test_a_question_is_answered_where_what_was_written_anew_can_never_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
        write_anew = rescue.OpenFiles.write_anew

        def then_a_folder(files: rescue.OpenFiles, connection: sqlite3.Connection) -> list[Sentence]:
            news = write_anew(files, connection)
            kept.path.unlink()
            kept.path.mkdir()
            return news

        monkeypatch.setattr(rescue.OpenFiles, "write_anew", then_a_folder)
        failed, aside, answered = kept.send(question(3, head(), 3))
        assert isinstance(failed, StoreFailed) and "is a folder where" in failed.sentence.template
        assert isinstance(aside, StoreFailed) and "It is kept as" in aside.sentence.template
        assert answered == Kept(3, on_disk=False)
        assert kept.send(question(5, head(), 5)) == [Kept(5, on_disk=False)]
        assert not kept.store.work.behind
        kept.path.rmdir()
        assert [type(event) for event in kept.send(OpenStore())] == [StoreOpened, StoreFailed], "they are back"
        assert kept.send(question(7, head(), 7)) == [Kept(7, on_disk=True)]
        (warned,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert warned.getMessage().startswith("1 changes could not be written: What was written last")
        assert [message.text for message in kept.read().messages if message.text] == ["Question 3", "Question 7"]
