"""Dialogs that are closed, and thrown away, while an answer is being written below them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from shiboken6 import isValid

from app.core.events import Event
from app.core.store_events import StoreMeasured
from app.gui.closing import Closing
from app.gui.preferences.dialog import PreferencesDialog
from tests.gui.conftest import Stage
from tests.gui.load_options_dialog import Options

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


class LateWords:
    """What dialogs ask for, and what is said of it only once they are gone."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._held: list[Event] = []
        stage.desk.take_from_store = self._take

    def _take(self, event: Event) -> None:
        if isinstance(event, StoreMeasured):
            self._held.append(event)
        else:
            self._stage.desk.program.dispatch(event)

    def come(self) -> None:
        """Say it, and change what dialogs show besides."""
        desk = self._stage.desk
        for event in self._held:
            desk.program.dispatch(event)
        if desk.dry_run.asked:
            desk.dry_run.answer()
        desk.settle()
        desk.program.load_options.changed.emit()
        self._stage.themes.toggle()


@pytest.fixture
def late(ready: Stage) -> LateWords:
    words = LateWords(ready)
    Closing(ready.desk.program.answers, ready.window, lambda: None)
    ready.sends("Hi")
    ready.engine.prompt()
    ready.engine.write("One")
    ready.settle()
    return words


def preferences(stage: Stage) -> QDialog:
    stage.triggers("preferences_action")
    return in_front(stage, stage.find_as(PreferencesDialog))


def load_options(stage: Stage) -> QDialog:
    return in_front(stage, Options(stage).dialog)


def in_front(stage: Stage, dialog: QDialog) -> QDialog:
    """Wait until keys go to a dialog."""
    stage.bot.waitUntil(dialog.isActiveWindow)
    return dialog


def throw_away() -> None:
    """Delete what is waiting to be deleted."""
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.mark.parametrize("opens", [preferences, load_options])
def test_a_dialog_that_is_closed_while_tokens_come_is_gone_and_the_answer_goes_on(
    ready: Stage, late: LateWords, opens: Callable[[Stage], QDialog]
) -> None:
    dialog = opens(ready)
    ready.engine.write(" two")
    ready.settle()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    throw_away()
    assert not isValid(dialog)
    late.come()
    ready.engine.write(" three")
    ready.engine.finish()
    ready.settle()
    assert ready.transcript_text() == "Hi\n\nOne two three"
    again = opens(ready)
    assert again.isVisible()
    again.close()


@pytest.mark.parametrize("opens", [preferences, load_options])
def test_a_window_that_is_closed_over_a_dialog_takes_it_along(
    ready: Stage, late: LateWords, opens: Callable[[Stage], QDialog]
) -> None:
    dialog = opens(ready)
    ready.window.close()
    ready.window.deleteLater()
    throw_away()
    assert not isValid(dialog)
    late.come()
    ready.engine.write(" two")
    ready.engine.finish()
    ready.settle()
    assert ready.desk.program.chat.turns[-1].text == "One two"
