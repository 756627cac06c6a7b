from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy

from app.core.conversation import Conversation
from app.gui.history.model import Role
from app.gui.widgets.chat_words import one_line
from tests.gui.history_panel import GPU, OLD, SAMPLING, SKY, TODAY, StandIn, head, model_of, month, rows


def test_conversations_stand_under_days_and_months() -> None:
    week, before = head(5, "Seven days", 7), head(6, "Eight days", 8, 23)
    first, last = head(7, "Of the first", 29, 0), head(8, "A year ago", 400)
    model = model_of(StandIn(SKY, SAMPLING, GPU, week, before, first, OLD, last))
    assert rows(model) == [
        "Today", "Blue sky", "Sampling", "Yesterday", "GPU plan", "Previous 7 days", "Seven days",
        month(TODAY), "Eight days", "Of the first", month(TODAY.addDays(-40)), "Old words",
        month(TODAY.addDays(-400)), "A year ago",
    ]  # fmt: skip


def test_strange_times_stand_somewhere() -> None:
    future, never = Conversation(1, "Future", 2**53, 2**53), Conversation(2, "Never", -5, -5)
    assert rows(model_of(StandIn(future, never))) == ["Today", "Future", "Before", "Never"]
    assert model_of(StandIn(never)).index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole).startswith("Never, ")


def test_a_row_says_in_words_what_it_is() -> None:
    service = StandIn(SKY, GPU, OLD)
    service.busy, service.open_id = frozenset({1}), 3
    model = model_of(service)
    spoken = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    day = QLocale().toString(TODAY.addDays(-40), QLocale.FormatType.LongFormat)
    assert spoken == [
        "Today", "Blue sky, today, being answered", "Yesterday", "GPU plan, yesterday, open",
        month(TODAY.addDays(-40)), f"Old words, {day}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("<b>bold</b> & more", "<b>bold</b> & more"),
        ("two\nlines\r\n\tand tab", "two lines and tab"),
        ("a\u202egnp.exe\u2066x", "agnp.exex"),
        ("nul\0bell\7\u2028end", "nul bell end"),
        (" \n\u200b ", "Untitled"),
        ("", "Untitled"),
        ("مرحبا 日本 😀", "مرحبا 日本 😀"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_a_title_is_one_harmless_line(title: str, shown: str) -> None:
    assert one_line(title) == shown
    assert rows(model_of(StandIn(head(1, title)))) == ["Today", shown]


def test_the_same_list_again_is_no_change() -> None:
    service = StandIn(SKY, GPU)
    model = model_of(service)
    spies = [
        QSignalSpy(signal)
        for signal in (
            model.modelReset, model.rowsInserted, model.rowsRemoved, model.rowsMoved, model.dataChanged,
            model.layoutChanged,
        )
    ]  # fmt: skip
    service.heads = (head(1, "Blue sky", 0, 12), head(3, "GPU plan", 1))
    model.refresh()
    assert [spy.count() for spy in spies] == [0] * 6
    service.busy = frozenset({3})
    model.refresh()
    assert [spy.count() for spy in spies] == [0, 0, 0, 0, 1, 0]


def test_a_conversation_that_goes_on_moves_to_the_top_and_its_row_with_it() -> None:
    service = StandIn(SKY, SAMPLING, GPU, OLD)
    model = model_of(service)
    kept = QPersistentModelIndex(model.index_of(4))
    moved, reset = QSignalSpy(model.rowsMoved), QSignalSpy(model.modelReset)
    service.heads = (head(4, "Old words", 0, 13), SKY, SAMPLING, GPU)
    model.refresh()
    assert rows(model) == ["Today", "Old words", "Blue sky", "Sampling", "Yesterday", "GPU plan"]
    assert (kept.isValid(), kept.row(), kept.data(Role.ID)) == (True, 1, 4)
    assert (moved.count(), reset.count()) == (1, 0)


def test_a_conversation_that_falls_back_moves_alone() -> None:
    four = [head(number, f"Chat {number}", 0, 13 - number) for number in range(1, 5)]
    service = StandIn(*four)
    model = model_of(service)
    moved = QSignalSpy(model.rowsMoved)
    service.heads = (*four[1:], head(1, "Chat 1", 0, 1))
    model.refresh()
    assert rows(model) == ["Today", "Chat 2", "Chat 3", "Chat 4", "Chat 1"]
    assert moved.count() == 1


numbers = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 70), st.sampled_from("ab")), max_size=12)


@given(st.lists(numbers, min_size=2, max_size=4))
def test_whatever_the_list_becomes_the_rows_are_those_of_a_fresh_model(lists: list[Any]) -> None:
    def heads(list_: Any) -> tuple[Conversation, ...]:
        made = {number: head(number, title, days) for number, days, title in list_}
        return tuple(sorted(made.values(), key=lambda each: -each.changed_ms))

    service = StandIn(*heads(lists[0]))
    model = model_of(service)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    for list_ in lists[1:]:
        kept = {each.id: QPersistentModelIndex(model.index_of(each.id)) for each in service.heads}
        service.heads = heads(list_)
        model.refresh()
        assert rows(model) == rows(model_of(service))
        for each in service.heads:
            assert each.id not in kept or kept[each.id].data(Role.ID) == each.id
    assert tester.model() is model


def test_another_list_altogether_is_taken_whole() -> None:
    service = StandIn(*(head(number, "x", number) for number in range(300)))
    model = model_of(service)
    service.heads = tuple(head(1000 - number, "y", number // 2) for number in range(300))
    model.refresh()
    assert rows(model) == rows(model_of(service))
