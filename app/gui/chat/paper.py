"""Blocks as they are painted on paper, where nothing can be scrolled: code wraps, and what is too wide is made smaller."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.gui import theme
from app.gui.chat.block_pictures import made
from app.gui.chat.code_view import CodeView
from app.gui.chat.leaf import Leaf, Range, Spot
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.values import Block, Code, Paragraph, Rule

_TRIES = 3
"""A table takes the room that it gets: so often it gets more until it fits."""


def paper_picture(value: Block, lexers: Lexers, formulas: Formulas, *, is_open: bool) -> Leaf:
    """Return the picture of a block on paper."""
    match value:
        case Code():
            return CodeView(value, lexers, is_open=False, on_paper=True)
        case Paragraph() | Rule():
            return made(value, lexers, formulas, is_open=is_open)
    return Shrunk(made(value, lexers, formulas, is_open=is_open))


class Shrunk:
    """A block that is painted smaller where it would be scrolled sideways otherwise."""

    is_unfinished = False
    open_top = 0.0

    def __init__(self, leaf: Leaf) -> None:
        self._leaf = leaf
        self._factor = 1.0
        self._width = -1.0

    @property
    def text(self) -> str:
        """The text that can be selected."""
        return self._leaf.text

    @property
    def length(self) -> int:
        """How many characters `text` has."""
        return self._leaf.length

    @property
    def height(self) -> float:
        """Height in the width that it was laid out for."""
        return self._leaf.height * self._factor

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done."""
        if width == self._width:
            return
        self._width = needed = width
        for _ in range(_TRIES):
            self._leaf.lay_out(needed)
            scrolled = (spot.sideways for spot in self._leaf.spots() if spot.sideways is not None)
            beyond = max((each.content - each.room for each in scrolled), default=0.0)
            if beyond <= 0:
                break
            needed += beyond + 1.0
        self._leaf.lay_out(needed)
        self._factor = width / needed

    def reach(self, top: float, bottom: float) -> float:
        """Measure what lies between two heights; return by how much what was at the first moved down."""
        return self._leaf.reach(top / self._factor, bottom / self._factor) * self._factor

    def release(self) -> None:
        """Drop what was measured; the height stays."""
        self._leaf.release()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw what touches `clip`."""
        painter.save()
        painter.translate(origin)
        painter.scale(self._factor, self._factor)
        inside = clip.translated(-origin)
        size = 1 / self._factor
        seen = QRectF(inside.x() * size, inside.y() * size, inside.width() * size, inside.height() * size)
        self._leaf.draw(painter, QPointF(0, 0), seen, look, selected)
        painter.restore()

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        return self._leaf.offset_at(x / self._factor, y / self._factor)

    def spots(self) -> list[Spot]:
        """Return nothing: paper cannot be pressed."""
        return []
