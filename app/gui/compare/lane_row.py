"""One lane of a comparison that is being set up: what it is called, and what can be changed about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.lane_mark import LaneMark
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import set_hint


class LaneRow(QFrame):
    """A row of the list."""

    wanted = Signal(int, str)
    """Something is wanted of a lane: “edit”, “duplicate”, “remove” or “pin”."""

    def __init__(self, lane: int, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        letter = LETTERS[lane].lower()
        self.setObjectName(f"set_up_lane_{letter}")
        self.setProperty("look", "lane_row")
        self._name = FixedText(pixels=theme.BASE_PX, bold=True, muted=False, name=f"set_up_name_{letter}")
        self._shared = FixedText(name=f"set_up_shared_{letter}")
        self.pin = IconButton(icons, "pin", "", object_name=f"set_up_pin_{letter}")
        self.pin.setCheckable(True)
        self.edit = IconButton(icons, "edit", "", object_name=f"set_up_edit_{letter}")
        self.duplicate = IconButton(icons, "copy", "", object_name=f"set_up_duplicate_{letter}")
        self.remove = IconButton(icons, "close", "", object_name=f"set_up_remove_{letter}")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_M)
        row.addWidget(LaneMark(lane, themes))
        row.addWidget(self._name, 1)
        row.addWidget(self._shared, 1)
        self._row = row
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        self._letter = LETTERS[lane]
        wishes = ((self.pin, "pin"), (self.edit, "edit"), (self.duplicate, "duplicate"), (self.remove, "remove"))
        for button, wish in wishes:
            buttons.addWidget(button)
            button.clicked.connect(lambda _checked=False, wish=wish: self.wanted.emit(lane, wish))
        row.addLayout(buttons)

    def show_lane(self, name: str, shared: str, *, is_baseline: bool) -> None:
        """Show what the lane is called now, and what it shares with the others."""
        self._name.set_text(name)
        self._shared.set_text(shared)
        for widget in (self._name, self._shared):
            set_hint(widget, f"{name}\n{shared}" if shared else name)
        values = {"letter": self._letter, "name": name}
        self.setAccessibleName(self.tr("Lane {letter}: {name}").format(**values))
        self.pin.set_icon("pinned" if is_baseline else "pin")
        self.pin.setChecked(is_baseline)
        baseline = self.tr("Lane {letter} is the baseline: the others are compared with it")
        self.pin.set_name((baseline if is_baseline else self.tr("Make lane {letter} the baseline")).format(**values))
        self.edit.set_name(self.tr("Settings of lane {letter}…").format(**values))
        self.duplicate.set_name(self.tr("Duplicate lane {letter}").format(**values))
        self.remove.set_name(self.tr("Remove lane {letter}").format(**values))

    @property
    def needed(self) -> tuple[int, int]:
        """How many pixels the name takes, and what it shares with the others."""
        pair = (self._name, self._shared)
        name, shared = (QFontMetrics(each.font()).horizontalAdvance(each.property("text")) for each in pair)
        return name, shared

    def share(self, name: int, shared: int) -> None:
        """Give both texts room in these proportions: the same in all rows, so that they stand under each other."""
        self._row.setStretchFactor(self._name, max(name, 1))
        self._row.setStretchFactor(self._shared, shared)

    def allow(self, *, duplicate: bool, remove: bool) -> None:
        """Let people add a lane like this one, and take it away, or not."""
        self.duplicate.setEnabled(duplicate)
        self.remove.setEnabled(remove)
