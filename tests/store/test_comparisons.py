from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Message, StoredAnswer, Trashed
from app.core.store_commands import (
    EraseTrash,
    KeepComparison,
    KeepConversation,
    KeepLanes,
    KeepPrompt,
    ReadTrash,
    RemoveMessages,
    RestoreMessages,
    RestoreTrash,
    StoreCommand,
)
from app.core.store_events import Kept, Restored, TrashRead
from app.store.refuge import NOBODY, Refuge
from tests.store.lanes import GRID, PLAN, PREFILL, compared, end_lane, texts_of
from tests.store.shelf import Shelf, chunk, end, head, ids, locked, question, shelf
from tests.store.test_faults_in_use import LONG, fill_disk, free_disk
from tests.store.unsaved import left

ROOT = Path(__file__).resolve().parents[2]
BEGUN = compared(1, head(), 1)
MADE = BEGUN.comparison
WHOLE = replace(MADE, baseline=2, layout=GRID, kept=(1,), plan=PLAN, prefill=PREFILL)


def lane_chunks(begun: KeepLanes) -> list[StoreCommand]:
    return [chunk(lane, f"lane {lane}", lane, record=b"block") for lane in begun.comparison.lanes]


def rows(kept: Shelf) -> list[tuple[object, ...]]:
    return kept.sql("SELECT id, conversation FROM comparison ORDER BY id")


def test_lanes_grow_side_by_side_and_a_comparison_comes_back_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert kept.ask(BEGUN, Kept) == Kept(1, on_disk=True)
        assert texts_of(kept.read()) == ["Question 1", "", "", ""]
        assert kept.read().comparisons == (MADE,)
        kept.send(chunk(2, "One ", 5), chunk(4, "Three ", 6), chunk(2, "more", 7), end_lane(BEGUN, 0, "One more"))
        kept.send(KeepComparison(WHOLE))
    with shelf(tmp_path) as again:
        read = again.read()
        assert read.comparisons == (WHOLE,)
        assert [(m.text, m.parent, m.role) for m in read.messages[1:]] == [
            ("One more", 1, "assistant"),
            ("", 1, "assistant"),
            ("Three ", 1, "assistant"),
        ]
        assert [(a.state, a.ids, a.comparison, a.lane) for a in read.answers] == [
            ("done", ids(5, 7), 5, 0),
            ("interrupted", b"", 5, 1),
            ("interrupted", ids(6), 5, 2),
        ]


def test_lanes_that_begin_a_conversation_answer_no_message(tmp_path: Path) -> None:
    begun = compared(1, head(), 1, asks=False)
    with shelf(tmp_path) as kept:
        kept.send(begun, end_lane(begun, 1, "First word"))
    with shelf(tmp_path) as again:
        assert again.read().comparisons == (begun.comparison,)
        assert [message.parent for message in again.read().messages] == [None, None, None]


def test_comparisons_are_read_oldest_first_and_only_those_of_their_conversation(tmp_path: Path) -> None:
    second, other = compared(2, head(), 11, 2), compared(3, head(2), 21, 2)
    with shelf(tmp_path) as kept:
        kept.send(second, BEGUN, other)
        assert kept.read().comparisons == (MADE, second.comparison)
        assert kept.read(2).comparisons == (other.comparison,)


def test_a_comparison_that_nothing_is_there_of_leaves_no_row(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1))
        kept.send(KeepComparison(Comparison(9, 1, 1, 1, (7, 8))), KeepComparison(Comparison(10, 77, None, 1)))
        assert rows(kept) == []
        assert kept.read().comparisons == ()


def test_a_comparison_that_was_lost_is_added_again_where_its_lanes_are(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN)
        kept.sql("DELETE FROM comparison")
        assert kept.read().comparisons == ()
        assert [answer.comparison for answer in kept.read().answers] == [5, 5, 5]
        kept.send(KeepComparison(WHOLE))
        assert kept.read().comparisons == (WHOLE,)


def test_ids_grow_from_comparisons_on_and_from_lost_ones_too(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN)
        assert kept.open().newest == MADE.id == 5
        kept.sql("DELETE FROM comparison")
        assert kept.open().newest == 5
        with locked(kept.path):
            kept.send(compared(2, head(2), 11, 2))
            assert kept.store.work.behind
            opened = kept.open()
            assert opened.newest == 14
            assert [each.title for each in opened.conversations] == ["Chat 2", "Chat 1"]


def test_a_branch_that_is_deleted_takes_comparisons_along_and_an_undo_brings_them_back(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(WHOLE))
        before = kept.read()
        kept.send(RemoveMessages((2, 3), 50))
        assert kept.read().comparisons == (WHOLE,), "a lane of it is there"
        assert texts_of(kept.read()) == ["Question 1", "lane 4"]
        kept.send(RemoveMessages((4,), 60))
        assert kept.read().comparisons == ()
        kept.send(RestoreMessages((4,)), RestoreMessages((2, 3)))
        assert kept.read() == before
        kept.send(RemoveMessages((1, 2, 3, 4), 70))
        assert kept.ask(ReadTrash(1), TrashRead).items == (Trashed(1, 1, "Chat 1", "Question 1", 2, 70, lanes=2),)
        assert kept.ask(RestoreTrash(2, 1, 1), Restored).conversation is not None
        assert replace(kept.read(), request=0) == before
        assert rows(kept) == [(5, 1)]


def test_a_deleted_conversation_comes_back_with_its_comparisons(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(replace(BEGUN, conversation=replace(head(), leaf=1)), *lane_chunks(BEGUN), KeepComparison(WHOLE))
        kept.send(KeepConversation(replace(head(), leaf=1, deleted_ms=50)))
        back = kept.ask(RestoreTrash(2, 1, None), Restored).conversation
        assert back is not None and back.leaf == 1
        assert kept.read().comparisons == (WHOLE,)


def test_what_is_erased_takes_a_comparison_along_with_the_last_of_its_lanes(tmp_path: Path) -> None:
    other = compared(2, head(), 11, 2)
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), other)
        kept.send(RemoveMessages((2, 4), 50), EraseTrash(1, 2), EraseTrash(1, 4))
        assert kept.sql("SELECT message FROM answer WHERE comparison = 5") == [(3,)]
        assert kept.read().comparisons == (MADE, other.comparison), "its places stay as they were"
        kept.send(RemoveMessages((3,), 60), EraseTrash(1, 3))
        assert rows(kept) == [(14, 1)]
        kept.send(KeepComparison(WHOLE))
        assert rows(kept) == [(14, 1)], "what is said of it later brings nothing back"
        kept.send(KeepConversation(replace(head(), deleted_ms=70)), EraseTrash(1, None))
        for table in ("comparison", "answer", "message", "chunk", "answer_prompt"):
            assert kept.sql(f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize(
    ("kept_lanes", "beside", "leaf"), [((), False, 1), ((), True, 11), ((1,), False, 3), ((0, 1), True, 11)]
)
def test_no_branch_that_is_brought_back_ends_with_a_lane_that_nobody_kept(
    tmp_path: Path, kept_lanes: tuple[int, ...], beside: bool, leaf: int
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(replace(WHOLE, kept=kept_lanes)))
        if beside:
            asked = Message(11, 1, 1, "assistant", "Another answer", 11)
            kept.send(replace(end(11, "Another answer"), message=asked))
        kept.send(RemoveMessages((4,), 50))
        back = kept.ask(RestoreTrash(2, 1, 4), Restored).conversation
        assert back is not None and back.leaf == leaf
        kept.send(KeepConversation(replace(head(), leaf=4, deleted_ms=60)))
        back = kept.ask(RestoreTrash(3, 1, None), Restored).conversation
        assert back is not None and back.leaf == leaf


def test_a_lane_that_nobody_kept_is_brought_back_beside_what_stands_there_and_not_in_another_branch(
    tmp_path: Path,
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), question(2, head(), 21), RemoveMessages((4,), 50))
        back = kept.ask(RestoreTrash(2, 1, 4), Restored).conversation
        assert back is not None and back.leaf == 1


def test_a_kept_lane_that_is_brought_back_is_shown(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(replace(WHOLE, kept=(0,))))
        kept.send(RemoveMessages((2,), 50))
        back = kept.ask(RestoreTrash(2, 1, 2), Restored).conversation
        assert back is not None and back.leaf == 2


def test_lanes_that_begin_a_conversation_and_were_never_kept_leave_it_without_a_leaf(tmp_path: Path) -> None:
    begun = compared(1, head(), 1, asks=False)
    with shelf(tmp_path) as kept:
        kept.send(begun, *lane_chunks(begun), RemoveMessages((2,), 50))
        back = kept.ask(RestoreTrash(2, 1, 2), Restored).conversation
        assert back is not None and back.leaf is None


def test_a_comparison_that_no_column_takes_costs_only_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN))
        kept.store.work.do((KeepComparison(replace(WHOLE, baseline=2**70)), end_lane(BEGUN, 0, "One")))
        assert kept.read().comparisons == (MADE,)
        assert texts_of(kept.read())[1] == "One"
    assert any("KeepComparison" in record.getMessage() for record in caplog.records)


def test_a_full_disk_takes_no_comparison_away_from_what_people_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    second = compared(2, head(), 11, 2)
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN))
        fill_disk(kept)
        second = replace(second, messages=(replace(second.messages[0], text=LONG),))
        assert kept.ask(second, Kept) == Kept(2, on_disk=False)
        kept.send(chunk(12, "said", 3), KeepComparison(WHOLE), RemoveMessages((2,), 50))
        kept.send(KeepComparison(Comparison(99, 1, 1, 1, (3,))))
        assert kept.store.work.behind
        waiting = kept.read()
        assert waiting.comparisons == (WHOLE, second.comparison)
        assert [message.id for message in waiting.messages] == [1, 3, 4, 11, 12, 13]
        kept.send(RemoveMessages((12, 13), 60))
        assert kept.read().comparisons == (WHOLE,)
        kept.send(RestoreMessages((12, 13)))
        free_disk(kept)
        kept.store.work.flush()
        assert not kept.store.work.behind
        assert kept.read() == waiting


def test_what_could_not_be_written_of_a_comparison_is_there_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    ended = Shelf(tmp_path)
    ended.open()
    fill_disk(ended)
    begun = replace(BEGUN, messages=(replace(BEGUN.messages[0], text=LONG),))
    ended.send(begun, chunk(2, "one", 3), chunk(3, "half", 4), KeepComparison(WHOLE))
    ended.close()
    assert len(left(tmp_path)) == 1
    assert Refuge(tmp_path).take(frozenset())[0] == replace(begun, request=NOBODY), "nobody of the next run asked"
    with shelf(tmp_path) as again:
        assert again.read().comparisons == (WHOLE,)
        assert texts_of(again.read()) == [LONG, "one", "half", ""]
        assert {answer.state for answer in again.read().answers} == {"interrupted"}


def test_where_nothing_is_kept_lanes_begin_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "tokenlight.sqlite3").mkdir()
    with shelf(tmp_path) as kept:
        assert kept.ask(BEGUN, Kept) == Kept(1, on_disk=False)


def test_a_program_that_is_killed_in_the_middle_of_lanes_keeps_all_that_was_on_disk_of_each(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from tests.store.lanes import *; from tests.store.shelf import *\n"
        "begun = compared(1, head(), 1); kept = Shelf(Path(sys.argv[1])); kept.open(); kept.send(begun)\n"
        "kept.send(*(chunk(lane, f'lane {lane}', lane) for lane in begun.comparison.lanes))\n"
        "kept.store.work.database.connection.execute('BEGIN IMMEDIATE')\n"
        "from app.core.store_commands import KeepComparison; from msgspec.structs import replace\n"
        "kept.store.work.database.writer.write(compared(2, head(), 11))\n"
        "kept.store.work.database.writer.write(KeepComparison(replace(begun.comparison, kept=(1,))))\n"
        "os._exit(9)\n"
    )
    child = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert child.returncode == 9
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert texts_of(read) == ["Question 1", "lane 2", "lane 3", "lane 4"]
        assert read.comparisons == (MADE,)
        assert [(a.state, a.ids) for a in read.answers] == [("interrupted", ids(lane)) for lane in MADE.lanes]
        assert rows(kept) == [(5, 1)]


def test_a_lane_whose_message_is_there_already_keeps_it(tmp_path: Path) -> None:
    there = Message(3, 1, 1, "assistant", "Said before", 2)
    with shelf(tmp_path) as kept:
        kept.send(replace(BEGUN, messages=(*BEGUN.messages, there)), KeepPrompt(AnswerPrompt(3, ids(1), ())))
        assert kept.read().messages[2] == there
        assert StoredAnswer(3, "open", seed=5, comparison=5, lane=1) in kept.read().answers
