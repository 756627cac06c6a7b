"""How wide the columns of a table are, and about how wide a cell would like to be. Knows numbers, runs and fonts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtGui import QFont, QFontMetricsF

from app.gui.chat.rich_text import RichText, style_of
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Run, Runs

LEAST_PX = 112.0
"""A column is not made narrower than this: the table is scrolled sideways instead."""
SCROLLED_PX = 240.0
"""The widest column of a table that is scrolled sideways."""
_LAST_SIMPLE = "\u024f"


def column_widths(natural: Sequence[float], room: float) -> list[float]:
    """Return widths for columns that would like to be so wide: where they can they share the room.

    Wide columns give way first. Where even narrow ones do not fit, the table is wider than the room.
    """
    if sum(natural) <= room:
        return list(natural)
    if sum(min(width, LEAST_PX) for width in natural) > room:
        return [min(width, SCROLLED_PX) for width in natural]
    low, high = LEAST_PX, max(natural)
    for _ in range(32):
        middle = (low + high) / 2
        if sum(min(width, middle) for width in natural) > room:
            high = middle
        else:
            low = middle
    return [min(width, low) for width in natural]


def is_simple(run: Run) -> bool:
    """Return whether a run is one line of letters that every font has, so that its line is of ordinary height."""
    text = run.text
    if run.formula or run.raised or "\n" in text:
        return False
    return text.isascii() or max(text) <= _LAST_SIMPLE


@dataclass
class CellFonts:
    """What measures the cells of a table in a font."""

    font: QFont
    line_px: int
    formulas: Formulas | None = None
    _known: dict[tuple[bool, bool, bool], QFontMetricsF] = field(default_factory=dict)

    def natural_width(self, runs: Runs) -> float:
        """Return how wide a cell is if nothing in it wraps; it is laid out only where that is not simply told."""
        if all(is_simple(run) for run in runs):
            return sum(self._metrics(run).horizontalAdvance(run.text) for run in runs)
        return RichText(runs, self.font, self.line_px, formulas=self.formulas).natural_width

    def _metrics(self, run: Run) -> QFontMetricsF:
        key = run.bold, run.italic, run.code
        if key not in self._known:
            font = style_of(run, self.font).font()
            self._known[key] = QFontMetricsF(font.resolve(self.font))
        return self._known[key]
