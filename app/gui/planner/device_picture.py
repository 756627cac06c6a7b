"""What one device has to hold: a bar against what is free on it, and a row for each part with its size and its source."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.planner.plan_words import (
    device_title,
    device_words,
    need_words,
    rest_words,
    row_hint,
    row_name,
    shown_rows,
    source_name,
)
from app.gui.widgets.gauge import mixed
from app.gui.widgets.words import hint_of
from app.services.planning_values import DeviceRows, PlanRow, RowKind
from app.services.units import byte_size

TITLE_PX, BAR_PX, ROW_PX, SWATCH_PX, LEAST_PX = 24, 16, 21, 10, 2
SIZE_RIGHT_PX, SOURCE_PX = 232, 248
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
COLOURS: dict[RowKind, str] = {
    "weights": "stage_decode",
    "kv": "stage_kv",
    "state": "stage_tokens",
    "compute": "stage_prefill",
    "overhead": "stage_logits",
    "margin": "muted",
}


class DevicePicture(QWidget):
    """Shows one device; paints itself as a whole, so that it follows a slider."""

    def __init__(self, themes: theme.Themes, device: DeviceRows) -> None:
        super().__init__()
        self.setObjectName("planned_device")
        self._themes = themes
        self._device = device
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFont(theme.font(theme.BASE_PX))
        self._speak()

    @property
    def device(self) -> DeviceRows:
        """What is shown."""
        return self._device

    def show_device(self, device: DeviceRows) -> None:
        """Show another plan."""
        if device == self._device:
            return
        before = len(shown_rows(self._device))
        self._device = device
        self._speak()
        if len(shown_rows(device)) != before:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for all rows."""
        rows = len(shown_rows(self._device)) + 1
        return QSize(
            theme.scaled(380),
            theme.scaled(TITLE_PX) + theme.scaled(BAR_PX) + theme.SPACE_S + rows * theme.scaled(ROW_PX) + 1,
        )

    def minimumSizeHint(self) -> QSize:
        """Need room for the words of a row."""
        return QSize(theme.scaled(340), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Say on hover what a row is, and why its figure is unknown."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), hint_of(self.hint_at(event.pos().y())), self)
            return True
        return super().event(event)

    def hint_at(self, y: int) -> str:
        """Return what is said of the row at a height; empty where there is none."""
        rows = shown_rows(self._device)
        place = (y - self._rows_top()) // theme.scaled(ROW_PX)
        return row_hint(rows[place]) if 0 <= place < len(rows) else ""

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint title, bar and rows."""
        painter, look = QPainter(self), self._themes.current
        paint_ground(painter, self)
        self._paint_title(painter, look)
        self._paint_bar(painter, look)
        painter.setFont(theme.font(theme.SMALL_PX))
        top, pitch = self._rows_top(), theme.scaled(ROW_PX)
        for place, row in enumerate(shown_rows(self._device)):
            self._paint_row(painter, look, QRect(0, top + place * pitch, self.width(), pitch), row)
        last = QRect(0, top + len(shown_rows(self._device)) * pitch, self.width(), pitch)
        painter.fillRect(
            QRect(0, last.top(), min(self.width(), theme.scaled(SIZE_RIGHT_PX)), 1), look.colour("border")
        )
        name, size = rest_words(self._device)
        painter.setFont(theme.font(theme.SMALL_PX, bold=True))
        painter.setPen(look.colour("danger" if self._is_over else "text"))
        painter.drawText(last.adjusted(self._indent(), 0, 0, 0), _LEFT, name)
        painter.drawText(self._size_place(last), _RIGHT, size)
        painter.end()

    @property
    def _is_over(self) -> bool:
        device = self._device
        return device.needed is not None and device.free is not None and device.needed > device.free

    def _rows_top(self) -> int:
        return theme.scaled(TITLE_PX) + theme.scaled(BAR_PX) + theme.SPACE_S

    def _indent(self) -> int:
        return theme.scaled(SWATCH_PX) + theme.SPACE_S

    def _size_place(self, row: QRect) -> QRect:
        return QRect(row.left(), row.top(), theme.scaled(SIZE_RIGHT_PX), row.height())

    def _paint_title(self, painter: QPainter, look: theme.Theme) -> None:
        place = QRect(0, 0, self.width(), theme.scaled(TITLE_PX))
        need = need_words(self._device)
        painter.setFont(theme.font(theme.SMALL_PX, bold=self._is_over))
        painter.setPen(look.colour("danger" if self._is_over else "muted"))
        painter.drawText(place, _RIGHT, need)
        room = self.width() - QFontMetrics(painter.font()).horizontalAdvance(need) - theme.SPACE_M
        painter.setFont(theme.font(theme.BASE_PX, bold=True))
        painter.setPen(look.colour("text"))
        title = QFontMetrics(painter.font()).elidedText(
            device_title(self._device), Qt.TextElideMode.ElideRight, max(0, room)
        )
        painter.drawText(place, _LEFT, title)

    def _paint_bar(self, painter: QPainter, look: theme.Theme) -> None:
        """Paint the parts to scale; what is needed beyond what is free is crossed out."""
        device = self._device
        place = QRectF(0.5, theme.scaled(TITLE_PX) + 0.5, self.width() - 1, theme.scaled(BAR_PX) - 1)
        known = sum(row.bytes or 0 for row in device.rows)
        whole = max(device.free or 0, known)
        painter.fillRect(place, look.colour("sunken"))
        if whole > 0:
            left = place.left()
            for row in device.rows:
                wide = (row.bytes or 0) / whole * place.width()
                if wide > 0:
                    part = QRectF(left, place.top(), max(wide - 1, min(wide, LEAST_PX)), place.height())
                    self._fill(painter, look, part, row.kind)
                    left += wide
            if device.free is not None and known > device.free:
                end = place.left() + device.free / whole * place.width()
                beyond = QRectF(end, place.top(), place.right() - end, place.height())
                painter.fillRect(beyond, Qt.BrushStyle.BDiagPattern)
                painter.fillRect(QRectF(end - 1, place.top() - 3, 2, place.height() + 6), look.colour("danger"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(look.colour("border_strong"), look.line_px))
        painter.drawRect(place)

    def _fill(self, painter: QPainter, look: theme.Theme, place: QRectF, kind: RowKind) -> None:
        colour = self._colour(look, kind)
        if kind == "margin":
            painter.fillRect(place, mixed(colour, look.colour("surface"), 0.75))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.setBrush(Qt.BrushStyle.FDiagPattern)
            painter.drawRect(place)
        else:
            painter.fillRect(place, colour)

    def _colour(self, look: theme.Theme, kind: RowKind) -> QColor:
        return look.colour(COLOURS[kind])

    def _paint_row(self, painter: QPainter, look: theme.Theme, place: QRect, row: PlanRow) -> None:
        swatch = theme.scaled(SWATCH_PX)
        square = QRectF(place.left(), place.top() + (place.height() - swatch) / 2, swatch, swatch)
        self._fill(painter, look, square, row.kind)
        painter.setPen(look.colour("text"))
        painter.drawText(place.adjusted(self._indent(), 0, 0, 0), _LEFT, row_name(row.kind))
        painter.drawText(self._size_place(place), _RIGHT, byte_size(row.bytes))
        painter.setPen(look.colour("muted"))
        if row.bytes is not None:
            source = place.adjusted(theme.scaled(SOURCE_PX), 0, 0, 0)
            words = QFontMetrics(painter.font()).elidedText(
                source_name(row.source), Qt.TextElideMode.ElideRight, source.width()
            )
            painter.drawText(source, _LEFT, words)

    def _speak(self) -> None:
        self.setAccessibleName(device_words(self._device))
