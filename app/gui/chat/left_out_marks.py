"""What shows that a message is not sent any more: a line beside it, and under the last of them one across the column."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.gui import theme
from app.gui.chat.turn_block import GAP_PX

LINE_PX = 3
ACROSS_PX = 2
_SHARE = 0.6
"""Of the column, for the words: the buttons of the turn lie on the other side."""
_ABOVE_NEXT_PX = theme.SPACE_S
"""From the line across to the next turn; the words stand above the line, with what they speak of."""


def left_out_words() -> str:
    """Return what is said of messages that are not sent any more."""
    return QCoreApplication.translate("LeftOut", "Not sent any more: the context is full")


def divider_words() -> str:
    """Return what stands where the messages end that are not sent any more."""
    return QCoreApplication.translate("LeftOut", "Above: not sent any more, the context is full")


def paint_mark(painter: QPainter, place: QRect, look: theme.Theme, *, is_last: bool, is_user: bool) -> None:
    """Paint the line beside a turn that lies at a place, over the gap to the next; the last one ends with words."""
    height = place.height() + (GAP_PX - _ABOVE_NEXT_PX if is_last else GAP_PX)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.colour("border_strong"))
    line = QRectF(place.left() - theme.SPACE_L, place.top(), LINE_PX, height)
    painter.drawRect(line)
    if not is_last:
        return
    bottom = line.bottom()
    painter.drawRect(QRectF(line.left(), bottom - ACROSS_PX, place.right() + 1 - line.left(), ACROSS_PX))
    font = theme.reading_font(theme.SMALL_PX)
    painter.setFont(font)
    painter.setPen(look.colour("muted"))
    width = place.width() * _SHARE
    words = QFontMetricsF(font).elidedText(divider_words(), Qt.TextElideMode.ElideRight, width)
    left = place.left() if is_user else place.left() + place.width() - width
    side = Qt.AlignmentFlag.AlignLeft if is_user else Qt.AlignmentFlag.AlignRight
    room = QRectF(left, place.bottom() + 1, width, bottom - ACROSS_PX - place.bottom() - 1)
    painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, words)
