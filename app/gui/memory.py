"""What the open model takes of each device, what was estimated beside it, and what it is made of.

Knows no engine and measures nothing: the figures are the service's.
"""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.devices import MAIN_MEMORY
from app.core.metrics import DeviceMemory
from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.figure_row import FigureRow
from app.gui.widgets.labels import in_parts, label
from app.services.memory import Memory, MemoryRow
from app.services.units import UNKNOWN, byte_size


class DeviceRow(QWidget):
    """One device: all that is taken of it, and underneath the estimate and the parts."""

    def __init__(self, icons: Icons, object_name: str) -> None:
        super().__init__()
        self.figure = FigureRow(icons, "memory", "muted", self.tr("Memory"), object_name)
        self._parts = label(look="muted", pixels=theme.SMALL_PX)
        self._parts.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.figure)
        layout.addWidget(self._parts)

    def show_row(self, row: MemoryRow) -> None:
        """Show the figures of one device."""
        real = row.real.total if row.real is not None else None
        estimate = row.estimate.total if row.estimate is not None else None
        self.figure.show_title(self.tr("Main memory") if row.device == MAIN_MEMORY else row.device)
        self.figure.show_value(
            byte_size(real),
            self.tr("Reserved by the open model when it was loaded; the estimate comes from a load without weights."),
        )
        parts = [self.tr("estimated {bytes}").format(bytes=byte_size(estimate)), *self._parts_of(row.real)]
        self._parts.setText(in_parts(parts))

    def show_nothing(self) -> None:
        """Show that no model is open."""
        self.figure.show_title(self.tr("Memory"))
        self.figure.show_value(UNKNOWN, self.tr("Unknown while no model is loaded."))
        self._parts.setText(self.tr("no model loaded"))

    def _parts_of(self, use: DeviceMemory | None) -> list[str]:
        if use is None:
            return []
        named = (
            (self.tr("weights {bytes}"), use.weights),
            (self.tr("KV {bytes}"), use.kv),
            (self.tr("state {bytes}"), use.state),
            (self.tr("compute {bytes}"), use.compute),
            (self.tr("output {bytes}"), use.output),
        )
        return [template.format(bytes=byte_size(size)) for template, size in named if size]


class MemoryRows(QWidget):
    """A row for each device of the open model."""

    def __init__(self, memory: Memory, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory = memory
        self._icons = icons
        self._look: theme.Theme | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.SPACE_S)
        self._rows: list[DeviceRow] = []
        self._disconnect = memory.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the figures no longer."""
        self._disconnect()

    def show_theme(self, look: theme.Theme) -> None:
        """Draw the icons in the theme's colour."""
        self._look = look
        for row in self._rows:
            row.figure.show_theme(look)

    def _show(self) -> None:
        rows = self._memory.rows
        while len(self._rows) < max(1, len(rows)):
            self._add_row()
        for shown, row in zip(self._rows, rows, strict=False):
            shown.show_row(row)
        for number, shown in enumerate(self._rows):
            shown.setVisible(number < max(1, len(rows)))
        if not rows:
            self._rows[0].show_nothing()

    def _add_row(self) -> None:
        number = len(self._rows)
        row = DeviceRow(self._icons, f"vram_value_{number}" if number else "vram_value")
        if self._look is not None:
            row.figure.show_theme(self._look)
        self._rows.append(row)
        self._layout.addWidget(row)
