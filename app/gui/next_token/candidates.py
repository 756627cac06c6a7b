"""The candidates of a step as a list of bars; the one that was drawn stays in sight, whatever its rank.

The list is Qt's, so that keys, scrolling and screen readers work; `candidate_row` paints. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.next_token.candidate_row import RowPainter
from app.gui.next_token.candidates_model import CandidatesModel
from app.gui.widgets.words import set_hint
from app.services.next_token import CandidateRow

ROW_PX = 27
LEAST_ROWS, MOST_ROWS = 6, 20


class CandidatesChart(QListView):
    """At least six rows, as many whole ones as there is height for; keys and the wheel reach the others.

    Whoever scrolled is back at the top with the next answer, and with the next step once the pointer has left.
    """

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("candidates_chart")
        self.setAccessibleName(self.tr("Candidates for the next token"))
        self._rows = CandidatesModel()
        self._painter = RowPainter(icons, self._rows)
        self._pinned = _Pinned(self._painter, self)
        self._request, self._step = 0, 0
        self.setModel(self._rows)
        self.setItemDelegate(_Delegate(self))
        self.setUniformItemSizes(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        for set_policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        stand_alone(self.viewport())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel alone takes no focus
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.setMinimumHeight(LEAST_ROWS * ROW_PX)
        self.setMaximumHeight(MOST_ROWS * ROW_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def rows(self) -> CandidatesModel:
        """The tokens that are shown."""
        return self._rows

    @property
    def pinned(self) -> CandidateRow | None:
        """The drawn token, where it stands below the list because it is not among the rows in view."""
        return self._pinned.row if self._pinned.isVisibleTo(self) else None

    def show_rows(self, rows: Sequence[CandidateRow], request: int = 0, step: int = 0) -> None:
        """Show other tokens, of a step of an answer."""
        if tuple(rows) != self._rows.rows and self.underMouse() and QToolTip.isVisible():
            QToolTip.hideText()  # it tells of a token that may stand elsewhere now
        is_looked_at = request == self._request and (step == self._step or self.underMouse())
        self._request, self._step = request, step
        self._rows.show_rows(rows)
        if not is_looked_at:
            self.verticalScrollBar().setValue(0)
        self.viewport().update()
        self._pin()

    def show_theme(self, look: theme.Theme) -> None:
        """Paint in the colours of a theme."""
        self._painter.show_theme(look)
        self._pinned.update()
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view; Qt's way by a delegate costs four times as much."""
        viewport, first = self.viewport(), self.verticalScrollBar().value()
        painter = QPainter(viewport)
        paint_ground(painter, viewport, event.rect())
        current = self.currentIndex().row() if self.hasFocus() else -1
        for number, row in enumerate(self._rows.rows[first : first + -(-viewport.height() // ROW_PX)]):
            place = QRect(0, number * ROW_PX, viewport.width(), ROW_PX)
            if place.intersects(event.rect()):
                index = first + number
                self._painter.paint(painter, place, row, focus=index == current, apart=row.rank != index + 1)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll where somebody stands in the list or where there is something to see, else leave it to the panel."""
        if self.hasFocus() or self._is_more(below=event.angleDelta().y() < 0):
            super().wheelEvent(event)
        else:
            event.ignore()

    def _is_more(self, *, below: bool) -> bool:
        first = self.verticalScrollBar().value()
        if not below:
            return first > 0
        return any(row.cut_by is None for row in self._rows.rows[first + self.viewport().height() // ROW_PX :])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave no room for a part of a row."""
        super().resizeEvent(event)
        self._pin()

    def sizeHint(self) -> QSize:
        """Ask for the least number of rows: there is more where the column has height left."""
        return QSize(240, LEAST_ROWS * ROW_PX)

    def _scrolled(self, first: int) -> None:
        was_pinned = self.pinned is not None
        self._pin()
        drawn = self._rows.drawn_place
        if not was_pinned and drawn is not None and drawn < first:
            self.verticalScrollBar().setValue(first + 1)  # the row that came into view would be behind the pinned one

    def _pin(self) -> None:
        """Keep the drawn token in sight below the list, where it is not among the rows in view."""
        fitting, rest = divmod(self.height(), ROW_PX)
        drawn, first = self._rows.drawn_place, self.verticalScrollBar().value()
        row = None if drawn is None or first <= drawn < first + fitting else self._rows.rows[drawn]
        self._pinned.setVisible(row is not None)
        if row is not None:
            self._pinned.setGeometry(0, (fitting - 1) * ROW_PX, self.width(), ROW_PX)
            self._pinned.show_row(row, self._rows.sentence(row))
            rest += ROW_PX
        if self.viewportMargins().bottom() != rest:
            self.setViewportMargins(0, 0, 0, rest)


class _Pinned(QWidget):
    """One row below the list; those who listen find it in the list."""

    def __init__(self, painter: RowPainter, parent: QWidget) -> None:
        super().__init__(parent)
        self._painter = painter
        self.row: CandidateRow | None = None
        stand_alone(self)
        self.hide()

    def show_row(self, row: CandidateRow, sentence: str) -> None:
        """Show a token."""
        self.row = row
        set_hint(self, sentence)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the row."""
        painter = QPainter(self)
        paint_ground(painter, self)
        if self.row is not None:
            self._painter.paint(painter, self.rect(), self.row, focus=False, apart=True)
        painter.end()


class _Delegate(QStyledItemDelegate):
    """Knows how high a row is."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Ask for a row."""
        return QSize(0, ROW_PX)
