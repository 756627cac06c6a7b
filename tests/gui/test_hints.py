"""Hints on hover: wrapped, never read as markup, and plain for those who listen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from PySide6.QtGui import QAccessible, QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.core.words import translate
from app.gui.widgets.words import LONGEST_LINE, hint_of, render, set_hint

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

LONG = "The number that all chance comes from: with the same seed & settings < and the same chat, the answer is the same."
GUI = Path(__file__).parents[2] / "app" / "gui"


@pytest.mark.parametrize("name", ["معلم", "מורה"])
def test_a_name_that_runs_right_to_left_does_not_turn_its_sentence_round(name: str) -> None:
    said = render(translate("Test", "“{name}” is used {times} times.", name=name, times=2))
    assert said == f"\u200e“\u2068{name}\u2069” is used 2 times."
    assert render(translate("Test", "“{name}”", name="Ünïcödé 日本")) == "“Ünïcödé 日本”"


def test_a_long_hint_is_wrapped(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    set_hint(widget, LONG)
    QToolTip.showText(widget.mapToGlobal(widget.rect().center()), widget.toolTip(), widget)
    shown = next(each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))
    metrics = QFontMetrics(shown.font())
    assert shown.width() < metrics.horizontalAdvance(LONG) * 0.75
    assert shown.height() > 2 * metrics.height()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible(), timeout=60_000)


def test_nothing_in_a_hint_is_markup(qtbot: QtBot) -> None:
    hint = hint_of("Remove “<b>bold</b> & more”\nsecond line")
    label = QLabel(hint)
    qtbot.addWidget(label)
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more”<br>second line" in hint
    assert hint_of("short & plain\nin two lines") == "short & plain\nin two lines"
    assert hint_of("x" * (LONGEST_LINE + 1)).startswith("<qt>")


def test_those_who_listen_hear_plain_text(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)

    def heard() -> str:
        found = QAccessible.queryAccessibleInterface(widget)
        assert found is not None
        return found.text(QAccessible.Text.Description)

    set_hint(widget, LONG)
    assert heard() == LONG and widget.toolTip() != LONG
    set_hint(widget, "short")
    assert heard() == widget.toolTip() == "short"
    set_hint(widget, "")
    assert heard() == widget.toolTip() == ""


def test_a_description_of_its_own_stays(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.setAccessibleDescription("mine")
    set_hint(widget, LONG)
    assert widget.accessibleDescription() == "mine"


@pytest.mark.parametrize("file", sorted(GUI.rglob("*.py")), ids=lambda file: file.stem)
def test_every_hint_of_a_widget_goes_the_one_way(file: Path) -> None:
    calls = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setToolTip"
    ]
    assert file.stem == "words" or all("hint_of(" in call for call in calls), calls
