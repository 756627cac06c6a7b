"""What a load would take of each device, as a small table of bytes, and who says so."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.core.devices import MAIN_MEMORY
from app.core.metrics import DeviceMemory
from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.load_options import DeviceNeed
from app.services.units import byte_size

_SOURCE = 6
"""The column that says where the figures of a row come from."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class MemoryTable(QWidget):
    """One row a device: weights, cache, compute, all of it, and what is free; empty while nothing is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memory_table")
        self._shown: tuple[tuple[DeviceNeed, ...], bool] | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(0, 1)
        metrics = QFontMetrics(theme.font(theme.SMALL_PX))
        widest = max(metrics.horizontalAdvance(self._source(is_formula)) for is_formula in (True, False))
        self._grid.setColumnMinimumWidth(_SOURCE, widest + theme.SPACE_XS)
        self._fill((), is_formula=False)

    def show_needs(self, needs: tuple[DeviceNeed, ...], *, is_formula: bool = False) -> None:
        """Show other figures; those that are there stay until others are known."""
        shown = (needs, is_formula)
        if needs and shown != self._shown:
            self._shown = shown
            self._fill(needs, is_formula)

    def _fill(self, needs: tuple[DeviceNeed, ...], is_formula: bool) -> None:
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
            self.tr("Source"),
        )
        for column, title in enumerate(titles):
            self._put(0, column, title, muted=True)
        for row, need in enumerate(needs, 1):
            name = self.tr("Main memory") if need.use.device == MAIN_MEMORY else need.name
            figures = (need.use.weights, _cache(need.use), _compute(need.use), need.use.total, need.free)
            for column, text in enumerate((name, *map(byte_size, figures))):
                self._put(row, column, text)
            self._put_source(row, is_formula)
        if not needs:
            self._put(1, 0, "–", muted=True)

    def _source(self, is_formula: bool) -> str:
        return self.tr("formula") if is_formula else self.tr("asked")

    def _put_source(self, row: int, is_formula: bool) -> None:
        said = self._put(row, _SOURCE, self._source(is_formula), muted=True)
        if is_formula:
            hint = self.tr("Worked out from the file's header; llama.cpp is asked meanwhile.")
        else:
            hint = self.tr("llama.cpp said so in a dry run, which loads no weights.")
        set_hint(said, hint)

    def _put(self, row: int, column: int, text: str, *, muted: bool = False) -> QLabel:
        made = label(text, look="muted" if muted else "", pixels=theme.SMALL_PX)
        if column:
            made.setAlignment(_RIGHT)
        self._grid.addWidget(made, row, column)
        made.show()
        return made


def _cache(use: DeviceMemory) -> int | None:
    return _sum(use.kv, use.state, known=use.complete)


def _compute(use: DeviceMemory) -> int | None:
    return _sum(use.compute, use.output, known=use.complete)


def _sum(first: int | None, second: int | None, *, known: bool) -> int | None:
    """Add what is there; nothing at all is 0 only where every part is known."""
    there = [size for size in (first, second) if size is not None]
    return sum(there) if there or known else None
