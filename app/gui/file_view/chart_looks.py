"""How the parts of a bar look: a colour, a pattern and a letter each, so that nobody needs the colour."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from app.gui import theme

LETTERS = "ABCDEFGH"
_TOKENS = tuple(f"lane_{letter.lower()}" for letter in LETTERS)
_PATTERNS = (
    Qt.BrushStyle.NoBrush,
    Qt.BrushStyle.FDiagPattern,
    Qt.BrushStyle.HorPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.VerPattern,
    Qt.BrushStyle.DiagCrossPattern,
    Qt.BrushStyle.CrossPattern,
    Qt.BrushStyle.Dense6Pattern,
)
_PATTERN_SHARE = 0.3


class PartLook(NamedTuple):
    """A ground, the lines over it, and the colour of the letter on both."""

    ground: QColor
    pattern: QBrush
    letter: QColor


def part_looks(look: theme.Theme) -> tuple[PartLook, ...]:
    """Return the look of each part in a theme; the last one is for all that come after."""
    text, surface = look.colour("text"), look.colour("surface")
    made = []
    for token, pattern in zip(_TOKENS, _PATTERNS, strict=True):
        ground = look.colour(token)
        letter = max((text, surface), key=lambda colour: theme.contrast(ground, colour))
        lines = QColor(letter)
        lines.setAlphaF(_PATTERN_SHARE)
        made.append(PartLook(ground, QBrush(lines, pattern), letter))
    return tuple(made)


def paint_part(painter: QPainter, place: QRectF, look: PartLook, letter: str) -> None:
    """Paint a part, and its letter where there is room for it on a piece of the bare ground."""
    painter.fillRect(place, look.ground)
    if look.pattern.style() is not Qt.BrushStyle.NoBrush:
        painter.fillRect(place, look.pattern)
    width = painter.fontMetrics().horizontalAdvance(letter)
    if place.width() < width + 4 or not letter:
        return
    bare = QRectF(place.left(), place.top(), width + 4, place.height())
    painter.fillRect(bare, look.ground)
    painter.setPen(look.letter)
    painter.drawText(bare, Qt.AlignmentFlag.AlignCenter, letter)
