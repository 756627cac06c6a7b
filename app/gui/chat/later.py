"""Code or a table whose picture is made once somebody looks at it: an answer may hold thousands that nobody sees."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.gui import theme
from app.gui.chat.code_view import CodeView
from app.gui.chat.growing_text import WHOLE_CHARACTERS
from app.gui.chat.leaf import Leaf, Range, Spot
from app.gui.chat.table_view import TableView
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.values import Code, Table


class Later(msgspec.Struct, gc=False, eq=False):
    """A block that is light until it is laid out; as `values` says, no part of a circle."""

    value: Code | Table
    lexers: Lexers
    formulas: Formulas
    is_open: bool
    length: int
    """How many characters `text` has."""
    _picture: CodeView | TableView | None = None

    @property
    def text(self) -> str:
        """The text that can be selected."""
        return self.value.text

    @property
    def height(self) -> float:
        """Height in the width that it was laid out for."""
        return self._made().height

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        return self._picture.open_top if self._picture is not None else 0.0

    @property
    def is_unfinished(self) -> bool:
        """Whether it would look better painted once more, a moment later."""
        return self._picture is not None and self._picture.is_unfinished

    @property
    def is_scrolled(self) -> bool:
        """Whether somebody scrolled it sideways."""
        return self._picture is not None and self._picture.is_scrolled

    def grow(self, value: Code | Table, *, is_open: bool) -> bool:
        """Take over a block that goes on where this one ends; return whether it does and the picture can stay."""
        picture = self._picture
        if isinstance(picture, CodeView) and isinstance(value, Code):
            grew = picture.grow(value, is_open=is_open)
        else:
            same = value == self.value
            grew = same or (isinstance(picture, TableView) and isinstance(value, Table) and picture.grow(value))
        if grew:
            self.value, self.is_open = value, is_open
            self.length = picture.length if picture is not None else self.length
        return grew

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done."""
        self._made().lay_out(width)

    def reach(self, top: float, bottom: float) -> float:
        """Measure what lies between two heights; return by how much what was at the first moved down."""
        return self._made().reach(top, bottom)

    def release(self) -> None:
        """Drop what was measured, and the picture where it is soon made again as it was."""
        if self._picture is None:
            return
        self._picture.release()
        if self.length <= WHOLE_CHARACTERS and not self.is_scrolled:
            self._picture = None

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw what touches `clip`, with a range of characters selected."""
        self._made().draw(painter, origin, clip, look, selected)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        return self._made().offset_at(x, y)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, one place for each line that they lie in."""
        self._made()
        return self._picture.rects(start, end) if self._picture is not None else []

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll sideways until the first line of some characters is seen; return whether anything moved."""
        return self._picture is not None and self._picture.bring_into_view(start, end)

    def spots(self) -> list[Spot]:
        """Return the places that do something, in reading order."""
        return self._made().spots()

    def _made(self) -> Leaf:
        if self._picture is None:
            value = self.value
            self._picture = (
                CodeView(value, self.lexers, is_open=self.is_open)
                if isinstance(value, Code)
                else TableView(value, self.formulas)
            )
        return self._picture


def later(value: Code | Table, lexers: Lexers, formulas: Formulas, *, is_open: bool) -> Later:
    """Return a block whose picture is not made yet; `is_open` says that more of it will come."""
    length = len(value.place.prefix) + len(value.code) if isinstance(value, Code) else len(value.text)
    return Later(value, lexers, formulas, is_open, length)
