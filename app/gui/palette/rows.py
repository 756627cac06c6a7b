"""The rows of the palette as an item model, and how they are painted."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui import theme
from app.gui.icons import Icons
from app.gui.palette.entries import Found
from app.gui.widgets.fit_badge import fit_word
from app.services.fit_badges import FitBadges

ROW_PX = 34
_ICON_PX, _BESIDE_SHARE = 16, 0.4
_ICONS = {"action": "forward", "chat": "chat", "model": "model"}
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


class Role(IntEnum):
    """What a row is asked for beside its text."""

    FOUND = Qt.ItemDataRole.UserRole
    BESIDE = FOUND + 1
    """What stands at its end."""


class PaletteModel(QAbstractListModel):
    """What fits what is typed."""

    def __init__(self, fits: FitBadges, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._fits = fits
        self._rows: Sequence[Found] = ()

    def show_found(self, rows: Sequence[Found]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return one thing about a row."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.entry.words
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.in_words(row)
            case Role.FOUND:
                return row
            case Role.BESIDE:
                return self.beside(row)
        return None

    def beside(self, row: Found) -> str:
        """Return what stands at the end of a row: of a model that can be loaded also whether it fits."""
        entry = row.entry
        if entry.kind != "model" or entry.why_not:
            return entry.beside
        fit = self._fits.get(entry.id)
        is_known = fit is not None and fit.verdict != "unknown"
        return " · ".join([entry.beside, fit_word(fit)] if is_known else [entry.beside])

    def in_words(self, row: Found) -> str:
        """Return a row as it is heard."""
        entry = row.entry
        kind = {"action": self.tr("action"), "chat": self.tr("chat"), "model": self.tr("model")}[entry.kind]
        return ", ".join(part for part in (entry.words, kind, self.beside(row), entry.why_not) if part)


class PaletteDelegate(QStyledItemDelegate):
    """One line a row: what it is, its words with the letters that fit in bold, and its keys at the end."""

    def __init__(self, icons: Icons, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icons = icons

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of every row."""
        return QSize(0, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        row: Found = index.data(Role.FOUND)
        palette, place = option.palette, option.rect.adjusted(theme.SPACE_M, 0, -theme.SPACE_M, 0)
        is_marked = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if is_marked:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
            inner = QRectF(option.rect).adjusted(theme.SPACE_XS, 1, -theme.SPACE_XS, -1)
            painter.drawRoundedRect(inner, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        words, muted = _colours(palette, is_marked=is_marked, is_off=bool(row.entry.why_not))
        picture = QRect(place.left(), place.center().y() - _ICON_PX // 2, _ICON_PX, _ICON_PX)
        self._icons.icon(_ICONS[row.entry.kind], muted).paint(painter, picture)
        place.setLeft(picture.right() + theme.SPACE_M)
        metrics = QFontMetrics(theme.font(theme.SMALL_PX))
        beside = metrics.elidedText(
            index.data(Role.BESIDE), Qt.TextElideMode.ElideRight, int(place.width() * _BESIDE_SHARE)
        )
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(muted)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, beside)
        place.setRight(place.right() - metrics.horizontalAdvance(beside) - theme.SPACE_M)
        painter.setPen(words)
        _paint_words(painter, place, row)
        painter.restore()


def _colours(palette: QPalette, *, is_marked: bool, is_off: bool) -> tuple[QColor, QColor]:
    """Return the colours of a row's words, and of what stands beside them."""
    if is_marked:
        colour = palette.color(QPalette.ColorRole.HighlightedText)
        return colour, colour
    muted = palette.color(QPalette.ColorRole.PlaceholderText)
    return (muted if is_off else palette.color(QPalette.ColorRole.Text)), muted


def _paint_words(painter: QPainter, place: QRect, row: Found) -> None:
    """Paint words, stretch by stretch: those that fit in bold."""
    plain, bold = theme.font(theme.BASE_PX), theme.font(theme.BASE_PX, bold=True)
    text, fits = row.entry.words, set(row.places)
    left, start = place.left(), 0
    while start < len(text) and left < place.right():
        is_bold, end = start in fits, start
        while end < len(text) and (end in fits) == is_bold:
            end += 1
        painter.setFont(bold if is_bold else plain)
        metrics, room = painter.fontMetrics(), QRect(left, place.top(), place.right() - left, place.height())
        shown = metrics.elidedText(text[start:end], Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        left, start = left + metrics.horizontalAdvance(text[start:end]), end
