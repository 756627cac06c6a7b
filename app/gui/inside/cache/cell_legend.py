"""What the grounds, patterns and lines of the cells stand for, with how many cells of each there are. Painted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.inside.cache.cell_looks import CellLook, cell_looks, copy_look, free_look, next_look, strike
from app.services.kv_cells import Owner
from app.services.units import count

_NUMBER = re.compile(r"\d[\d,]*")
_SWATCH_PX, _ROW_PX, _GAP_PX = 20, 20, 6

Sign = Owner | Literal["free", "next", "reused", "dropped", "copy", "given_back"]


class Entry(NamedTuple):
    """A sign of the picture, and what it says."""

    sign: Sign
    words: str


class CellLegend(QWidget):
    """As many lines as the width needs."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("kv_legend")
        self.setFont(theme.font(theme.SMALL_PX))
        self._themes = themes
        self._entries: tuple[Entry, ...] = ()
        self._digits = 1
        """What each number has room for: places do not change while they grow."""
        self._kept_px = 0
        """The most height that was needed in this width."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.update)

    def show_entries(self, entries: Sequence[Entry], cells: int) -> None:
        """Explain other signs; the numbers in the words are `cells` at most."""
        shown, digits = tuple(entries), len(count(cells))
        if (shown, digits) != (self._entries, self._digits):
            self._entries, self._digits = shown, digits
            self.setAccessibleName(" · ".join(each.words for each in shown))
            self._fit()
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for its lines."""
        return QSize(theme.scaled(400), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Be as high as its lines are in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._kept_px = 0
            self._fit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the swatches and the words."""
        painter = QPainter(self)
        look = self._themes.current
        looks = cell_looks(look)
        for place, entry in self._placed(self.width()):
            side = place.height() - 6
            self._paint_swatch(painter, QRect(place.left() + 1, place.top() + 3, _SWATCH_PX, side), entry.sign, looks)
            painter.setPen(look.colour("muted"))
            words = place.adjusted(_SWATCH_PX + _GAP_PX, 0, 0, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, entry.words)
        painter.end()

    def _paint_swatch(self, painter: QPainter, box: QRect, sign: Sign, looks: dict[Owner, CellLook]) -> None:
        look = self._themes.current
        match sign:
            case "free":
                shown = free_look(look)
            case "next":
                shown = next_look(look)
            case "reused" | "dropped" | "given_back":
                shown = CellLook(looks["history"].ground, free_look(look).pattern)
            case "copy":
                shown = CellLook(looks["prompt"].ground, copy_look(look).pattern)
            case _:
                shown = looks[sign]
        if sign == "dropped":
            for left in range(box.left(), box.right() - 3, 7):
                painter.fillRect(QRect(left, box.center().y() - 2, 4, 4), shown.ground)
            return
        painter.fillRect(box, shown.ground)
        if shown.pattern.style() is not Qt.BrushStyle.NoBrush:
            painter.fillRect(box, shown.pattern)
        if sign == "given_back":
            strike(painter, box, look)
        if sign in ("reused", "free", "next", "empty"):
            painter.setPen(QPen(look.colour("text" if sign == "reused" else "border_strong"), 1.5))
            painter.drawRect(box)

    def _fit(self) -> None:
        """Keep the lines that were needed once: the cells above would change their size with each of them."""
        placed = self._placed(max(self.width(), 1))
        self._kept_px = max(self._kept_px, placed[-1][0].bottom() + 1 if placed else theme.scaled(_ROW_PX))
        self.setFixedHeight(self._kept_px)

    def _placed(self, width: int) -> list[tuple[QRect, Entry]]:
        metrics, height = QFontMetrics(self.font()), theme.scaled(_ROW_PX)
        left, top = 0, 0
        placed: list[tuple[QRect, Entry]] = []
        for entry in self._entries:
            needed = metrics.horizontalAdvance(self._longest(entry.words)) + _SWATCH_PX + _GAP_PX + 2
            if left and left + needed > width:
                left, top = 0, top + height
            placed.append((QRect(left, top, needed, height), entry))
            left += needed + theme.SPACE_M
        return placed

    def _longest(self, words: str) -> str:
        """Return words with the longest number that they may get."""
        return _NUMBER.sub(lambda found: found[0].rjust(self._digits, "0"), words)
