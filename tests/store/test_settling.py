"""Whether the program may end: everything is on disk, or a sentence says why not."""

from __future__ import annotations

import logging
from array import array
from pathlib import Path

import pytest

from app.core.conversation import Pieces
from app.core.store_commands import KeepConversation, KeepPieces, OpenStore, Settle
from app.core.store_events import Kept, StoreFailed, StoreOpened, StoreRecovered
from app.store.opening import FILE_NAME
from app.store.store import Store
from tests.store.shelf import Post, chunk, end, head, locked, question, shelf
from tests.store.test_faults_in_use import LONG, fill_disk, free_disk

WAITING = "What was written last could not be saved"
CHOICE = "Close anyway and risk losing it, or keep the window open?"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_full_disk_is_asked_about_until_it_has_room(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert kept.send(question(1, head(), 1), Settle(2)) == [Kept(1, on_disk=True), Kept(2, on_disk=True)]
        fill_disk(kept)
        kept.send(chunk(2, LONG, 5), end(2, LONG))
        for request in (3, 4):
            (settled,) = kept.send(Settle(request))
            assert isinstance(settled, Kept) and not settled.on_disk and settled.problem is not None
            assert settled.problem.english() == f"{WAITING}: the disk is full. {CHOICE}"
        free_disk(kept)
        assert kept.send(Settle(5)) == [StoreRecovered(), Kept(5, on_disk=True)]


@pytest.mark.usefixtures("impatient")
def test_a_lock_and_a_file_that_may_not_be_written_are_named(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        with locked(kept.path):
            kept.send(question(1, head(), 1))
            (settled,) = kept.send(Settle(2))
            assert isinstance(settled, Kept) and settled.problem is not None
            assert "another program is using" in settled.problem.english()
        connection = kept.store.work.database.connection
        assert connection is not None
        connection.execute("PRAGMA query_only = ON")
        *_, settled = kept.send(question(3, head(), 3), Settle(4))
        assert isinstance(settled, Kept) and settled.problem is not None
        assert "may not write the file" in settled.problem.english()
        connection.execute("PRAGMA query_only = OFF")


@pytest.mark.usefixtures("impatient")
def test_what_tokens_say_is_nothing_that_people_lose(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        fill_disk(kept)
        kept.send(
            KeepPieces(Pieces("tokenizer", 0, array("i", range(5_000, 260_000, 5_000)).tobytes(), b"a" * 255_000), 51)
        )
        assert kept.store.work.behind
        assert kept.send(Settle(1)) == [Kept(1, on_disk=True)]
        free_disk(kept)


def test_a_store_that_keeps_nothing_asks_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), end(2, "text"))
        assert kept.send(Settle(2)) == [Kept(2, on_disk=True)]


def test_whoever_waits_for_the_answer_need_not_wait_as_long_as_an_answer_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 1e9)
    monkeypatch.setattr("app.store.keeper.CLOSING_S", 0.05)
    post = Post()
    store = Store(tmp_path, post.put)
    store.send(OpenStore())
    post.wait(StoreOpened)
    with locked(tmp_path / FILE_NAME):
        store.send(question(5, head(), 1))
        store.send(Settle(6))
        assert "Another program is using" in post.wait(StoreFailed).sentence.template
        assert post.wait(Kept) == Kept(5, on_disk=False)
        settled = post.wait(Kept)
        assert (settled.request, settled.on_disk) == (6, False)
    store.send(KeepConversation(head()))
    post.wait(StoreRecovered)
    with caplog.at_level(logging.WARNING):
        store.close()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_after_the_answer_a_write_waits_for_others_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.keeper.CLOSING_S", 0.0)
    with shelf(tmp_path) as kept:
        work = kept.store.work
        work.press()
        kept.send(Settle(1))
        tries: list[int] = []
        with locked(kept.path) as other:

            def pause(_seconds: float) -> bool:
                tries.append(1)
                if len(tries) == 3:
                    other.execute("ROLLBACK")
                return False

            monkeypatch.setattr(work._writing._never, "wait", pause)
            assert kept.send(question(2, head(), 1)) == [Kept(2, on_disk=True)]
    assert len(tries) == 3
