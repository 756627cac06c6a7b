"""A paragraph, a heading or a rule as it is painted. Knows no widget."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.chat.leaf import Range, Spot
from app.gui.chat.rich_text import RichText
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Paragraph, Rule

RULE_PX = 17
_HEADINGS_PX = {1: theme.TITLE_PX, 2: theme.HEADING_PX}
_HEADING_LINE = 1.4
QUIET_PX, QUIET_LINE_PX = 14, 21
"""Of the thinking over an answer, whose headings are no larger than the answer's text."""


class TextView(msgspec.Struct, gc=False, eq=False):
    """One paragraph or heading; its lines are made where somebody looks. As `values` says, no part of a circle."""

    value: Paragraph
    formulas: Formulas | None = None
    """What draws those in the text; without it their source is shown."""
    is_quiet: bool = False
    """Whether it is thinking, which is a little smaller than an answer."""
    length: int = 0
    """How many characters `text` has."""
    _made: RichText | None = None
    _width: float = -1.0
    _height: float = 0.0
    drop: float = 0.0
    """By how much its first line lies lower than others because a formula in it is high."""
    _is_waiting: bool = False
    """Whether it was measured with the source of a formula that is being drawn."""

    def __post_init__(self) -> None:
        """Count the characters."""
        self.length = len(self.value.place.prefix) + sum(len(run.text) for run in self.value.runs)

    @property
    def text(self) -> str:
        """The text, behind the marker of a list where it begins an item."""
        return self.value.text

    @property
    def height(self) -> float:
        """Height of all lines."""
        return self._height

    @property
    def open_top(self) -> float:
        """Where it begins: what comes may change the style of what is there."""
        return 0.0

    @property
    def is_unfinished(self) -> bool:
        """Whether it would look better painted once more: when a formula in it is drawn."""
        return self._is_waiting

    def lay_out(self, width: float) -> None:
        """Wrap the text, unless that is done for the width and no formula has come for it."""
        if width != self._width or self._is_waiting:
            self._width = width
            lines = self._lines()
            self._height, self.drop, self._is_waiting = lines.height, lines.drop, lines.is_waiting

    def reach(self, _top: float, _bottom: float) -> float:
        """Have nothing to measure: it is never long."""
        return 0.0

    def go_on_from(self, before: TextView) -> float:
        """Take the place of a text that grew; return how much of its picture stays as it is, from the top."""
        if before._made is None:
            return 0.0
        stays = self._rich().go_on_from(before._made)
        same = self.value.level == before.value.level and self.value.place == before.value.place
        return stays if same else 0.0

    def release(self) -> None:
        """Drop the lines; the height stays."""
        self._made = None

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the lines."""
        shift = len(self.value.place.prefix)
        chosen = (selected[0] - shift, selected[1] - shift) if selected is not None else None
        self._lines().draw(painter, origin, clip, look, chosen)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        return len(self.value.place.prefix) + self._lines().offset_at(x, y)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, one place for each line that they lie in."""
        shift = len(self.value.place.prefix)
        return self._lines().rects(start - shift, end - shift)

    def spots(self) -> list[Spot]:
        """Return the links."""
        return self._lines().spots() if any(run.target for run in self.value.runs) else []

    def _lines(self) -> RichText:
        made = self._rich()
        made.lay_out(self._width)
        return made

    def _rich(self) -> RichText:
        if self._made is None:
            pixels, line_px = self._pixels()
            font = theme.reading_font(pixels, bold=self.value.level > 0)
            self._made = RichText(self.value.runs, font, theme.reading_px(line_px), formulas=self.formulas)
        return self._made

    def _pixels(self) -> tuple[int, int]:
        """Return the size of the text and of a line."""
        is_heading = self.value.level in _HEADINGS_PX
        if self.is_quiet and not is_heading:
            return QUIET_PX, QUIET_LINE_PX
        if self.is_quiet or not is_heading:
            return theme.READING_PX, theme.READING_LINE_PX
        pixels = _HEADINGS_PX[self.value.level]
        return pixels, round(pixels * _HEADING_LINE)


class RuleView:
    """One line from edge to edge."""

    is_unfinished = False
    height = float(RULE_PX)
    open_top = 0.0

    def __init__(self, value: Rule) -> None:
        self.text = value.text
        self.length = len(self.text)
        self._width = 0.0

    def lay_out(self, width: float) -> None:
        """Be as wide as the turn."""
        self._width = width

    def reach(self, _top: float, _bottom: float) -> float:
        """Have nothing to measure."""
        return 0.0

    def release(self) -> None:
        """Have nothing to drop."""

    def draw(
        self, painter: QPainter, origin: QPointF, _clip: QRectF, look: theme.Theme, _selected: Range | None
    ) -> None:
        """Draw the line."""
        middle = origin.y() + RULE_PX / 2
        painter.setPen(QPen(look.colour("border"), 1))
        painter.drawLine(QPointF(origin.x(), middle), QPointF(origin.x() + self._width, middle))

    def offset_at(self, x: float, _y: float) -> int:
        """Return the character at a place."""
        return len(self.text) if x > self._width / 2 else 0

    def spots(self) -> list[Spot]:
        """Return no place."""
        return []
