"""What is painted beside the blocks of an answer: the bars of quotes, and the bullets and numbers of lists."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.gui import theme
from app.gui.chat.block_places import BAR_PX, Indent
from app.gui.chat.laid import Laid
from app.gui.chat.text_view import QUIET_PX, TextView
from app.gui.markdown.values import Block


def draw_bars(
    painter: QPainter, block: QRectF, gap: float, indent: Indent, before: Block | None, look: theme.Theme
) -> None:
    """Draw the bars of the quotes that a block stands in; those that go on from the block before fill the gap."""
    painter.setPen(Qt.PenStyle.NoPen)
    for number, bar in enumerate(indent.bars):
        goes_on = before is not None and before.place.frames.count("quote") > number
        start = block.top() - gap if goes_on else block.top()
        place = QRectF(block.left() + bar, start, BAR_PX, block.bottom() - start)
        painter.fillRect(place, look.colour("border_strong"))


def draw_marker(painter: QPainter, block: QRectF, laid: Laid, line_px: int, look: theme.Theme) -> None:
    """Draw the bullet or number that a block may have, on its first line, on the side where that begins."""
    marker, indent = laid.value.place.marker, laid.indent
    if not marker:
        return
    is_quiet = isinstance(laid.leaf, TextView) and laid.leaf.is_quiet
    font = theme.reading_font(QUIET_PX if is_quiet else theme.READING_PX)
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    painter.setPen(look.colour("text"))
    length = metrics.horizontalAdvance(marker)
    x = block.left() + indent.left - theme.SPACE_S - length
    if indent.left < indent.taken:
        x = min(block.right() - indent.taken + theme.SPACE_S, block.right() - length)
    height = max(metrics.height(), line_px)
    drop = laid.leaf.drop if isinstance(laid.leaf, TextView) else 0.0
    baseline = block.top() + drop + (height - metrics.height()) / 2 + metrics.ascent()
    painter.drawText(QPointF(max(x, block.left()), baseline), marker)
