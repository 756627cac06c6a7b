"""Measures and breaks the texts of a tree of lanes in the fonts of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextOption

from app.gui import theme

SPARE = 1.5
"""Letters of a text are narrower than those of a font on average."""
NARROW_PX = 120
"""In less room words are cut at their end rather than broken."""


class FontMeasure:
    """Keeps the fonts, which are the same for a whole layout."""

    def __init__(self) -> None:
        self.font: QFont = theme.font(theme.BASE_PX)
        self.small_font: QFont = theme.font(theme.SMALL_PX - 1)
        self._metrics, self._small = QFontMetricsF(self.font), QFontMetricsF(self.small_font)

    @property
    def line_px(self) -> float:
        """Height of a line of what a stretch says."""
        return float(round(self._metrics.height() + 1))

    @property
    def small_px(self) -> float:
        """Height of a line of figures."""
        return float(round(self._small.height()))

    def width(self, text: str) -> float:
        """Return how wide a text is."""
        return self._metrics.horizontalAdvance(text)

    def small(self, text: str) -> float:
        """Return how wide figures are."""
        return self._small.horizontalAdvance(text)

    def lines(self, text: str, width: float, most: int) -> tuple[str, ...]:
        """Return the beginning of a text as at most so many lines that are no wider.

        No more of the text is looked at than these can hold, as nearly as that is known before.
        """
        size = int(most * width / self._metrics.averageCharWidth() * SPARE) + 1
        while True:
            piece = text[:size]
            found, used = self._broken(piece, width, most)
            if len(piece) == len(text) or (len(found) == most and used < len(piece)):
                return found
            size *= 2

    def _broken(self, text: str, width: float, most: int) -> tuple[tuple[str, ...], int]:
        """Return at most so many lines, and how many characters of the text lie in them."""
        layout = QTextLayout(text, self.font)
        mode, option = QTextOption.WrapMode, QTextOption()
        is_narrow = width < theme.scaled(NARROW_PX)
        option.setWrapMode(mode.WordWrap if is_narrow else mode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        found: list[str] = []
        units = text.encode("utf-16-le", "surrogatepass")
        used = 0
        while len(found) < most and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            first, last = line.textStart(), line.textStart() + line.textLength()
            raw = units[2 * first : 2 * last].decode("utf-16-le", "surrogatepass")
            used += len(raw)
            said = raw.rstrip()
            found.append(self.elided(said, width) if line.naturalTextWidth() > width else said)
        layout.endLayout()
        return tuple(found), used

    def elided(self, text: str, width: float) -> str:
        """Return the beginning of a text, ending in … where that is not all of it."""
        return self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
