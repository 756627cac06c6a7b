"""The cells of the KV cache as a painted grid; the pointer or the arrow keys go from cell to cell.

Neighbours of one part are painted together and the gaps over them, so that a picture takes as long as there are rows, not
cells. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.cache.cell_looks import CellLook, cell_looks, copy_look, free_look, next_look, strike
from app.gui.inside.cache.grid_layout import GridLayout, grid_layout
from app.services.kv_cells import CellsHeld, Owner, Stretch

EDGE_PX = 6
"""Around the grid: the rings around cells need it."""
_LOW_PX = 264
"""So high it is where it has more rows: 8,192 of the smallest cells in a small window. Where that is more than what is
left of the window the page scrolls."""
_LETTER_PX = 11
_SMALL_PX = 9
"""In smaller cells a pattern has not even two lines."""
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ROWS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class CellGrid(QAbstractScrollArea):
    """Shows what cells hold."""

    cell_changed = Signal(object)
    """Another cell is looked at: its place, or None."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("kv_grid")
        self.setProperty("look", "lane_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        stand_alone(self.viewport())
        self._themes = themes
        self._looks = cell_looks(themes.current)
        self._are_small = False
        self._held = CellsHeld()
        self._next = self._given_back = range(0)
        self._in_blocks = False
        self._current: int | None = None
        """Where the keys are, or what was clicked."""
        self._pointed: int | None = None
        self.layout_of_cells = GridLayout(0, 16, 16, 0)
        themes.changed.connect(self._show_theme)

    @property
    def cell(self) -> int | None:
        """The place that is looked at: what is pointed at, else where the keys are."""
        return self._current if self._pointed is None else self._pointed

    @property
    def held(self) -> CellsHeld:
        """What is shown."""
        return self._held

    def show_cells(
        self, held: CellsHeld, next_cells: range, given_back: range = range(0), *, in_blocks: bool
    ) -> None:
        """Show other cells: the next turn will fill some that are free, and give some back."""
        is_other = (held.cells, in_blocks) != (self._held.cells, self._in_blocks)
        now = (held, next_cells, given_back, in_blocks)
        if now == (self._held, self._next, self._given_back, self._in_blocks):
            return
        self._held, self._next, self._given_back, self._in_blocks = now
        if is_other:
            self._current = self._pointed = None
            self.cell_changed.emit(None)
        self._lay_out()

    def look_at(self, cell: int | None) -> None:
        """Look at a cell, and have it in view."""
        self._pointed = None
        if cell != self._current:
            self._current = cell
            self._reveal()
            self.viewport().update()
            self.cell_changed.emit(cell)

    def stretch_at(self, cell: int) -> Stretch | None:
        """Return whose a place is; None where it is free."""
        return self._held.at(cell)

    def fills_next(self, cell: int) -> bool:
        """Return whether the next turn will fill a place that is free."""
        return cell in self._next

    def gives_back(self, cell: int) -> bool:
        """Return whether the next turn will give back a place that holds a token."""
        return cell in self._given_back

    def place_of(self, cell: int) -> QRect:
        """Return where a cell stands in the viewport."""
        return self.layout_of_cells.place(cell).translated(EDGE_PX, EDGE_PX - self.verticalScrollBar().value())

    def sizeHint(self) -> QSize:
        """Ask for some rows."""
        return QSize(theme.scaled(480), theme.scaled(220))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        super().resizeEvent(event)
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view."""
        viewport, look, grid = self.viewport(), self._themes.current, self.layout_of_cells
        painter = QPainter(viewport)
        paint_ground(painter, viewport, event.rect())
        scrolled = self.verticalScrollBar().value()
        painter.translate(EDGE_PX, EDGE_PX - scrolled)
        first = max(event.rect().top() + scrolled - EDGE_PX, 0) // grid.row_px
        rows = range(first, min((event.rect().bottom() + scrolled) // grid.row_px + 1, grid.rows))
        self._paint_cells(painter, rows, look)
        if self._held.all_dropped:
            self._paint_dropped(painter, rows)
        self._paint_gaps(painter, rows)
        self._paint_marks(painter, rows, look)
        painter.end()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Look at the cell under the pointer."""
        self._point_at(self._cell_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Stay with the cell that is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.look_at(self._cell_at(event.position().toPoint()))

    def viewportEvent(self, event: QEvent) -> bool:
        """Go back to the cell of the keys when the pointer leaves."""
        if event.type() is QEvent.Type.Leave:
            self._point_at(None)
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from cell to cell and from row to row."""
        key, last = Qt.Key(event.key()), self.layout_of_cells.cells - 1
        at = self.cell
        wanted: int | None = None
        if last >= 0 and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            wanted = 0 if key == Qt.Key.Key_Home else last
        elif last >= 0 and key in _STEPS:
            wanted = 0 if at is None else min(max(at + _STEPS[key], 0), last)
        elif last >= 0 and key in _ROWS:
            wanted = 0 if at is None else self._in_row_beside(at, key)
        if wanted is None:
            super().keyPressEvent(event)
        else:
            self.look_at(wanted)

    def _in_row_beside(self, at: int, key: Qt.Key) -> int:
        grid = self.layout_of_cells
        rows = max(self.viewport().height() // grid.row_px - 1, 1) if "Page" in key.name else 1
        wanted = at + _ROWS[key] * rows * grid.columns
        if "Page" in key.name:
            return min(max(wanted, at % grid.columns), grid.cells - 1)
        return wanted if 0 <= wanted < grid.cells else at

    def _point_at(self, cell: int | None) -> None:
        if cell != self._pointed:
            self._pointed = cell
            self.viewport().update()
            self.cell_changed.emit(self.cell)

    def _cell_at(self, point: QPoint) -> int | None:
        return self.layout_of_cells.at(point - QPoint(EDGE_PX, EDGE_PX - self.verticalScrollBar().value()))

    def _keep_height(self, cells: int) -> None:
        """Be as high as the smallest cells need, if those are not too many."""
        least = grid_layout(cells, self.viewport().width() - 2 * EDGE_PX, 0, in_blocks=self._in_blocks)
        around = max(self.height() - self.viewport().height(), 0) + 2 * EDGE_PX
        self.setMinimumHeight(min(least.rows * least.row_px + around, theme.scaled(_LOW_PX)))

    def _lay_out(self) -> None:
        cells = max(self._held.cells, self._held.end)
        self._keep_height(cells)  # before the room is asked for: it may be another one at once
        room = self.viewport().size()
        width, height = room.width() - 2 * EDGE_PX, room.height() - 2 * EDGE_PX
        self.layout_of_cells = grid = grid_layout(cells, width, height, in_blocks=self._in_blocks)
        if (grid.pitch < _SMALL_PX) is not self._are_small:
            self._are_small = grid.pitch < _SMALL_PX
            self._show_theme()
        bar = self.verticalScrollBar()
        bar.setPageStep(room.height())
        bar.setSingleStep(grid.row_px * 4)
        bar.setRange(0, max(grid.rows * grid.row_px - height, 0))
        self.viewport().update()

    def _reveal(self) -> None:
        if self._current is None:
            return
        bar, box = self.verticalScrollBar(), self.place_of(self._current)
        if box.top() < EDGE_PX:
            bar.setValue(bar.value() + box.top() - EDGE_PX)
        elif box.bottom() > self.viewport().height() - EDGE_PX:
            bar.setValue(bar.value() + box.bottom() - self.viewport().height() + EDGE_PX)

    def _show_theme(self) -> None:
        self._looks = cell_looks(self._themes.current, are_small=self._are_small)
        self.viewport().update()

    def _paint_cells(self, painter: QPainter, rows: range, look: theme.Theme) -> None:
        """Paint all cells of one part at once: a long chat has hundreds of stretches."""
        grid = self.layout_of_cells
        boxes: dict[Owner, list[QRect]] = {}
        copies: list[QRect] = []
        for stretch in self._held.stretches:
            found = grid.region(stretch.start, stretch.end, rows)
            boxes.setdefault(stretch.owner, []).extend(found)
            if stretch.is_copy:
                copies += found
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        _fill(painter, grid.region(self._held.end, grid.cells, rows), free_look(look))
        for owner, all_boxes in boxes.items():
            _fill(painter, all_boxes, self._looks[owner])
        _fill(painter, copies, copy_look(look))
        _fill(painter, grid.region(max(self._next.start, self._held.end), self._next.stop, rows), next_look(look))
        painter.restore()

    def _paint_gaps(self, painter: QPainter, rows: range, px: int = 1) -> None:
        """Paint the ground between cells: over what is painted of neighbours together."""
        grid, ground = self.layout_of_cells, self.palette().base()
        top, height = rows.start * grid.row_px, len(rows) * grid.row_px
        for column in range(grid.columns):
            right = grid.left(column) + grid.pitch
            wide = px + (grid.gap if column % 16 == 15 else 0)
            painter.fillRect(QRect(right - px, top, wide, height), ground)
        for row in rows:
            bottom = row * grid.row_px + grid.pitch
            painter.fillRect(QRect(0, bottom - px, grid.width, px + grid.row_px - grid.pitch), ground)

    def _paint_dropped(self, painter: QPainter, rows: range) -> None:
        """Let cells be half as large whose token is in some layers only."""
        painter.save()
        region = QRegion()
        lanes = [(each.start, each.start + each.dropped) for each in self._held.stretches]
        for start, end in ((0, self._held.dropped), *lanes):
            for box in self.layout_of_cells.region(start, end, rows):
                region += box
        painter.setClipRegion(region)
        self._paint_gaps(painter, rows, max(self.layout_of_cells.pitch // 2, 2))
        painter.restore()

    def _paint_marks(self, painter: QPainter, rows: range, look: theme.Theme) -> None:
        grid = self.layout_of_cells
        painter.setBrush(Qt.BrushStyle.NoBrush)
        reused = QPainterPath()
        reused.setFillRule(Qt.FillRule.WindingFill)
        for box in grid.region(0, self._held.reused, rows):
            reused.addRect(box.adjusted(-1, -1, 0, grid.row_px - grid.pitch))
        painter.setPen(QPen(look.colour("text"), 1.5))
        painter.drawPath(reused.simplified())
        for box in grid.region(self._given_back.start, self._given_back.stop, rows):
            for row in range(box.top(), box.bottom() + 1, grid.row_px):
                strike(painter, QRect(box.left(), row, box.width() - 1, grid.pitch - 1), look)
        for stretch in self._held.stretches:
            if stretch.owner == "lanes" and stretch.lane is not None:
                self._paint_letter(painter, grid.place(stretch.start), LETTERS[stretch.lane], look)
        if (cell := self.cell) is not None and cell < grid.cells:
            box = grid.place(cell).adjusted(-2, -2, 0, 0)
            for colour, wide in (("surface", 6.0), ("accent", 2.5)):
                painter.setPen(QPen(look.colour(colour), wide))
                painter.drawRect(box)

    @staticmethod
    def _paint_letter(painter: QPainter, cell: QRect, letter: str, look: theme.Theme) -> None:
        side = max(cell.height() - 1, _LETTER_PX)
        box = QRect(cell.left(), cell.top() - (side - cell.height()) // 2 - 1, side, side)
        font = QFont(painter.font())
        font.setPixelSize(side - 1)
        painter.setFont(font)
        painter.fillRect(box, look.colour("surface"))
        painter.setPen(QPen(look.colour("text"), 1))
        painter.drawRect(box)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)


def _fill(painter: QPainter, boxes: list[QRect], look: CellLook) -> None:
    """Paint ground and pattern into boxes; the painter has no pen."""
    for brush in (look.ground, look.pattern):
        painter.setBrush(brush)
        painter.drawRects(boxes)
