"""The figures of all lanes as people see them: a table with a bar in each cell, sorted by a click on a heading."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.figures_model import LANE_ROLE, VALUE_ROLE, FiguresModel
from app.gui.compare.lane_mark import lane_colour, lane_pen
from app.gui.widgets.figures_header import SIGN_PX, FiguresHeader

ROW_PX, MOST_ROWS, BAR_PX, SAMPLE_PX = 24, 5, 3, 26
_FIRST_PX, _LEAST_FIRST_PX = 230, 150
_LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
"""Keeps the sign of a number before it in every language."""
_AROUND_PX = 8
"""The ring around the table, also where it is thicker."""
_Index = QModelIndex | QPersistentModelIndex


class FiguresTable(QTableView):
    """A row a lane; Enter goes to it."""

    lane_wanted = Signal(int)
    """Somebody wants to see a lane."""

    def __init__(self, themes: theme.Themes, most_rows: int = MOST_ROWS) -> None:
        super().__init__()
        self._most_rows = most_rows
        self.figures = FiguresModel()
        self.setModel(self.figures)
        self.setItemDelegate(_Cells(self, themes))
        self.setObjectName("compare_figures")
        self.setAccessibleName(self.tr("Figures of the lanes"))
        self.setProperty("look", "figures")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.scaled(ROW_PX))
        self.verticalHeader().setMinimumSectionSize(theme.scaled(ROW_PX))
        header = FiguresHeader(self)
        self.setHorizontalHeader(header)
        header.setFixedHeight(theme.scaled(ROW_PX))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSortingEnabled(True)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(lambda index: self.lane_wanted.emit(index.data(LANE_ROLE)))
        self.figures.modelReset.connect(self._fit)
        themes.changed.connect(self.viewport().update)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew."""
        super().resizeEvent(event)
        self._share_width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the lane with Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.lane_wanted.emit(self.currentIndex().data(LANE_ROLE))
        else:
            super().keyPressEvent(event)

    @property
    def whole_px(self) -> int:
        """How wide it is where nothing is shortened."""
        return sum(self._needed_px(place) for place in range(self.horizontalHeader().count()))

    def _fit(self) -> None:
        self._share_width()
        rows = min(max(self.figures.rowCount(), 1), self._most_rows)
        is_wider = self.horizontalHeader().length() > self.viewport().width() > 0
        below_px = self.horizontalScrollBar().sizeHint().height() if is_wider else 0
        self.setFixedHeight((rows + 1) * theme.scaled(ROW_PX) + _AROUND_PX + below_px)

    def _share_width(self) -> None:
        """Give every figure the room that its heading and its words need, the name less where there is little."""
        header = self.horizontalHeader()
        needed = [self._needed_px(place) for place in range(1, header.count())]
        spare = self.viewport().width() - sum(needed)
        first = max(min(theme.scaled(_FIRST_PX), spare), theme.scaled(_LEAST_FIRST_PX))
        more, left = divmod(max(spare - first, 0), max(len(needed), 1))
        header.resizeSection(0, first)
        for place, width in enumerate(needed, 1):
            header.resizeSection(place, width + more + (place <= left))

    def _needed_px(self, place: int) -> int:
        """Return how wide a column must be for its heading with the sign of its order, and for what is in it."""
        heading, cells = QFontMetrics(self.horizontalHeader().font()), QFontMetrics(theme.font(theme.BASE_PX))
        title = str(self.figures.headerData(place, Qt.Orientation.Horizontal))
        rows = range(self.figures.rowCount())
        widest = max((cells.horizontalAdvance(str(self.figures.index(row, place).data())) for row in rows), default=0)
        return max(heading.horizontalAdvance(title) + theme.scaled(SIGN_PX), widest) + 2 * theme.SPACE_S


class _Cells(QStyledItemDelegate):
    """Paints the cells."""

    def __init__(self, table: FiguresTable, themes: theme.Themes) -> None:
        super().__init__(table)
        self._table = table
        self._themes = themes

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """Ask for a row."""
        return QSize(70, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint a figure over its bar, or a lane's letter with its line."""
        look, place = self._themes.current, QRect(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, look.colour("selection"))
        inner = place.adjusted(theme.SPACE_S, 0, -theme.SPACE_S, 0)
        font = index.data(Qt.ItemDataRole.FontRole)
        painter.setFont(font)
        said = str(index.data())
        if index.column() == 0:
            self._paint_lane(painter, inner, index, look)
        elif index.column() > len(self._table.figures.columns):
            painter.setPen(look.colour("text"))
            shown = QFontMetrics(font).elidedText(said, Qt.TextElideMode.ElideRight, inner.width())
            painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        else:
            self._paint_figure(painter, inner, index, look)
        painter.restore()

    def _paint_lane(self, painter: QPainter, place: QRect, index: _Index, look: theme.Theme) -> None:
        lane = int(index.data(LANE_ROLE))
        name = str(index.data()).removeprefix(LETTERS[lane]).strip()
        is_turned = self._table.layoutDirection() is Qt.LayoutDirection.RightToLeft
        painter.setPen(look.colour("text"))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, LETTERS[lane])
        left = place.right() - 18 - SAMPLE_PX if is_turned else place.left() + 18
        middle = place.center().y() + 0.5
        painter.setPen(lane_pen(lane, look))
        painter.drawLine(QPointF(left, middle), QPointF(left + SAMPLE_PX, middle))
        room = place.adjusted(0, 0, -26 - SAMPLE_PX, 0) if is_turned else place.adjusted(26 + SAMPLE_PX, 0, 0, 0)
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(look.colour("text"))
        shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_figure(self, painter: QPainter, place: QRect, index: _Index, look: theme.Theme) -> None:
        value = index.data(VALUE_ROLE)
        painter.setPen(look.colour("text" if value is not None else "muted"))
        upper = place.adjusted(0, 0, 0, -BAR_PX - 1)
        painter.drawText(
            upper, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{_LEFT_TO_RIGHT}{index.data()}"
        )
        most = self._table.figures.most(index.column())
        bottom = place.bottom() - BAR_PX
        painter.setPen(QPen(look.colour("border"), 1))
        painter.drawLine(place.left(), bottom + BAR_PX // 2, place.right(), bottom + BAR_PX // 2)
        if value is not None and most > 0:
            length = max(place.width() * abs(value) / most, 1.0)
            is_turned = self._table.layoutDirection() is Qt.LayoutDirection.RightToLeft
            left = place.left() if is_turned else place.right() + 1 - length
            painter.fillRect(
                QRectF(left, bottom, length, BAR_PX), look.colour(lane_colour(int(index.data(LANE_ROLE))))
            )
