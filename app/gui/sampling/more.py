"""What stands under “More”: the settings that few people move, in groups."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.sampling.controls import Control, Group, dry, penalties, typical_control, xtc
from app.gui.sampling.number_row import NumberRow
from app.gui.sampling.text_list import TextList
from app.gui.widgets.labels import label
from app.gui.widgets.slider_row import SliderRow
from app.gui.widgets.words import set_hint

WITHOUT_SLIDER = ("penalty_last_n", "dry_penalty_last_n")


class MoreSettings(QWidget):
    """Rows for the less usual settings."""

    changed = Signal(str, object)
    """Somebody wants another value: the setting's name and the value."""

    def __init__(self, parent: QWidget | None = None, *, prefix: str = "") -> None:
        """`prefix` tells the names of its rows from those of another list of settings."""
        super().__init__(parent)
        self._prefix = prefix
        self._rows: dict[str, SliderRow | NumberRow] = {}
        self._breakers = TextList(
            f"{prefix}dry_breakers",
            self.tr("DRY starts anew at"),
            self.tr(
                "No phrase reaches over these texts: after each, DRY begins to compare anew. \\n is a line break."
            ),
        )
        self._breakers.edited.connect(lambda texts: self.changed.emit("dry_sequence_breakers", tuple(texts)))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, theme.SPACE_S)
        self._column.setSpacing(theme.SPACE_S)
        self._add(typical_control())
        self._add_group(penalties())
        self._add_group(dry())
        self._column.addWidget(self._breakers)
        self._add_group(xtc())

    def show_values(self, values: SamplingSettings) -> None:
        """Show the values that are in force."""
        for name, row in self._rows.items():
            row.set_value(getattr(values, name))
        self._breakers.set_texts(values.dry_sequence_breakers)

    def in_use(self, values: SamplingSettings) -> int:
        """Return how many of these settings are not as they are by default."""
        usual = SamplingSettings()
        names = [*self._rows, "dry_sequence_breakers"]
        return sum(getattr(values, name) != getattr(usual, name) for name in names)

    def _add_group(self, group: Group) -> None:
        heading = label(group.title, look="muted", pixels=theme.SMALL_PX, bold=True)
        set_hint(heading, group.hint)
        heading.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self._column.addWidget(heading)
        for control in group.controls:
            self._add(control)

    def _add(self, control: Control) -> None:
        kind = NumberRow if control.name in WITHOUT_SLIDER else SliderRow
        name = f"{self._prefix}{control.name}"
        row = kind(name, control.title, control.hint, control.scale, spoken=control.spoken)
        row.moved.connect(lambda value: self.changed.emit(control.name, value))
        self._rows[control.name] = row
        self._column.addWidget(row)
