"""What a load would take of each device, as a small table of bytes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.devices import MAIN_MEMORY
from app.core.metrics import DeviceMemory
from app.gui import theme
from app.gui.widgets.labels import label
from app.services.load_options import DeviceNeed
from app.services.units import byte_size

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class MemoryTable(QWidget):
    """One row a device: weights, cache, compute, all of it, and what is free; empty while nothing is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memory_table")
        self._shown: tuple[DeviceNeed, ...] | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(0, 1)
        self._fill(())

    def show_needs(self, needs: tuple[DeviceNeed, ...]) -> None:
        """Show other figures; those that are there stay until others are known."""
        if needs and needs != self._shown:
            self._shown = needs
            self._fill(needs)

    def _fill(self, needs: tuple[DeviceNeed, ...]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        titles = (
            "",
            self.tr("Weights"),
            self.tr("KV cache"),
            self.tr("Compute"),
            self.tr("Together"),
            self.tr("Free"),
        )
        for column, title in enumerate(titles):
            self._put(0, column, title, muted=True)
        for row, need in enumerate(needs, 1):
            name = self.tr("Main memory") if need.use.device == MAIN_MEMORY else need.name
            figures = (need.use.weights, _cache(need.use), _compute(need.use), need.use.total, need.free)
            for column, text in enumerate((name, *map(byte_size, figures))):
                self._put(row, column, text)
        if not needs:
            self._put(1, 0, "–", muted=True)

    def _put(self, row: int, column: int, text: str, *, muted: bool = False) -> None:
        made = label(text, look="muted" if muted else "", pixels=theme.SMALL_PX)
        if column:
            made.setAlignment(_RIGHT)
        self._grid.addWidget(made, row, column)
        made.show()


def _cache(use: DeviceMemory) -> int | None:
    return _sum(use.kv, use.state, known=use.complete)


def _compute(use: DeviceMemory) -> int | None:
    return _sum(use.compute, use.output, known=use.complete)


def _sum(first: int | None, second: int | None, *, known: bool) -> int | None:
    """Add what is there; nothing at all is 0 only where every part is known."""
    there = [size for size in (first, second) if size is not None]
    return sum(there) if there or known else None
