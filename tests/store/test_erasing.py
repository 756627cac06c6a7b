from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from app.core.conversation import AnswerPrompt
from app.core.store_commands import KeepConversation, KeepPrompt, OpenStore
from app.store.erasing import KEPT_DAYS
from tests.store.shelf import Shelf, chunk, end, head, ids, question, shelf

DAY_MS = 24 * 60 * 60 * 1000
TABLES = ("conversation", "message", "answer", "answer_prompt", "chunk", "attachment", "comparison")


def keep_deleted(kept: Shelf, key: int, days_ago: float) -> None:
    """Keep a conversation with everything that one can have, and delete it some days ago."""
    first = key * 10
    kept.send(question(key, head(key), first), KeepPrompt(AnswerPrompt(first + 1, ids(1, 2), ())))
    kept.send(chunk(first + 1, f"secret {key}", 3, record=b"record"), end(first + 1, f"secret {key}", key))
    kept.sql("INSERT INTO attachment (message, name, text) VALUES (?, 'a', 'b')", first)
    kept.sql("INSERT INTO comparison (message) VALUES (?)", first)
    deleted = int(time.time() * 1000 - days_ago * DAY_MS)
    kept.send(KeepConversation(msgspec.structs.replace(head(key), deleted_ms=deleted)))


def counts(kept: Shelf) -> dict[str, object]:
    return {table: kept.sql(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def test_what_was_deleted_a_month_ago_is_erased_with_everything_of_it_and_nothing_else(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, KEPT_DAYS + 1)
        keep_deleted(kept, 2, KEPT_DAYS - 1)
        keep_deleted(kept, 3, KEPT_DAYS + 30)
        assert counts(kept)["conversation"] == 3
    with shelf(tmp_path) as again:
        assert counts(again) == dict.fromkeys(TABLES, 1) | {"message": 2}
        assert again.sql("SELECT id FROM conversation") == [(2,)]
        assert [message.text for message in again.read(2).messages] == ["Question 20", "secret 2"]
    assert b"secret 1" not in again.path.read_bytes()


def test_what_is_brought_back_in_the_last_moment_is_not_erased(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, KEPT_DAYS + 1)
    again = Shelf(tmp_path)
    again.store.work.do((OpenStore(), KeepConversation(head(1))))
    while again.store.work.rest():
        continue
    assert counts(again) == dict.fromkeys(TABLES, 1) | {"message": 2}
    again.close()


def test_erasing_that_fails_is_left_for_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, KEPT_DAYS + 1)
        kept.sql("CREATE TRIGGER refuse BEFORE DELETE ON message BEGIN SELECT RAISE(ABORT, 'no'); END")
    with shelf(tmp_path) as again:
        assert counts(again) == dict.fromkeys(TABLES, 1) | {"message": 2}
        again.sql("DROP TRIGGER refuse")
    with shelf(tmp_path) as last:
        assert counts(last) == dict.fromkeys(TABLES, 0)
