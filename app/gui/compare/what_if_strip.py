"""All tokens of a lane under other settings as a row of bars: how probable each was, which would have been cut, by what."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.compare.lane_mark import lane_colour
from app.gui.compare.lane_overlay import stage_pen
from app.gui.compare.what_if_words import token_state
from app.services.lane_analysis import LaneWhatIf

HEIGHT_PX = 56
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}


class WhatIfStrip(QWidget):
    """The arrow keys walk the tokens."""

    token_changed = Signal(str)
    """Another token is looked at: what is known of it."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._found: LaneWhatIf | None = None
        self._text = ""
        self._at: int | None = None
        self.setObjectName("what_if_strip")
        self.setAccessibleName(self.tr("Tokens under these settings"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.scaled(HEIGHT_PX))
        themes.changed.connect(self.update)

    def show_found(self, found: LaneWhatIf | None, text: str) -> None:
        """Show other tokens; the place that somebody looks at stays."""
        self._found, self._text = found, text
        total = len(found.tokens) if found is not None else 0
        self._at = min(self._at, total - 1) if self._at is not None and total else None
        self._tell()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a low row."""
        return QSize(240, self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk the tokens."""
        total = len(self._found.tokens) if self._found is not None else 0
        step = _STEPS.get(Qt.Key(event.key()))
        if not total:
            super().keyPressEvent(event)
        elif step is not None:
            is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            self._look_at(min(max((self._at or 0) + (-step if is_turned else step), 0), total - 1))
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._look_at(0 if event.key() == Qt.Key.Key_Home else total - 1)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Look at the token under the pointer."""
        total = len(self._found.tokens) if self._found is not None else 0
        if total:
            x = event.position().x()
            x = self.width() - x if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else x
            self._look_at(min(max(int(x * total / max(self.width(), 1)), 0), total - 1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Look at the first token."""
        super().focusInEvent(event)
        if self._at is None and self._found is not None and self._found.tokens:
            self._look_at(0)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bars."""
        painter = QPainter(self)
        look = self._themes.current
        painter.fillRect(self.rect(), look.colour("sunken"))
        found = self._found
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        if found is not None and found.tokens:
            step = self.width() / len(found.tokens)
            for number in range(len(found.tokens)):
                self._paint_token(painter, look, found, number, QRectF(number * step, 0, step, self.height()))
            if self._at is not None:
                place = QRectF(self._at * step, 1, max(step, 3.0), self.height() - 2)
                painter.setPen(QPen(look.colour("accent"), 2))
                painter.drawRect(place)
        if self.hasFocus():
            painter.setPen(QPen(look.colour("accent"), look.line_px + 1))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_token(
        self, painter: QPainter, look: theme.Theme, found: LaneWhatIf, number: int, place: QRectF
    ) -> None:
        token, room = found.tokens[number], place.height() - 4
        bar = QRectF(place.left(), 2, max(place.width() - (1 if place.width() > 3 else 0), 1.0), room)
        if token.state == "cut":
            tint = look.colour("danger")
            tint.setAlphaF(0.18)
            painter.fillRect(bar, tint)
            painter.setPen(stage_pen(token.stage or "", look))
            middle = bar.center().x()
            painter.drawLine(QPointF(middle, bar.top()), QPointF(middle, bar.bottom()))
        elif token.state == "unknown":
            painter.fillRect(bar, QBrush(look.colour("muted"), Qt.BrushStyle.BDiagPattern))
        elif token.after is None:
            painter.fillRect(QRectF(bar.left(), bar.center().y() - 1, bar.width(), 2), look.colour("muted"))
        else:
            height = max(room * token.after, 1.0)
            painter.fillRect(
                QRectF(bar.left(), bar.bottom() - height, bar.width(), height), look.colour(lane_colour(found.lane))
            )

    def _look_at(self, token: int) -> None:
        if token != self._at:
            self._at = token
            self._tell()
            self.update()

    def _tell(self) -> None:
        said = ""
        if self._found is not None and self._at is not None:
            said = token_state(self._found, self._at, self._text)
        self.setAccessibleDescription(said)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.token_changed.emit(said)
