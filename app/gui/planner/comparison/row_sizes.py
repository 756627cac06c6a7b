"""How high the rows of a comparison are and how wide their columns, so that nothing in them is cut. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics

from app.gui import theme
from app.gui.planner.comparison.line_marks import MARK_PX
from app.gui.planner.comparison.rows_model import FIRST, Cell, RowsModel
from app.gui.planner.comparison.words import has_need
from app.gui.widgets.figures_header import in_two

ROW_PX, GROUP_PX, NEED_PX = 40, 28, 18
NAME_PX, SHORT_NAME_PX, LEAST_NAME_PX = 170, 124, 76
"""Of most names in one line, of those of GPUs, and of the longest words of names, which break into lines."""
SPARE_PX = 4
"""Widths of letters are fractions."""


class Bands(NamedTuple):
    """Where in a row stands what: the model above it, its figures, and what becomes of what is wanted."""

    group: QRect
    figures: QRect
    need: QRect


def bands(place: QRect, *, has_group: bool, has_need: bool) -> Bands:
    """Return how a row is shared out; what is not there is empty."""
    above = theme.scaled(GROUP_PX) if has_group else 0
    below = theme.scaled(NEED_PX) if has_need else 0
    figures = place.adjusted(0, above, 0, -below)
    return Bands(
        QRect(place.left(), place.top(), place.width(), above),
        figures,
        QRect(place.left(), figures.bottom() + 1, place.width(), below),
    )


def name_font() -> QFont:
    """Return the letters of figures and names."""
    return theme.font(theme.BASE_PX)


def small_font() -> QFont:
    """Return the letters of what stands below them."""
    return theme.font(theme.SMALL_PX - 1)


def wrapping(text: str, width: int, metrics: QFontMetrics) -> Qt.TextFlag:
    """Return how words break into lines: within a word only where one is wider than the column."""
    widest = max((metrics.horizontalAdvance(word) for word in text.split(" ")), default=0)
    return Qt.TextFlag.TextWordWrap if widest <= width else Qt.TextFlag.TextWrapAnywhere


def text_height(text: str, width: int, font: QFont) -> int:
    """Return how high words are in a column of that width."""
    metrics = QFontMetrics(font)
    return metrics.boundingRect(0, 0, max(width, 1), 10_000, wrapping(text, width, metrics), text).height()


def row_heights(model: RowsModel, width: int) -> list[int]:
    """Return how high the rows are where the first column has so much room for words."""
    fonts = name_font(), small_font()
    row_px, group_px, need_px = theme.scaled(ROW_PX), theme.scaled(GROUP_PX), theme.scaled(NEED_PX)
    known: dict[tuple[str, bool], int] = {}

    def high(text: str, is_small: bool) -> int:  # many rows have the same words
        if (text, is_small) not in known:
            known[text, is_small] = text_height(text, width, fonts[is_small])
        return known[text, is_small]

    found = []
    for place, row in enumerate(model.rows):
        cell = model.cell(row, FIRST)
        height = max(row_px, high(cell.words, False) + high(cell.small, True) + theme.SPACE_S)
        height += group_px if model.group(place) else 0
        found.append(height + (need_px if has_need(row) else 0))
    return found


def heading_px(title: str, font: QFont) -> int:
    """Return how wide a heading is, in two lines where it has several words."""
    metrics = QFontMetrics(font)
    return _widest(in_two(title, metrics), metrics)


def figures_px(cells: Iterable[Cell]) -> tuple[int, int]:
    """Return how wide the figures of a column are, and how wide where words with nothing under them take two lines."""
    figures, small = QFontMetrics(name_font()), QFontMetrics(small_font())
    found = list(cells)
    least = max((small.horizontalAdvance(words) for words in {cell.small for cell in found}), default=0)
    whole = broken = least
    for words, has_more in {(cell.words, bool(cell.small)) for cell in found}:
        width = figures.horizontalAdvance(words)
        whole = max(whole, width)
        broken = max(broken, width if has_more else _widest(in_two(words, figures), figures))
    return whole, broken


def first_px(pad: int, name: int = LEAST_NAME_PX) -> int:
    """Return how wide the first column is at least."""
    return theme.scaled(name) + theme.scaled(MARK_PX) + 2 * pad


def _widest(text: str, metrics: QFontMetrics) -> int:
    return max(map(metrics.horizontalAdvance, text.split("\n")))
