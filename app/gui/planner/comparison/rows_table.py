"""The rows of a comparison as people see them: a figure with its band under it, sorted by a click on a heading."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.gui import theme
from app.gui.planner.comparison.line_marks import LETTERS, MARK_PX, line_pen
from app.gui.planner.comparison.picture import PictureTable
from app.gui.planner.comparison.rows_model import (
    EACH,
    FIRST,
    FITS,
    LIMIT,
    NEED,
    ROW_ROLE,
    SMALL_ROLE,
    TOGETHER,
    VALUE_ROLE,
    RowsModel,
)
from app.gui.widgets.figures_header import SIGN_PX, FiguresHeader
from app.services.plan_export import band_words
from app.services.plan_values import ComparedRow

ROW_PX, MOST_ROWS, LEAST_ROWS = 40, 9, 3
_MODEL_PX, _GPU_PX, _NEED_PX = 124, 108, 156
_LEAST_PX = {FIRST: 82, FIRST + 1: 66, NEED: 78, FITS: 58, LIMIT: 72}
"""Of columns with words, where there is not room for all."""
_SPARE_PX, _TIGHT_PX = 4, 5
"""Widths of letters are fractions."""
_AROUND_PX = 8
_Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


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
        self._needed: list[int] = []
        """Widths of the columns for what is in them."""
        self.setModel(self.rows)
        self.setItemDelegate(_Cells(self, themes))
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
        header = FiguresHeader(self)
        self.setHorizontalHeader(header)
        header.setFixedHeight(theme.scaled(26))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.sortIndicatorChanged.connect(lambda *_: self._share_width())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selected_changed.emit())
        themes.changed.connect(self.viewport().update)

    def show_rows(self, rows: tuple[ComparedRow, ...], is_shared: bool) -> None:
        """Show other rows; those that are selected stay so where they are still there.

        Where it is not shared by several conversations, all together are as fast as one.
        """
        kept = {row.key for row in self.selected}
        current = self.currentIndex()
        self.selectionModel().blockSignals(True)
        self.rows.show_rows(rows)
        self.selectionModel().blockSignals(False)
        self.setColumnHidden(TOGETHER, not is_shared)
        self.setColumnHidden(NEED, not self.rows.has_need)
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
        """Return the rows as a picture has them, in the order that they are shown in."""
        model = self.rows
        titles = tuple(
            str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(model.columnCount())
        )
        rows = []
        for row in model.rows:
            cells = [model.cell(row, place).words for place in range(model.columnCount())]
            cells[FIRST] = row.shown_model
            cells[EACH], cells[TOGETHER] = band_words(row.each), band_words(row.together)
            number = self.drawn.get(row.key)
            rows.append(("" if number is None else LETTERS[number], tuple(cells)))
        return PictureTable(titles, tuple(rows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew."""
        super().resizeEvent(event)
        self._share_width()

    def _fit(self) -> None:
        self._needed = [self._needed_px(place) for place in range(self.rows.columnCount())]
        self._share_width()
        rows = min(max(self.rows.rowCount(), LEAST_ROWS), MOST_ROWS)
        is_wider = self.horizontalHeader().length() > self.viewport().width() > 0
        below = self.horizontalScrollBar().sizeHint().height() if is_wider else 0
        header = self.horizontalHeader().height()
        self.setFixedHeight(rows * theme.scaled(ROW_PX) + header + _AROUND_PX + below)

    def _share_width(self) -> None:
        header = self.horizontalHeader()
        needed = [self._width_of(place) for place in range(header.count())]
        spare = self.viewport().width() - sum(needed)
        self._use_pad(theme.SPACE_S if spare >= 0 else _TIGHT_PX)
        if spare < 0:
            saved = 2 * (theme.SPACE_S - _TIGHT_PX)
            needed = [width - saved if width else 0 for width in needed]
            self._shrink(needed, self.viewport().width())
        growing = [place for place in (FIRST, FIRST + 1, NEED) if needed[place]]
        for place, width in enumerate(needed):
            more = max(0, spare) // len(growing) if place in growing else 0
            if not self.isColumnHidden(place):
                header.resizeSection(place, width + more)

    def _use_pad(self, pixels: int) -> None:
        """Leave so much beside figures and headings."""
        if pixels != self.pad_px:
            self.pad_px = pixels
            header = self.horizontalHeader()
            self.setProperty("tight", pixels == _TIGHT_PX)
            header.style().unpolish(header)
            header.style().polish(header)

    def _shrink(self, widths: list[int], room: int) -> None:
        """Let names and reasons give way, each by its share: they are shortened, and whole on hover."""
        gives = {place: max(widths[place] - theme.scaled(least), 0) for place, least in _LEAST_PX.items()}
        lacks, all_of_it = max(sum(widths) - room, 0), sum(gives.values())
        for place, most in gives.items():
            widths[place] -= min(most, -(-most * lacks // all_of_it)) if all_of_it else 0

    def _width_of(self, place: int) -> int:
        if self.isColumnHidden(place) or place >= len(self._needed):
            return 0
        is_sorted = self.horizontalHeader().sortIndicatorSection() == place
        return self._needed[place] + (theme.scaled(SIGN_PX) if is_sorted else 0)

    def _needed_px(self, place: int) -> int:
        """Return how wide a column must be for its heading and its figures; names are shortened."""
        if place in (FIRST, FIRST + 1, NEED):
            return theme.scaled({FIRST: _MODEL_PX, NEED: _NEED_PX}.get(place, _GPU_PX))
        heading, cells = QFontMetrics(self.horizontalHeader().font()), QFontMetrics(theme.font(theme.BASE_PX))
        small = QFontMetrics(theme.font(theme.SMALL_PX - 1))
        widest = heading.horizontalAdvance(str(self.rows.headerData(place, Qt.Orientation.Horizontal)))
        found = [self.rows.cell(row, place) for row in self.rows.rows]
        for words in {cell.words for cell in found}:
            widest = max(widest, cells.horizontalAdvance(words))
        for words in {cell.small for cell in found}:
            widest = max(widest, small.horizontalAdvance(words))
        return widest + 2 * theme.SPACE_S + _SPARE_PX


class _Cells(QStyledItemDelegate):
    """Paints a figure with its band under it, and a piece of the line that stands for a row."""

    def __init__(self, table: RowsTable, themes: theme.Themes) -> None:
        super().__init__(table)
        self._table = table
        self._themes = themes
        self._elide = Qt.TextElideMode.ElideMiddle
        """Where what is painted now is shortened: names of models differ in their ends, too."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """Ask for a row."""
        return QSize(70, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one cell."""
        look, place = self._themes.current, QRect(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, look.colour("selection"))
        inner = place.adjusted(self._table.pad_px, 0, -self._table.pad_px, 0)
        modes = Qt.TextElideMode
        self._elide = modes.ElideMiddle if index.column() == FIRST else modes.ElideRight
        if index.column() == FIRST:
            inner = self._paint_mark(painter, inner, index, look)
        side = index.model().headerData(index.column(), Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        align = _RIGHT if side & Qt.AlignmentFlag.AlignRight else _LEFT
        said, small = str(index.data()), str(index.data(SMALL_ROLE) or "")
        upper = inner.adjusted(0, 2, 0, -inner.height() // 2) if small else inner
        is_known = index.data(VALUE_ROLE) is not None
        self._paint_text(painter, upper, said, align, look.colour("text" if is_known else "muted"), theme.BASE_PX)
        if small:
            lower = inner.adjusted(0, inner.height() // 2 - 2, 0, -2)
            self._paint_text(painter, lower, small, align, look.colour("muted"), theme.SMALL_PX - 1)
        painter.restore()

    def _paint_text(
        self, painter: QPainter, place: QRect, text: str, align: Qt.AlignmentFlag, colour: QColor, pixels: int
    ) -> None:
        font = theme.font(pixels)
        painter.setFont(font)
        painter.setPen(colour)
        shown = QFontMetrics(font).elidedText(text, self._elide, place.width())
        painter.drawText(place, align, shown)

    def _paint_mark(self, painter: QPainter, place: QRect, index: _Index, look: theme.Theme) -> QRect:
        """Paint letter and line of a row that is drawn, and return the room that is left."""
        number = self._table.drawn.get(index.data(ROW_ROLE))
        room = theme.scaled(MARK_PX)
        is_turned = self._table.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if number is not None:
            left = place.right() - room if is_turned else place.left()
            painter.setFont(theme.font(theme.SMALL_PX, bold=True))
            painter.setPen(look.colour("text"))
            painter.drawText(QRect(left, place.top() + 2, room, place.height() // 2 - 2), _LEFT, LETTERS[number])
            painter.setPen(line_pen(number, look))
            middle = place.bottom() - place.height() / 4
            painter.drawLine(QPointF(left, middle), QPointF(left + room - theme.SPACE_S, middle))
        return place.adjusted(0, 0, -room, 0) if is_turned else place.adjusted(room, 0, 0, 0)
