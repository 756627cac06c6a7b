"""Sizes as bars, one in each row: a list to go through by keys and to hear, painted as a chart."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
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
from app.gui.file_view.chart_looks import LETTERS, paint_part, part_looks
from app.gui.file_view.size_rows import BAR_ROLE, Bar, Chart, SizeRows
from app.gui.ground import paint_ground, stand_alone
from app.services.units import byte_size

ROW_PX, BAR_PX, SIZE_PX, MOST_NAME_PX, MEASURED, LEAST_PX = 24, 16, 76, 150, 64, 2
_Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class SizeChart(QListView):
    """Shows as many bars as there are; each says all of its parts on hover."""

    def __init__(self, themes: theme.Themes, name: str, said: str) -> None:
        super().__init__()
        self.rows = SizeRows()
        self.name_px = 0
        self.setModel(self.rows)
        self.setItemDelegate(_Bars(self, themes))
        self.setObjectName(name)
        self.setAccessibleName(said)
        self.setProperty("look", "bars")
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        themes.changed.connect(self.viewport().update)

    def show_chart(self, chart: Chart) -> None:
        """Show other bars."""
        metrics = QFontMetrics(theme.font(theme.SMALL_PX))
        rows = range(len(chart.bars))
        names = {chart.name_of(row) for row in (*rows[:MEASURED], *rows[-4:])}
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0)
        self.name_px = min(widest + theme.SPACE_S, theme.scaled(MOST_NAME_PX))
        self.rows.show(chart)
        self.viewport().update()


class _Bars(QStyledItemDelegate):
    """Paints a name, the parts of a bar to scale, and how large it is."""

    def __init__(self, chart: SizeChart, themes: theme.Themes) -> None:
        super().__init__(chart)
        self._chart, self._themes = chart, themes

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """Ask for a row."""
        return QSize(60, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one bar; that which is chosen has a ground of its own."""
        look, bar, place = self._themes.current, index.data(BAR_ROLE), QRect(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, look.colour("selection"))
        inner = place.adjusted(theme.SPACE_S, 0, -theme.SPACE_S, 0)
        name, bars, size = self._columns(inner)
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(look.colour("text"))
        metrics = painter.fontMetrics()
        painter.drawText(
            name, _LEFT, metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, name.width())
        )
        painter.drawText(size, _RIGHT, byte_size(bar.size))
        painter.setFont(theme.font(theme.SMALL_PX - 2, bold=True))
        self._paint_bar(painter, look, bars, bar)
        painter.restore()

    def _columns(self, place: QRect) -> tuple[QRect, QRect, QRect]:
        """Return where the name, the bar and its size are; they are turned where the window is."""
        size_px, name_px = theme.scaled(SIZE_PX), self._chart.name_px
        bar_px = max(place.width() - size_px - name_px, 0)
        name = QRect(place.left(), place.top(), name_px, place.height())
        bars = QRect(name.right() + 1, place.top(), bar_px, place.height())
        size = QRect(bars.right() + 1, place.top(), size_px, place.height())
        return name, bars, size

    def _paint_bar(self, painter: QPainter, look: theme.Theme, place: QRect, bar: Bar) -> None:
        most = self._chart.rows.most
        if most <= 0:
            return
        looks, high = part_looks(look), theme.scaled(BAR_PX)
        left, top = float(place.left()), place.top() + (place.height() - high) / 2
        for number, size in bar.parts:
            wide = size / most * place.width()
            part = QRectF(
                left, top, max(wide - 1, min(wide, 1.0), LEAST_PX if len(bar.parts) == 1 and size else 0), high
            )
            paint_part(painter, part, looks[number], LETTERS[number] if self._chart.rows.chart.names else "")
            left += wide
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if left - place.left() > 1:
            painter.setPen(QPen(look.colour("border_strong"), look.line_px))
            painter.drawRect(QRectF(place.left() - 0.5, top - 0.5, left - place.left(), high))


class SizeLegend(QWidget):
    """What the letters and patterns of the bars stand for, in as many rows as they need."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("file_view_legend")
        self._themes = themes
        self._names: tuple[str, ...] = ()
        self._placed: list[QRect] = []
        stand_alone(self)
        self.setFont(theme.font(theme.SMALL_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.scaled(ROW_PX))
        themes.changed.connect(self.update)

    def show_names(self, names: tuple[str, ...]) -> None:
        """Show other names."""
        if names != self._names:
            self._names = names
            self.setAccessibleName("; ".join(f"{LETTERS[number]}: {name}" for number, name in enumerate(names)))
            self._place()
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place them anew in another width."""
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint a piece of each bar with its name."""
        painter, look = QPainter(self), self._themes.current
        paint_ground(painter, self)
        looks, high = part_looks(look), theme.scaled(BAR_PX)
        for number, place in enumerate(self._placed):
            swatch = QRectF(place.left(), place.top() + (place.height() - high) / 2, high * 1.5, high)
            painter.setFont(theme.font(theme.SMALL_PX - 2, bold=True))
            paint_part(painter, swatch, looks[number], LETTERS[number])
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.colour("border_strong"), look.line_px))
            painter.drawRect(swatch.adjusted(-0.5, -0.5, 0.5, 0.5))
            painter.setFont(self.font())
            painter.setPen(look.colour("text"))
            words = place.adjusted(int(high * 1.5) + theme.SPACE_S, 0, 0, 0)
            painter.drawText(words, _LEFT, self._names[number])
        painter.end()

    def _place(self) -> None:
        metrics, high = QFontMetrics(self.font()), theme.scaled(ROW_PX)
        before = int(theme.scaled(BAR_PX) * 1.5) + theme.SPACE_S
        left = top = 0
        self._placed = []
        for name in self._names:
            wide = before + metrics.horizontalAdvance(name)
            if left and left + wide > self.width():
                left, top = 0, top + high
            self._placed.append(QRect(left + 1, top, wide + 2, high))
            left += wide + theme.SPACE_L
        self.setFixedHeight(top + high)
