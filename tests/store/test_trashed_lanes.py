"""Lanes in the trash: what people saw is counted, and lanes that nobody kept apart from that."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from app.core.conversation import Trashed
from app.core.store_commands import KeepComparison, KeepConversation, ReadTrash, RemoveMessages, RestoreMessages
from app.core.store_events import TrashRead
from tests.store.shelf import end, head, question, shelf
from tests.store.test_comparisons import BEGUN, MADE, WHOLE, lane_chunks


def test_the_trash_counts_what_people_saw_and_lanes_that_nobody_kept_apart(tmp_path: Path) -> None:
    def trashed() -> tuple[Trashed, ...]:
        return kept.ask(ReadTrash(1), TrashRead).items

    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(MADE), question(2, head(), 21), end(22, "Answer"))
        kept.send(RemoveMessages((3,), 40), RemoveMessages((1, 2, 4), 50))
        assert [(each.message, each.messages, each.lanes) for each in trashed()] == [(1, 1, 2), (3, 0, 1)]
        kept.send(RestoreMessages((1, 2, 4)), RestoreMessages((3,)), KeepComparison(WHOLE))
        kept.send(KeepConversation(replace(head(), deleted_ms=60)))
        assert [(each.messages, each.lanes) for each in trashed()] == [(4, 2)]
        kept.send(RemoveMessages((21, 22), 70), RemoveMessages((1, 2, 3, 4), 80))
        assert [(each.messages, each.lanes) for each in trashed()] == [(2, 2)], "its last branch was deleted"
