from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QModelIndex, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QImage
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.gui.history.delegate import more_rect
from app.gui.history.model import HistoryModel, Role
from app.gui.history.view import HistoryList
from tests.gui.conftest import Stage
from tests.gui.history_panel import GPU, OLD, SAMPLING, SKY, TODAY, Seen, head, month

with_menu = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def seen(qtbot: QtBot) -> Iterator[Seen]:
    made = Seen(qtbot, SKY, SAMPLING, GPU, OLD)
    yield made
    made.menu.hide()


def test_ten_thousand_conversations_are_rows_and_no_widgets(qtbot: QtBot) -> None:
    few = Seen(qtbot, SKY)
    before = len(few.panel.findChildren(QWidget))
    inserted = QSignalSpy(few.list.model().rowsInserted)
    few.service.become(SKY, *(head(10 + number, f"Chat {number}", 2 + number // 50) for number in range(10_000)))
    few.list.scrollToBottom()
    few.list.grab()
    assert few.texts()[-1] == "Chat 9999"
    assert len(few.panel.findChildren(QWidget)) == before
    assert inserted.count() == 1
    assert few.list.uniformItemSizes()


def test_a_mark_in_a_long_list_lays_out_no_row_again(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    counts = HistoryModel.rowCount

    def row_count(model: HistoryModel, *words: Any) -> int:
        asked.append(words)
        return counts(model, *words)

    monkeypatch.setattr(HistoryModel, "rowCount", row_count)
    seen = Seen(qtbot, *(head(1 + number, f"Chat {number}", number // 50) for number in range(10_000)))
    seen.list.grab()
    assert len(asked) > 10_000
    asked.clear()
    seen.service.busy = frozenset({5000})
    seen.service.changed.emit()
    seen.service.open(5)
    seen.list.grab()
    assert 0 < len(asked) < 1000


def test_a_click_opens_and_the_selection_follows_what_is_open(seen: Seen) -> None:
    seen.clicks(3)
    assert seen.service.wishes == [("open", 3)]
    seen.service.open(4)
    assert seen.current() == 4 and seen.index(4).data(Role.OPEN) and not seen.index(3).data(Role.OPEN)
    seen.find(QWidget, "new_chat_button").setFocus()
    seen.service.new()
    assert not seen.list.currentIndex().isValid()


def test_a_conversation_may_have_a_number_of_any_length(qtbot: QtBot) -> None:
    seen = Seen(qtbot, SKY, head(2**62, "Long", 1))
    seen.clicks(2**62)
    seen.presses(Qt.Key.Key_F2)
    seen.enters("Longer")
    seen.presses(Qt.Key.Key_Delete)
    assert seen.service.wishes == [("open", 2**62), ("rename", 2**62, "Longer"), ("delete", 2**62)]


def test_a_click_on_a_heading_does_nothing(seen: Seen) -> None:
    place = seen.list.visualRect(seen.list.model().index(0, 0)).center()
    QTest.mouseClick(seen.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(seen.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert seen.service.wishes == [] and seen.field is None


def test_arrows_go_from_conversation_to_conversation_and_enter_opens(seen: Seen) -> None:
    seen.service.open(2)
    seen.service.wishes.clear()
    seen.presses(Qt.Key.Key_Down)
    assert seen.current() == 3
    assert seen.service.wishes == []
    seen.presses(Qt.Key.Key_Return)
    seen.presses(Qt.Key.Key_Home)
    assert seen.current() == 1
    seen.presses(Qt.Key.Key_Up)
    assert seen.current() == 1
    seen.presses(Qt.Key.Key_Enter)
    assert seen.service.wishes == [("open", 3), ("open", 1)]


@with_menu
def test_every_way_to_rename_opens_a_field_with_the_title(seen: Seen) -> None:
    seen.service.open(3)
    seen.presses(Qt.Key.Key_F2)
    assert seen.field is not None and seen.field.selectedText() == "GPU plan"
    seen.presses(Qt.Key.Key_Escape, at=seen.field)
    seen.clicks(3)
    QTest.mouseDClick(seen.list.viewport(), Qt.MouseButton.LeftButton, pos=seen.middle(3))
    assert seen.title_typed() == "GPU plan"
    seen.presses(Qt.Key.Key_Escape, at=seen.field)
    seen.presses(Qt.Key.Key_Menu)
    seen.chooses("rename")
    assert seen.title_typed() == "GPU plan"
    seen.enters("Cards")
    assert seen.texts()[4] == "Cards"
    assert [wish for wish in seen.service.wishes if wish[0] == "rename"] == [("rename", 3, "Cards")]


@pytest.mark.parametrize("typed", ["", "   ", "GPU plan"])
def test_an_empty_or_the_same_title_changes_nothing(seen: Seen, typed: str) -> None:
    seen.service.open(3)
    seen.presses(Qt.Key.Key_F2)
    assert seen.field is not None
    seen.presses(Qt.Key.Key_Backspace, at=seen.field)
    seen.enters(typed)
    assert seen.service.wishes == [("open", 3)]


def test_escape_gives_up_a_title(seen: Seen) -> None:
    seen.service.open(3)
    seen.presses(Qt.Key.Key_F2)
    seen.types("Something else")
    seen.presses(Qt.Key.Key_Escape, at=seen.field)
    assert seen.field is None
    assert seen.texts()[4] == "GPU plan" and seen.service.wishes == [("open", 3)]


def test_a_title_that_is_being_typed_outlives_every_change_of_the_list(seen: Seen) -> None:
    seen.service.open(3)
    seen.presses(Qt.Key.Key_F2)
    seen.types("Hal")
    seen.service.busy = frozenset({3, 4})
    seen.service.changed.emit()
    seen.service.become(head(9, "Newest", 0, 20), head(3, "GPU plan", 0, 19), SKY, SAMPLING, OLD)
    assert seen.field is not None and seen.field.text() == "Hal" and seen.field.hasFocus()
    seen.enters("f")
    assert seen.service.wishes[-1] == ("rename", 3, "Half")


def test_delete_deletes_and_backspace_does_not(seen: Seen) -> None:
    seen.service.open(2)
    seen.list.setFocus()
    seen.presses(Qt.Key.Key_Backspace)
    assert seen.service.wishes == [("open", 2)]
    seen.presses(Qt.Key.Key_Delete)
    assert seen.service.wishes == [("open", 2), ("delete", 2)]
    assert "Sampling" not in seen.texts() and seen.list.hasFocus()
    seen.service.new()
    assert seen.current() in (1, 3)


def test_the_last_conversation_of_a_day_takes_its_heading_along(seen: Seen) -> None:
    seen.service.delete(3)
    assert seen.texts() == ["Today", "Blue sky", "Sampling", month(TODAY.addDays(-40)), "Old words"]


@with_menu
def test_the_menu_comes_by_keyboard_for_the_current_row(seen: Seen) -> None:
    seen.service.open(3)
    for key, modifier in (
        (Qt.Key.Key_Menu, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier),
    ):
        seen.presses(key, modifier)
        assert seen.menu.isVisible()
        seen.presses(Qt.Key.Key_Escape, at=seen.menu)
        assert not seen.menu.isVisible()
    seen.presses(Qt.Key.Key_Menu)
    seen.chooses("delete")
    assert seen.service.wishes[-1] == ("delete", 3)


@with_menu
def test_a_menu_that_a_key_asks_for_leaves_the_title_readable_and_is_ready_for_enter(seen: Seen) -> None:
    seen.service.open(3)
    QApplication.sendEvent(
        seen.list, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, seen.middle(1), seen.middle(1))
    )
    row = seen.list.visualRect(seen.index(3))
    assert seen.menu.y() >= seen.list.viewport().mapToGlobal(row.bottomLeft()).y()
    seen.presses(Qt.Key.Key_Down, at=seen.menu)
    seen.presses(Qt.Key.Key_Return, at=seen.menu)
    assert seen.title_typed() == "GPU plan"


def test_a_title_that_does_not_fit_is_shown_whole_on_hover_and_a_short_one_is_not(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(qtbot, SKY, head(9, "Why is the <b>sky</b> blue in the morning and red in the evening?", 1))
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, *_: shown.append(text))
    for number in (1, 9):
        place = seen.middle(number)
        QApplication.sendEvent(seen.list.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, place))
    assert shown[0] == "" and "&lt;b&gt;sky&lt;/b&gt; blue in the morning" in shown[1]


@with_menu
def test_the_menu_of_a_row_opens_at_the_pointer_and_leaves_the_open_conversation(seen: Seen) -> None:
    seen.service.open(1)
    place = seen.middle(4)
    viewport = seen.list.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.RightButton, pos=place)
    QApplication.sendEvent(
        viewport, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, viewport.mapToGlobal(place))
    )
    assert seen.current() == 1
    seen.chooses("open")
    assert seen.service.wishes == [("open", 1), ("open", 4)]


@with_menu
def test_a_conversation_that_went_while_its_menu_was_open_is_not_asked_for(seen: Seen) -> None:
    seen.service.open(3)
    seen.presses(Qt.Key.Key_Menu)
    seen.service.become(SKY)
    seen.chooses("delete")
    assert seen.service.wishes == [("open", 3)]


@with_menu
def test_the_button_of_a_row_appears_on_hover_and_opens_the_menu_only(seen: Seen) -> None:
    place = more_rect(seen.list.visualRect(seen.index(2))).center()

    def has_icon() -> bool:
        dots = seen.picture().copy(more_rect(seen.list.visualRect(seen.index(2))).adjusted(8, 8, -8, -8))
        return len({dots.pixel(x, y) for x in range(dots.width()) for y in range(dots.height())}) > 1

    assert not has_icon()
    QTest.mouseMove(seen.list.viewport(), place)
    assert has_icon()
    QTest.mouseClick(seen.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert seen.service.wishes == [] and seen.current() is None
    seen.chooses("delete")
    assert seen.service.wishes == [("delete", 2)]
    seen.clicks(1)
    QTest.mouseClick(
        seen.list.viewport(), Qt.MouseButton.LeftButton, pos=more_rect(seen.list.visualRect(seen.index(1))).center()
    )
    assert seen.service.wishes == [("delete", 2), ("open", 1)]
    assert more_rect(seen.list.visualRect(seen.index(1))).height() >= 28


def test_what_is_open_and_what_is_answered_is_seen_without_colours(seen: Seen) -> None:
    def grey() -> QImage:
        return seen.picture().convertToFormat(QImage.Format.Format_Grayscale8)

    plain = grey()
    seen.service.busy = frozenset({3})
    seen.service.changed.emit()
    busy = grey()
    seen.service.open(3)
    assert plain != busy and busy != grey()


def test_nothing_ticks_while_an_answer_is_written(seen: Seen) -> None:
    seen.service.busy = frozenset({1, 2})
    seen.service.changed.emit()
    seen.list.grab()
    assert [timer for timer in seen.panel.findChildren(QTimer) if timer.isActive()] == []


def test_a_change_keeps_the_place_that_people_scrolled_to(qtbot: QtBot) -> None:
    many = [head(number, f"Chat {number}", number) for number in range(1, 200)]
    seen = Seen(qtbot, *many)
    seen.service.open(1)
    seen.list.scrollToBottom()
    place = seen.list.verticalScrollBar().value()
    assert place > 0
    seen.service.busy = frozenset({5})
    seen.service.changed.emit()
    seen.service.rename(7, "Seven")
    assert seen.list.verticalScrollBar().value() == place and seen.current() == 1
    seen.service.open(3)
    assert seen.list.visualRect(seen.index(3)).intersects(seen.list.viewport().rect())


def test_the_headings_are_right_again_when_the_window_is_seen_the_next_day(seen: Seen) -> None:
    seen.today = TODAY.addDays(1)
    assert seen.texts()[0] == "Today"
    QApplication.sendEvent(seen.panel, QEvent(QEvent.Type.WindowActivate))
    assert seen.texts()[:3] == ["Yesterday", "Blue sky", "Sampling"]
    seen.panel.hide()
    seen.today = TODAY.addDays(2)
    seen.panel.show()
    assert seen.texts()[0] == "Previous 7 days"


def test_an_empty_list_says_what_will_be_there(seen: Seen) -> None:
    empty = seen.find(QWidget, "no_conversations")
    assert not empty.isVisible()
    seen.service.become()
    assert empty.isVisible() and not seen.list.isVisible()
    assert "newest first" in empty.property("text")
    seen.service.become(SKY)
    assert seen.list.isVisible() and not empty.isVisible()


def test_the_button_on_top_begins_a_new_chat_and_says_so(seen: Seen) -> None:
    button = seen.find(QWidget, "new_chat_button")
    assert (button.property("text"), button.accessibleName()) == ("New chat", "New chat")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert seen.service.wishes == [("new",)]


def test_a_chat_joins_the_list_with_its_first_message_and_can_be_renamed_and_deleted(ready: Stage) -> None:
    chats = ready.find_as(HistoryList, "conversation_list")

    def chat() -> QModelIndex:
        return chats.model().index(1, 0)

    ready.sends("Why is the sky blue?")
    ready.engine.prompt()
    ready.settle()
    assert chats.model().rowCount() == 2
    assert chat().data() == "Why is the sky blue?" and chat().data(Role.OPEN) and chat().data(Role.BUSY)
    ready.engine.write("Because")
    ready.engine.finish()
    ready.settle()
    assert not chat().data(Role.BUSY) and chats.currentIndex() == chat()
    QTest.keyClick(chats, Qt.Key.Key_F2)
    field = ready.find_as(QLineEdit, "conversation_title_field")
    QTest.keyClicks(field, "Sky")
    QTest.keyClick(field, Qt.Key.Key_Return)
    ready.bot.waitUntil(lambda: chat().data() == "Sky", timeout=60_000)
    QTest.keyClick(chats, Qt.Key.Key_Delete)
    ready.settle()
    assert chats.model().rowCount() == 0 and ready.sees("no_conversations")
    ready.clicks("notice_action")
    ready.settle()
    assert chat().data() == "Sky"


def test_a_panel_that_was_disconnected_hears_nothing_more(seen: Seen) -> None:
    seen.panel.disconnect_services()
    seen.service.become()
    assert seen.texts() != []
