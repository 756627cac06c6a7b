"""How the line of a row is told from the others: by its letter first, its pattern, and only then a colour."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from app.core.comparison import LETTERS as ALL_LETTERS
from app.gui import theme
from app.gui.charts.line_patterns import PATTERNS, SOLID

MOST_LINES = 8
"""As many as there are patterns."""
LETTERS = ALL_LETTERS[:MOST_LINES]
LINE_PX, MARK_PX, SAMPLE_PX = 2.0, 30, 34
"""A line of so many px, the room of one with what is beside it, and a piece that shows each pattern whole."""


def line_colour(number: int, look: theme.Theme) -> QColor:
    """Return the colour of the line of a row: those of the lanes and of the stages mean something else."""
    return look.colour(f"plan_line_{LETTERS[number % MOST_LINES].lower()}")


def line_pen(number: int, look: theme.Theme, width: float = LINE_PX) -> QPen:
    """Return what the line of a row is drawn with."""
    pen = QPen(line_colour(number, look), width)
    pattern = PATTERNS[number % MOST_LINES]
    if pattern is not SOLID:
        pen.setDashPattern(pattern)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen
