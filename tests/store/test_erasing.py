from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt
from app.core.store_commands import (
    EraseTrash,
    KeepComparison,
    KeepConversation,
    KeepPrompt,
    OpenStore,
    RemoveMessages,
)
from app.store.deletions import DAYS_OF_USE, KEPT_DAYS
from tests.store.shelf import Shelf, chunk, end, head, ids, question, shelf, used_every_day

DAY_MS = 24 * 60 * 60 * 1000
TABLES = ("conversation", "message", "answer", "answer_prompt", "chunk", "attachment", "comparison")


def keep_deleted(kept: Shelf, key: int, days_ago: float) -> None:
    """Keep a conversation with everything that one can have, and delete it some days ago."""
    first = key * 10
    kept.send(question(key, head(key), first), KeepPrompt(AnswerPrompt(first + 1, ids(1, 2), ())))
    kept.send(chunk(first + 1, f"secret {key}", 3, record=b"record"), end(first + 1, f"secret {key}", key))
    kept.sql("INSERT INTO attachment (message, name, text) VALUES (?, 'a', 'b')", first)
    kept.sql("UPDATE answer SET comparison = ?, lane = 0 WHERE message = ?", first + 2, first + 1)
    kept.send(KeepComparison(Comparison(first + 2, key, first, first, (first + 1,))))
    used_every_day(kept)
    deleted = int(time.time() * 1000 - days_ago * DAY_MS)
    kept.send(KeepConversation(msgspec.structs.replace(head(key), deleted_ms=deleted)))


def counts(kept: Shelf) -> dict[str, object]:
    return {table: kept.sql(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def test_what_was_deleted_a_month_ago_is_erased_with_everything_of_it_and_nothing_else(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, KEPT_DAYS + DAYS_OF_USE)
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
        keep_deleted(kept, 1, KEPT_DAYS + DAYS_OF_USE)
    again = Shelf(tmp_path)
    again.store.work.do((OpenStore(), KeepConversation(head(1))))
    while again.store.work.rest():
        continue
    assert counts(again) == dict.fromkeys(TABLES, 1) | {"message": 2}
    again.close()


def test_erasing_that_fails_is_left_for_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, KEPT_DAYS + DAYS_OF_USE)
        kept.sql("CREATE TRIGGER refuse BEFORE DELETE ON message BEGIN SELECT RAISE(ABORT, 'no'); END")
    with shelf(tmp_path) as again:
        assert counts(again) == dict.fromkeys(TABLES, 1) | {"message": 2}
        again.sql("DROP TRIGGER refuse")
    with shelf(tmp_path) as last:
        assert counts(last) == dict.fromkeys(TABLES, 0)


class Clock:
    """The clock of the store, in days."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.day = time.time() / 86_400
        monkeypatch.setattr("app.store.deletions.time", SimpleNamespace(time=self.time))

    def time(self) -> float:
        return self.day * 86_400


def open_on(clock: Clock, folder: Path, day: float) -> list[object]:
    """Open the chats on a day, look into the trash, and close them; return which conversations lie there."""
    clock.day = day
    with shelf(folder) as kept:
        return [key for (key,) in kept.sql("SELECT id FROM conversation WHERE deleted_ms > 0")]


@pytest.mark.parametrize("ahead", [40, 365, 40_000])
def test_a_clock_that_is_ahead_for_two_days_erases_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    clock = Clock(monkeypatch)
    today = clock.day
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, 3)
        kept.send(question(2, head(2), 21), RemoveMessages((21, 22), int(today * DAY_MS)))
    for day in (today + ahead, today + ahead, today + ahead + 1, today, today + ahead, today + 1, today + 2):
        assert open_on(clock, tmp_path, day) == [1]
    with shelf(tmp_path) as kept:
        assert kept.sql("SELECT count(*) FROM message") == [(4,)]
    for day in (15, 30, 32, 33):
        assert open_on(clock, tmp_path, today + day) == [1]
    assert open_on(clock, tmp_path, today + 34) == [], "when the month is really over, it goes"
    with shelf(tmp_path) as kept:
        assert kept.sql("SELECT count(*) FROM message") == [(0,)]


def test_somebody_who_was_away_for_a_year_finds_the_trash_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    today = clock.day
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, 0.1)
    assert open_on(clock, tmp_path, today + 365) == [1]
    with shelf(tmp_path) as kept:
        kept.send(KeepConversation(head(1)))
        assert [message.text for message in kept.read(1).messages] == ["Question 10", "secret 1"]


def test_a_conversation_that_is_to_be_erased_stays_where_somebody_asks_something_in_it(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        keep_deleted(kept, 1, 1)
        kept.store.work.do((EraseTrash(1, None), question(2, head(1), 21, parent=11)))
        while kept.store.work.rest():
            continue
        assert [message.text for message in kept.read(1).messages] == ["Question 10", "secret 1", "Question 21", ""]
