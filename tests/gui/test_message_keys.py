"""One message is at hand, and keys do with it what its buttons and its menu do."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QGuiApplication,
    QImage,
    QKeySequence,
    QRegion,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QWidget

from app.gui.chat.spots import RING_PX
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_bar import TurnBar
from app.services.turns import Turn
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def say(stage: Stage, question: str, answer: str) -> None:
    stage.sends(question)
    stage.desk.answer(answer)
    stage.settle()


def again(stage: Stage, answer: str) -> None:
    stage.triggers("answer_again_action")
    stage.desk.answer(answer)
    stage.settle()


def transcript(stage: Stage) -> Transcript:
    return stage.window.parts.chat_page.transcript


def press(stage: Stage, keys: str) -> None:
    """Press keys where the focus is."""
    focus: QWidget | None = stage.window.focusWidget()
    QTest.keySequence(stage.window if focus is None else focus, QKeySequence(keys))
    stage.settle()


def at_hand(stage: Stage) -> str | None:
    turn = transcript(stage).at_hand
    return turn.text if turn is not None else None


def shown(stage: Stage) -> list[str]:
    return [turn.text for turn in stage.desk.program.chat.turns]


def menu_of(stage: Stage) -> QMenu:
    return next(menu for menu in stage.window.findChildren(QMenu, "transcript_menu") if menu.isVisible())


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_keys_go_from_message_to_message_and_the_ring_says_which(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    ready.window.activateWindow()
    ready.bot.waitUntil(ready.window.isActiveWindow)
    pictures: list[QImage] = [transcript(ready).grab().toImage()]
    order = []
    for keys in ("Alt+Up", "Alt+Up", "Alt+Up", "Alt+Up", "Alt+Up", "Alt+Down"):
        press(ready, keys)
        order.append(at_hand(ready))
        pictures.append(transcript(ready).grab().toImage())
    assert order == ["2", "Two", "1", "One", "One", "1"]
    assert all(one != other for one, other in combinations(pictures[:5], 2))
    assert ready.window.focusWidget() is transcript(ready)
    press(ready, "Esc")
    assert at_hand(ready) is None


def test_a_long_chat_scrolls_to_the_message_at_hand(ready: Stage) -> None:
    for number in range(8):
        say(ready, f"Question {number}", "word " * 200)
    view = transcript(ready).viewport().rect()
    for _ in range(16):
        press(ready, "Alt+Up")
        turn = transcript(ready).at_hand
        assert turn is not None
        index = transcript(ready).turns.index_of(turn.number)
        assert index is not None
        place = transcript(ready).places.turn(index)
        assert view.contains(place) or (place.height() > view.height() and view.contains(place.topLeft()))
    assert at_hand(ready) == "Question 0"


def test_versions_are_stepped_through_and_the_message_keeps_its_place(ready: Stage) -> None:
    say(ready, "One", "word " * 900)
    again(ready, "short")
    again(ready, "other " * 400)
    say(ready, "Two", "text " * 600)
    for _ in range(3):
        press(ready, "Alt+Up")
    assert at_hand(ready) == "other " * 400
    tops = set()
    seen = []
    for keys in ("Alt+Left", "Alt+Left", "Alt+Left", "Alt+Right", "Alt+Right", "Alt+Right"):
        press(ready, keys)
        seen.append((at_hand(ready) or "").split(" ")[0])
        tops.add(transcript(ready).places.turn(1).top())
    assert seen == ["short", "word", "word", "short", "other", "other"]
    assert len(tops) == 1
    assert shown(ready)[2:] == ["Two", "text " * 600]


def test_what_was_held_goes_with_the_next_question(ready: Stage) -> None:
    say(ready, "One", "word " * 900)
    again(ready, "short")
    press(ready, "Alt+Up")
    bar = transcript(ready).verticalScrollBar()
    press(ready, "Alt+Left")
    press(ready, "Alt+Right")
    assert at_hand(ready) == "short"
    assert bar.maximum() > transcript(ready).turns.total - transcript(ready).viewport().height()
    transcript(ready).go_to_end()
    assert bar.maximum() == max(transcript(ready).turns.total - transcript(ready).viewport().height(), 0)


@pytest.mark.parametrize("keys", ["Return", "Enter"])
def test_the_message_at_hand_is_edited_and_the_keyboard_comes_back(ready: Stage, keys: str) -> None:
    say(ready, "One", "1")
    press(ready, "Alt+Up")
    press(ready, keys)
    text = ready.find_as(QPlainTextEdit, "turn_editor_text")
    assert text.hasFocus() and text.toPlainText() == "1"
    QTest.keyClicks(text, " and more")
    QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert shown(ready) == ["One", "1 and more"]
    assert at_hand(ready) == "1 and more"
    assert ready.window.focusWidget() is transcript(ready)


def test_an_earlier_answer_is_written_again(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    for _ in range(3):
        press(ready, "Alt+Up")
    press(ready, "Ctrl+R")
    assert ready.engine.chat.messages[-1].text == "One"
    ready.desk.answer("uno")
    ready.settle()
    assert shown(ready) == ["One", "uno"]
    assert at_hand(ready) == "uno"


def test_nothing_is_asked_again_where_that_is_not_possible(ready: Stage) -> None:
    say(ready, "One", "1")
    asked = len(ready.engine.sent)
    press(ready, "Alt+Up")
    press(ready, "Alt+Up")
    assert at_hand(ready) == "One"
    press(ready, "Ctrl+R")
    assert len(ready.engine.sent) == asked
    assert shown(ready) == ["One", "1"]


@pytest.mark.parametrize(("keys", "copied"), [("Ctrl+C", "**1**"), ("Ctrl+Shift+C", "1")])
def test_the_message_at_hand_is_copied_unless_something_is_selected(ready: Stage, keys: str, copied: str) -> None:
    say(ready, "One", "**1**")
    say(ready, "Two", "2")
    for _ in range(3):
        press(ready, "Alt+Up")
    press(ready, keys)
    assert QGuiApplication.clipboard().text() == copied
    press(ready, "Ctrl+A")
    press(ready, keys)
    ready.bot.waitUntil(lambda: QGuiApplication.clipboard().text().startswith("One"), timeout=60_000)


def test_what_is_deleted_by_key_comes_back_with_undo(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    press(ready, "Alt+Up")
    press(ready, "Alt+Up")
    press(ready, "Del")
    assert shown(ready) == ["One", "1"]
    assert at_hand(ready) == "1"
    ready.triggers("undo_delete_action")
    assert shown(ready) == ["One", "1", "Two", "2"]


@pytest.mark.parametrize("keys", ["Shift+F10", "Menu"])
def test_a_key_opens_the_menu_of_the_message_at_hand(ready: Stage, keys: str) -> None:
    say(ready, "One", "1")
    again(ready, "uno")
    say(ready, "Two", "2")
    for _ in range(3):
        press(ready, "Alt+Up")
    press(ready, keys)
    menu = menu_of(ready)
    offered = entries(menu)
    assert offered[:3] == ["Copy", "Copy as plain text", "Select all"]
    assert {"Earlier version", "Copy the answer", "Edit the answer…", "Answer again", "Delete from here on"} <= set(
        offered
    )
    named = {action.text(): action.shortcut().toString() for action in menu.actions()}
    assert (named["Earlier version"], named["Answer again"], named["Edit the answer…"]) == (
        "Alt+Left",
        "Ctrl+R",
        "Return",
    )
    promised = [key for key in named.values() if key]
    assert len(promised) == len(set(promised))
    next(action for action in menu.actions() if action.text() == "Begin a new chat from here").trigger()
    menu.close()
    assert shown(ready) == ["One", "uno"]
    assert len(ready.desk.program.conversations.heads) == 2


def test_without_a_message_at_hand_the_keys_are_the_windows(ready: Stage) -> None:
    say(ready, "One", "1")
    transcript(ready).setFocus()
    press(ready, "Alt+Left")
    press(ready, "Del")
    press(ready, "F2")
    assert not ready.sees("turn_editor")
    press(ready, "Ctrl+R")
    assert ready.engine.chat.messages[-1].text == "One"
    assert at_hand(ready) is None


def test_the_mouse_takes_the_ring_away(ready: Stage) -> None:
    say(ready, "One", "1")
    press(ready, "Alt+Up")
    QTest.mouseClick(transcript(ready).viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert at_hand(ready) is None


def test_tab_reaches_the_buttons_of_the_message_at_hand_and_they_stay_its_own(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    for _ in range(3):
        press(ready, "Alt+Up")
    turns = ready.desk.program.chat.turns
    bars = ready.window.parts.chat_page.turn_actions.bars
    bar = bars.bar_of(turns[1])
    assert bar is not None
    bar.more_button.setFocus()
    QTest.mouseMove(transcript(ready).viewport(), QPoint(1, 1))
    QTest.mouseMove(transcript(ready).viewport(), transcript(ready).places.turn(0).center())
    assert bars.bar_of(turns[1]) is bar
    assert bars.bar_of(turns[0]) not in (None, bar)
    ready.composer.setFocus()
    ready.bot.waitUntil(lambda: bars.bar_of(turns[1]) is None, timeout=60_000)


def test_who_listens_hears_which_message_and_which_version(ready: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    say(ready, "One", "1")
    again(ready, "uno")
    heard: list[str] = []

    def take(event: QAccessibleEvent) -> None:
        if event.type() == QAccessible.Event.Focus:
            heard.append(event.accessibleInterface().text(QAccessible.Text.Name))

    whole = QAccessible.queryAccessibleInterface(transcript(ready))
    assert whole is not None
    monkeypatch.setattr(QAccessible, "updateAccessibility", take)
    press(ready, "Alt+Up")
    press(ready, "Alt+Left")
    press(ready, "Alt+Up")
    assert heard == ["tiny, version 2 of 2: uno", "tiny, version 1 of 2: 1", "You: One"]
    focused = whole.focusChild()
    assert focused.text(QAccessible.Text.Name) == "You: One"
    assert focused.state().focused


def test_the_buttons_name_their_keys_on_hover(ready: Stage) -> None:
    say(ready, "One", "1")
    again(ready, "uno")
    hints = {
        name: ready.find(name).property("hint") for name in ("earlier_button", "edit_button", "answer_again_button")
    }
    assert hints == {
        "earlier_button": "Earlier version (Alt+Left)",
        "edit_button": "Edit the answer (Return)",
        "answer_again_button": "Answer again (Ctrl+R)",
    }
    assert ready.find("edit_button").accessibleName() == "Edit the answer"


def test_a_message_that_is_gone_is_not_at_hand(ready: Stage) -> None:
    say(ready, "One", "1")
    press(ready, "Alt+Up")
    ready.clicks("new_chat_button")
    assert at_hand(ready) is None
    transcript(ready).take_next(-1)
    assert at_hand(ready) is None
    transcript(ready).take(Turn(99, "user", "").number)
    assert at_hand(ready) is None


def test_the_ring_around_a_message_goes_through_no_buttons(ready: Stage) -> None:
    say(ready, "One", "1")
    again(ready, "2")
    press(ready, "Alt+Up")
    press(ready, "Alt+Up")
    press(ready, "Return")
    QTest.keyClicks(ready.find("turn_editor_text"), " more")
    press(ready, "Ctrl+Return")
    ready.desk.answer("3")
    ready.settle()
    again(ready, "4")
    for index in (1, 0):
        press(ready, "Alt+Up")
        bars = [bar for bar in transcript(ready).viewport().findChildren(TurnBar) if bar.isVisible()]
        assert len(bars) == 2
        half = RING_PX // 2
        middle = transcript(ready)._ring(index)
        line = QRegion(middle.adjusted(-half, -half, half, half)) - QRegion(middle.adjusted(half, half, -half, -half))
        inset = 4  # of the signs in their buttons
        signs = [bar.geometry().adjusted(inset, inset, -inset, -inset) for bar in bars]
        assert not any(line.intersects(sign) for sign in signs)
        if index == 1:
            assert not line.intersects(max((bar.geometry() for bar in bars), key=QRect.top))
