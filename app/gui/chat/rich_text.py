"""Runs of text in several styles laid out in lines: a paragraph, a heading or the cell of a table.

Formulas stand on the lines among the words. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from app.gui import theme
from app.gui.chat.code_font import INLINE_SHARE, code_font
from app.gui.chat.growing_text import selection_format
from app.gui.chat.leaf import Range, Spot
from app.gui.chat.shown_runs import FORMULA_SHARE, SIGN, Piece, ShownRuns, is_right_to_left
from app.gui.formulas.picture import Picture
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Align, Run, Runs, text_of
from app.gui.widgets.code_units import characters, units

_ALIGNS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "centre": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
_UNLIMITED = 1_000_000.0
_KNOWN_STYLES = 256
_LEAST_SHARE = 0.6
"""A formula wider than the text is drawn smaller, down to this share of its size."""
_AIR_PX = 2.0
"""Between a high formula and the lines above and below it."""


class _Placed(NamedTuple):
    """A formula with its place."""

    piece: Piece
    picture: Picture
    pixels: float
    """The size that it is drawn in."""
    start: QPointF
    """On the baseline."""
    box: QRectF
    """From the top of its line to the bottom, or further where it is higher."""


class RichText:
    """Runs wrapped at a width; a theme only changes their colours, so it never changes where anything lies."""

    def __init__(
        self, runs: Runs, font: QFont, line_px: int, align: Align = "left", formulas: Formulas | None = None
    ) -> None:
        self.runs = runs
        self.text = text_of(runs)
        self.height = float(line_px)
        self.drop = 0.0
        """By how much the first line lies lower than others because a formula in it is high."""
        self._last_px = float(line_px)
        """Height of the last line."""
        self._font = font
        self._line_px = line_px
        self._is_right_to_left = is_right_to_left(runs)
        self._align: Align = "right" if self._is_right_to_left and align == "left" else align
        self._formulas = formulas
        self._formula_px = font.pixelSize() * FORMULA_SHARE
        self._shown = ShownRuns(runs, formulas)
        self._arrived = formulas.arrived if formulas is not None else 0
        """How many formulas had been drawn when these were looked for."""
        self._placed: list[_Placed] = []
        self._width = -1.0
        self._natural: float | None = None
        self._layout: QTextLayout | None = None
        self._look: theme.Theme | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a formula is being drawn that will take the place of its source."""
        return self._shown.is_waiting

    @property
    def natural_width(self) -> float:
        """Width of the longest line if nothing wraps."""
        if self._natural is None:
            self._layout = None
            self._show(_UNLIMITED)
            layout = self._made(_UNLIMITED, None, "left")
            lines = (layout.lineAt(n).naturalTextWidth() for n in range(layout.lineCount()))
            self._natural = max(lines, default=0.0)
        return self._natural

    def take_width(self, width: float) -> None:
        """Know the width; the lines are made once they are drawn or asked for."""
        if width != self._width:
            self._width, self._layout = width, None

    def lay_out(self, width: float) -> None:
        """Make the lines for a width, unless they are there and no formula has come for them."""
        if self.is_waiting and self._formulas is not None and self._formulas.arrived != self._arrived:
            self._arrived = self._formulas.arrived
            self._layout, self._natural = None, None
        if self._layout is None or width != self._width:
            self._width = width
            self._show(width)
            self._layout = self._made(width, self._look, self._align)

    def go_on_from(self, before: RichText) -> float:
        """Take the place of a text that grew; return how much of its picture stays as it is, from the top."""
        self._look = before._look
        if not _begins_with(self.runs, before.runs):
            return 0.0
        return max(before.height - before._last_px, 0.0)  # the last word may move to the next line

    def release(self) -> None:
        """Drop the lines."""
        self._layout = None

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the lines that touch `clip`."""
        if self._look is not look:
            self._look = look
            self._layout = None
        self.lay_out(self._width)
        assert self._layout is not None
        painter.setPen(look.colour("text"))
        self._layout.draw(painter, origin, self._selections(selected, look), clip)
        for placed in self._placed:
            if placed.box.translated(origin).intersects(clip):
                self._draw_formula(painter, origin, placed, look, selected)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        self.lay_out(self._width)
        assert self._layout is not None
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            if y < line.y() + line.height() or number == self._layout.lineCount() - 1:
                return self._shown.written_at(characters(self._shown.text, int(line.xToCursor(x))))
        return len(self.text)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, one place for each line that they lie in."""
        self.lay_out(self._width)
        first, last = (units(self._shown.text[: self._shown.shown_at(max(each, 0))]) for each in (start, end))
        return self._rects(first, last)

    def spots(self) -> list[Spot]:
        """Return the links: one place for each line that a link lies in."""
        found: list[Spot] = []
        self.lay_out(self._width)
        for number, piece in enumerate(self._shown.pieces):
            if piece.run.target:
                rects = self._rects(piece.unit, piece.unit + units(piece.shown))
                found += [Spot("link", rect, piece.run.target, (number,)) for rect in rects]
        return found

    def _draw_formula(
        self, painter: QPainter, origin: QPointF, placed: _Placed, look: theme.Theme, selected: Range | None
    ) -> None:
        start, ink = placed.piece.start, look.colour("link" if placed.piece.run.target else "text")
        if selected is not None and selected[0] < start + len(placed.piece.run.text) and selected[1] > start:
            painter.fillRect(placed.box.translated(origin), look.colour("accent"))
            ink = look.colour("on_accent")
        placed.picture.draw(painter, placed.start + origin, placed.pixels, ink)

    def _selections(self, selected: Range | None, look: theme.Theme) -> list[QTextLayout.FormatRange]:
        """Return how the selected parts look, those between the formulas: these are painted by themselves."""
        if selected is None:
            return []
        shown = self._shown
        start, end = shown.shown_at(selected[0]), shown.shown_at(selected[1])
        found = []
        for sign in shown.signs:
            if start < sign.shown_start:
                found += selection_format((start, min(end, sign.shown_start)), shown.text, look)
            start = max(start, sign.shown_start + 1)
        return found + selection_format((start, end), shown.text, look)

    def _rects(self, start: int, end: int) -> list[QRectF]:
        assert self._layout is not None
        found = []
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            if first < last:
                left, right = _x(line.cursorToX(first)), _x(line.cursorToX(last))
                found.append(QRectF(min(left, right), line.y(), abs(right - left), line.height()))
        return found

    def _show(self, width: float) -> None:
        """Find out which formulas are drawn in lines of a width."""
        if any(run.formula for run in self.runs):
            self._shown = ShownRuns(self.runs, self._formulas, width / (self._formula_px * _LEAST_SHARE))

    def _pixels_of(self, picture: Picture, width: float) -> float:
        return min(self._formula_px, width / max(picture.width, 1.0))

    def _made(self, width: float, look: theme.Theme | None, align: Align) -> QTextLayout:
        layout = QTextLayout(self._shown.text.replace("\n", "\u2028"), self._font)
        option = QTextOption(_ALIGNS[align] | Qt.AlignmentFlag.AlignAbsolute)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(
            Qt.LayoutDirection.RightToLeft if self._is_right_to_left else Qt.LayoutDirection.LeftToRight
        )
        layout.setTextOption(option)
        layout.setFormats(
            _formats(self._shown.pieces, self._font, look, lambda picture: self._pixels_of(picture, width))
        )
        layout.setCacheEnabled(True)
        height = 0.0
        drop, last_px = 0.0, float(self._line_px)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            above, below = self._reaches(line)
            line.setPosition(QPointF(0, height + above - line.ascent()))
            drop = drop if height else above - self._usual_above(line)
            last_px = above + below
            height += last_px
        layout.endLayout()
        if width != _UNLIMITED:
            self.height = max(height, float(self._line_px))
            self.drop, self._last_px = drop, last_px
            self._placed = self._places(layout)
        return layout

    def _reaches(self, line: QTextLine) -> tuple[float, float]:
        """Return how far a line reaches above its baseline and below: of equal height unless a formula is higher."""
        above = self._usual_above(line)
        below = max(line.height(), self._line_px) - above
        for sign in self._signs_on(line):
            if sign.picture is not None:
                pixels = self._pixels_of(sign.picture, line.width())
                above = max(above, sign.picture.above * pixels + _AIR_PX)
                below = max(below, sign.picture.below * pixels + _AIR_PX)
        return above, below

    def _usual_above(self, line: QTextLine) -> float:
        return (max(line.height(), self._line_px) - line.height()) / 2 + line.ascent()

    def _signs_on(self, line: QTextLine) -> list[Piece]:
        return self._shown.signs_between(line.textStart(), line.textStart() + line.textLength())

    def _places(self, layout: QTextLayout) -> list[_Placed]:
        found: list[_Placed] = []
        for number in range(layout.lineCount() if self._shown.signs else 0):
            line = layout.lineAt(number)
            baseline = line.y() + line.ascent()
            for sign in self._signs_on(line):
                if sign.picture is None:
                    continue
                left = min(_x(line.cursorToX(sign.unit)), _x(line.cursorToX(sign.unit + 1)))
                pixels = self._pixels_of(sign.picture, line.width())
                box = sign.picture.box(QPointF(left, baseline), pixels)
                line_box = QRectF(left, line.y(), box.width(), line.height())
                found.append(_Placed(sign, sign.picture, pixels, QPointF(left, baseline), box.united(line_box)))
        return found


def _begins_with(runs: Runs, before: Runs) -> bool:
    """Whether runs are those before, with more text in the last one or more runs behind it."""
    if not before:
        return True
    last = len(before) - 1
    if len(runs) <= last or runs[:last] != before[:last]:
        return False
    return replace(runs[last], text="") == replace(before[last], text="") and runs[last].text.startswith(
        before[last].text
    )


def _x(answer: object) -> float:
    """Return the place of a cursor, which the binding gives alone or with the cursor it moved to."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]  # a number else


def _formats(
    pieces: list[Piece], font: QFont, look: theme.Theme | None, pixels_of: Callable[[Picture], float]
) -> list[QTextLayout.FormatRange]:
    formats = []
    for piece in pieces:
        run = piece.run
        if piece.picture is not None:
            style = _room_for(piece.picture.width * pixels_of(piece.picture), font)
        elif run.bold or run.italic or run.struck or run.code or run.target or run.raised or run.formula:
            style = style_of(run, font, look)
        else:
            continue
        chosen = QTextLayout.FormatRange()
        chosen.start, chosen.length, chosen.format = piece.unit, units(piece.shown), style
        formats.append(chosen)
    return formats


def _room_for(width: float, font: QFont) -> QTextCharFormat:
    """Return what makes the sign of a formula as wide as it, and keeps it from being seen."""
    made = QTextCharFormat()
    made.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
    made.setFontLetterSpacing(width - QFontMetricsF(font).horizontalAdvance(SIGN))
    made.setForeground(QColor(0, 0, 0, 0))
    return made


def style_of(run: Run, font: QFont, look: theme.Theme | None = None) -> QTextCharFormat:
    """Return how a run looks in a text of a font, a formula as its source; without a theme it has no colours."""
    sunken = look.colours["sunken"] if look is not None and run.code else ""
    name = "link" if run.target else "muted" if run.formula else ""
    ink = look.colours[name] if look is not None and name else ""
    pixels = font.pixelSize() if run.code or run.formula else 0
    plain = replace(run, text="", formula="", target="", code=False)
    return _style(plain, bool(run.target), pixels, sunken, ink)


@lru_cache(_KNOWN_STYLES)
def _style(run: Run, is_link: bool, code_pixels: int, sunken: str, ink: str) -> QTextCharFormat:
    """Make a style once: a paragraph full of marks has hundreds of runs in few styles, and grows with every word."""
    made = QTextCharFormat()
    if code_pixels:
        made.setFont(code_font(round(code_pixels * INLINE_SHARE)))
    if run.bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    if run.italic:
        made.setFontItalic(True)
    if run.struck:
        made.setFontStrikeOut(True)
    if is_link:
        made.setFontUnderline(True)
    if sunken:
        made.setBackground(QColor(sunken))
    if run.raised:
        made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
    if ink:
        made.setForeground(QColor(ink))
    return made
