"""The rows of a comparison as people see them: each model above its GPUs, sorted by a click on a heading."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.gui import theme
from app.gui.planner.comparison import words
from app.gui.planner.comparison.line_marks import LETTERS, MARK_PX
from app.gui.planner.comparison.picture import PictureTable
from app.gui.planner.comparison.row_cells import RowCells
from app.gui.planner.comparison.row_sizes import (
    LEAST_NAME_PX,
    NAME_PX,
    ROW_PX,
    SHORT_NAME_PX,
    SPARE_PX,
    figures_px,
    first_px,
    heading_px,
    row_heights,
)
from app.gui.planner.comparison.rows_model import AT_ONCE, EACH, FIRST, LIMIT, TOGETHER, RowsModel
from app.gui.widgets.figures_header import SIGN_PX, FiguresHeader
from app.services.plan_export import band_words
from app.services.plan_rows import Worked
from app.services.plan_values import ComparedRow

MOST_PX, LEAST_ROWS, HEADER_PX = 420, 3, 42
"""Of more rows the table scrolls."""
_TIGHT_PX = 4
_WAYS = (
    (theme.SPACE_S, NAME_PX, False),
    (theme.SPACE_S, SHORT_NAME_PX, True),
    (_TIGHT_PX, LEAST_NAME_PX, True),
)
"""From wide to narrow: the room beside figures, what names have at least, and whether words stand in two lines."""
_ASIDE: tuple[tuple[int, ...], ...] = ((), (TOGETHER,), (TOGETHER, LIMIT), (TOGETHER, LIMIT, AT_ONCE))
"""Columns that go where even that is too wide, one after the other: what they say stands under the names then."""
_AROUND_PX = 8


class RowsTable(QTableView):
    """Rows of models on GPUs; those that are selected are drawn in the charts."""

    selected_changed = Signal()
    """Other rows are selected."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.rows = RowsModel()
        self.drawn: dict[tuple[str, str, str], int] = {}
        """Which rows the charts draw: the number of the line by the row's key."""
        self.pad_px = theme.SPACE_S
        """Beside what stands in a cell."""
        self._needed: dict[int, tuple[int, int, int]] = {}
        """How wide the heading and the figures of each column are, these in one line and in two."""
        self._is_for_one = True
        """Whether one conversation is planned, which is as fast as all together."""
        self.setModel(self.rows)
        self._cells = RowCells(self, themes)
        self.setItemDelegate(self._cells)
        self.setObjectName("plan_rows")
        self.setAccessibleName(self.tr("Models on GPUs"))
        self.setProperty("look", "figures")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(theme.scaled(ROW_PX))
        self.verticalHeader().setDefaultSectionSize(theme.scaled(ROW_PX))
        header = FiguresHeader(self, may_break=True)
        self.setHorizontalHeader(header)
        header.setFixedHeight(theme.scaled(HEADER_PX))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.sortIndicatorChanged.connect(lambda *_: self._share_width())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selected_changed.emit())
        self.rows.layoutChanged.connect(self._set_heights)
        themes.changed.connect(self.viewport().update)

    def show_worked(self, worked: Worked) -> None:
        """Show other rows; those that are selected stay so where they are still there.

        Where it is not shared by several conversations, all together are as fast as one.
        """
        kept = {row.key for row in self.selected}
        current = self.currentIndex()
        self.selectionModel().blockSignals(True)
        self.rows.show_rows(worked.rows, worked.chosen.prompt)
        self.selectionModel().blockSignals(False)
        self._is_for_one = worked.chosen.users <= 1
        for place, row in enumerate(self.rows.rows):
            if row.key in kept:
                index = self.rows.index(place, max(0, current.column()))
                flags = self.selectionModel().SelectionFlag
                self.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)
        self._fit()

    @property
    def selected(self) -> list[ComparedRow]:
        """The rows that are selected, from top to bottom."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows.rows[place] for place in places if place < len(self.rows.rows)]

    def mark(self, drawn: dict[tuple[str, str, str], int]) -> None:
        """Show which rows the charts draw."""
        self.drawn = drawn
        self.viewport().update()

    def in_words(self) -> PictureTable:
        """Return the rows as a picture has them, in the order that they are shown in: the model in a column of its own."""
        model = self.rows
        titles = tuple(
            str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(model.columnCount())
        )
        rows = []
        for row in model.rows:
            cells = [model.cell(row, place).words for place in range(model.columnCount())]
            cells[EACH], cells[TOGETHER] = band_words(row.each), band_words(row.together)
            number = self.drawn.get(row.key)
            letter = "" if number is None else LETTERS[number]
            rows.append((letter, (row.shown_model, *cells), words.need_line(row)))
        return PictureTable((self.tr("Model"), *titles), tuple(rows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew."""
        super().resizeEvent(event)
        self._share_width()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells, and then what stands over the width of whole rows."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        width, last = self.viewport().width(), self.rows.rowCount() - 1
        first = self.rowAt(event.rect().top())
        end = self.rowAt(event.rect().bottom())
        for place in range(max(first, 0), (last if end < 0 else end) + 1):
            across = QRect(0, self.rowViewportPosition(place), width, self.rowHeight(place))
            self._cells.paint_across(painter, across, self.rows.index(place, FIRST))
        painter.end()

    def _fit(self) -> None:
        self._needed = {}
        self._share_width()

    def _share_width(self) -> None:
        """Give every figure the room that it needs and the names the rest, in which they break into lines."""
        header = self.horizontalHeader()
        room = self.viewport().width()
        never = (TOGETHER,) if self._is_for_one else ()
        for aside, (pad, least, may_break) in ((aside, way) for aside in _ASIDE for way in _WAYS):
            seen = [place for place in range(1, header.count()) if place not in (*never, *aside)]
            widths = {place: self._width_of(place, pad, may_break) for place in seen}
            if first_px(pad, least) + sum(widths.values()) <= room:
                break
        self._use_pad(pad)
        self.rows.set_aside(tuple(place for place in aside if place not in never))
        first = max(room - sum(widths.values()), first_px(pad))
        for place in range(1, header.count()):
            self.setColumnHidden(place, place not in seen)
        for place, width in {FIRST: first, **widths}.items():
            header.resizeSection(place, width)
        self._set_heights()

    def _set_heights(self) -> None:
        """Make each row as high as what is in it, and the table as high as its rows, up to a bound."""
        names = self.columnWidth(FIRST) - theme.scaled(MARK_PX) - 2 * self.pad_px
        header, heights = self.verticalHeader(), row_heights(self.rows, names)
        for place, height in enumerate(heights):
            if header.sectionSize(place) != height:
                header.resizeSection(place, height)
        is_wider = self.horizontalHeader().length() > self.viewport().width() > 0
        below = self.horizontalScrollBar().sizeHint().height() if is_wider else 0
        height = min(max(sum(heights), LEAST_ROWS * theme.scaled(ROW_PX)), theme.scaled(MOST_PX))
        self.setFixedHeight(height + self.horizontalHeader().height() + _AROUND_PX + below)

    def _use_pad(self, pixels: int) -> None:
        """Leave so much beside figures and headings."""
        if pixels != self.pad_px:
            self.pad_px = pixels
            header = self.horizontalHeader()
            self.setProperty("tight", pixels == _TIGHT_PX)
            header.style().unpolish(header)
            header.style().polish(header)

    def _width_of(self, place: int, pad: int, may_break: bool) -> int:
        header = self.horizontalHeader()
        if place not in self._needed:
            title = str(self.rows.headerData(place, Qt.Orientation.Horizontal))
            figures = figures_px(self.rows.cell(row, place) for row in self.rows.rows)
            self._needed[place] = (heading_px(title, header.font()), *figures)
        heading, whole, broken = self._needed[place]
        sign = theme.scaled(SIGN_PX) if header.sortIndicatorSection() == place else 0
        return max(heading + sign, broken if may_break else whole) + 2 * pad + SPARE_PX
