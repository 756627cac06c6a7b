"""The headings of the figures: the sign of the order stands beside its heading and never over it."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader, QWidget

from app.gui import theme

SIGN_PX = 16
_SPACE = "\N{NO-BREAK SPACE}"


class FiguresHeader(QHeaderView):
    """Makes room behind a heading at the right edge, where styles paint the sign over what is written."""

    def __init__(self, parent: QWidget, *, may_break: bool = False) -> None:
        """Headings of several words may stand in two lines."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._may_break = may_break
        self.setFont(theme.font(theme.SMALL_PX))
        self.setHighlightSections(False)
        self.setSectionsClickable(True)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, place: int) -> None:
        """Let the heading that is sorted by end before the sign."""
        super().initStyleOptionForIndex(option, place)
        option.text = self.heading(place, str(option.text))

    def heading(self, place: int, title: str) -> str:
        """Return what is painted in a section."""
        title = in_two(title, QFontMetrics(self.font())) if self._may_break else title
        side = self.model().headerData(place, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        is_sorted = self.isSortIndicatorShown() and self.sortIndicatorSection() == place
        if not is_sorted or not side & Qt.AlignmentFlag.AlignRight:
            return title
        spaces = ceil(theme.scaled(SIGN_PX) / QFontMetrics(self.font()).horizontalAdvance(_SPACE))
        return "\n".join(line + _SPACE * spaces for line in title.split("\n"))


def in_two(text: str, metrics: QFontMetrics) -> str:
    """Return words in two lines that are as narrow as can be; one word is one line."""
    words = text.split()
    ways = [(" ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words))]
    return "\n".join(min(ways, key=lambda way: max(map(metrics.horizontalAdvance, way)))) if ways else text
