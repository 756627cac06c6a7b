"""What could not be written when the program ended: where it lies meanwhile, and that it is there again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.draft import NEW_CHAT, Draft
from app.core.store_commands import (
    EraseTrash,
    KeepConversation,
    KeepDraft,
    RemoveMessages,
    RestoreMessages,
    Settle,
)
from app.core.store_events import Kept, StoreOpened
from app.store import faults
from app.store.opening import Opened
from tests.store.shelf import Shelf, chunk, head, ids, locked, question, shelf
from tests.store.test_faults_in_use import LONG
from tests.store.unsaved import BACK, LOST, connect_full, end_unsaved, left, refused, texts, told


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Wait for no other program; that something was not saved is in the log."""
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_what_a_full_disk_did_not_take_is_in_the_chats_at_the_next_start(data: Path) -> None:
    ended = end_unsaved(data)
    (path,) = left(data)
    assert str(path) in told(ended)[-1]
    with shelf(data) as again:
        assert texts(again) == ["Question 1", f"Half an answer {LONG}", "Question 3", ""]
        assert [answer.state for answer in again.read().answers] == ["interrupted", "interrupted"]
        assert again.read().answers[0].ids == ids(5, 6)
        assert told(again) == [BACK]
        assert not any(isinstance(event, Kept) for event in again.events), "nobody of this run asked"
        assert left(data) == []
    with shelf(data) as last:
        assert told(last) == []


def test_where_the_disk_of_the_chats_takes_nothing_another_folder_holds_it(
    data: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused(monkeypatch, data):
        end_unsaved(data)
    (path,) = left(elsewhere)
    assert left(data) == []
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with shelf(data) as again:
        assert texts(again)[2] == "Question 3"
    assert left(elsewhere) == []


def test_what_finds_no_place_at_all_is_named_as_lost_and_leaves_nothing_half_written(
    data: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused(monkeypatch, data, elsewhere):
        assert told(end_unsaved(data))[-1] == LOST
    monkeypatch.setattr("app.store.refuge.os.fsync", _full)
    data = data.with_name("other")
    assert told(end_unsaved(data))[-1] == LOST
    assert left(data) == left(elsewhere) == []


def _full(_descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_disk_that_is_still_full_shows_it_and_keeps_it_for_the_start_after_that(
    data: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused(monkeypatch, data):
        end_unsaved(data)
    again = Shelf(data)
    with monkeypatch.context() as patch:
        patch.setattr("app.store.opening.connect", connect_full)
        assert again.open().newest == 4
        assert texts(again) == ["Question 1", f"Half an answer {LONG}", "Question 3", ""]
        again.send(question(5, head(), 5, parent=4))
        assert BACK not in told(again)
        again.close()
    assert (len(left(data)), left(elsewhere)) == (1, []), "what was taken over is in the new file too"
    with shelf(data) as last:
        assert texts(last) == ["Question 1", f"Half an answer {LONG}", "Question 3", "", "Question 5", ""]
        assert last.sql("SELECT count(*) FROM chunk") == [(2,)]


def test_chats_that_could_not_be_opened_leave_their_words_behind_those_of_the_run_before(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_unsaved(data)
    refusal = PermissionError(13, "Permission denied")
    blocked = Shelf(data)
    with monkeypatch.context() as patch:
        refused_open = Opened(None, problems=(faults.unusable(refusal, blocked.path),), error=refusal)
        patch.setattr("app.store.keeper.open_database", lambda *_, **__: refused_open)
        assert not blocked.open().usable
        blocked.send(question(5, head(), 5, parent=4))
        blocked.close()
    with shelf(data) as again:
        assert texts(again)[2:] == ["Question 3", "", "Question 5", ""]
        assert told(again) == [BACK]


def test_a_file_that_stays_after_it_was_taken_over_changes_nothing_any_more(data: Path) -> None:
    end_unsaved(data)
    (path,) = left(data)
    saved = path.read_bytes()
    with shelf(data) as again:
        again.send(KeepConversation(replace(head(), title="Renamed")), KeepDraft(Draft(1, "newer"), 9))
        again.send(RemoveMessages((1, 2, 3, 4), 5), EraseTrash(1, 1))
        before = again.read()
    path.write_bytes(saved)
    with shelf(data) as last:
        assert last.read() == before
        assert last.sql("SELECT count(*) FROM message") == [(0,)], "what was erased meanwhile stays away"
        assert last.sql("SELECT title FROM conversation") == [("Renamed",)]
        assert (told(last), left(data)) == ([], [])


def test_a_later_file_that_holds_an_earlier_one_too_goes_before_it(data: Path, elsewhere: Path) -> None:
    end_unsaved(data)
    (path,) = left(data)
    saved = path.read_bytes()
    again = Shelf(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.store.opening.connect", connect_full)
        again.open()
        again.send(KeepDraft(Draft(1, "older"), 8), KeepDraft(Draft(1, "newer"), 9), RestoreMessages((1,)))
        again.close()
    path.rename(elsewhere / path.name)
    path.write_bytes(saved)  # as if the kill came before it was removed
    with shelf(data) as last:
        assert last.read().draft == Draft(1, "newer")
        assert last.sql("SELECT count(*) FROM chunk") == [(2,)]
        assert (told(last), left(data), left(elsewhere)) == ([BACK], [], [])


def test_a_run_in_which_nothing_was_said_leaves_nothing(data: Path) -> None:
    with shelf(data) as kept:
        kept.send(question(1, head(), 1), chunk(2, "Half", 5))
    again = Shelf(data)
    with locked(again.path):
        assert again.open().usable
        assert again.store.work.behind, "the open answer could not be ended"
        assert again.send(Settle(1)) == [Kept(1, on_disk=True)]
        again.close()
    assert left(data) == []


def test_a_newer_draft_stands(data: Path) -> None:
    kept = Shelf(data)
    kept.open()
    with locked(kept.path):
        kept.send(KeepDraft(Draft(NEW_CHAT, "older"), 1), KeepDraft(Draft(1, "of a chat"), 1))
        kept.close()
    again = Shelf(data)
    again.store.work._must_open = True  # chats that are being opened
    opened = next(
        event for event in again.send(KeepDraft(Draft(NEW_CHAT, "newer"), 2)) if isinstance(event, StoreOpened)
    )
    assert opened.draft == Draft(NEW_CHAT, "newer")
    assert again.open().draft == Draft(NEW_CHAT, "newer")
    assert again.read().draft == Draft(1, "of a chat")
    again.close()


def test_the_files_of_two_data_folders_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    with refused(monkeypatch, one, other):
        end_unsaved(one)
        with shelf(other) as kept:
            assert texts(kept) == []
    with shelf(one) as again:
        assert texts(again)[2] == "Question 3"
