"""The candidates of a step as bars: behind each token what the model gave it, below it what the chain made of that.

Painted by ourselves; the list itself is Qt's, so that keys, scrolling and screen readers work. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap, QPolygonF, QResizeEvent, QStaticText
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
from app.gui.charts.candidates_model import MARKS, ROW_ROLE, CandidatesModel, per_cent
from app.gui.icons import Icons
from app.services.next_token import CandidateRow

ROW_PX = 27
LEAST_ROWS, MOST_ROWS = 6, 20
_GUTTER_PX = 12
_RAW_PX = 19
AFTER_PX = 4
"""Height of the bar of what is left after the chain."""
_NUMBER_PX, _ARROW_PX, _STAGE_PX = 32, 20, 48
_SCISSORS_PX = 14
_RADIUS_PX, _EDGE_PX = 3, 1.5
_TINT = 0.24
_ARROW = "→"
_MOST_LAID = 2_000
"""So many texts are kept as they were laid out."""


class CandidatesChart(QListView):
    """At least six rows, as many whole ones as there is height for; keys and the wheel reach the others."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("candidates_chart")
        self.setAccessibleName(self.tr("Candidates for the next token"))
        self._rows = CandidatesModel()
        self._painter = _RowPainter(icons, self._rows, self)
        self.setModel(self._rows)
        self.setItemDelegate(self._painter)
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

    def show_rows(self, rows: Sequence[CandidateRow]) -> None:
        """Show other tokens."""
        self._rows.show_rows(rows)

    def show_theme(self, look: theme.Theme) -> None:
        """Paint in the colours of a theme."""
        self._painter.show_theme(look)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave no room for a part of a row."""
        super().resizeEvent(event)
        rest = self.height() % ROW_PX
        if self.viewportMargins().bottom() != rest:
            self.setViewportMargins(0, 0, 0, rest)

    def sizeHint(self) -> QSize:
        """Ask for the least number of rows: there is more where the column has height left."""
        return QSize(240, LEAST_ROWS * ROW_PX)


def raw_colour(look: theme.Theme) -> QColor:
    """Return the pale colour of what the model gave, as it stands behind text."""
    colour = look.colour("stage_logits")
    colour.setAlphaF(_TINT)
    return colour


class _RowPainter(QStyledItemDelegate):
    """Paints one token: a wide pale bar behind the text, a thin strong one below it, the figures on the right."""

    def __init__(self, icons: Icons, rows: CandidatesModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._icons = icons
        self._rows = rows
        self._edge = self._text = self._muted = self._cut = self._after = self._raw = self._raw_cut = self._focus = (
            QColor()
        )
        self._scissors = QPixmap()
        self._laid: dict[tuple[str, str], QStaticText] = {}

    def show_theme(self, look: theme.Theme) -> None:
        """Take the colours of a theme."""
        self._text, self._muted, self._cut = (look.colour(name) for name in ("text", "muted", "disabled"))
        self._after, self._focus = look.colour("stage_sampling"), look.colour("accent")
        self._raw, self._raw_cut = raw_colour(look), look.colour("muted")
        self._edge = look.colour("stage_logits")
        self._raw_cut.setAlphaF(_TINT / 2)
        self._scissors = self._icons.icon("scissors", self._muted).pixmap(_SCISSORS_PX, _SCISSORS_PX)

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
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        room = QRectF(place).adjusted(_GUTTER_PX, 2, -1, -2)
        self._paint_bars(painter, row, room)
        if row.is_drawn:
            self._paint_needle(painter, QPointF(place.left() + 1, room.top() + _RAW_PX / 2))
        line = QRect(int(room.left()), int(room.top()), int(room.width()), _RAW_PX)
        self._paint_figures(painter, row, line)
        self._paint_token(painter, row, str(index.data()), line)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._focus, 2))
            painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), _RADIUS_PX, _RADIUS_PX)
        painter.restore()

    def _paint_bars(self, painter: QPainter, row: CandidateRow, room: QRectF) -> None:
        raw = QRectF(room.left(), room.top(), max(room.width() * row.raw, _EDGE_PX), _RAW_PX)
        painter.setBrush(self._raw if row.cut_by is None else self._raw_cut)
        painter.drawRoundedRect(raw, _RADIUS_PX, _RADIUS_PX)
        # The pale bar alone would be too faint to see where it ends.
        painter.setBrush(self._edge if row.cut_by is None else self._cut)
        painter.drawRect(raw.adjusted(0, _RAW_PX - _EDGE_PX, 0, 0))
        if row.cut_by is None:
            top = room.top() + _RAW_PX + 1
            after = QRectF(room.left(), top, max(room.width() * row.after, 1.0), AFTER_PX)
            painter.setBrush(self._after)
            painter.drawRoundedRect(after, AFTER_PX / 2, AFTER_PX / 2)

    def _paint_needle(self, painter: QPainter, tip: QPointF) -> None:
        painter.setBrush(self._after)
        painter.drawPolygon(QPolygonF([tip + QPointF(0, -4), tip + QPointF(7, 0), tip + QPointF(0, 4)]))

    def _paint_figures(self, painter: QPainter, row: CandidateRow, line: QRect) -> None:
        stage, arrow = line.right() - _STAGE_PX, line.right() - _STAGE_PX - _ARROW_PX
        small = theme.font(theme.SMALL_PX)
        painter.setPen(self._muted)
        self._write(painter, small, per_cent(row.raw), line, right=arrow)
        if row.cut_by is None:
            self._write(painter, small, _ARROW, line, right=stage - _ARROW_PX // 4)
            painter.setPen(self._text)
            bold = theme.font(theme.SMALL_PX, bold=True)
            self._write(painter, bold, per_cent(row.after), line, right=stage + _NUMBER_PX - 4)
            return
        top = line.center().y() - _SCISSORS_PX // 2
        painter.drawPixmap(arrow + (_ARROW_PX - _SCISSORS_PX) // 2, top, self._scissors)
        self._write(painter, small, self._rows.stage_name(row.cut_by), line, left=stage)

    def _paint_token(self, painter: QPainter, row: CandidateRow, text: str, line: QRect) -> None:
        font = theme.font(theme.BASE_PX, bold=row.is_drawn)
        room = line.width() - _NUMBER_PX - _ARROW_PX - _STAGE_PX - 6
        text = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room)
        strong = self._text if row.cut_by is None and row.text else self._muted
        left = float(line.left() + 6)
        for is_mark, run in groupby(text, MARKS.__contains__):
            painter.setPen(self._cut if is_mark else strong)
            left += self._write(painter, font, "".join(run), line, left=left)

    def _write(
        self,
        painter: QPainter,
        font: QFont,
        text: str,
        line: QRect,
        *,
        left: float = 0.0,
        right: float | None = None,
    ) -> float:
        """Write a text in the middle of a line's height and return its width; where glyphs stand is worked out once."""
        key = (text, font.key())
        laid = self._laid.get(key)
        if laid is None:
            if len(self._laid) > _MOST_LAID:
                self._laid.clear()
            laid = self._laid[key] = QStaticText(text)
            laid.setTextFormat(Qt.TextFormat.PlainText)
            laid.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            laid.prepare(font=font)
        size = laid.size()
        painter.setFont(font)
        start = left if right is None else right - size.width()
        painter.drawStaticText(QPointF(start, line.top() + round((line.height() - size.height()) / 2)), laid)
        return size.width()
