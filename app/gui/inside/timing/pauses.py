"""Marks of time that is left out of a timeline: the sign of a pause in a strip of its own, and what it says beside it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.timing.bar_words import pauses_sentence
from app.gui.widgets.labels import label
from app.services.timeline_values import AnswerTimeline

STRIP_PX = 12
"""The height of the strip that the signs stand in."""
_BAR_PX, _GAP_PX, _HEIGHT_PX = 3, 2, 9
APART_PX = 14.0
"""Of signs that are closer than this the first one stands for all."""


def sign_places(places: Iterable[float]) -> list[float]:
    """Return where signs are painted, so that each can be told from the next; `places` are those of all pauses."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] >= APART_PX:
            found.append(place)
    return found


def paint_sign(painter: QPainter, middle: QPointF, colour: QColor) -> None:
    """Paint the sign of a pause around a point."""
    top = middle.y() - _HEIGHT_PX / 2
    for left in (-_BAR_PX - _GAP_PX / 2, _GAP_PX / 2):
        painter.fillRect(QRectF(middle.x() + left, top, _BAR_PX, _HEIGHT_PX), colour)


class _Sign(QWidget):
    """The sign alone."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        stand_alone(self)
        self._themes = themes
        self.setFixedSize(2 * _BAR_PX + _GAP_PX + 2, STRIP_PX)
        themes.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it."""
        painter = QPainter(self)
        paint_ground(painter, self)
        paint_sign(painter, QRectF(self.rect()).center(), self._themes.current.colour("text"))
        painter.end()


class PauseLegend(QWidget):
    """Says what the signs are, and how much is left out; hidden where nothing is."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.words = label(look="muted", pixels=theme.SMALL_PX, name="time_pauses")
        self.words.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(_Sign(themes))
        row.addWidget(self.words, 1)

    def show_of(self, line: AnswerTimeline | None) -> None:
        """Say what is left out of a timeline."""
        said = pauses_sentence(line) if line is not None else ""
        self.words.setText(said)
        self.setVisible(bool(said))
