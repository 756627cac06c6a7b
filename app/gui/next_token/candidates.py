"""The candidates of a step as a list of bars; the one that was drawn stays in sight, whatever its rank.

The list is Qt's, so that keys, scrolling and screen readers work; `candidate_row` paints. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.gui import theme
from app.gui.icons import Icons
from app.gui.next_token.candidate_row import RowPainter
from app.gui.next_token.candidates_model import ROW_ROLE, CandidatesModel
from app.gui.widgets.words import set_hint
from app.services.next_token import CandidateRow

ROW_PX = 27
LEAST_ROWS, MOST_ROWS = 6, 20


class CandidatesChart(QListView):
    """At least six rows, as many whole ones as there is height for; keys and the wheel reach the others."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("candidates_chart")
        self.setAccessibleName(self.tr("Candidates for the next token"))
        self._rows = CandidatesModel()
        self._painter = RowPainter(icons, self._rows)
        self._pinned = _Pinned(self._painter, self)
        self.setModel(self._rows)
        self.setItemDelegate(_Delegate(self._painter, self))
        self.setUniformItemSizes(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        for set_policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setMinimumHeight(LEAST_ROWS * ROW_PX)
        self.setMaximumHeight(MOST_ROWS * ROW_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def rows(self) -> CandidatesModel:
        """The tokens that are shown."""
        return self._rows

    @property
    def pinned(self) -> CandidateRow | None:
        """The drawn token, where it stands below the list because it is not among the first that fit."""
        return self._pinned.row if self._pinned.isVisibleTo(self) else None

    def show_rows(self, rows: Sequence[CandidateRow]) -> None:
        """Show other tokens."""
        self._rows.show_rows(rows)
        self._pin()

    def show_theme(self, look: theme.Theme) -> None:
        """Paint in the colours of a theme."""
        self._painter.show_theme(look)
        self._pinned.update()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave no room for a part of a row."""
        super().resizeEvent(event)
        self._pin()

    def sizeHint(self) -> QSize:
        """Ask for the least number of rows: there is more where the column has height left."""
        return QSize(240, LEAST_ROWS * ROW_PX)

    def _pin(self) -> None:
        """Keep the drawn token in sight below the list, where it is not among the first rows that fit."""
        fitting, rest = divmod(self.height(), ROW_PX)
        drawn = self._rows.drawn_place
        index = None if drawn is None or drawn < fitting else self._rows.index(drawn)
        self._pinned.setVisible(index is not None)
        if index is not None:
            self._pinned.setGeometry(0, (fitting - 1) * ROW_PX, self.width(), ROW_PX)
            self._pinned.show_row(index.data(ROW_ROLE), str(index.data(Qt.ItemDataRole.AccessibleTextRole)))
            rest += ROW_PX
        if self.viewportMargins().bottom() != rest:
            self.setViewportMargins(0, 0, 0, rest)


class _Pinned(QWidget):
    """One row below the list; those who listen find it in the list."""

    def __init__(self, painter: RowPainter, parent: QWidget) -> None:
        super().__init__(parent)
        self._painter = painter
        self.row: CandidateRow | None = None
        self.hide()

    def show_row(self, row: CandidateRow, sentence: str) -> None:
        """Show a token."""
        self.row = row
        set_hint(self, sentence)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the row."""
        if self.row is not None:
            painter = QPainter(self)
            self._painter.paint(painter, self.rect(), self.row, focus=False, apart=True)
            painter.end()


class _Delegate(QStyledItemDelegate):
    """Paints the rows of the list."""

    def __init__(self, painter: RowPainter, parent: QWidget) -> None:
        super().__init__(parent)
        self._painter = painter

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Ask for a row."""
        return QSize(0, ROW_PX)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        row: CandidateRow = index.data(ROW_ROLE)
        place: QRect = option.rect
        state: QStyle.StateFlag = option.state
        has_focus = bool(state & QStyle.StateFlag.State_HasFocus)
        self._painter.paint(painter, place, row, focus=has_focus, apart=row.rank != index.row() + 1)
