"""Where the lanes stand: side by side, from five on with snap scrolling, or as the small multiples of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QWidget

from app.gui import theme
from app.gui.compare.lane_column import LaneColumn

MOST_BESIDE = 4
"""So many lanes share the width, however narrow they get; more of them scroll."""
LANE_PX, NARROWEST_PX = 240, 208
CELL_WIDTH_PX, CELL_HEIGHT_PX = 224, 132
LEAST_PX = 250
"""So high lanes are at least: what stands over and under the text, and some lines of it."""
GAP_PX = theme.SPACE_S
SNAP_MS = 140


class LanesArea(QScrollArea):
    """Scrolls from lane to lane and never stops between two."""

    seen_changed = Signal()
    """Other lanes are in view."""
    laid_out = Signal()
    """The lanes came into view, or have other sizes; where they lie is known in a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("compare_lanes")
        self.setAccessibleName(self.tr("Lanes"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(theme.scaled(LEAST_PX))
        self._all: tuple[dict[int, QWidget], int] = ({}, 0)
        """Everything at its place, counted row by row, and the columns of a grid, or 0."""
        self._cells, self._grid_columns = self._all
        """What is shown of it, and how."""
        self._step = 1
        self.lanes = QWidget()
        """All lanes, those out of view too."""
        self.setWidget(self.lanes)
        self._snapping = QTimer(self)
        self._snapping.setSingleShot(True)
        self._snapping.setInterval(SNAP_MS)
        self._snapping.timeout.connect(self._snap)
        across = self.horizontalScrollBar()
        across.valueChanged.connect(self._note_scroll)
        across.sliderReleased.connect(self._snap)
        self.verticalScrollBar().valueChanged.connect(self.seen_changed)

    def show_columns(self, columns: Iterable[LaneColumn]) -> None:
        """Show other lanes, side by side."""
        self._show(dict(enumerate(columns)), 0)

    def show_grid(self, cells: Mapping[int, QWidget], columns: int) -> None:
        """Show the lanes of a grid with so many columns, each at its place: they are counted row by row."""
        self._show(dict(sorted(cells.items())), columns)

    def _show(self, cells: dict[int, QWidget], grid_columns: int) -> None:
        for cell in self._all[0].values():
            cell.hide()
            cell.setParent(None)
            cell.deleteLater()
        self._all = self._cells, self._grid_columns = cells, grid_columns
        self.lanes.setAccessibleName(self.accessibleName())
        for cell in cells.values():
            cell.setParent(self.lanes)
        self._place()
        for cell in cells.values():
            cell.show()
        self.horizontalScrollBar().setValue(self._at_rest(0))
        self.verticalScrollBar().setValue(0)

    def show_only(self, columns: Sequence[QWidget]) -> None:
        """Bring some lanes side by side in this order and lay the others aside, or show all where none is named."""
        whole, grid_columns = self._all
        beside = list(dict.fromkeys(columns))
        cells, wanted = (dict(enumerate(beside)), 0) if beside else (whole, grid_columns)
        if cells == self._cells:
            return
        shown = list(cells.values())
        focus = self.window().focusWidget()
        keeps_keyboard = not self.lanes.isAncestorOf(focus) or any(cell.isAncestorOf(focus) for cell in shown)
        if not keeps_keyboard:  # Qt would give it to any button
            (shown[0].text if isinstance(shown[0], LaneColumn) else shown[0]).setFocus()
        for cell in whole.values():
            cell.setVisible(cell in shown)
        self._cells, self._grid_columns = cells, wanted
        self._place()
        self._snap()
        self.laid_out.emit()

    def is_seen(self, column: LaneColumn) -> bool:
        """Return whether any of a lane is in view."""
        if not self.isVisible() or not column.isVisibleTo(self):  # of another comparison, say, or laid aside
            return False
        corner = column.mapTo(self.viewport(), QPoint())
        return QRect(corner, column.size()).intersects(self.viewport().rect())

    def reveal(self, column: LaneColumn) -> None:
        """Scroll so that all of a lane is in view."""
        self.ensureWidgetVisible(column, 0, 0)
        self._snap()

    def showEvent(self, event: QShowEvent) -> None:
        """Tell that somebody looks at the lanes again."""
        super().showEvent(event)
        self.laid_out.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the room anew."""
        super().resizeEvent(event)
        self._place()
        self._snap()
        self.laid_out.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go a lane further with a wheel that turns sideways, or with Shift."""
        turned = event.angleDelta()
        sideways = turned.x() or (turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if sideways:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + (self._step if sideways < 0 else -self._step))
            event.accept()
        elif self._grid_columns:
            super().wheelEvent(event)

    def _place(self) -> None:
        if not self._cells:
            return
        room = QAbstractScrollArea.maximumViewportSize(self)
        number = self._grid_columns or len(self._cells)
        rows = max(self._cells) // number + 1
        least = theme.scaled(CELL_WIDTH_PX if self._grid_columns else LANE_PX)
        if not self._grid_columns and number <= MOST_BESIDE:
            least = theme.scaled(NARROWEST_PX)
        fitting = min(number, max(1, (room.width() + GAP_PX) // (least + GAP_PX)))
        bar_px = self.horizontalScrollBar().sizeHint().height() if fitting < number else 0
        least_high = theme.scaled(CELL_HEIGHT_PX) if self._grid_columns else 0
        shared = (room.height() - bar_px - (rows - 1) * GAP_PX) // rows
        height = max(shared, least_high)
        beside_px = self.verticalScrollBar().sizeHint().width() if height > shared else 0
        width = (room.width() - beside_px - (fitting - 1) * GAP_PX) // fitting
        self._step = width + GAP_PX
        self.lanes.resize(number * self._step - GAP_PX, rows * (height + GAP_PX) - GAP_PX)
        self.horizontalScrollBar().setSingleStep(self._step)
        self.horizontalScrollBar().setPageStep(fitting * self._step)
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        for place, cell in self._cells.items():
            row, across = divmod(place, number)
            across = number - 1 - across if is_turned else across
            cell.setGeometry(across * self._step, row * (height + GAP_PX), width, height)

    def _note_scroll(self) -> None:
        self.seen_changed.emit()
        if not self.horizontalScrollBar().isSliderDown():
            self._snapping.start()

    def _snap(self) -> None:
        """Come to rest where a lane begins."""
        self._snapping.stop()
        bar = self.horizontalScrollBar()
        if not bar.isSliderDown():
            bar.setValue(self._at_rest(bar.value()))

    def _at_rest(self, value: int) -> int:
        """Return the place nearest to one at which a lane begins; the last ones may end with the view."""
        most = self.horizontalScrollBar().maximum()
        nearest = round(value / self._step) * self._step
        return most if most - value < abs(nearest - value) else min(nearest, most)
