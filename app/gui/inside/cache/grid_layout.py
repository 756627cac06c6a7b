"""Where each cell of a grid stands: rows of so many cells, or blocks of 16, as the width holds, as large as they fit.

Pure geometry; knows no cell's contents.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect

from app.services.kv_blocks import BLOCK

LEAST_PX, MOST_PX = 5, 18
BLOCK_GAP_PX = 4
"""Between two blocks, where they are shown apart."""


class GridLayout(NamedTuple):
    """A grid of `cells` squares, each with the gap to the next one `pitch` pixels wide."""

    cells: int
    columns: int
    pitch: int
    gap: int
    """Between two blocks of a row."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return -(-self.cells // self.columns) if self.cells else 0

    @property
    def row_px(self) -> int:
        """The height of a row."""
        return self.pitch + (self.gap // 2)

    @property
    def width(self) -> int:
        """The width of a whole row, without what stands behind its last block."""
        return self.left(self.columns - 1) + self.pitch

    def left(self, column: int) -> int:
        """Return where a column begins."""
        return column * self.pitch + column // BLOCK * self.gap

    def place(self, cell: int) -> QRect:
        """Return the square of a cell, with its gap."""
        row, column = divmod(cell, self.columns)
        return QRect(self.left(column), row * self.row_px, self.pitch, self.pitch)

    def at(self, point: QPoint) -> int | None:
        """Return the cell at a point; None beside all cells."""
        whole = BLOCK * self.pitch + self.gap
        block, within = divmod(point.x(), whole)
        column, row = block * BLOCK + within // self.pitch, point.y() // self.row_px
        if point.x() < 0 or point.y() < 0 or within >= BLOCK * self.pitch or column >= self.columns:
            return None
        cell = row * self.columns + column
        return cell if cell < self.cells else None

    def region(self, start: int, end: int, rows: range) -> list[QRect]:
        """Return the rectangles of the cells from `start` to `end` (exclusive) that lie in some rows: three at most."""
        start, end = max(start, rows.start * self.columns), min(end, rows.stop * self.columns)
        if end <= start:
            return []
        first, last = start // self.columns, (end - 1) // self.columns
        begin, stop = start % self.columns, (end - 1) % self.columns
        if first == last:
            return [self._box(first, begin, stop)]
        found = [self._box(first, begin, self.columns - 1), self._box(last, 0, stop)]
        if last - first > 1:
            height = (last - first - 2) * self.row_px + self.pitch
            found.append(QRect(0, (first + 1) * self.row_px, self.width, height))
        return found

    def _box(self, row: int, begin: int, stop: int) -> QRect:
        """Return the cells of a row from one column to another one, which is among them."""
        left = self.left(begin)
        return QRect(left, row * self.row_px, self.left(stop) + self.pitch - left, self.pitch)


def grid_layout(cells: int, width: int, height: int, *, in_blocks: bool) -> GridLayout:
    """Return the layout with the largest squares that fit; where even the smallest do not, it is higher than `height`."""
    gap = BLOCK_GAP_PX if in_blocks else 0
    for pitch in range(MOST_PX, LEAST_PX - 1, -1):
        columns = width // pitch
        if in_blocks or columns < BLOCK:
            columns = max((width + gap) // (BLOCK * pitch + gap), 1) * BLOCK
        made = GridLayout(cells, columns, pitch, gap)
        if made.rows * made.row_px <= height:
            break
    return made
