"""Paints the rows of the list, and gives the field in which a title is typed.

Knows rows by their roles; what a click means is the view's. Every row is equally high, headings too.
"""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.core.conversation import LONGEST_TITLE
from app.gui import theme
from app.gui.history.model import Role
from app.gui.icons import Icons
from app.services.chat_folders import LONGEST_NAME

ROW_PX = 32
MORE_PX = 28
_ICON_PX = 16
_BUSY_PX = 10
_BAR_PX = 3
_RING_PX = 2

_NUMBER = re.compile(r" \(\d{1,3}\)$")

Index = QModelIndex | QPersistentModelIndex


def more_rect(row: QRect) -> QRect:
    """Return where the button for more is in a row."""
    return QRect(row.right() - MORE_PX - 1, row.top() + (row.height() - MORE_PX) // 2, MORE_PX, MORE_PX)


def elided(title: str, metrics: QFontMetrics, width: int) -> str:
    """Return as much of a title as there is room for; the number that tells a fork apart stays: “Why is th… (2)”."""
    number = _NUMBER.search(title)
    if number is None or metrics.horizontalAdvance(title) <= width:
        return metrics.elidedText(title, Qt.TextElideMode.ElideRight, width)
    room = width - metrics.horizontalAdvance(number[0])
    return metrics.elidedText(title[: number.start()], Qt.TextElideMode.ElideRight, room) + number[0]


class RowDelegate(QStyledItemDelegate):
    """One line for each conversation: a bar where it is open, a mark where it is being answered."""

    renamed = QtSignal(object, str)
    """Somebody typed another title for a conversation, an int that is too long for Qt's."""
    folder_renamed = QtSignal(str, str)
    """Somebody typed another name for a folder."""

    def __init__(self, icons: Icons, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._over_more = QPersistentModelIndex()
        self.drop_at = QPersistentModelIndex()
        """The row that a chat would be dropped on."""
        self.line_px = 1
        """How thick lines are: what is open has a border where they are thick."""

    def hover_more(self, index: Index) -> bool:
        """Take note of the row whose button the pointer is over; return whether that is another one."""
        before, self._over_more = self._over_more, QPersistentModelIndex(index)
        return before != self._over_more

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of every row."""
        return QSize(0, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        painter.save()
        if index.data(Role.FOLDER) is not None:
            self._paint_folder(painter, option, index)
        elif index.data(Role.ID) is None:
            self._paint_heading(painter, option, str(index.data()))
        else:
            self._paint_conversation(painter, option, index)
        if QPersistentModelIndex(index) == self.drop_at:
            _frame(painter, option.rect.adjusted(0, 1, -1, -1), QPen(_accent(option.palette), _RING_PX))
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Return a field that holds the title, all of it selected."""
        field = QLineEdit(parent)
        field.setObjectName("conversation_title_field")
        is_folder = index.data(Role.FOLDER) is not None
        field.setAccessibleName(self.tr("Name of the folder") if is_folder else self.tr("Title of the chat"))
        field.setProperty("look", "field")
        field.setMaxLength(LONGEST_NAME if is_folder else LONGEST_TITLE)
        field.setText(str(index.data(Qt.ItemDataRole.EditRole)))
        field.selectAll()
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Leave what is being typed alone when the row changes under it."""

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Say which title was typed, if it is one and another one."""
        assert isinstance(editor, QLineEdit)
        title = editor.text().strip()
        if not title or title == index.data(Qt.ItemDataRole.EditRole):
            return
        if (folder := index.data(Role.FOLDER)) is not None:
            self.folder_renamed.emit(folder, title)
        else:
            self.renamed.emit(index.data(Role.ID), title)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Lay the field over the row."""
        editor.setGeometry(option.rect.adjusted(theme.SPACE_XS, 1, -theme.SPACE_XS, -1))

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show a title that does not fit as plain text."""
        if event.type() != QEvent.Type.ToolTip or index.data(Role.ID) is None:
            return False
        title = str(index.data())
        metrics = QFontMetrics(theme.font(theme.BASE_PX, bold=bool(index.data(Role.OPEN))))
        fits = metrics.horizontalAdvance(title) <= _title_rect(option.rect, index, is_hovered=True).width()
        QToolTip.showText(event.globalPos(), "" if fits else f"<p>{escape(title)}</p>", view)
        return True

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, title: str) -> None:
        painter.setFont(theme.font(theme.SMALL_PX, bold=True))
        painter.setPen(option.palette.color(QPalette.ColorRole.PlaceholderText))
        place = option.rect.adjusted(theme.SPACE_M, 0, -theme.SPACE_M, -theme.SPACE_XS)
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_conversation(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        palette, row = option.palette, option.rect.adjusted(0, 1, -1, -1)
        row.setLeft(row.left() + _indent_px(index))
        is_open, is_hovered = bool(index.data(Role.OPEN)), bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_open or is_hovered:
            colour = QColor(palette.color(QPalette.ColorRole.Midlight))
            colour.setAlphaF(1.0 if is_open else 0.6)
            _fill(painter, row, colour)
        if is_open:
            bar = QRect(row.left() + 2, row.top() + theme.SPACE_S, _BAR_PX, row.height() - 2 * theme.SPACE_S)
            _fill(painter, bar, palette.color(QPalette.ColorRole.Highlight), _BAR_PX / 2)
            if self.line_px > 1:
                _frame(painter, row, QPen(palette.color(QPalette.ColorRole.Dark), self.line_px))
        if option.state & QStyle.StateFlag.State_HasFocus:
            ring = _RING_PX + self.line_px - 1
            _frame(painter, row, QPen(palette.color(QPalette.ColorRole.Highlight), ring))
        place = _title_rect(option.rect, index, is_hovered=is_hovered)
        painter.setFont(theme.font(theme.BASE_PX, bold=is_open))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        shown = elided(str(index.data()), painter.fontMetrics(), place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        if index.data(Role.BUSY):
            _paint_busy(painter, place, palette)
        if is_hovered:
            self._paint_more(painter, option.rect, palette, is_over=QPersistentModelIndex(index) == self._over_more)

    def _paint_folder(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the name of a folder behind an arrow that says whether it is unfolded."""
        palette, row = option.palette, option.rect.adjusted(0, 1, -1, -1)
        is_hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_hovered:
            colour = QColor(palette.color(QPalette.ColorRole.Midlight))
            colour.setAlphaF(0.6)
            _fill(painter, row, colour)
        if option.state & QStyle.StateFlag.State_HasFocus:
            _frame(painter, row, QPen(_accent(palette), _RING_PX + self.line_px - 1))
        picture = QRect(row.left() + theme.SPACE_S, row.center().y() - _ICON_PX // 2 + 1, _ICON_PX, _ICON_PX)
        name = "right" if index.data(Role.FOLDED) else "down"
        self._icons.icon(name, palette.color(QPalette.ColorRole.WindowText)).paint(painter, picture)
        place = row.adjusted(
            theme.SPACE_S + _ICON_PX + theme.SPACE_XS, 0, -MORE_PX if is_hovered else -theme.SPACE_M, 0
        )
        painter.setFont(theme.font(theme.BASE_PX, bold=True))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        shown = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        if is_hovered:
            self._paint_more(painter, option.rect, palette, is_over=QPersistentModelIndex(index) == self._over_more)

    def _paint_more(self, painter: QPainter, row: QRect, palette: QPalette, *, is_over: bool) -> None:
        place = more_rect(row)
        if is_over:
            _fill(painter, place.adjusted(2, 2, -2, -2), palette.color(QPalette.ColorRole.Mid))
        icon = self._icons.icon("more", palette.color(QPalette.ColorRole.WindowText))
        picture = QRect(0, 0, _ICON_PX, _ICON_PX)
        picture.moveCenter(place.center())
        icon.paint(painter, picture)


def _title_rect(row: QRect, index: Index, *, is_hovered: bool) -> QRect:
    """Return the room for a title; the mark of an answer keeps its place whether the row has a button or not."""
    is_busy = bool(index.data(Role.BUSY))
    right = MORE_PX + theme.SPACE_XS if is_hovered or is_busy else theme.SPACE_M
    return row.adjusted(
        theme.SPACE_M + _indent_px(index), 0, -right - (_BUSY_PX + theme.SPACE_S if is_busy else 0), 0
    )


def _indent_px(index: Index) -> int:
    """Return how far a chat that stands under a folder is moved in."""
    return theme.SPACE_L if index.data(Role.INSIDE) else 0


def _accent(palette: QPalette) -> QColor:
    return palette.color(QPalette.ColorRole.Highlight)


def _fill(painter: QPainter, place: QRect, colour: QColor, radius: float = theme.RADIUS_CONTROL) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(place, radius, radius)


def _frame(painter: QPainter, place: QRect, pen: QPen) -> None:
    """Draw a border inside of a place."""
    half = pen.widthF() / 2
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = QRectF(place).adjusted(half, half, -half, -half)
    painter.drawRoundedRect(inner, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)


def _paint_busy(painter: QPainter, title: QRect, palette: QPalette) -> None:
    """Paint an open ring; it stands still, so that a list nobody looks at costs nothing."""
    ring = QRect(title.right() + theme.SPACE_S, title.center().y() - _BUSY_PX // 2 + 1, _BUSY_PX, _BUSY_PX)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), _RING_PX))
    painter.drawEllipse(ring)
    accent = QPen(palette.color(QPalette.ColorRole.Highlight), _RING_PX)
    accent.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(accent)
    painter.drawArc(ring, 90 * 16, -270 * 16)
