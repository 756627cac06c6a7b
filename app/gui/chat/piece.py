"""A paragraph of plain text, or a part of a long one, laid out in lines. Every character is shown as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextOption

from app.gui import theme
from app.gui.widgets.code_units import units

TAB_SPACES = 4
_BREAK = re.compile("\r(?!\\Z)|[\x0b\x0c\x85\u2029]")
"""Ends of lines that Qt takes for nothing or for a character; a return at the end is the first half of a line's end."""


@dataclass(frozen=True)
class Setting:
    """How paragraphs are laid out."""

    font: QFont
    line_px: int
    width: float


@dataclass(slots=True)
class Piece:
    """A paragraph, or a part of a long one."""

    layout: QTextLayout
    text: str
    start: int
    top: float
    """Counted from the top of its part."""
    height: float
    width: float
    from_right: bool = False
    """Whether its lines end at the right edge, because it runs right to left."""
    look: theme.Theme | None = None
    """Whose colours of parts it has."""


def laid_out(
    text: str,
    start: int,
    top: float,
    setting: Setting,
    from_right: bool | None,
    formats: list[QTextLayout.FormatRange] | None = None,
) -> Piece:
    """Return a paragraph in lines; `from_right` says which way it runs, None that its characters decide alone."""
    layout = QTextLayout(_BREAK.sub("\u2028", text), setting.font)
    layout.setFormats(formats or [])
    layout.setTextOption(_option(setting.font, from_right))
    layout.setCacheEnabled(True)
    height = width = 0.0
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(setting.width)
        step = max(line.height(), setting.line_px)
        line.setPosition(QPointF(0, height + (step - line.height()) / 2))
        height += step
        width = max(width, line.naturalTextWidth())
    layout.endLayout()
    return Piece(layout, text, start, top, max(height, float(setting.line_px)), width, bool(from_right))


def rects_in(piece: Piece, start: int, end: int) -> list[QRectF]:
    """Return where characters, counted in the whole text, are seen in a paragraph: a place for each of its lines."""
    first, last = (units(piece.text[: max(each - piece.start, 0)]) for each in (start, end))
    found = []
    for number in range(piece.layout.lineCount()):
        line = piece.layout.lineAt(number)
        begin, stop = max(first, line.textStart()), min(last, line.textStart() + line.textLength())
        if begin < stop:
            left, right = sorted(_x(line.cursorToX(each)) for each in (begin, stop))
            found.append(QRectF(left, line.y(), right - left, line.height()))
    return found


def _x(answer: object) -> float:
    """Return the place of a cursor, which the binding gives alone or with the cursor it moved to."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]  # a number else


def _option(font: QFont, from_right: bool | None) -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTabStopDistance(QFontMetricsF(font).horizontalAdvance(" ") * TAB_SPACES)
    if from_right is not None:
        option.setAlignment(Qt.AlignmentFlag.AlignRight if from_right else Qt.AlignmentFlag.AlignLeft)
        option.setTextDirection(Qt.LayoutDirection.RightToLeft if from_right else Qt.LayoutDirection.LeftToRight)
    return option
