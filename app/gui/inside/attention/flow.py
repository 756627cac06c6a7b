"""The text as its tokens, each tinted and underlined by how much the selected one looked at it.

A click selects the token whose attention is asked for; pointer and arrow keys go to those that it looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent

from app.gui import theme
from app.gui.inside.token_flow import TokenFlow

_CORNER_PX = 3.0
_HEIGHT_PX = 140
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class AttentionFlow(TokenFlow):
    """Shows one text; whoever owns it says which token is selected."""

    selected = Signal(int)
    """Somebody wants the attention of a token."""

    def __init__(self, themes: theme.Themes) -> None:
        self._words: Callable[[int], str] | None = None
        self._query: int | None = None
        super().__init__(themes)
        self.setObjectName("attention_flow")
        self.colour_by("attention")

    def say(self, words: Callable[[int], str] | None) -> None:
        """Say with these words what is known of the token that is looked at."""
        self._words = words
        self._name()

    def show_query(self, token: int | None) -> None:
        """Mark the token whose attention is shown."""
        if token != self._query:
            self._query = token
            self._reveal()
            self.viewport().update()

    def reveal(self, token: int) -> None:
        """Have a token in sight that is not the one looked at."""
        looked, self._current = self._current, token
        super()._reveal()
        self._current = looked

    def sizeHint(self) -> QSize:
        """Ask for a few lines: the rest scrolls, and takes what height is left over."""
        return QSize(super().sizeHint().width(), theme.scaled(_HEIGHT_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the token that is looked at, or the selected one, in view."""
        super().resizeEvent(event)
        self._reveal()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Mark the selected token over all."""
        super().paintEvent(event)
        layout, token = self._layout, self._query
        if layout is None or token is None or token >= len(layout.firsts):
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look, row = self._themes.current, layout.row_of(token)
        for piece in layout.pieces_of(token):
            while row + 1 < layout.rows and layout.starts[row + 1] <= piece:
                row += 1
            box = self._box(piece, row).adjusted(-1.5, -1.5, 1.5, 1.5)
            painter.setPen(QPen(look.colour("stage_kv"), 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, _CORNER_PX, _CORNER_PX)
            painter.setBrush(look.colour("stage_kv"))
            painter.setPen(Qt.PenStyle.NoPen)
            tip = QPointF(box.center().x(), box.top() + 3)
            painter.drawPolygon([tip, tip + QPointF(-4, -5), tip + QPointF(4, -5)])
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the token under the pointer."""
        token = self._token_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and token is not None:
            self.setFocus()
            self.selected.emit(token)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select the token that is looked at with Enter; move among them as in an answer."""
        if Qt.Key(event.key()) in _ENTER and self._current is not None:
            self.selected.emit(self._current)
        else:
            super().keyPressEvent(event)

    def _reveal(self) -> None:
        looked = self._current
        self._current = self._query if looked is None else looked
        super()._reveal()
        self._current = looked

    def _name(self) -> None:
        said = self.tr("Text as tokens, coloured by attention")
        if self._words is not None and self._answer is not None and self._current is not None:
            said = self._words(self._current)
        self.setAccessibleName(said)
