"""Runs of text in several styles laid out in lines: a paragraph, a heading or the cell of a table. Knows no widget."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QTextCharFormat, QTextLayout, QTextOption

from app.gui import theme
from app.gui.chat.code_font import INLINE_SHARE, code_font
from app.gui.chat.code_units import characters, units
from app.gui.chat.growing_text import selection_format
from app.gui.chat.leaf import Range, Spot
from app.gui.markdown.values import Align, Run, Runs, text_of

_ALIGNS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "centre": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
_UNLIMITED = 1_000_000.0
_KNOWN_STYLES = 256


class RichText:
    """Runs wrapped at a width; a theme only changes their colours, so it never changes where anything lies."""

    def __init__(self, runs: Runs, font: QFont, line_px: int, align: Align = "left") -> None:
        self.runs = runs
        self.text = text_of(runs)
        self.height = float(line_px)
        self._font = font
        self._line_px = line_px
        self._align = align
        self._width = -1.0
        self._natural: float | None = None
        self._layout: QTextLayout | None = None
        self._look: theme.Theme | None = None

    @property
    def natural_width(self) -> float:
        """Width of the longest line if nothing wraps."""
        if self._natural is None:
            layout = self._made(_UNLIMITED, None, "left")
            lines = (layout.lineAt(n).naturalTextWidth() for n in range(layout.lineCount()))
            self._natural = max(lines, default=0.0)
        return self._natural

    def take_width(self, width: float) -> None:
        """Know the width; the lines are made once they are drawn or asked for."""
        if width != self._width:
            self._width, self._layout = width, None

    def lay_out(self, width: float) -> None:
        """Make the lines for a width, unless they are there."""
        if self._layout is None or width != self._width:
            self._width = width
            self._layout = self._made(width, self._look, self._align)

    def go_on_from(self, before: RichText) -> float:
        """Take the place of a text that grew; return how much of its picture stays as it is, from the top."""
        self._look = before._look
        if not _begins_with(self.runs, before.runs):
            return 0.0
        return max(before.height - self._line_px, 0.0)  # the last word may move to the next line

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
        self._layout.draw(painter, origin, selection_format(selected, self.text, look), clip)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        self.lay_out(self._width)
        assert self._layout is not None
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            if y < line.y() + line.height() or number == self._layout.lineCount() - 1:
                return characters(self.text, int(line.xToCursor(x)))
        return len(self.text)

    def spots(self) -> list[Spot]:
        """Return the links: one place for each line that a link lies in."""
        found: list[Spot] = []
        start = 0
        for number, run in enumerate(self.runs):
            end = start + units(run.text)
            if run.target:
                found += [Spot("link", rect, run.target, (number,)) for rect in self._rects(start, end)]
            start = end
        return found

    def _rects(self, start: int, end: int) -> list[QRectF]:
        self.lay_out(self._width)
        assert self._layout is not None
        found = []
        for number in range(self._layout.lineCount()):
            line = self._layout.lineAt(number)
            first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            if first < last:
                left, right = _x(line.cursorToX(first)), _x(line.cursorToX(last))
                found.append(QRectF(min(left, right), line.y(), abs(right - left), line.height()))
        return found

    def _made(self, width: float, look: theme.Theme | None, align: Align) -> QTextLayout:
        layout = QTextLayout(self.text.replace("\n", "\u2028"), self._font)
        option = QTextOption(_ALIGNS[align])
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(_formats(self.runs, self._font, look))
        layout.setCacheEnabled(True)
        height = 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            step = max(line.height(), self._line_px)
            line.setPosition(QPointF(0, height + (step - line.height()) / 2))
            height += step
        layout.endLayout()
        if width != _UNLIMITED:
            self.height = max(height, float(self._line_px))
        return layout


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


def _formats(runs: Runs, font: QFont, look: theme.Theme | None) -> list[QTextLayout.FormatRange]:
    formats = []
    start = 0
    for run in runs:
        length = units(run.text)
        if run.bold or run.italic or run.struck or run.code or run.target:
            chosen = QTextLayout.FormatRange()
            chosen.start, chosen.length, chosen.format = start, length, style_of(run, font, look)
            formats.append(chosen)
        start += length
    return formats


def style_of(run: Run, font: QFont, look: theme.Theme | None = None) -> QTextCharFormat:
    """Return how a run looks in a text of a font; without a theme it has no colours."""
    sunken = look.colours["sunken"] if look is not None and run.code else ""
    link = look.colours["link"] if look is not None and run.target else ""
    pixels = font.pixelSize() if run.code else 0
    return _style(run.bold, run.italic, run.struck, bool(run.target), pixels, sunken, link)


@lru_cache(_KNOWN_STYLES)
def _style(
    bold: bool, italic: bool, struck: bool, is_link: bool, code_pixels: int, sunken: str, link: str
) -> QTextCharFormat:
    """Make a style once: a paragraph full of marks has hundreds of runs in few styles, and grows with every word."""
    made = QTextCharFormat()
    if code_pixels:
        made.setFont(code_font(round(code_pixels * INLINE_SHARE)))
    if bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    if italic:
        made.setFontItalic(True)
    if struck:
        made.setFontStrikeOut(True)
    if is_link:
        made.setFontUnderline(True)
    if sunken:
        made.setBackground(QColor(sunken))
    if link:
        made.setForeground(QColor(link))
    return made
