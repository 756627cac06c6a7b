from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.core.conversation import Conversation, StoredAnswer
from app.core.store_commands import (
    KeepConversation,
    KeepQuestion,
    MeasureStore,
    ReadConversation,
    ReadPieces,
    ReadRecord,
)
from app.core.store_events import ConversationRead, Kept, PiecesRead, RecordRead, StoreFailed, StoreMeasured
from app.store import opening
from app.store.migrations import MIGRATIONS
from app.store.opening import FILE_NAME, SUSPECT_NAME
from tests.store.shelf import PAGE, Shelf, break_pages, chunk, end, head, ids, locked, names, question, shelf


def filled(folder: Path) -> Path:
    """Make a closed database with chats in it."""
    with shelf(folder) as kept:
        for key in range(1, 30):
            kept.send(question(key, head(key), key * 10), chunk(key * 10 + 1, f"Answer {key} " * 100, key))
            kept.send(end(key * 10 + 1, f"Answer {key} " * 100, key))
    return folder / FILE_NAME


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def problem(kept: Shelf) -> str:
    """Open a store that cannot be used, and return the one reason for it."""
    opened = kept.open()
    assert not opened.usable
    waiting = [event.sentence for event in kept.events if isinstance(event, StoreFailed)]
    (sentence,) = opened.problems or waiting
    return sentence.english()


def assert_begun_anew(folder: Path, damaged: bytes) -> Path:
    """Check that a damaged file was put aside whole and that a new one works; return where it is."""
    with shelf(folder) as kept:
        opened = kept.open()
        assert opened.usable and opened.conversations == ()
        kept.send(question(1, head(), 1))
    (aside,) = folder.glob("tokenlight-damaged-*.sqlite3")
    assert aside.read_bytes() == damaged
    with shelf(folder) as again:
        assert [each.id for each in again.open().conversations] == [1]
        assert again.read().messages[0].text == "Question 1"
    return aside


def test_a_store_in_a_folder_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    with shelf(tmp_path / "not" / "yet") as kept:
        opened = kept.open()
        assert (opened.usable, opened.conversations, opened.problems) == (True, (), ())
        assert kept.sql("PRAGMA journal_mode") == [("wal",)]
        assert kept.sql("PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    kept = Shelf(tmp_path)
    assert kept.open().usable
    kept.close()
    assert names(tmp_path) == [FILE_NAME]


@pytest.mark.parametrize("garbage", [b"x", b"SQLite format 3\0", b"no database at all" * 1000])
def test_a_file_that_is_no_database_is_put_aside_and_a_new_one_begun(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(garbage)
    kept = Shelf(tmp_path)
    opened = kept.open()
    kept.close()
    assert opened.usable
    (aside,) = tmp_path.glob("tokenlight-damaged-*.sqlite3")
    assert aside.read_bytes() == garbage
    assert str(aside) in opened.problems[0].english()


def test_a_database_with_its_second_page_overwritten_is_put_aside(tmp_path: Path) -> None:
    path = filled(tmp_path)
    broken = bytearray(path.read_bytes())
    broken[PAGE : 2 * PAGE] = b"\xaa" * PAGE
    path.write_bytes(broken)
    kept = Shelf(tmp_path)
    opened = kept.open()
    (aside,) = tmp_path.glob("tokenlight-damaged-*.sqlite3")
    assert aside.read_bytes() == broken
    assert opened.usable and len(opened.conversations) == 29
    assert str(aside) in opened.problems[0].english() and "(chats: 29)" in opened.problems[0].english()
    assert {each.title for each in opened.conversations} == {f"Question {key}0" for key in range(1, 30)}
    assert kept.read(7).messages[1].text == "Answer 7 " * 100
    kept.close()


def test_a_database_that_is_cut_off_is_put_aside(tmp_path: Path) -> None:
    path = filled(tmp_path)
    broken = path.read_bytes()[: PAGE + 100]
    path.write_bytes(broken)
    assert_begun_anew(tmp_path, broken)


def test_another_programs_database_is_put_aside_and_not_written_into(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    assert_begun_anew(tmp_path, (tmp_path / FILE_NAME).read_bytes())


def test_what_was_put_aside_before_is_never_replaced(tmp_path: Path) -> None:
    for garbage in (b"first" * 99, b"second" * 99, b"third" * 99):
        (tmp_path / FILE_NAME).write_bytes(garbage)
        kept = Shelf(tmp_path)
        assert kept.open().usable
        kept.close()
    aside = {path.read_bytes()[:5] for path in tmp_path.glob("tokenlight-damaged-*.sqlite3")}
    assert aside == {b"first", b"secon", b"third"}


def test_the_log_of_a_damaged_database_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"garbage" * 99)
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"log")
    aside = assert_begun_anew(tmp_path, b"garbage" * 99)
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"log"


def test_damage_that_was_met_before_is_looked_for_everywhere_at_the_next_start(tmp_path: Path) -> None:
    path = filled(tmp_path)
    break_pages(path, "chunk")
    broken = path.read_bytes()
    kept = Shelf(tmp_path)
    assert len(kept.open().conversations) == 29
    kept.close()
    (tmp_path / SUSPECT_NAME).touch()
    again = Shelf(tmp_path)
    opened = again.open()
    assert len(opened.conversations) == 29 and "was damaged" in opened.problems[0].english()
    read = again.read(7)
    assert read.messages[1].text == "Answer 7 " * 100
    assert [(answer.state, answer.ids) for answer in read.answers] == [("done", ids(7))]
    again.close()
    (aside,) = tmp_path.glob("tokenlight-damaged-*.sqlite3")
    assert aside.read_bytes() == broken
    assert not (tmp_path / SUSPECT_NAME).exists()


def test_a_suspect_that_turns_out_to_be_sound_is_used_on(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as kept:
        assert len(kept.open().conversations) == 29
    assert not (tmp_path / SUSPECT_NAME).exists()


def test_a_newer_database_is_left_untouched(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA user_version = 99")
    before = contents(tmp_path)
    kept = Shelf(tmp_path)
    assert "newer Tokenlight" in problem(kept)
    kept.send(KeepConversation(head()))
    kept.close()
    assert contents(tmp_path) == before


def test_a_newer_version_that_only_the_log_tells_of_is_left_untouched(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "copied"
    path = filled(made)
    folder.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 99")
        for end_of_name in ("", "-wal"):
            shutil.copy(f"{path}{end_of_name}", folder / f"{FILE_NAME}{end_of_name}")
    before = contents(folder)
    kept = Shelf(folder)
    assert "newer Tokenlight" in problem(kept)
    kept.close()
    after = contents(folder)
    assert {name: after[name] for name in before} == before


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    kept = Shelf(tmp_path)
    assert problem(kept).startswith(f"{tmp_path / FILE_NAME} is a folder")
    kept.close()


def test_a_file_in_the_place_of_the_folder_is_named_and_everything_is_answered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = Shelf(tmp_path / "file")
    assert str(tmp_path / "file") in problem(kept)
    assert kept.send(question(3, head(), 1)) == [Kept(3, on_disk=False)]
    assert kept.send(chunk(2, "a", 1), end(2, "a"), KeepConversation(head())) == []
    assert kept.send(ReadConversation(4, 1)) == [ConversationRead(4, 1, (), ())]
    assert kept.send(ReadPieces(5, "a")) == [PiecesRead(5, "a", None)]
    assert kept.send(ReadRecord(6, 2)) == [RecordRead(6, 2, ())]
    assert kept.send(MeasureStore(7)) == [StoreMeasured(7, 0, 0)]
    kept.close()


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        monkeypatch.setattr(connections, "last", connection, raising=False)
        connection.execute("PRAGMA user_version = 0")
        return connection

    class connections:  # noqa: N801
        last: sqlite3.Connection

    filled(tmp_path)
    monkeypatch.setattr(opening, "connect", refused)
    kept = Shelf(tmp_path)
    assert "may not write in" in problem(kept)
    connections.last.close()
    kept.close()


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = opening.connect

    def on_full_disk(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 2")
        return connection

    monkeypatch.setattr(opening, "connect", on_full_disk)
    kept = Shelf(tmp_path)
    assert problem(kept).startswith(f"The disk of {tmp_path} is full")
    kept.close()
    monkeypatch.setattr(opening, "connect", connect)
    with shelf(tmp_path) as again:
        assert again.open().usable


def test_a_database_that_another_program_keeps_to_itself_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    monkeypatch.setattr(opening, "OPENING_S", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("DELETE FROM message WHERE id = 0")
        kept = Shelf(tmp_path)
        assert problem(kept).startswith("Another program is using")
        other.execute("PRAGMA locking_mode = NORMAL")
    assert len(kept.open().conversations) == 29
    kept.close()


def test_a_database_that_another_program_keeps_to_itself_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connect, attempts = filled(tmp_path), opening.connect, []

    def connect_late(place: Path) -> sqlite3.Connection:
        attempts.append(place)
        if len(attempts) == 2:
            other.close()
        return connect(place)

    monkeypatch.setattr(opening, "connect", connect_late)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("DELETE FROM message WHERE id = 0")
        with shelf(tmp_path) as kept:
            assert len(attempts) == 2
            assert len(kept.open().conversations) == 29


def test_chats_are_there_while_another_program_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path)
    with shelf(tmp_path) as cut_off:
        cut_off.send(question(1, head(2), 901), chunk(902, "Once", 1))
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    with locked(path):
        kept = Shelf(tmp_path)
        assert len(kept.open().conversations) == 29
        assert [answer.state for answer in kept.read(2).answers] == ["done", "interrupted"]
        assert kept.sql("SELECT state FROM answer WHERE message = 902") == [("open",)]
    kept.send(KeepConversation(Conversation(99, "", 99, 99)))
    assert kept.open().conversations[0].id == 99
    kept.close()


def test_answers_that_were_cut_off_are_interrupted_with_what_was_written(tmp_path: Path) -> None:
    first = Shelf(tmp_path)
    first.open()
    first.send(question(1, head(), 1), chunk(2, "Once ", 5), chunk(2, "upon", 6))
    first.send(question(2, head(), 3), question(3, head(), 5), end(6, "whole"))
    first.close()
    with shelf(tmp_path) as kept:
        assert kept.sql("SELECT text FROM message WHERE id = 2") == [("Once upon",)]
        read = kept.read()
        assert [answer.state for answer in read.answers] == ["interrupted", "interrupted", "done"]
        assert [message.text for message in read.messages if message.role == "assistant"] == [
            "Once upon",
            "",
            "whole",
        ]
        kept.send(question(4, head(), 7))
        kept.open()
        assert kept.read().answers[-1].state == "open"


def test_an_answer_that_was_to_go_on_and_was_cut_off_before_its_first_word_keeps_its_text(tmp_path: Path) -> None:
    first = Shelf(tmp_path)
    first.open()
    first.send(question(1, head(), 1), end(2, "whole"))
    first.send(KeepQuestion(2, head(), (), StoredAnswer(2, "open")))
    first.close()
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert (read.messages[1].text, read.answers[0].state) == ("whole", "interrupted")
