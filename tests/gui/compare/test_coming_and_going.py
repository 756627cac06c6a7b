from __future__ import annotations

import pytest
from PySide6.QtCore import QDate, QDateTime, Qt, QTime
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QMenu, QToolButton, QWidget

from app.core.commands import Compare
from app.gui.chat import footer
from app.gui.compare import compared_links
from app.gui.compare.lane_words import moment_words
from app.gui.widgets.menu_arrow import ARROW_ROOM_PX
from tests.gui.compare.conftest import CompareStage
from tests.gui.counting import status

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def compared(comparer: CompareStage, *texts: str) -> None:
    """Have a comparison of the last question that has ended."""
    comparer.begun("a", "b").planned()
    for lane, text in enumerate(texts):
        comparer.writes(lane, text)
    comparer.ends()
    comparer.stage.clicks("compare_close_button")


def menu_of(comparer: CompareStage, place: int) -> QMenu:
    menu = QMenu(comparer.stage.window)
    turn = comparer.desk.program.chat.turns[place]
    comparer.stage.window.parts.chat_page.turn_actions.add_to(menu, turn)
    return menu


def test_an_answer_is_compared_with_its_own_settings_from_its_menu(comparer: CompareStage) -> None:
    comparer.desk.program.sampling.change(top_k=11)
    comparer.asked("First?")
    comparer.desk.program.sampling.change(top_k=40)
    comparer.asked("Second?")
    menu = menu_of(comparer, 1)
    next(action for action in menu.actions() if action.text() == "Compare settings…").trigger()
    assert comparer.reads("compare_question_text") == "First?"
    assert {each.top_k for each in comparer.page.setup_view.draft.settings} == {11}
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    assert len(comparer.engine.all(Compare)) == 1


def test_the_menu_says_why_a_question_cannot_be_compared_now(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    action = next(each for each in menu_of(comparer, 0).actions() if each.text() == "Compare settings…")
    assert not action.isEnabled() and action.statusTip().startswith("Another comparison is running")


def test_a_shortcut_leads_to_the_page_and_another_one_back(comparer: CompareStage) -> None:
    comparer.asked()
    QTest.keyClick(
        comparer.stage.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    assert comparer.is_there("compare_set_up")
    assert comparer.stage.find_as(QToolButton, "compare_button").isChecked()
    comparer.stage.triggers("chat_page_action")
    assert comparer.is_there("transcript") and not comparer.is_there("compare_set_up")
    assert comparer.stage.window.focusWidget() is comparer.stage.composer
    comparer.stage.triggers("compare_action")
    comparer.stage.triggers("write_action")
    assert comparer.stage.window.focusWidget() is comparer.stage.composer


def test_the_side_panel_makes_room_for_lanes_and_comes_back(comparer: CompareStage) -> None:
    comparer.asked()
    assert comparer.is_there("side_panel")
    comparer.opened()
    assert not comparer.is_there("side_panel")
    comparer.stage.clicks("panel_button")
    assert comparer.is_there("side_panel")
    comparer.stage.clicks("chat_button")
    comparer.opened()
    assert not comparer.is_there("side_panel")
    comparer.stage.clicks("chat_button")
    assert comparer.is_there("side_panel")


def test_a_question_that_was_compared_leads_to_its_comparison(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "left", "right")
    assert comparer.is_there("transcript")
    assert comparer.reads("compared_link") == "Compared: 2 lanes"
    comparer.stage.clicks("compared_link")
    assert (comparer.says(0), comparer.says(1)) == ("left", "right")
    assert comparer.is_there("compare_again_button") and comparer.is_there("keep_lane_a")


def test_several_comparisons_of_a_question_are_offered_in_a_menu(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "one", "two")
    compared(comparer, "three", "four")
    assert comparer.reads("compared_link") == "Compared 2 times"
    link = comparer.stage.find_as(QToolButton, "compared_link")
    moments = [each.created_ms for each in comparer.desk.program.chat.shown.lanes.comparisons.values()]
    is_one_minute = len({moment_words(each) for each in moments}) == 1
    when = [moment_words(each, with_seconds=is_one_minute) for each in moments]
    assert all(each.startswith("today, ") for each in when)
    comparer.chooses(link.click, f"Comparison 1: Temperature 0 · 0.4 (2 lanes) · {when[0]}")
    assert comparer.says(0) == "one"


def test_the_menu_of_comparisons_is_bounded_and_keeps_when_each_was(
    comparer: CompareStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compared_links, "compared_words", lambda _settings, _lanes: "Seed " + "3303384156 · " * 20)
    comparer.asked()
    compared(comparer, "one", "two")
    compared(comparer, "three", "four")
    comparer.stage.find_as(QToolButton, "compared_link").click()
    menu = next(each for each in comparer.stage.window.findChildren(QMenu) if each.objectName() == "compared_menu")
    words = [action.text() for action in menu.actions()]
    assert menu.sizeHint().width() < 2 * compared_links.WHAT_PX, words
    assert all("…" in each and "today, " in each.rpartition("…")[2] for each in words)
    menu.close()


def test_moments_have_seconds_where_they_are_asked_for() -> None:
    moment = QDateTime(QDate.currentDate(), QTime(13, 2, 45)).toMSecsSinceEpoch()
    assert ":45" in moment_words(moment, with_seconds=True) and ":45" not in moment_words(moment)


def test_an_arrow_says_that_a_menu_of_comparisons_opens(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "one", "two")
    link = comparer.stage.find_as(QToolButton, "compared_link")
    single, text = link.sizeHint().width(), link.fontMetrics().horizontalAdvance(link.text())
    compared(comparer, "three", "four")
    comparer.stage.settle()
    wider = link.sizeHint().width() - link.fontMetrics().horizontalAdvance(link.text()) - (single - text)
    assert abs(wider - ARROW_ROOM_PX) <= 2, "but for rounding"
    ground = link.grab().toImage()
    pixels = {
        ground.pixel(x, y) for x in range(link.width() - wider, link.width()) for y in range(4, link.height() - 4)
    }
    assert len(pixels) > 1, "something is painted behind the words"


def test_a_comparison_that_is_opened_again_says_which_it_is_and_which_lane_was_used(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "one", "two")
    comparer.stage.clicks("compared_link")
    shown = comparer.comparing.shown
    assert shown is not None
    when = moment_words(shown.comparison.created_ms).capitalize()
    assert comparer.reads("compare_prompt_text") == "Why is the sky blue?"
    assert comparer.reads("compare_moment_text") == when
    comparer.stage.clicks("keep_lane_b")
    comparer.stage.settle()
    comparer.stage.clicks("compared_link")
    assert comparer.reads("compare_moment_text") == f"{when} · lane B is in the chat"


def test_a_comparison_is_there_after_a_restart_of_the_chat(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "left", "right")
    chat = comparer.desk.program.chat.conversation_id
    comparer.desk.program.conversations.new()
    comparer.desk.program.conversations.open(chat)
    comparer.stage.settle()
    comparer.stage.clicks("compared_link")
    assert (comparer.says(0), comparer.says(1)) == ("left", "right")


def test_another_chat_is_shown_in_the_chat(comparer: CompareStage) -> None:
    comparer.asked()
    compared(comparer, "left", "right")
    comparer.stage.clicks("compared_link")
    comparer.desk.program.conversations.new()
    assert comparer.is_there("welcome_title") and not comparer.is_there("compare_page")
    assert comparer.comparing.shown is None


def test_lanes_are_reached_by_keys(comparer: CompareStage) -> None:
    comparer.asked().begun().planned()
    assert comparer.stage.window.focusWidget() is comparer.text(0)
    comparer.presses(Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert comparer.stage.window.focusWidget() is comparer.text(2)
    comparer.presses(Qt.Key.Key_Left)
    assert comparer.stage.window.focusWidget() is comparer.text(1)
    comparer.presses(Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
    last = comparer.page.run_view.columns[-1]
    area = comparer.page.run_view.area
    assert area.horizontalScrollBar().value() == area.horizontalScrollBar().maximum() and area.is_seen(last)
    comparer.presses(Qt.Key.Key_Right)
    assert comparer.stage.window.focusWidget() is comparer.text(4)


def test_arrow_keys_follow_a_layout_from_right_to_left(comparer: CompareStage, qapp: QApplication) -> None:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        comparer.asked().begun("a", "b", "c").planned()
        columns = comparer.page.run_view.columns
        assert columns[0].x() > columns[1].x() > columns[2].x()
        comparer.presses(Qt.Key.Key_Left)
        assert comparer.stage.window.focusWidget() is comparer.text(1)
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_everything_on_the_page_has_a_name_for_those_who_listen(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    comparer.stage.clicks("start_temperature")
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    comparer.planned()
    nameless = [
        widget.objectName() or type(widget).__name__
        for widget in comparer.page.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not widget.accessibleName()
        and not (hasattr(widget, "text") and isinstance(widget.property("text"), str) and widget.property("text"))
        and not isinstance(widget, QListView)  # of a box, which has a name
        and not widget.objectName().startswith("qt_")
    ]
    assert nameless == []


def test_text_of_lanes_grows_with_the_size_of_text(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "words " * 40)
    before = comparer.text(0).turns.blocks[0].height
    comparer.stage.triggers("larger_text_action")
    assert comparer.text(0).turns.blocks[0].height > before


def test_a_lane_s_menu_offers_what_its_buttons_do(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    more = comparer.stage.find_as(QToolButton, "more_lane_a")
    comparer.chooses(more.click, "Make this the baseline")
    assert comparer.comparing.shown is not None and comparer.comparing.shown.comparison.baseline == 0


def test_while_a_comparison_runs_its_question_and_a_message_behind_it_say_so(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b", "c").planned()
    comparer.writes(0, "x")
    comparer.stage.clicks("chat_button")
    assert comparer.reads("compared_link") == "Comparing: 3 lanes"
    comparer.stage.sends("And the sea?")
    assert status(comparer.stage) == "Waits for the comparison (3 lanes running)"
    turn = comparer.desk.program.chat.turns[-1]
    assert footer.waiting(turn) == "Waits for the comparison (3 lanes running)"
    comparer.lanes.finish(1)
    comparer.stage.settle()
    assert status(comparer.stage) == "Waits for the comparison (2 lanes running)"
    comparer.lanes.end()
    comparer.stage.settle()
    assert "Waits for the comparison" not in status(comparer.stage)
    assert turn.doing is None
    assert comparer.reads("compared_link") == "Compared: 3 lanes"
