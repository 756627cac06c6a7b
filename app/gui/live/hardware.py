"""What computes: threads and processor, or layers and GPU, and how busy, hot and hungry each GPU is.

Knows the services' figures only. A GPU that tells nothing has no row; without one, there is nothing to show of it.
"""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.figure_row import ICON_PX, FigureRow
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import render, set_hint
from app.services.device_use import computing_on
from app.services.machine import GpuActivity, Machine
from app.services.memory import Memory
from app.services.units import UNKNOWN


class HardwareRows(QWidget):
    """One line on what computes, and one for each GPU that says how busy it is."""

    def __init__(self, memory: Memory, machine: Machine, icons: Icons) -> None:
        super().__init__()
        self._memory = memory
        self._machine = machine
        self._icons = icons
        self._look: theme.Theme | None = None
        self._picture = QLabel()
        self._picture.setFixedSize(ICON_PX, ICON_PX)
        self._computing = FixedText(pixels=theme.SMALL_PX, name="computing_value")
        self._gpus: list[FigureRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.SPACE_S)
        line = QHBoxLayout()
        line.setSpacing(theme.SPACE_S)
        line.addWidget(self._picture)
        line.addWidget(self._computing, 1)
        self._layout.addLayout(line)

    def show_theme(self, look: theme.Theme) -> None:
        """Draw the icons in the theme's colours."""
        self._look = look
        self._picture.setPixmap(self._icons.icon("model", look.colour("muted")).pixmap(ICON_PX, ICON_PX))
        for row in self._gpus:
            row.show_theme(look)

    def show_machine(self) -> None:
        """Show what computes now."""
        model = self._memory.model
        text, hint = UNKNOWN, self.tr("What the model computes with: unknown while none is loaded.")
        if model is not None:
            text, hint = (
                render(computing_on(model)),
                self.tr("What the open model computes with; of layers the output layer counts as one."),
            )
        self._computing.set_text(text)
        set_hint(self._computing, hint)
        self._computing.setAccessibleName(self.tr("Runs on: {text}").format(text=text))
        activities = self._machine.activities
        while len(self._gpus) < len(activities):
            self._add_row()
        for number, row in enumerate(self._gpus):
            row.setVisible(number < len(activities))
        for row, activity in zip(self._gpus, activities, strict=False):
            self._show_activity(row, activity)

    def _show_activity(self, row: FigureRow, activity: GpuActivity) -> None:
        shown = (
            UNKNOWN if activity.percent is None else f"{activity.percent} %",
            UNKNOWN if activity.watts is None else f"{activity.watts} W",
            UNKNOWN if activity.celsius is None else f"{activity.celsius} °C",
        )
        hint = self.tr("{name}: how busy it is, the power it takes, and its temperature, as its driver tells.")
        if UNKNOWN in shown:
            hint = self.tr(
                "{name}: how busy it is, its power and its temperature; its driver does not tell all of it."
            )
        row.show_value(" · ".join(shown), hint.format(name=activity.name))

    def _add_row(self) -> None:
        number = len(self._gpus)
        title = self.tr("GPU {number}").format(number=number) if number else self.tr("GPU")
        name = f"gpu_value_{number}" if number else "gpu_value"
        row = FigureRow(self._icons, "memory", "muted", title, name, room_for="100 % · 000 W · 00 °C")
        if self._look is not None:
            row.show_theme(self._look)
        self._gpus.append(row)
        self._layout.addWidget(row)
