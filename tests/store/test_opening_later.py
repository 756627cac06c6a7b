"""Chats that cannot be opened at the start: what is said meanwhile waits, and they come once nothing is in the way."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.core.draft import NEW_CHAT, Draft
from app.core.store_commands import KeepDraft, MeasureStore, OpenStore, Settle
from app.core.store_events import Kept, StoreFailed, StoreOpened, StoreRecovered
from app.store import opening, rescue
from app.store.opening import FILE_NAME
from app.store.store import Store
from tests.store.shelf import Post, Shelf, chunk, end, head, question, shelf

NOBODY = 65534


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "OPENING_S", 0.0)
    monkeypatch.setattr("app.store.keeper.AGAIN_S", 0.0)
    monkeypatch.setattr(rescue, "LOOK_S", 0.0)


@contextmanager
def kept_by_another(path: Path) -> Iterator[None]:
    """Hold a database so that nobody else can even read it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")
        other.execute("PRAGMA locking_mode = NORMAL")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write in a folder; the superuser becomes somebody else meanwhile, for he may always."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555)
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def talk(kept: Shelf, first: int, key: int = 1) -> None:
    kept.send(question(first, head(key), first), chunk(first + 1, f"Answer {first}", 5))
    kept.send(end(first + 1, f"Answer {first}", key))


def settled(kept: Shelf) -> Kept:
    return kept.ask(Settle(99), Kept)


def test_a_lock_at_the_start_loses_nothing_that_is_said_meanwhile(tmp_path: Path) -> None:
    with shelf(tmp_path) as before:
        talk(before, 1)
    kept = Shelf(tmp_path)
    with kept_by_another(kept.path):
        assert not kept.open().usable
        assert [event for event in kept.events if isinstance(event, StoreFailed)]
        assert settled(kept) == Kept(99, on_disk=True)  # nothing was said
        assert kept.send(question(5, head(2), 5)) == [Kept(5, on_disk=False)]
        kept.send(KeepDraft(Draft(NEW_CHAT, "unsent"), 1), chunk(6, "Answer", 5))
        problem = settled(kept).problem
        assert problem is not None and "another program is using" in problem.english()
        assert kept.store.work.behind
        assert [message.text for message in kept.read(2).messages] == ["Question 5", "Answer"]
    events = kept.send(MeasureStore(1))
    opened = events[0]
    assert isinstance(opened, StoreOpened) and opened.usable
    assert [each.id for each in opened.conversations] == [2, 1]
    assert opened.draft == Draft(NEW_CHAT, "unsent")
    assert StoreRecovered() in events
    assert settled(kept) == Kept(99, on_disk=True)
    # The answer of this run is still being written.
    assert [answer.state for answer in kept.read(2).answers] == ["open"]
    kept.close()
    with shelf(tmp_path) as again:
        assert again.open().draft == Draft(NEW_CHAT, "unsent")
        assert [message.text for message in again.read(2).messages] == ["Question 5", "Answer"]


def test_whoever_asks_again_is_answered_again(tmp_path: Path) -> None:
    with shelf(tmp_path) as before:
        talk(before, 1)
    kept = Shelf(tmp_path)
    with kept_by_another(kept.path):
        assert not kept.open().usable
        kept.send(question(5, head(2), 5))
        assert [each.id for each in kept.ask(OpenStore(), StoreOpened).conversations] == [2]
    kept.close()
    with shelf(tmp_path) as again:
        assert len(again.read(2).messages) == 2


def test_the_chats_come_by_themselves_once_a_lock_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.store.RETRY_S", 0.02)
    with shelf(tmp_path) as before:
        talk(before, 1)
    post = Post()
    store = Store(tmp_path, post.put)
    with kept_by_another(before.path):
        store.send(OpenStore())
        assert not post.wait(StoreOpened).usable
        store.send(question(5, head(2), 5))
        assert not post.wait(Kept).on_disk
    assert [each.id for each in post.wait(StoreOpened).conversations] == [2, 1]
    post.wait(StoreRecovered)
    store.send(Settle(6))
    assert post.wait(Kept) == Kept(6, on_disk=True)
    store.close()


def test_opening_again_is_tried_now_and_then_and_when_somebody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.AGAIN_S", 1e9)
    with shelf(tmp_path) as before:
        talk(before, 1)
    kept = Shelf(tmp_path)
    with kept_by_another(kept.path):
        kept.open()
    assert kept.send(question(5, head(2), 5)) == [Kept(5, on_disk=False)]
    assert settled(kept).problem is None
    assert len(kept.read(1).messages) == 2
    kept.close()


@pytest.mark.skipif(os.name == "nt", reason="folders there know no such right")
@pytest.mark.parametrize("was_closed", [True, False])
def test_chats_in_a_folder_that_may_not_be_written_are_shown(open_folder: Path, was_closed: bool) -> None:
    made = open_folder / "made"
    with shelf(made) as before:
        talk(before, 1)
        folder = made
        if not was_closed:  # all of it lies in the log, as after a kill
            folder = open_folder / "killed"
            folder.mkdir()
            for part in ("", "-wal"):
                shutil.copy(f"{before.path}{part}", folder / f"{FILE_NAME}{part}")
    open_folder.chmod(0o755)
    kept = Shelf(folder)
    with read_only(folder):
        opened = kept.open()
        assert not opened.usable and [each.id for each in opened.conversations] == [1]
        (failed,) = [event for event in kept.events if isinstance(event, StoreFailed)]
        assert "may not write in" in failed.sentence.template and "not saved" in failed.sentence.template
        assert [message.text for message in kept.read().messages] == ["Question 1", "Answer 1"]
        kept.send(question(3, head(), 3, parent=2))
        assert settled(kept).problem is not None
        assert len(kept.read().messages) == 4
    assert settled(kept).problem is None
    kept.close()
    with shelf(folder) as again:
        assert [message.text for message in again.read().messages] == ["Question 1", "Answer 1", "Question 3", ""]


@pytest.mark.skipif(os.name == "nt", reason="folders there know no such right")
def test_a_new_home_that_may_not_be_written_is_named_and_waited_for(open_folder: Path) -> None:
    kept = Shelf(open_folder)
    with read_only(open_folder):
        kept.open()
        (failed,) = [event for event in kept.events if isinstance(event, StoreFailed)]
        assert "may not write in" in failed.sentence.template
        kept.send(question(3, head(), 3))
        assert settled(kept).problem is not None
    assert settled(kept).problem is None
    assert len(kept.read().messages) == 2
    kept.close()


@pytest.mark.parametrize("left", ["missing", "empty"])
def test_a_log_whose_database_is_gone_is_put_aside_and_named(tmp_path: Path, left: str) -> None:
    made, folder = tmp_path / "made", tmp_path / "data"
    folder.mkdir()
    log = folder / f"{FILE_NAME}-wal"
    with shelf(made) as before:
        talk(before, 1)
        shutil.copy(f"{before.path}-wal", log)
    if left == "empty":
        (folder / FILE_NAME).touch()
    whole = log.read_bytes()
    assert whole
    kept = Shelf(folder)
    opened = kept.open()
    assert opened.usable
    (aside,) = folder.glob("tokenlight-log-*-wal")
    assert aside.read_bytes() == whole
    assert str(aside) in opened.problems[0].english()
    talk(kept, 1)
    kept.close()
    with shelf(folder) as again:
        assert again.open().problems == ()
        assert len(again.read().messages) == 2


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be emptied there")
@pytest.mark.parametrize("look_s", [0.0, 1e9])
def test_a_database_that_is_emptied_while_it_is_open_is_told_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_s: float
) -> None:
    monkeypatch.setattr(rescue, "LOOK_S", look_s)
    with shelf(tmp_path) as before:
        for key in range(1, 200):
            talk(before, key * 10, key)
    with shelf(tmp_path) as kept:
        os.truncate(kept.path, 0)
        kept.send(question(9001, head(900), 9001))
        kept.send(question(9003, head(900), 9003))
        settled(kept)
        told = [(at, event) for at, event in enumerate(kept.events) if isinstance(event, StoreFailed)]
        assert "emptied" in told[-1][1].sentence.template
        assert not any(isinstance(event, StoreRecovered) for event in kept.events[told[-1][0] :])
        assert len(kept.read(900).messages) == 4
        assert len([each for each in told if "emptied" in each[1].sentence.template]) == 1
    with shelf(tmp_path) as again:
        assert len(again.read(900).messages) == 4
        assert again.sql("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be emptied there")
def test_what_the_log_holds_of_an_emptied_database_is_not_lost(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        os.truncate(kept.path, 0)
        talk(kept, 3)
        (failed,) = [event for event in kept.events if isinstance(event, StoreFailed)]
        assert "no chat is lost" in failed.sentence.template
    with shelf(tmp_path) as again:
        assert len(again.read().messages) == 4
