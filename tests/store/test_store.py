from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.core.job_events import JobFailed
from app.core.store_commands import KeepConversation, MeasureStore, OpenStore, ReadConversation
from app.core.store_events import ConversationRead, Kept, StoreFailed, StoreMeasured, StoreOpened, StoreRecovered
from app.store import store as store_module
from app.store.opening import FILE_NAME
from app.store.store import Store
from tests.store.shelf import Post, chunk, end, head, locked, question, shelf, used_every_day, wait_until


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def store(tmp_path: Path, post: Post) -> Iterator[Store]:
    made = Store(tmp_path, post.put)
    made.send(OpenStore())
    post.wait(StoreOpened)
    yield made
    made.close()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "store"]


def rows(folder: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        return connection.execute(statement).fetchall()


def test_a_store_that_is_never_asked_has_no_thread_and_no_file(tmp_path: Path, post: Post) -> None:
    made = Store(tmp_path, post.put)
    assert threads() == []
    made.close()
    made.close()
    made.send(OpenStore())
    assert threads() == []
    assert list(tmp_path.iterdir()) == []


def test_a_question_is_on_disk_when_it_is_said_to_be(store: Store, post: Post, tmp_path: Path) -> None:
    store.send(question(5, head(), 1))
    assert post.wait(Kept) == Kept(5, on_disk=True)
    assert rows(tmp_path, "SELECT text FROM message ORDER BY id") == [("Question 1",), ("",)]


def test_chunks_are_on_disk_soon_without_anything_else_being_sent(store: Store, post: Post, tmp_path: Path) -> None:
    store.send(question(5, head(), 1))
    post.wait(Kept)
    for word in ("Once ", "upon ", "a time"):
        store.send(chunk(2, word, 1))
    wait_until(lambda: rows(tmp_path, "SELECT group_concat(text, '') FROM chunk") == [("Once upon a time",)])
    store.send(chunk(2, ", in", 1))
    wait_until(lambda: rows(tmp_path, "SELECT group_concat(text, '') FROM chunk") == [("Once upon a time, in",)])


def test_a_chunk_wakes_the_thread_only_when_none_waits(
    store: Store, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "CHUNK_S", 60.0)
    woken: list[None] = []
    notify = store._changed.notify

    def count_and_notify() -> None:
        woken.append(None)
        notify()

    monkeypatch.setattr(store._changed, "notify", count_and_notify)
    for _ in range(100):
        store.send(chunk(2, "a", 1))
    assert len(woken) == 1
    store.send(MeasureStore(1))
    post.wait(StoreMeasured)
    assert len(woken) == 2
    store.send(chunk(2, "a", 1))
    assert len(woken) == 2


def test_chunks_of_an_answer_that_wait_together_are_one_row(store: Store, post: Post, tmp_path: Path) -> None:
    store.send(question(5, head(), 1))
    store.send(question(6, head(), 3))
    post.wait(Kept)
    post.wait(Kept)
    for index in range(50):
        store.send(chunk(2, f"{index} ", index))
        store.send(chunk(4, "b", 70_000, record=b"x"))
    store.send(ReadConversation(1, 1))
    read = post.wait(ConversationRead)
    assert read.messages[1].text == "".join(f"{index} " for index in range(50))
    assert read.messages[3].text == "b" * 50
    # A busy machine may let half a second pass in between.
    ((count,),) = rows(tmp_path, "SELECT count(*) FROM chunk")
    assert isinstance(count, int) and count < 20


def test_answers_come_in_the_order_of_the_questions(store: Store, post: Post) -> None:
    for number in range(1, 40, 2):
        store.send(question(number, head(), number * 2))
        store.send(chunk(number * 2 + 1, "a", 1))
        store.send(ReadConversation(number + 1, 1))
    store.send(MeasureStore(99))
    post.wait(StoreMeasured)
    assert [event.request for event in post.seen if isinstance(event, Kept | ConversationRead)] == list(range(1, 41))
    read = [event for event in post.seen if isinstance(event, ConversationRead)]
    assert [len(event.messages) for event in read] == list(range(2, 42, 2))


def test_closing_writes_what_waits_and_leaves_one_tidy_file(tmp_path: Path, post: Post) -> None:
    made = Store(tmp_path, post.put)
    for command in (OpenStore(), question(5, head(), 1), chunk(2, "a", 1), chunk(2, "b", 1)):
        made.send(command)
    made.close()
    assert threads() == []
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert rows(tmp_path, "SELECT text FROM chunk") == [("ab",)]
    made.send(question(6, head(), 3))
    made.close()
    assert threads() == []
    assert rows(tmp_path, "SELECT count(*) FROM message") == [(2,)]


def test_closing_empties_the_log_though_somebody_else_looks_at_the_database(
    store: Store, post: Post, tmp_path: Path
) -> None:
    store.send(question(5, head(), 1))
    post.wait(Kept)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        assert other.execute("SELECT count(*) FROM message").fetchone() == (2,)
        assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size > 0
        store.close()
        assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size == 0


def test_closing_takes_no_longer_than_it_may_while_another_program_holds_the_database(
    store: Store, post: Post, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with locked(tmp_path / FILE_NAME):
        store.send(question(5, head(), 1))
        store.send(chunk(2, "a", 1))
        store.close()
        assert threads() == []
    assert post.wait(Kept) == Kept(5, on_disk=False)
    assert "could not be written" in caplog.text


def test_what_another_program_kept_from_being_written_is_written_by_itself_later(
    store: Store, post: Post, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    monkeypatch.setattr(store_module, "RETRY_S", 0.05)
    with locked(tmp_path / FILE_NAME):
        store.send(question(5, head(), 1))
        post.wait(StoreFailed)
        assert post.wait(Kept) == Kept(5, on_disk=False)
    post.wait(StoreRecovered)
    assert rows(tmp_path, "SELECT count(*) FROM message") == [(2,)]


def test_a_mistake_in_the_store_is_told_and_the_next_command_is_done(
    store: Store, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    store.send("no command")  # type: ignore[arg-type]  # on purpose
    assert post.wait(JobFailed).job == "store"
    assert "The store failed" in caplog.text
    store.send(question(5, head(), 1))
    assert post.wait(Kept).on_disk


def test_what_was_deleted_long_ago_is_erased_after_the_store_has_opened(tmp_path: Path, post: Post) -> None:
    with shelf(tmp_path) as kept:
        for key in range(1, 6):
            kept.send(question(key, head(key), key * 10), end(key * 10 + 1, "text", key))
        kept.sql("UPDATE conversation SET deleted_ms = 5 WHERE id < 5")
        used_every_day(kept)
    made = Store(tmp_path, post.put)
    made.send(OpenStore())
    assert [each.id for each in post.wait(StoreOpened).conversations] == [5]
    wait_until(lambda: rows(tmp_path, "SELECT id FROM conversation") == [(5,)])
    made.send(KeepConversation(head(5)))
    made.close()
