from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.comparison import Layout
from app.core.store_commands import KeepComparison, ReadRecord, StoreCommand
from app.core.store_events import RecordRead
from app.store.opening import FILE_NAME, SUSPECT_NAME
from tests.store.lanes import compared, end_lane, texts_of
from tests.store.shelf import PAGE, Shelf, break_pages, chunk, end, head, ids, question, shelf

COUNT = 300


def answer_of(key: int) -> str:
    return f"<{key:04}>" * 50


def filled(folder: Path) -> Path:
    """Make a database with many messages in a few conversations, about ten to a page."""
    with shelf(folder) as kept:
        commands: list[StoreCommand] = []
        for key in range(COUNT):
            first = key * 2 + 1
            commands += [question(key, head(key % 5 + 1), first), chunk(first + 1, "a", key, record=b"%d" % key)]
            commands += [end(first + 1, answer_of(key), key % 5 + 1)]
        kept.store.work.do(commands)
    return folder / FILE_NAME


def break_pages_with(path: Path, *texts: bytes) -> None:
    """Overwrite each page that holds one of these texts."""
    whole = path.read_bytes()
    broken, pages = bytearray(whole), set()
    for text in texts:
        pages.add(whole.index(text) // PAGE * PAGE)
    for start in pages:
        broken[start : start + PAGE] = b"\xaa" * PAGE
    path.write_bytes(broken)
    (path.parent / SUSPECT_NAME).touch()


def answers(kept: Shelf) -> set[str]:
    texts = {
        message.text for key in range(1, 6) for message in kept.read(key).messages if message.role == "assistant"
    }
    return texts - {""}


@pytest.mark.parametrize("bad", [(150,), (0,), (COUNT - 1,), (60, 150, 151, 240), (0, 100, 200, COUNT - 1)])
def test_bad_pages_cost_what_lay_on_them_and_nothing_before_between_or_after(
    tmp_path: Path, bad: tuple[int, ...]
) -> None:
    break_pages_with(filled(tmp_path), *(answer_of(key).encode() for key in bad))
    with shelf(tmp_path) as kept:
        opened = kept.open()
        assert [each.title for each in opened.conversations] == [f"Chat {key}" for key in (5, 4, 3, 2, 1)]
        lost = {answer_of(key) for key in range(COUNT)} - answers(kept)
        assert {answer_of(key) for key in bad} <= lost
        assert len(lost) <= 20 * len(bad)
        for key in range(1, 6):
            read = kept.read(key)
            assert {answer.message for answer in read.answers} <= {message.id for message in read.messages}
            for answer in read.answers:
                number = (answer.message - 2) // 2
                assert answer.ids == ids(number)
                assert kept.ask(ReadRecord(1, answer.message), RecordRead).blocks == (b"%d" % number,)
        assert kept.sql("PRAGMA quick_check") == [("ok",)]
        assert kept.sql("PRAGMA foreign_key_check") == []


def test_where_the_index_is_bad_too_what_lies_before_and_after_a_bad_page_is_still_taken_over(tmp_path: Path) -> None:
    path = filled(tmp_path)
    break_pages(path, "message_conversation")
    break_pages_with(path, answer_of(150).encode())
    with shelf(tmp_path) as kept:
        lost = {answer_of(key) for key in range(COUNT)} - answers(kept)
        assert answer_of(150) in lost and len(lost) <= 20


def test_messages_whose_conversation_is_lost_are_in_one_that_is_named_after_the_first_of_them(tmp_path: Path) -> None:
    path = filled(tmp_path)
    break_pages(path, "conversation", filling=b"\0")
    kept = Shelf(tmp_path)
    opened = kept.open()
    assert {each.id: each.title for each in opened.conversations} == {
        1: "Question 1",
        2: "Question 3",
        3: "Question 5",
        4: "Question 7",
        5: "Question 9",
    }
    assert opened.conversations[0].leaf == max(
        message.id for message in kept.read(opened.conversations[0].id).messages
    )
    assert answers(kept) == {answer_of(key) for key in range(COUNT)}
    kept.close()


def test_comparisons_are_taken_over_with_their_lanes_and_go_with_the_last_of_them(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        begun = [compared(key, head(key), 10 * key) for key in range(1, 6)]
        made = [replace(each.comparison, kept=(key % 3,)) for key, each in enumerate(begun)]
        kept.store.work.do([*begun, *map(KeepComparison, made), end_lane(begun[0], 0, "a lane that stays")])
        kept.sql("DELETE FROM answer WHERE comparison = ?", made[2].id)
        kept.sql("UPDATE comparison SET conversation = 4 WHERE id = ?", made[2].id)
    break_pages(tmp_path / FILE_NAME, "conversation", filling=b"\0")
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as kept:
        opened = kept.open()
        for number in (0, 1, 3, 4):
            assert kept.read(number + 1).comparisons == (made[number],)
        assert kept.sql("SELECT count(*) FROM comparison") == [(4,)]
        assert kept.read(1).messages[1].text == "a lane that stays"
        assert {each.id: each.leaf for each in opened.conversations} == {
            1: 11,
            2: 22,
            3: 33,
            4: 41,
            5: 52,
        }, "no lane that nobody kept"
        assert kept.sql("PRAGMA foreign_key_check") == []


def test_lanes_whose_comparison_is_lost_are_answers_like_others(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        begun = compared(1, head(), 1)
        kept.send(begun, *(end_lane(begun, number, f"lane {number}") for number in range(3)))
    break_pages(tmp_path / FILE_NAME, "comparison", "comparison_conversation")
    with shelf(tmp_path) as kept:
        assert texts_of(kept.read()) == ["Question 1", "lane 0", "lane 1", "lane 2"]
        kept.send(KeepComparison(begun.comparison))
        assert kept.read().comparisons == (begun.comparison,)
        assert len(kept.read().answers) == 3


def test_comparisons_between_bad_pages_are_taken_over(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        commands: list[StoreCommand] = []
        for key in range(COUNT):
            begun = compared(key, head(), 10 * key + 1, 1)
            commands += [begun, KeepComparison(replace(begun.comparison, layout=Layout(1, answer_of(key))))]
        kept.store.work.do(commands)
    break_pages_with(tmp_path / FILE_NAME, answer_of(60).encode(), answer_of(240).encode())
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert len(read.messages) == 2 * COUNT
        there = {answer_of(comparison.created_ms // 10) for comparison in read.comparisons}
        lost = {answer_of(key) for key in range(COUNT)} - there
        assert {answer_of(60), answer_of(240)} <= lost and len(lost) <= 40
