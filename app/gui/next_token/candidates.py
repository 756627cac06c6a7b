"""The candidates of a step as a list of bars; the one that was drawn stays in sight, whatever its rank.

The list is Qt's, so that keys, scrolling and screen readers work; `candidate_row` paints. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
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
_TAKES = ("Return", "Enter")
translate = QCoreApplication.translate


def candidate_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with a candidate: in words, and the keys."""
    words = translate("CandidatesChart", "Let the answer that waits go on by it")
    return [(words, tuple(map(QKeySequence, _TAKES)))]


class CandidatesChart(QListView):
    """At least six rows, as many whole ones as there is height for; keys and the wheel reach the others.

    Whoever scrolled is back at the top with the next answer, and with the next step once the pointer has left.
    """

    taken = Signal(int)
    """Somebody chose the next token: which one."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("candidates_chart")
        self.setAccessibleName(self.tr("Candidates for the next token"))
        self._rows = CandidatesModel()
        self._painter = RowPainter(icons, self._rows)
        self._pinned = _Pinned(self._painter, self)
        self._request, self._step = 0, 0
        self._pointed = -1
        """The row under the pointer while a token can be chosen."""
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
        self.viewport().setMouseTracking(True)
        self.clicked.connect(self._take)
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

    def show_rows(
        self, rows: Sequence[CandidateRow], request: int = 0, step: int = 0, *, can_take: bool = False
    ) -> None:
        """Show other tokens, of a step of an answer; `can_take` says that one of them can be chosen as the next."""
        if tuple(rows) != self._rows.rows and self.underMouse() and QToolTip.isVisible():
            QToolTip.hideText()  # it tells of a token that may stand elsewhere now
        is_looked_at = request == self._request and (step == self._step or self.underMouse())
        is_next = can_take and (request, step) != (self._request, self._step)
        self._request, self._step = request, step
        self._show_taking(can_take)
        self._rows.show_rows(rows)
        if is_next and self.hasFocus():
            self.setCurrentIndex(self._rows.index(0))  # Enter, pressed once more, would choose by place
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
                if index == self._pointed:
                    self._painter.paint_pointed(painter, place)
                self._painter.paint(painter, place, row, focus=index == current, apart=row.rank != index + 1)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a token with Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._rows.can_take:
            if not event.isAutoRepeat():
                self._take(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show which token a click would choose."""
        super().mouseMoveEvent(event)
        self._point(self.indexAt(event.position().toPoint()).row())

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._point(-1)

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

    def _take(self, index: QModelIndex) -> None:
        if self._rows.can_take and index.isValid():
            self.taken.emit(self._rows.rows[index.row()].token)

    def _show_taking(self, can_take: bool) -> None:
        if can_take != self._rows.can_take:
            self._rows.can_take = can_take
            shape = Qt.CursorShape.PointingHandCursor if can_take else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
            self._point(-1)

    def _point(self, row: int) -> None:
        row = row if self._rows.can_take else -1
        if row != self._pointed:
            self._pointed = row
            self.viewport().update()

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
