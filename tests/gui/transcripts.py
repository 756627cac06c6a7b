"""A transcript on the screen by itself, and what people do with it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat import pointed_view as transcript_module
from app.gui.chat.leaf import Spot
from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.desk import Desk

_SECTION = """## Part {number}

Some **bold** words and `code` that go on for long enough to need a second line in a narrow column of text.

- one
- two
  1. deep

```python
value = {number}  # so many
```

| a | b |
|---|---|
| {number} | two |

> quoted {number}

"""
LONG_ANSWER = "".join(_SECTION.replace("{number}", str(number)) for number in range(250))
"""An answer in which every kind of block comes again and again."""


@pytest.fixture
def themes(desk: Desk, qapp: QApplication) -> theme.Themes:
    return theme.Themes(qapp, desk.program.resources, desk.program.settings)


@pytest.fixture
def transcript(themes: theme.Themes, qtbot: QtBot, qapp: QApplication) -> Iterator[Transcript]:
    made = Transcript(themes)
    made.resize(700, 400)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.setStyleSheet("")


def on_screen(transcript: Transcript) -> QImage:
    """Return what the screen shows once what is due has been painted, and nothing more."""
    QApplication.sendPostedEvents(transcript, QEvent.Type.UpdateRequest)
    return transcript.screen().grabWindow(transcript.winId()).toImage()


def grow(transcript: Transcript, turn: Turn, text: str) -> None:
    turn.text += text
    transcript.grow(turn, text)


def finish(transcript: Transcript, turn: Turn) -> None:
    turn.state = "done"
    transcript.refresh(turn)


def spots(transcript: Transcript, kind: str) -> list[Spot]:
    """Return the links or copy buttons in view, where they lie."""
    transcript.grab()
    return [each.spot for each in transcript._spots_in_view() if each.spot.kind == kind]


def click(transcript: Transcript, spot: Spot) -> None:
    QTest.mouseClick(transcript.viewport(), Qt.MouseButton.LeftButton, pos=spot.rect.center().toPoint())


class Hints:
    """Takes down what is said on hover, in place of Qt's window for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._said: list[str] = []
        monkeypatch.setattr(transcript_module, "QToolTip", SimpleNamespace(showText=self._take))

    def _take(self, _place: QPoint, text: str, _view: QWidget) -> None:
        self._said.append(text)

    def at(self, transcript: Transcript, point: QPoint) -> str:
        """Return what is said at a place of the view."""
        view = transcript.viewport()
        QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, point, view.mapToGlobal(point)))
        return self._said[-1]


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch) -> Hints:
    return Hints(monkeypatch)


def marked_text(transcript: Transcript) -> str:
    """Return what is selected, as it is shown."""
    return "".join(transcript._selected_pieces())


def copied_whole(transcript: Transcript) -> str:
    """Return what selecting everything gives."""
    transcript.select_all()
    return marked_text(transcript)
