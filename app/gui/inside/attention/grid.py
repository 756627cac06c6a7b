"""All layers and heads at once: a cell each, with a bar as high as what it looked at most got, placed by what that was.

A bar at the left edge looks at the first token, at the right edge at itself, left of that at the token before, in the
middle at another one. The first row is the average over the heads. A click or the arrow keys choose one. Layers have their
numbers above, heads beside.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QToolTip, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.attention.words import cell_words
from app.gui.inside.shades import Shade, shades, step_of_share
from app.gui.widgets.words import hint_of
from app.services.attention_rows import AttentionRows, Goal
from app.services.attention_text import AttentionText
from app.services.units import count

CELL_PX, LEAST_CELL_PX, GAP_PX = 16, 9, 2
AVERAGE_GAP_PX = 6
"""Between the averages and the heads."""
_EDGE_PX = 3
"""Around all, for the ring of the keyboard."""
_NUMBERED = 5
"""Each so many layers have their number written above."""
_BAR_SHARE = 0.25
"""Of the width of its cell."""
_PLACES: dict[Goal, float] = {"first": 0.0, "other": 0.42, "before": 0.72, "itself": 1.0}
"""Where in its cell a bar stands, 0 left to 1 right."""
_MOVES = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
Cell = tuple[int, int | None]
"""A layer and one of its heads, or None for their average; both count from 0."""


class HeadGrid(QWidget):
    """Shows the rows of one token."""

    chosen = Signal(object)
    """Somebody wants a layer with a head: a `Cell`."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("attention_grid")
        self._themes = themes
        self._text: AttentionText | None = None
        self._rows: AttentionRows | None = None
        self._current: Cell | None = None
        self._room: int | None = None
        self.setFont(theme.font(theme.SMALL_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        stand_alone(self)
        themes.changed.connect(self.update)
        self._name()

    def show_rows(self, text: AttentionText | None, rows: AttentionRows | None) -> None:
        """Show the attention of another token."""
        if (text, rows) != (self._text, self._rows):
            self._text, self._rows = text, rows
            self.setFixedSize(self.sizeHint())
            self._name()
            self.update()

    def show_choice(self, layer: int | None, head: int | None) -> None:
        """Mark the cell whose row is shown; all layers have none."""
        current = None if layer is None else (layer, head)
        if current != self._current:
            for cell in filter(None, (self._current, current)):  # the others stay as they are painted
                self.update(self.place_of(cell).toAlignedRect().adjusted(-GAP_PX, -GAP_PX, GAP_PX, GAP_PX))
            self._current = current
            self._name()

    def fit(self, width: int) -> None:
        """Make the cells as small as all layers need to be seen in so many pixels, down to a size that can be hit."""
        if width != self._room:
            self._room = width
            self.setFixedSize(self.sizeHint())
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for all cells."""
        layers = len(self._rows.layers) if self._rows is not None else 1
        high = self._top + self._lines * self._step + AVERAGE_GAP_PX + _EDGE_PX
        return QSize(self._left + layers * self._step + _EDGE_PX, high)

    def place_of(self, cell: Cell) -> QRectF:
        """Return where a cell is."""
        layer, head = cell
        size = self._step - GAP_PX
        top = 0 if head is None else (head + 1) * self._step + AVERAGE_GAP_PX
        return QRectF(self._left + layer * self._step, self._top + top, size, size)

    def cell_at(self, place: QPoint | QPointF) -> Cell | None:
        """Return the cell under a place; None beside all, and where a layer has no such head."""
        down = place.y() - self._top
        if self._rows is None or down < 0:
            return None
        line = 0 if down < self._step else 1 + int((down - AVERAGE_GAP_PX) // self._step - 1)
        return self._cell(int((place.x() - self._left) // self._step), line)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells in view."""
        painter = QPainter(self)
        paint_ground(painter, self, event.rect())
        rows = self._rows
        if rows is not None:
            look = self._themes.current
            ramp = shades(look, "attention")
            for cell in self._cells_in(event.rect()):
                self._paint(painter, look, ramp, cell)
            self._paint_numbers(painter, look, rows)
            if self._current is not None:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(look.colour("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(self.place_of(self._current), 3, 3)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(look.colour("accent"), 2))
                painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the cell under the pointer."""
        cell = self.cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell is not None:
            self.chosen.emit(cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the cell beside."""
        move = _MOVES.get(Qt.Key(event.key()))
        if move is None or self._rows is None:
            super().keyPressEvent(event)
            return
        if self._current is None:
            self.chosen.emit((0, None))
            return
        layer = min(max(self._current[0] + move[0], 0), len(self._rows.layers) - 1)
        head = self._current[1]
        line = (0 if head is None else head + 1) + move[1]
        line = min(max(line, 0), max(self._rows.layers[layer].rows - 1, 0))
        self.chosen.emit((layer, line - 1 if line else None))

    def event(self, event: QEvent) -> bool:
        """Say what is under the pointer that rests."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cell = self.cell_at(event.pos())
            if cell is not None and self._text is not None and self._rows is not None:
                QToolTip.showText(event.globalPos(), hint_of(cell_words(self._text, self._rows, *cell)), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    @property
    def _step(self) -> int:
        usual = theme.scaled(CELL_PX) + GAP_PX
        if self._room is None or self._rows is None or not self._rows.layers:
            return usual
        there = (self._room - self._left - _EDGE_PX) // len(self._rows.layers)
        return min(max(there, theme.scaled(LEAST_CELL_PX) + GAP_PX), usual)

    @property
    def _top(self) -> int:
        """The height of the numbers of layers."""
        return _EDGE_PX + QFontMetrics(self.font()).height()

    @property
    def _left(self) -> int:
        """The width of the numbers of heads, and of the words beside."""
        metrics = QFontMetrics(self.font())
        words = (self.tr("Layer"), self.tr("all"), str(self._lines))
        return _EDGE_PX + max(metrics.horizontalAdvance(each) for each in words) + theme.SPACE_XS

    @property
    def _lines(self) -> int:
        return 1 + (self._rows.most_heads if self._rows is not None else 0)

    def _cells_in(self, area: QRect) -> Iterator[Cell]:
        """Yield the cells that lie in a part of the grid: of a large model it is a small part of them all."""
        assert self._rows is not None
        step = self._step
        first_line = max((area.top() - self._top - AVERAGE_GAP_PX) // step, 0)
        last_line = (area.bottom() - self._top) // step
        first_layer = max((area.left() - self._left) // step, 0)
        last_layer = min((area.right() - self._left) // step, len(self._rows.layers) - 1)
        for layer in range(first_layer, last_layer + 1):
            for line in range(first_line, min(last_line + 1, max(self._rows.layers[layer].rows, 1))):
                yield layer, line - 1 if line else None

    def _cell(self, layer: int, line: int) -> Cell | None:
        rows = self._rows
        if rows is None or not 0 <= layer < len(rows.layers):
            return None
        return (layer, line - 1 if line else None) if 0 <= line < max(rows.layers[layer].rows, 1) else None

    def _paint(self, painter: QPainter, look: theme.Theme, ramp: list[Shade], cell: Cell) -> None:
        assert self._rows is not None
        box, found = self.place_of(cell), self._rows.strongest(*cell)
        if found is None:
            painter.setPen(look.colour("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "–")
            return
        shade = ramp[step_of_share(found.share)]
        painter.fillRect(box, look.colour("sunken") if found.share < 0.01 else shade.ground)
        high = max(box.height() * min(found.share, 1.0), 1.0)
        wide = max(round(box.width() * _BAR_SHARE), 2)
        left = box.left() + (box.width() - wide) * _PLACES[found.goal]
        painter.fillRect(QRectF(left, box.bottom() - high, wide, high), shade.line)

    def _paint_numbers(self, painter: QPainter, look: theme.Theme, rows: AttentionRows) -> None:
        """Write the number of each head beside its row, and above the first, the last and each fifth layer."""
        painter.setPen(look.colour("muted"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        wide = self._left - theme.SPACE_XS
        painter.drawText(QRectF(0, 0, wide, self._top), right, self.tr("Layer"))
        for line in range(self._lines):
            box = self.place_of((0, line - 1 if line else None))
            words = count(line) if line else self.tr("all")
            painter.drawText(QRectF(0, box.top(), wide, box.height()), right, words)
        for layer in numbered(len(rows.layers)):
            place = self.place_of((layer, None)).adjusted(-self._step, 0, self._step, 0)
            place.setTop(0)
            place.setBottom(self._top)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, count(layer + 1))

    def _name(self) -> None:
        said = self.tr("All layers and heads: choose one with the arrow keys")
        if self._current is not None and self._text is not None and self._rows is not None:
            said = cell_words(self._text, self._rows, *self._current)
        self.setAccessibleName(said)


class GridArea(QScrollArea):
    """Shows a grid whose cells follow its width; what does not fit is scrolled to."""

    def __init__(self, grid: HeadGrid) -> None:
        super().__init__()
        self._grid = grid
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(grid)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for the bar that scrolls down, whether it is there or not: cells do not jump with it."""
        super().resizeEvent(event)
        self._grid.fit(self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width())


def numbered(layers: int) -> list[int]:
    """Return the layers, counted from 0, whose numbers are written: the first, the last, and each fifth between them."""
    fifths = [each - 1 for each in range(_NUMBERED, layers - 1, _NUMBERED)]
    return sorted({0, *fifths, layers - 1}) if layers else []
