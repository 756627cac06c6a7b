"""Paints what was found: the title of the chat and the day, and below a line or two out of the message.

What was looked for is bold in the colour of actions, so that it is seen without colours, too.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette, QTextCharFormat
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.core.search import FoundChat, FoundMessage
from app.gui import theme
from app.gui.history.found_model import FoundRole, Index
from app.gui.history.found_piece import LINES, laid_out

_PADDING_PX, _GAP_PX = 6, 2
_RADIUS = theme.RADIUS_CONTROL


class FoundDelegate(QStyledItemDelegate):
    """Rows of one height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of every row."""
        title = QFontMetrics(theme.font(theme.BASE_PX, bold=True)).height()
        text = QFontMetrics(theme.font(theme.SMALL_PX)).lineSpacing()
        return QSize(0, title + LINES * text + theme.scaled(2 * _PADDING_PX + _GAP_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, row = option.palette, option.rect.adjusted(0, 1, -1, -1)
        self._paint_ground(painter, option, row)
        padding = theme.scaled(_PADDING_PX)
        place = option.rect.adjusted(theme.SPACE_M, padding, -theme.SPACE_M, -padding)
        height = self._paint_title(painter, place, palette, str(index.data()), str(index.data(FoundRole.DAY)))
        below = place.adjusted(0, height + theme.scaled(_GAP_PX), 0, 0)
        self._paint_text(painter, below, palette, index.data(FoundRole.HIT))
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, row: QRect) -> None:
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            colour = QColor(option.palette.color(QPalette.ColorRole.Midlight))
            colour.setAlphaF(1.0 if is_current else 0.6)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(row, _RADIUS, _RADIUS)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(option.palette.color(QPalette.ColorRole.Highlight))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(row, _RADIUS, _RADIUS)

    def _paint_title(self, painter: QPainter, place: QRect, palette: QPalette, title: str, day: str) -> int:
        """Paint the first line and return its height; of a long title what has no room beside the day goes."""
        small = QFontMetrics(theme.font(theme.SMALL_PX))
        bold = theme.font(theme.BASE_PX, bold=True)
        metrics = QFontMetrics(bold)
        line = QRect(place.left(), place.top(), place.width(), metrics.height())
        taken = small.horizontalAdvance(day) + theme.SPACE_S
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, day)
        painter.setFont(bold)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, place.width() - taken)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        return metrics.height()

    def _paint_text(self, painter: QPainter, place: QRect, palette: QPalette, hit: FoundChat | FoundMessage) -> None:
        look = QTextCharFormat()
        look.setFontWeight(QFont.Weight.Bold)
        look.setForeground(palette.color(QPalette.ColorRole.Highlight))
        layout = laid_out(hit.snippet, theme.font(theme.SMALL_PX), look, place.width())
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        # What hangs below a line of Chinese hangs into the room around the row.
        painter.setClipRect(place.adjusted(0, 0, 0, theme.scaled(_PADDING_PX)))
        layout.draw(painter, QPointF(place.topLeft()))
