from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.gui import first_paint
from app.gui.first_paint import FirstPaint


class Painted(QWidget):
    """Notes when it is painted."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        self._seen.append("painted")


def test_what_takes_long_begins_once_when_somebody_sees_the_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_paint, "NEVER_MS", 3_600_000)
    seen: list[str] = []
    window = Painted(seen)
    qtbot.addWidget(window)
    FirstPaint(window, lambda: seen.append("begun"))
    window.show()
    assert "begun" not in seen
    qtbot.waitUntil(lambda: "begun" in seen, timeout=60_000)
    window.repaint()
    window.repaint()
    assert (seen[0], seen.count("begun")) == ("painted", 1)


def test_a_window_that_nobody_paints_is_not_waited_for(qtbot: QtBot) -> None:
    seen: list[str] = []
    window = Painted(seen)
    qtbot.addWidget(window)
    FirstPaint(window, lambda: seen.append("begun"))
    qtbot.waitUntil(lambda: seen == ["begun"], timeout=60_000)
    window.show()
    qtbot.waitUntil(lambda: "painted" in seen, timeout=60_000)
    assert seen.count("begun") == 1
