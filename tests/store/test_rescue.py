"""Files that go away under a database that is in use, and come again with everything in them."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.store_commands import KeepConversation, OpenStore, Settle
from app.core.store_events import Kept, StoreFailed
from app.store import rescue
from app.store.opening import FILE_NAME
from app.store.store import Store
from tests.store.shelf import LONGEST_S, Post, Shelf, chunk, end, head, names, question, shelf

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")

ANEW = "was deleted while Tokenlight was using it"
REPLACED = "Another file took the place"


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue, "LOOK_S", 0.0)


def delete_all(folder: Path) -> None:
    for path in folder.glob(f"{FILE_NAME}*"):
        path.unlink()


def delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def delete_database(folder: Path) -> None:
    (folder / FILE_NAME).unlink()


def delete_log(folder: Path) -> None:
    (folder / f"{FILE_NAME}-wal").unlink()


def delete_index(folder: Path) -> None:
    (folder / f"{FILE_NAME}-shm").unlink()


WAYS: list[Callable[[Path], None]] = [delete_all, delete_folder, delete_database, delete_log, delete_index]


@contextmanager
def unseen() -> Iterator[None]:
    """Refuse to say anything of the database's files."""
    stat = Path.stat

    def refuse(path: Path, **options: bool) -> os.stat_result:
        if path.name.startswith(FILE_NAME):
            raise PermissionError(13, "Permission denied")
        return stat(path, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "stat", refuse)
        yield


def talk(kept: Shelf, first: int, key: int = 1) -> None:
    """Ask and have it answered."""
    kept.send(
        question(first, head(key), first),
        chunk(first + 1, f"Answer {first}", 5),
        end(first + 1, f"Answer {first}", key),
    )


def said(folder: Path, key: int = 1) -> list[str]:
    """Return what somebody who starts the program anew finds in a conversation."""
    with shelf(folder) as again:
        assert again.open().problems == ()
        return [message.text for message in again.read(key).messages]


@pytest.mark.parametrize("vanish", WAYS)
def test_files_that_are_deleted_are_written_anew_with_all_that_was_ever_said(
    tmp_path: Path, vanish: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    with shelf(folder) as kept:
        talk(kept, 1)
        vanish(folder)
        kept.send(question(3, head(), 3, parent=2))
        (failed,) = [event for event in kept.events if isinstance(event, StoreFailed)]
        assert ANEW in failed.sentence.template
        assert Kept(3, on_disk=True) in kept.events
        # From the side, as after a kill: what is in the folder now is whole.
        assert kept.sql("PRAGMA integrity_check") == [("ok",)]
        assert kept.sql("SELECT count(*) FROM message") == [(4,)]
        talk(kept, 5)
        assert len([event for event in kept.events if isinstance(event, StoreFailed)]) == 1
    assert said(folder) == ["Question 1", "Answer 1", "Question 3", "", "Question 5", "Answer 5"]
    assert names(folder) == [FILE_NAME]


def test_files_that_are_deleted_while_nobody_says_anything_are_written_anew_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue, "LOOK_S", 1e9)
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
    assert said(tmp_path) == ["Question 1", "Answer 1"]


def test_the_log_of_the_old_file_never_lies_beside_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[list[str]] = []
    replace = Path.replace

    def note(path: Path, target: Path) -> Path:
        beside.append(names(tmp_path))
        return replace(path, target)

    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_database(tmp_path)
        monkeypatch.setattr(Path, "replace", note)
        talk(kept, 3)
        monkeypatch.undo()
    assert beside == [[f"{FILE_NAME}.new"]]


def test_another_database_in_the_place_is_put_aside_and_none_of_the_chats_is_lost(tmp_path: Path) -> None:
    folder, other = tmp_path / "data", tmp_path / "other"
    with shelf(other) as theirs:
        talk(theirs, 91, key=9)
    with shelf(folder) as kept:
        talk(kept, 1)
        (other / FILE_NAME).replace(folder / FILE_NAME)
        talk(kept, 3)
        (failed,) = [event for event in kept.events if isinstance(event, StoreFailed)]
        assert failed.sentence.template.startswith(REPLACED)
    assert said(folder) == ["Question 1", "Answer 1", "Question 3", "Answer 3"]
    (aside,) = folder.glob("tokenlight-replaced-*.sqlite3")
    assert str(aside) == failed.sentence.values["path"]
    aside.replace(other / FILE_NAME)
    assert said(other, 9) == ["Question 91", "Answer 91"]
    assert names(folder) == [FILE_NAME]


def test_files_are_looked_at_once_a_second_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(rescue, "LOOK_S", 1.0)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with shelf(tmp_path) as kept:
        talk(kept, 1)
        delete_all(tmp_path)
        talk(kept, 3)
        assert not (tmp_path / FILE_NAME).exists()
        now[0] += 1.0
        kept.send(KeepConversation(head()))
        assert (tmp_path / FILE_NAME).exists()


def test_a_disk_whose_files_change_their_numbers_by_themselves_is_left_alone_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()
    with shelf(tmp_path) as kept:
        monkeypatch.setattr(rescue, "_numbers", lambda _found: (0, next(numbers)))
        for first in range(1, 20, 2):
            talk(kept, first)
        told = [event.sentence.template for event in kept.events if isinstance(event, StoreFailed)]
        assert len(told) == rescue.MOST_RESCUES + 1
        assert "keep changing" in told[-1] and not any("keep changing" in each for each in told[:-1])
        assert Kept(19, on_disk=True) in kept.events
    assert len(said(tmp_path)) == 20


def test_files_that_are_deleted_again_and_again_are_written_anew_each_time(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        for first in range(1, 12, 2):
            talk(kept, first)
            delete_all(tmp_path)
        assert kept.send(Settle(20))[-1] == Kept(20, on_disk=True)
        assert kept.path.exists()
        told = [event.sentence.template for event in kept.events if isinstance(event, StoreFailed)]
        assert len([each for each in told if ANEW in each]) == 6
        assert len([each for each in told if "keep changing" in each]) == 1
        delete_all(tmp_path)
    assert len(said(tmp_path)) == 12


def test_files_that_are_deleted_again_and_again_are_looked_for_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with shelf(tmp_path) as kept:
        for first in range(1, 2 * rescue.MOST_RESCUES + 3, 2):
            talk(kept, first)
            delete_all(tmp_path)
            kept.send(KeepConversation(head()))
        monkeypatch.setattr(rescue, "LOOK_S", 1.0)
        delete_all(tmp_path)
        now[0] += 1.5
        kept.send(KeepConversation(head()))
        assert not kept.path.exists()
        now[0] += 0.5
        kept.send(KeepConversation(head()))
        assert kept.path.exists()


def test_what_cannot_be_looked_at_counts_as_there(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        with unseen():
            talk(kept, 1)
        assert not [event for event in kept.events if isinstance(event, StoreFailed)]


def test_the_end_of_the_program_waits_for_what_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.store.CLOSE_S", 0.0)
    monkeypatch.setattr("app.store.store.INTERRUPTED_S", 0.0)
    began, may_go_on = threading.Event(), threading.Event()
    clear = rescue.OpenFiles._clear

    def slowly(files: rescue.OpenFiles) -> Path | None:
        began.set()
        assert may_go_on.wait(LONGEST_S)
        return clear(files)

    post = Post()
    store = Store(tmp_path, post.put)
    store.send(OpenStore())
    store.send(question(1, head(), 1))
    post.wait(Kept)
    delete_all(tmp_path)
    monkeypatch.setattr(rescue.OpenFiles, "_clear", slowly)
    store.send(KeepConversation(head()))
    assert began.wait(LONGEST_S)
    timer = threading.Timer(0.1, may_go_on.set)
    timer.start()
    store.close()
    assert [thread for thread in threading.enumerate() if thread.name == "store"] == []
    timer.join()
    assert said(tmp_path) == ["Question 1", ""]
