"""What is written and not sent, on disk: one draft a conversation, gone when it is empty, never in anybody's way."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.draft import NEW_CHAT, Draft
from app.core.events import Event
from app.core.store_commands import KeepConversation, KeepDraft, OpenStore
from app.core.store_events import StoreOpened
from app.store.opening import SUSPECT_NAME
from tests.inline_store import InlineStore
from tests.store.shelf import break_pages, chunk, head, locked, question, shelf, used_every_day

PASTED = "line\n" * 20_000


def test_each_conversation_has_one_draft_and_the_new_chat_has_one(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(1), 1), question(2, head(2), 3))
        for text in ("H", "Half", "Half a thought"):
            kept.send(KeepDraft(Draft(1, text, (PASTED, "b")), 7))
        kept.send(KeepDraft(Draft(NEW_CHAT, "new"), 8))
    with shelf(tmp_path) as again:
        assert again.open().draft == Draft(NEW_CHAT, "new")
        assert again.read(1).draft == Draft(1, "Half a thought", (PASTED, "b"))
        assert again.read(2).draft is None
        assert again.sql("SELECT COUNT(*) FROM draft") == [(2,)]


def test_an_empty_draft_leaves_nothing_behind(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepDraft(Draft(NEW_CHAT, "secret"), 1), KeepDraft(Draft(NEW_CHAT), 2))
        assert kept.sql("SELECT * FROM draft") == []
        assert kept.open().draft is None


def test_words_that_no_database_takes_cost_only_themselves(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepDraft(Draft(NEW_CHAT, "a\ud800b\x00c", ("\udfff",)), 1))
        assert kept.open().draft == Draft(NEW_CHAT, "a\ufffdbc", ("\ufffd",))


def test_a_draft_does_not_cut_the_answer_that_is_being_written_into_more_rows(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1))
        kept.store.work.do((chunk(2, "a", 1), KeepDraft(Draft(1, "x"), 1), chunk(2, "b", 2)))
        assert kept.sql("SELECT text FROM chunk") == [("ab",)]
        assert kept.read().draft == Draft(1, "x")


def test_while_nothing_can_be_written_only_the_newest_draft_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1))
        monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
        with locked(kept.path):
            for number in range(4):
                kept.send(KeepDraft(Draft(1, f"{number}"), number), KeepDraft(Draft(NEW_CHAT, f"n{number}"), number))
            waiting = [change for change in kept.store.work._waiting.changes if isinstance(change, KeepDraft)]
            assert [change.draft.text for change in waiting] == ["3", "n3"]
        kept.send(KeepDraft(Draft(1, "4"), 4))
        assert kept.sql("SELECT text FROM draft ORDER BY conversation") == [("n3",), ("4",)]


def test_a_draft_stays_with_a_deleted_conversation_and_is_erased_with_it(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        for key in (1, 2):
            kept.send(question(key, head(key), 2 * key + 1), KeepDraft(Draft(key, f"draft {key}"), 1))
        kept.send(KeepConversation(msgspec.structs.replace(head(1), deleted_ms=1)))
        assert kept.read(1).draft == Draft(1, "draft 1")
        used_every_day(kept)
    with shelf(tmp_path) as again:
        again.send(OpenStore())
        assert again.sql("SELECT text FROM draft") == [("draft 2",)]


def test_drafts_are_taken_over_from_a_damaged_database(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepDraft(Draft(1, "written"), 1), KeepDraft(Draft(NEW_CHAT, "new"), 2))
        path = kept.path
    break_pages(path, "piece")
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as again:
        assert list(tmp_path.glob("tokenlight-damaged-*"))
        assert again.read().draft == Draft(1, "written")
        assert again.open().draft == Draft(NEW_CHAT, "new")


def test_a_draft_that_cannot_be_read_takes_no_message_with_it(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepDraft(Draft(1, "written", ("a",)), 1))
        kept.sql("UPDATE draft SET text = x'00ff', pasted = '{'")
        read = kept.read()
        assert [message.text for message in read.messages] == ["Question 1", ""]
        assert read.draft == Draft(1)


def test_without_a_store_a_draft_is_nobodys(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("no folder", encoding="utf-8")
    events: list[Event] = []
    store = InlineStore(folder, events.append)
    store.send(OpenStore())
    store.send(KeepDraft(Draft(NEW_CHAT, "x"), 1))
    (opened,) = events
    assert isinstance(opened, StoreOpened) and not opened.usable and opened.draft is None
    store.close()
