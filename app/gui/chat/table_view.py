"""A table as it is painted: columns as wide as they must be, narrower and wrapped where the turn is too narrow."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.chat.leaf import Range, Spot
from app.gui.chat.rich_text import RichText
from app.gui.chat.stack import Stack
from app.gui.markdown.values import Align, Runs, Table

CELL_X, CELL_Y = theme.SPACE_M, 6
LEAST_PX = 64.0
"""A column is not made narrower than this while there is room."""
WHOLE_ROWS = 40
"""A table of more rows is laid out where somebody looks; a later cell counts for its column only if it is longer."""
_Row = tuple[RichText, ...]


class TableView:
    """One table."""

    is_unfinished = False

    def __init__(self, value: Table) -> None:
        self._value = value
        self._rows: list[_Row] = []
        self._lengths: list[int] = []
        """Of the text of each row, its end included."""
        self._natural: list[float] = []
        self._columns: list[float] = []
        self._longest: list[int] = []
        """How many characters the longest cell of each column has, of those that were measured."""
        self._stack = Stack()
        self._exact: set[int] = set()
        """Which rows are measured for the width."""
        self._width = -1.0
        self._add_rows(value)

    @property
    def text(self) -> str:
        """A line for each row, tabs between cells."""
        return self._value.text

    @property
    def length(self) -> int:
        """How many characters `text` has."""
        return len(self._value.place.prefix) + sum(self._lengths) - 1

    @property
    def height(self) -> float:
        """Height of all rows."""
        return self._stack.total

    @property
    def open_top(self) -> float:
        """Where it begins: a new row may change all columns."""
        return 0.0

    def grow(self, value: Table) -> bool:
        """Take over a table that goes on where this one ends; return whether it does."""
        known = len(self._value.rows) - 1
        if value.aligns != self._value.aligns or value.place != self._value.place or known < 1:
            return False
        if value.rows[:known] != self._value.rows[:known]:
            return False
        del self._rows[known:]
        del self._lengths[known:]
        self._value = value
        self._add_rows(value)
        if self._width >= 0:
            self._measure(known)
        return True

    def lay_out(self, width: float) -> None:
        """Find the columns and wrap the cells."""
        if width != self._width or not len(self._stack):
            self._width = width
            self._measure(0)

    def reach(self, top: float, bottom: float) -> float:
        """Wrap the cells between two heights; return by how much what was at the first moved down."""
        return self._stack.reach(
            top, bottom, self._prepare, lambda row, _top, _end: (self._stack.height(row), 0)
        ).moved

    def release(self) -> None:
        """Drop the lines of the cells."""
        for row in self._exact:
            for cell in self._rows[row]:
                cell.release()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the rows that touch `clip`."""
        total = sum(self._columns)
        if clip.top() <= origin.y() + self._stack.height(0):
            head = QRectF(origin.x(), origin.y(), total, self._stack.height(0))
            painter.fillRect(head, look.colour("sunken"))
        first = self._stack.at(clip.top() - origin.y())
        start = len(self._value.place.prefix) + sum(self._lengths[:first])
        for number in range(first, len(self._rows)):
            top = origin.y() + self._stack.top(number)
            if top > clip.bottom():
                break
            left = origin.x()
            for cell, column in zip(self._rows[number], self._columns, strict=False):
                chosen = (selected[0] - start, selected[1] - start) if selected is not None else None
                cell.draw(painter, QPointF(left + CELL_X, top + CELL_Y), clip, look, chosen)
                start += len(cell.text) + 1
                left += column
            bottom = top + self._stack.height(number)
            painter.setPen(QPen(look.colour("border"), 1))
            painter.drawLine(QPointF(origin.x(), bottom - 0.5), QPointF(origin.x() + total, bottom - 0.5))

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        number = self._stack.at(y)
        offset = len(self._value.place.prefix) + sum(self._lengths[:number])
        left = 0.0
        row = self._rows[number]
        for index, cell in enumerate(row):
            if x < left + self._columns[index] or index == len(row) - 1:
                return offset + cell.offset_at(x - left - CELL_X, y - self._stack.top(number) - CELL_Y)
            offset += len(cell.text) + 1
            left += self._columns[index]
        return offset

    def spots(self) -> list[Spot]:
        """Return the links in the cells, of a long table in those that somebody looked at."""
        found: list[Spot] = []
        for line in sorted(self._exact):
            left, top = 0.0, self._stack.top(line)
            for number, (cell, column) in enumerate(zip(self._rows[line], self._columns, strict=False)):
                found += [spot.moved(left + CELL_X, top + CELL_Y, line, number) for spot in cell.spots()]
                left += column
        return found

    def _add_rows(self, value: Table) -> None:
        columns = max(len(row) for row in value.rows[len(self._rows) :] or value.rows[:1])
        self._natural += [0.0] * (columns - len(self._natural))
        self._longest += [0] * (columns - len(self._longest))
        for row in value.rows[len(self._rows) :]:
            cells = tuple(
                _cell(runs, value.aligns[n] if n < len(value.aligns) else "left", is_head=not self._rows)
                for n, runs in enumerate(row)
            )
            for index, cell in enumerate(cells):
                length = len(cell.text)
                if len(self._rows) < WHOLE_ROWS or length > self._longest[index]:
                    self._natural[index] = max(self._natural[index], cell.natural_width + 1)
                    self._longest[index] = max(self._longest[index], length)
            self._rows.append(cells)
            self._lengths.append(sum(len(cell.text) + 1 for cell in cells) if cells else 1)

    def _measure(self, first: int) -> None:
        """Place the rows from one on, or all of them where the columns change."""
        columns = column_widths([width + 2 * CELL_X for width in self._natural], self._width)
        if columns != self._columns or first >= len(self._stack):
            first = 0
        self._columns = columns
        self._stack.cut(first)
        self._exact = {row for row in self._exact if row < first}
        whole = range(first, min(WHOLE_ROWS, len(self._rows)))
        self._stack.extend([self._wrapped(row) for row in whole])
        self._stack.extend(self._estimates(max(first, WHOLE_ROWS)))

    def _prepare(self, number: int) -> float:
        return self._stack.height(number) if number in self._exact else self._wrapped(number)

    def _wrapped(self, number: int) -> float:
        """Wrap the cells of a row and return its height."""
        self._exact.add(number)
        row = self._rows[number]
        for cell, column in zip(row, self._columns, strict=False):
            cell.lay_out(max(column - 2 * CELL_X, 1.0))
        return max((cell.height for cell in row), default=theme.scaled(theme.READING_LINE_PX)) + 2 * CELL_Y

    def _estimates(self, first: int) -> list[float]:
        """Guess from the longest cells how high the rows from one on are."""
        line_px = theme.scaled(theme.READING_LINE_PX)
        lines_per_character = {
            index: natural / (longest * column)
            for index, (natural, longest, column) in enumerate(
                zip(self._natural, self._longest, self._columns, strict=True)
            )
            if natural > column and longest
        }
        if not lines_per_character:
            return [line_px + 2 * CELL_Y] * (len(self._rows) - first)
        heights: list[float] = []
        for row in self._rows[first:]:
            lines = [ceil(len(row[n].text) * share) for n, share in lines_per_character.items() if n < len(row)]
            heights.append(max(1, *lines) * line_px + 2 * CELL_Y)
        return heights


def column_widths(natural: list[float], room: float) -> list[float]:
    """Return widths that fit into the room: wide columns give way first, and none gets less than it must."""
    if sum(natural) <= room:
        return natural
    least = min(LEAST_PX, room / len(natural))
    low, high = least, max(natural)
    for _ in range(32):
        middle = (low + high) / 2
        if sum(min(width, middle) for width in natural) > room:
            high = middle
        else:
            low = middle
    return [min(width, low) for width in natural]


def _cell(runs: Runs, align: Align, *, is_head: bool) -> RichText:
    return RichText(runs, theme.font(theme.READING_PX, bold=is_head), theme.scaled(theme.READING_LINE_PX), align)
