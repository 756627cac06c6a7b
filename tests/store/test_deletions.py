"""When things were deleted, and when they go, while the clock is right, ahead or behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from app.core.store_commands import KeepConversation, ReadTrash, RemoveMessages, RestoreMessages
from app.core.store_events import TrashRead
from app.store.deletions import DAY_MS
from tests.store.shelf import Shelf, end, head, question, shelf

YEAR = 365
TODAY = int(time.time() // 86_400)

Visit = Callable[..., list[int]]


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Open the chats on days, counted from today, do something on the last one; return what lies in the trash then."""
    now = SimpleNamespace(day=TODAY)
    clock = SimpleNamespace(time=lambda: now.day * 86_400 + 3600)
    monkeypatch.setattr("app.store.deletions.time", clock)

    def visit(*days: int, does: Callable[[Shelf], None] = lambda _kept: None) -> list[int]:
        for day in days:
            now.day = TODAY + day
            with shelf(tmp_path) as kept:
                if day == days[-1]:
                    does(kept)
                lies = kept.ask(ReadTrash(1), TrashRead).items
        return [item.deleted_ms // DAY_MS - TODAY for item in lies]

    return visit


def deletes(key: int, day: int) -> Callable[[Shelf], None]:
    """Delete an answer, and a chat after it, with stamps of a day."""
    stamp = (TODAY + day) * DAY_MS + 10 * key

    def do(kept: Shelf) -> None:
        kept.send(question(1, head(key), 10 * key), end(10 * key + 1, "Answer", key))
        kept.send(question(1, head(key + 1), 10 * key + 5), end(10 * key + 6, "Answer", key + 1))
        kept.send(RemoveMessages((10 * key + 1,), stamp))
        kept.send(KeepConversation(replace(head(key + 1), deleted_ms=stamp + 1)))

    return do


def test_what_is_deleted_after_a_run_with_a_clock_years_ahead_has_its_day_and_goes_after_a_month(
    visit: Visit,
) -> None:
    visit(9 * YEAR, does=deletes(1, 9 * YEAR))
    assert visit(0, does=deletes(3, 9 * YEAR)) == [0, 0, 9 * YEAR, 9 * YEAR]
    assert visit(1, 10, 29, 30, 31) == [0, 0, 9 * YEAR, 9 * YEAR]
    assert visit(32, 33) == [], "with what was deleted while the clock was ahead: that came to an end today"


@pytest.mark.parametrize("behind", [-20, -40, -20_000])
def test_what_is_deleted_while_the_clock_is_behind_for_days_stays_for_a_month_once_it_is_right(
    visit: Visit, behind: int
) -> None:
    visit(-2, -1, 0)
    deleted = visit(behind, behind + 1, behind + 2, behind + 3, does=deletes(1, 0))
    assert deleted == [behind + 3] * 2
    assert len(visit(4, 5, 6, 20, 29, 30)) == 2
    assert visit(33, 34, 35, 36, 37, 38) == []


def test_somebody_who_was_away_has_a_month_from_then_on(visit: Visit) -> None:
    visit(0, does=deletes(1, 0))
    assert visit(YEAR, YEAR + 1, YEAR + 2, YEAR + 29, YEAR + 30) == [0, 0]
    assert visit(YEAR + 31, YEAR + 32, YEAR + 33) == []


def test_what_somebody_deletes_who_seldom_comes_goes_some_day(visit: Visit) -> None:
    visit(0, does=deletes(1, 0))
    assert visit(40, 80) == [0, 0]
    assert visit(120, 160) == []


def test_what_is_deleted_again_is_deleted_then(visit: Visit) -> None:
    visit(0, does=deletes(1, 9 * YEAR))
    stamp = (TODAY + 9 * YEAR) * DAY_MS + 10

    def again(kept: Shelf) -> None:
        kept.send(RestoreMessages((11,)), KeepConversation(head(2)))
        kept.send(RemoveMessages((11,), stamp), KeepConversation(replace(head(2), deleted_ms=stamp + 1)))

    assert visit(20, does=again) == [20, 20]
    assert visit(30, 40, 49, 50) == [20, 20]
    assert visit(51, 52, 53) == []


def test_a_chat_that_is_kept_again_as_deleted_was_deleted_when_it_was(visit: Visit) -> None:
    visit(0, does=deletes(1, 9 * YEAR))
    stamp = (TODAY + 9 * YEAR) * DAY_MS + 11
    kept_again = KeepConversation(replace(head(2), title="Named", deleted_ms=stamp))
    assert visit(20, does=lambda kept: kept.send(kept_again)) == [0, 0]


def test_what_is_known_of_deletions_goes_with_them(visit: Visit) -> None:
    counts: list[object] = []
    visit(0, does=deletes(1, 0))
    visit(1, 31, 32, 33)
    visit(34, does=lambda kept: counts.append(kept.sql("SELECT count(*) FROM deletion")))
    assert counts == [[(0,)]]
