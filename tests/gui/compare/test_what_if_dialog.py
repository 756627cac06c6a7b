"""One answer of a chat under other settings, in a window of its own: how people come to it, what it says, when it goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QSlider, QWidget
from shiboken6 import isValid

from app.core.commands import RecordKind
from app.gui.compare.marks import Marks
from app.gui.compare.stage_legend import StageLegend
from app.gui.compare.what_if_dialog import WhatIfDialog
from app.gui.compare.what_if_strip import WhatIfStrip
from app.gui.widgets.boxes import NumberBox
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.what_if_looker import COUNT, USUAL, WORDS, Looker, entry_of, looker
from tests.gui.test_message_keys import press
from tests.gui.test_turn_actions import choose

__all__ = ["desk", "looker", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def by_the_button(looker: Looker) -> None:
    choose(looker.stage, 1, WORDS)


def by_a_right_click(looker: Looker) -> None:
    transcript = looker.stage.window.parts.chat_page.transcript
    point = transcript.places.turn(1).center()
    view = transcript.viewport()
    QApplication.sendEvent(
        view, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.mapToGlobal(QPoint(point)))
    )
    menu = looker.stage.find_as(QMenu, "transcript_menu")
    entry_of(menu).trigger()
    menu.close()


def by_keyboard(looker: Looker) -> None:
    press(looker.stage, "Alt+Up")
    press(looker.stage, "Shift+F10")
    menu = looker.stage.find_as(QMenu, "transcript_menu")
    for _step in menu.actions():
        if menu.activeAction() is not None and menu.activeAction().text() == WORDS:
            break
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)


@pytest.mark.parametrize("opens", [by_the_button, by_a_right_click, by_keyboard])
def test_every_way_leads_to_the_answer_with_its_own_settings(looker: Looker, opens: Callable[[Looker], None]) -> None:
    looker.answers()
    looker.stage.window.activateWindow()
    opens(looker)
    made = looker.known()
    assert looker.is_open() and not looker.dialog.isModal()
    assert made.settings == USUAL and made.cut == 0
    assert looker.reads("what_if_cuts").startswith(f"None of the {COUNT} tokens would have been cut")
    assert not looker.find(QPushButton, "what_if_reset_button").isEnabled()
    slider = looker.find(QSlider, "what_if_temperature_slider")
    assert looker.dialog.focusWidget() is slider and slider.accessibleName() == "Temperature, 1.00"
    assert looker.find(QWidget, "what_if_text").accessibleName() == "Answer under these settings"


def test_a_question_has_no_such_entry(looker: Looker) -> None:
    looker.answers()
    menu = QMenu(looker.stage.window)
    looker.stage.window.parts.chat_page.turn_actions.add_to(menu, looker.turns[0])
    assert WORDS not in [action.text() for action in menu.actions()]
    menu.deleteLater()


def test_a_key_at_a_slider_changes_what_is_said_and_marked(looker: Looker) -> None:
    looker.answers().opens()
    slider = looker.find(QSlider, "what_if_top_k_slider")
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert looker.known().settings.top_k == 0
    QTest.keyClick(slider, Qt.Key.Key_Right)
    made = looker.known()
    assert made.settings.top_k == 1 and made.cut > 0 and made.greedy_leaves_at is not None
    assert looker.reads("what_if_cuts").startswith(f"{made.cut} of {COUNT} tokens would have been cut.")
    assert looker.reads("what_if_greedy") == f"Greedy would have left it at token {made.greedy_leaves_at + 1}."
    marks = looker.dialog.overlay.marks
    cut = [span for span, token in zip(made.spans, made.tokens, strict=True) if token.state == "cut"]
    assert [mark.span for mark in marks.stages if mark.is_certain] == cut
    assert marks.greedy == made.spans[made.greedy_leaves_at]
    legend = looker.find(StageLegend, "what_if_legend")
    assert legend.accessibleName() == f"cut by top-k: {made.cut}, in the text: greedy would leave here"
    strip = looker.find(WhatIfStrip, "what_if_strip")
    strip.setFocus()
    assert strip.accessibleDescription().startswith("Token 1 “")
    QTest.mouseClick(looker.find(QPushButton, "what_if_reset_button"), Qt.MouseButton.LeftButton)
    assert looker.known().settings == USUAL and looker.dialog.overlay.marks.stages == ()


def test_a_bar_and_its_token_in_the_text_are_looked_at_together(looker: Looker) -> None:
    looker.answers().opens()
    slider = looker.find(QSlider, "what_if_top_k_slider")
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Home)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    made, overlay = looker.known(), looker.dialog.overlay
    strip = looker.find(WhatIfStrip, "what_if_strip")
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_End)
    assert overlay.looked_at == made.spans[-1]
    cut = next(number for number, token in enumerate(made.tokens) if token.state == "cut")
    view, place = overlay._text.viewport(), overlay.place_of(made.spans[cut]).center()
    none = Qt.MouseButton.NoButton
    at = QPointF(place), QPointF(view.mapToGlobal(place))
    QApplication.sendEvent(view, QMouseEvent(QEvent.Type.MouseMove, *at, none, none, Qt.KeyboardModifier.NoModifier))
    assert overlay.looked_at == made.spans[cut]
    assert strip.accessibleDescription().startswith(f"Token {cut + 1} ")


def test_what_is_marked_is_seen(looker: Looker) -> None:
    looker.answers().opens()
    view = looker.dialog.overlay._text.viewport()
    plain = view.grab().toImage()
    looker.sets("top_k", 1)
    marked = view.grab().toImage()
    danger = looker.stage.themes.current.colour("danger").name()
    seen = {marked.pixelColor(x, y).name() for x in range(marked.width()) for y in range(marked.height())}
    before = {plain.pixelColor(x, y).name() for x in range(plain.width()) for y in range(plain.height())}
    assert danger in seen and danger not in before


@pytest.mark.parametrize(("record", "said"), [("off", "Nothing was recorded"), ("chosen", "Only the chosen tokens")])
def test_an_answer_without_a_record_says_why_in_one_sentence(looker: Looker, record: RecordKind, said: str) -> None:
    looker.answers(record).opens()
    assert looker.reads("what_if_cuts").startswith(said) and looker.dialog.overlay.marks == Marks()
    assert looker.reads("what_if_likelihood") == looker.reads("what_if_greedy") == looker.reads("what_if_token") == ""
    looker.sets("top_k", 1)
    assert looker.reads("what_if_cuts").startswith(said) and looker.dialog.overlay.marks == Marks()


def test_an_answer_that_is_being_written_says_that_in_its_menu(looker: Looker) -> None:
    looker.stage.sends("One")
    looker.stage.desk.engine.prompt()
    looker.stage.desk.engine.write("1")
    looker.stage.settle()
    menu = QMenu(looker.stage.window)
    looker.stage.window.parts.chat_page.turn_actions.add_to(menu, looker.turns[1])
    entry = entry_of(menu)
    assert not entry.isEnabled() and entry.statusTip() == "This answer is still being written."
    menu.deleteLater()


def deletes(looker: Looker) -> None:
    choose(looker.stage, 1, "Delete from here on")


def switches(looker: Looker) -> None:
    looker.stage.clicks("new_chat_button")


def deletes_the_chat(looker: Looker) -> None:
    looker.stage.triggers("delete_chat_action")


def closes(looker: Looker) -> None:
    QTest.mouseClick(looker.find(QPushButton, "what_if_close"), Qt.MouseButton.LeftButton)


def escapes(looker: Looker) -> None:
    QTest.keyClick(looker.dialog, Qt.Key.Key_Escape)


@pytest.mark.parametrize("act", [deletes, switches, deletes_the_chat, closes, escapes])
@pytest.mark.parametrize("at_work", [False, True])
def test_it_goes_with_what_it_is_about_and_can_be_opened_again(
    looker: Looker, act: Callable[[Looker], None], at_work: bool
) -> None:
    looker.answers().opens()
    dialog = looker.dialog
    if at_work:
        looker.find(NumberBox, "what_if_top_k_box").setValue(1)
    act(looker)
    looker.stage.settle()
    assert not looker.is_open() and not isValid(dialog) and looker.service.shown is None
    looker.stage.desk.until(lambda: not looker.service.is_busy)
    assert looker.service.found is None
    looker.answers(question="And the sea?")
    assert looker.opens().settings == USUAL and looker.is_open()


def test_another_answer_takes_the_place_of_the_first_in_the_same_window(looker: Looker) -> None:
    looker.answers().answers(question="And the sea?", seed=3)
    looker.opens(1)
    looker.sets("top_k", 1)
    dialog = looker.dialog
    looker.find(WhatIfStrip, "what_if_strip").setFocus()
    made = looker.opens(3)
    assert dialog.focusWidget() is looker.find(QSlider, "what_if_temperature_slider")
    assert looker.dialog is dialog and len(looker.stage.window.findChildren(WhatIfDialog)) == 1
    assert made.comparison == looker.turns[3].message and made.settings == USUAL
    assert looker.find(NumberBox, "what_if_top_k_box").property("value") == 0
    assert dialog.overlay._text.turns.blocks[0].turn.text == looker.turns[3].text


def test_the_window_closes_with_the_program(looker: Looker) -> None:
    looker.answers().opens()
    dialog = looker.dialog
    looker.find(NumberBox, "what_if_top_k_box").setValue(1)
    looker.stage.window.close()
    assert not isValid(dialog) or not dialog.isVisible()
    assert looker.service.shown is None


def test_it_follows_the_theme_and_fits_into_the_screen(looker: Looker) -> None:
    looker.answers().opens()
    looker.sets("top_k", 1)
    strip = looker.find(WhatIfStrip, "what_if_strip")
    pictures = []
    for theme in ("light", "dark"):
        looker.stage.themes.choose(theme)
        pictures.append(strip.grab().toImage())
    assert pictures[0] != pictures[1]
    assert looker.dialog.screen().availableGeometry().contains(looker.dialog.geometry())
