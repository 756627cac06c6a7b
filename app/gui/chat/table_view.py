"""A table as it is painted: columns share the room of the turn, and where they cannot it is scrolled sideways.

The cells of a row are made where somebody looks.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.chat.column_widths import CellFonts, column_widths, is_simple
from app.gui.chat.leaf import BAR_KEY, Range, Spot
from app.gui.chat.rich_text import RichText
from app.gui.chat.sideways import BAR_PX, Sideways
from app.gui.chat.stack import Stack
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Table, text_of

CELL_X, CELL_Y = theme.SPACE_M, 6
WHOLE_ROWS, WHOLE_CELLS = 40, 400
"""A table of more is laid out where somebody looks; a later cell counts for its column only if it is longer."""
KEPT_ROWS = 200
"""More rows than these do not keep their cells."""
_SLACK_PX = 2.0
_Row = tuple[RichText, ...]


class TableView:
    """One table."""

    def __init__(self, value: Table, formulas: Formulas | None = None) -> None:
        self._value = value
        self._formulas = formulas
        self._arrived = formulas.arrived if formulas is not None else 0
        """How many formulas had been drawn when the cells were measured."""
        self.is_unfinished = False
        """Whether it was measured with the source of a formula that is being drawn."""
        self._line_px = theme.reading_px(theme.READING_LINE_PX)
        self._fonts = [
            CellFonts(theme.reading_font(theme.READING_PX, bold=bold), self._line_px, formulas)
            for bold in (True, False)
        ]
        self._rows: dict[int, _Row] = {}
        """The cells of rows that somebody looked at."""
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
        self._sideways = Sideways()
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
        """Height of all rows, and of the bar where there is one."""
        return self._stack.total + (BAR_PX if self._sideways.is_needed else 0)

    @property
    def is_scrolled(self) -> bool:
        """Whether somebody scrolled it sideways."""
        return self._sideways.offset > 0

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
        self._rows.pop(known, None)
        del self._lengths[known:]
        self._value = value
        self._add_rows(value)
        if self._width >= 0:
            self._measure(known)
        return True

    def lay_out(self, width: float) -> None:
        """Find the columns and wrap the cells."""
        self._use_formulas()
        if width != self._width or not len(self._stack):
            self._width = width
            self._measure(0)

    def reach(self, top: float, bottom: float) -> float:
        """Wrap the cells between two heights; return by how much what was at the first moved down."""
        reached = self._stack.reach(top, bottom, self._prepare, lambda row, _top, _end: (self._stack.height(row), 0))
        if len(self._rows) > KEPT_ROWS:
            self._rows = {row: cells for row, cells in self._rows.items() if reached.first <= row < reached.end}
        return reached.moved

    def release(self) -> None:
        """Drop the cells; the heights stay."""
        self._rows.clear()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the rows that touch `clip`."""
        if not self._sideways.is_needed:
            self._draw_rows(painter, origin, clip, look, selected)
            return
        seen = QRectF(origin.x(), origin.y(), self._width, self._stack.total)
        painter.save()
        painter.setClipRect(seen, Qt.ClipOperation.IntersectClip)
        shifted = QPointF(origin.x() - self._sideways.offset, origin.y())
        self._draw_rows(painter, shifted, clip.intersected(seen), look, selected)
        painter.restore()
        self._sideways.draw(painter, self._bar_rect().translated(origin), look)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        x += self._sideways.offset
        number = self._stack.at(y)
        offset = self._start(number)
        left = 0.0
        row = self._cells(number)
        for index, cell in enumerate(row):
            if x < left + self._columns[index] or index == len(row) - 1:
                return offset + cell.offset_at(x - left - CELL_X, y - self._stack.top(number) - CELL_Y)
            offset += len(cell.text) + 1
            left += self._columns[index]
        return offset

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line of a cell, without what is scrolled out of view."""
        seen = QRectF(0, 0, self._width, self._stack.total)
        found = (rect.translated(-self._sideways.offset, 0) & seen for rect in self._places(start, end))
        return [rect for rect in found if rect.width() > 0]

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll sideways until the first line of some characters is seen; return whether anything moved."""
        places = self._places(start, end)
        return bool(places) and self._sideways.bring_into_view(places[0].left() - CELL_X, places[0].right() + CELL_X)

    def _places(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are, scrolled or not."""
        found: list[QRectF] = []
        begin = len(self._value.place.prefix)
        for number, length in enumerate(self._lengths):
            if begin < end and begin + length > start:
                left, place = 0.0, begin
                for cell, column in zip(self._cells(number), self._columns, strict=False):
                    corner = QPointF(left + CELL_X, self._stack.top(number) + CELL_Y)
                    inside = cell.rects(start - place, min(end - place, len(cell.text)))
                    found += [rect.translated(corner) for rect in inside]
                    place += len(cell.text) + 1
                    left += column
            begin += length
        return found

    def spots(self) -> list[Spot]:
        """Return the links that can be seen, of a long table in the rows that somebody looked at, and the bar."""
        found: list[Spot] = []
        for line in sorted(self._rows):
            left, top = CELL_X - self._sideways.offset, self._stack.top(line) + CELL_Y
            for number, (cell, column) in enumerate(zip(self._rows[line], self._columns, strict=False)):
                if left < self._width and left + column > 0 and any(run.target for run in cell.runs):
                    found += [spot.moved(left, top, line, number) for spot in cell.spots()]
                left += column
        if self._sideways.is_needed:
            seen = QRectF(0, 0, self._width, self._stack.total)
            found = [replace(spot, rect=spot.rect & seen) for spot in found if spot.rect.intersects(seen)]
            area = QRectF(0, 0, self._width, self.height)
            found.append(Spot("scroll", self._bar_rect(), "", BAR_KEY, area, self._sideways))
        return found

    def _draw_rows(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        total = sum(self._columns)
        if clip.top() <= origin.y() + self._stack.height(0):
            head = QRectF(origin.x(), origin.y(), total, self._stack.height(0))
            painter.fillRect(head, look.colour("sunken"))
        first = self._stack.at(clip.top() - origin.y())
        start = self._start(first)
        for number in range(first, len(self._lengths)):
            top = origin.y() + self._stack.top(number)
            if top > clip.bottom():
                break
            left = origin.x()
            for cell, column in zip(self._cells(number), self._columns, strict=False):
                if left <= clip.right() and left + column >= clip.left():
                    chosen = (selected[0] - start, selected[1] - start) if selected is not None else None
                    cell.draw(painter, QPointF(left + CELL_X, top + CELL_Y), clip, look, chosen)
                start += len(cell.text) + 1
                left += column
            bottom = top + self._stack.height(number)
            painter.setPen(QPen(look.colour("border"), 1))
            painter.drawLine(QPointF(origin.x(), bottom - 0.5), QPointF(origin.x() + total, bottom - 0.5))

    def _add_rows(self, value: Table) -> None:
        first = len(self._lengths)
        rows = value.rows[first:]
        columns = max((len(row) for row in rows), default=0)
        self._natural += [0.0] * (columns - len(self._natural))
        self._longest += [0] * (columns - len(self._longest))
        whole = self._whole_rows
        for number, row in enumerate(rows, first):
            fonts = self._fonts[min(number, 1)]
            lengths = [len(text_of(runs)) for runs in row]
            for index, length in enumerate(lengths):
                if number < whole or length > self._longest[index]:
                    width = fonts.natural_width(row[index]) + _SLACK_PX
                    self._natural[index] = max(self._natural[index], width)
                    self._longest[index] = max(self._longest[index], length)
            self._lengths.append(sum(lengths) + len(lengths) if row else 1)

    def _use_formulas(self) -> None:
        """Measure all of it anew once formulas have come that it waits for."""
        if self._formulas is None or not self.is_unfinished or self._formulas.arrived == self._arrived:
            return
        self._arrived, self.is_unfinished = self._formulas.arrived, False
        self._rows.clear()
        self._lengths, self._natural, self._longest, self._columns = [], [], [], []
        self._stack.cut(0)
        self._add_rows(self._value)

    def _measure(self, first: int) -> None:
        """Place the rows from one on; where the columns change those of them that are far away keep their heights."""
        columns = column_widths([width + 2 * CELL_X for width in self._natural], self._width)
        known: list[float] = []
        if columns != self._columns or first > len(self._stack):
            known = [self._stack.height(row) for row in range(min(first, len(self._stack)))]
            self._exact.clear()
            self._rows.clear()
            first = 0
        self._columns = columns
        self._sideways.fit(sum(columns), self._width)
        self._stack.cut(first)
        self._exact = {row for row in self._exact if row < first}
        whole = range(first, min(self._whole_rows, len(self._lengths)))
        self._stack.extend([self._wrapped(row) for row in whole])
        self._stack.extend(known[len(self._stack) :])
        self._stack.extend(self._estimates(len(self._stack)))

    @property
    def _whole_rows(self) -> int:
        return min(WHOLE_ROWS, max(WHOLE_CELLS // max(len(self._natural), 1), 1))

    def _prepare(self, number: int) -> float:
        return self._stack.height(number) if number in self._exact else self._wrapped(number)

    def _wrapped(self, number: int) -> float:
        """Find out how high a row is; a cell that surely fits into one line is not laid out for that."""
        self._exact.add(number)
        height = float(self._line_px)
        fonts = self._fonts[min(number, 1)]
        for index, runs in enumerate(self._value.rows[number]):
            room = max(self._columns[index] - 2 * CELL_X, 1.0)
            if all(is_simple(run) for run in runs) and fonts.natural_width(runs) + _SLACK_PX <= room:
                continue
            cell = self._cells(number)[index]
            cell.lay_out(room)
            self.is_unfinished = self.is_unfinished or cell.is_waiting
            height = max(height, cell.height)
        return height + 2 * CELL_Y

    def _cells(self, number: int) -> _Row:
        """Return the cells of a row, with the widths of their columns."""
        if number not in self._rows:
            fonts, aligns = self._fonts[min(number, 1)], self._value.aligns
            self._rows[number] = tuple(
                RichText(
                    runs, fonts.font, self._line_px, aligns[index] if index < len(aligns) else "left", self._formulas
                )
                for index, runs in enumerate(self._value.rows[number])
            )
            for cell, column in zip(self._rows[number], self._columns, strict=False):
                cell.take_width(max(column - 2 * CELL_X, 1.0))
        return self._rows[number]

    def _start(self, number: int) -> int:
        """Return where the text of a row begins."""
        return len(self._value.place.prefix) + sum(self._lengths[:number])

    def _bar_rect(self) -> QRectF:
        return QRectF(0, self._stack.total, self._width, BAR_PX)

    def _estimates(self, first: int) -> list[float]:
        """Guess from the longest cells how high the rows from one on are."""
        one_line = float(self._line_px + 2 * CELL_Y)
        lines_per_character = {
            index: natural / (longest * column)
            for index, (natural, longest, column) in enumerate(
                zip(self._natural, self._longest, self._columns, strict=True)
            )
            if natural > column and longest
        }
        if not lines_per_character:
            return [one_line] * (len(self._lengths) - first)
        heights: list[float] = []
        for row in self._value.rows[first:]:
            lines = [ceil(len(text_of(row[n])) * share) for n, share in lines_per_character.items() if n < len(row)]
            heights.append(max(1, *lines) * self._line_px + 2 * CELL_Y)
        return heights
