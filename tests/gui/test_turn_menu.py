"""What a right click in the transcript offers: what lies there first, then what is selected, then the message."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit

from tests.gui.conftest import Stage
from tests.gui.test_message_keys import entries, menu_of, press, say, transcript

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def right_click(stage: Stage, point: QPoint) -> QMenu:
    view = transcript(stage).viewport()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.mapToGlobal(point))
    QApplication.sendEvent(view, event)
    return menu_of(stage)


def test_a_right_click_offers_what_the_button_offers(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    menu = right_click(ready, transcript(ready).places.turn(0).center())
    assert entries(menu)[:3] == ["Copy", "Copy as plain text", "Select all"]
    other = QMenu()
    ready.window.parts.chat_page.turn_actions.add_to(other, ready.desk.program.chat.turns[0])
    assert entries(menu)[3:] == entries(other)
    next(action for action in menu.actions() if action.text() == "Edit and ask again…").trigger()
    menu.close()
    assert ready.find_as(QPlainTextEdit, "turn_editor_text").toPlainText() == "One"


@pytest.mark.parametrize(
    ("answer", "kind", "first"),
    [
        ("See [here](https://example.org/a).", "link", ["Open link", "Copy link", "Copy"]),
        ("```python\nx = 1\n```", "copy", ["Copy code", "Copy", "Copy as plain text"]),
    ],
)
def test_what_lies_under_the_mouse_comes_first(ready: Stage, answer: str, kind: str, first: list[str]) -> None:
    say(ready, "One", answer)
    transcript(ready).grab()
    spot = next(each.spot for each in transcript(ready)._spots_in_view() if each.spot.kind == kind)
    menu = right_click(ready, spot.rect.center().toPoint())
    assert entries(menu)[:3] == first
    assert "Answer again" in entries(menu)
    menu.close()


def test_a_key_is_named_for_what_it_does_now(ready: Stage) -> None:
    say(ready, "One", "1")

    def key_of_copy() -> str:
        menu = right_click(ready, transcript(ready).places.turn(1).center())
        key = next(action for action in menu.actions() if action.text() == "Copy the answer").shortcut().toString()
        menu.close()
        return str(key)

    assert key_of_copy() == "Ctrl+C"
    transcript(ready).setFocus()
    press(ready, "Ctrl+A")
    assert key_of_copy() == ""


def test_a_question_that_waits_is_taken_back_or_copied_from_its_menu(ready: Stage) -> None:
    ready.sends("One")
    ready.sends("Two")
    row = ready.find("queued_row")
    QApplication.sendEvent(
        row, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(9, 9), row.mapToGlobal(QPoint(9, 9)))
    )
    menu = ready.find_as(QMenu, "queued_menu")
    assert entries(menu) == ["Take it back and edit it", "Do not send it", "Copy"]
    next(action for action in menu.actions() if action.text() == "Copy").trigger()
    assert QApplication.clipboard().text() == "Two"
    menu.actions()[0].trigger()
    menu.close()
    assert ready.composer.toPlainText() == "Two"


def test_a_menu_stands_in_groups_and_what_deletes_stands_alone(ready: Stage) -> None:
    say(ready, "Why is the sky blue?", "It scatters.")
    menu = QMenu(ready.window)
    ready.window.parts.chat_page.turn_actions.add_to(menu, ready.desk.program.chat.turns[1])
    groups: list[list[str]] = [[]]
    for action in menu.actions():
        if action.isSeparator():
            groups.append([])
        else:
            groups[-1].append(action.text())
    menu.deleteLater()
    assert groups[0] == ["Copy the answer", "Copy the answer as plain text"]
    assert groups[-1] == ["Delete from here on"]
    assert max(map(len, groups)) <= 5
    assert all(groups)
