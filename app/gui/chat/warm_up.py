"""Painting an answer where nobody sees it: the first one that is read and painted costs a quarter of a second."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap

from app.gui import theme
from app.gui.chat.turn_block import Shape, TurnBlock
from app.services.turns import Turn

_TEXT = "# Aa 0\n\n“é” – … **b** *i* `c`\n\n- a\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1  # c\n```\n"


def warm_up(look: theme.Theme) -> None:
    """Read, lay out and paint one of everything that an answer often holds."""
    block = TurnBlock(Turn(0, "assistant", _TEXT))
    block.lay_out(theme.reading_width())
    picture = QPixmap(int(theme.reading_width()), block.height)
    painter = QPainter(picture)
    block.paint(painter, Shape(0, picture.width()), QRectF(picture.rect()), look, None)
    painter.end()
