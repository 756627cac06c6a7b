"""One figure: an icon in the colour of its stage, a name, a value, and on hover what it means or why it is unknown."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import set_hint
from app.services.units import UNKNOWN

ICON_PX = 16
BESIDE_PX = 2
"""Between a figure and the bar below it."""


class FigureRow(QWidget):
    """A row of figures; a second, quieter one may stand between the name and the value."""

    def __init__(
        self, icons: Icons, icon: str, token: str, title: str, name: str, *, room_for: str = "1,000 tok/s"
    ) -> None:
        """`token` is the colour's name in the theme, `name` the object name of the value."""
        super().__init__()
        self._icons = icons
        self._icon = icon
        self._token = token
        self._picture = QLabel()
        self._picture.setFixedSize(ICON_PX, ICON_PX)
        self._title = FixedText(pixels=theme.BASE_PX, muted=False, fit="text", name=f"{name}_title")
        self._name = title
        self._beside = ""
        self._shown: tuple[str, str, str] | None = None
        self._title.set_text(title)
        self.side = FixedText(right=True, fit="whole", name=f"{name}_beside")
        self.value = FixedText(
            pixels=theme.FIGURE_PX, bold=True, muted=False, right=True, room_for=room_for, name=name
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._picture)
        layout.addSpacing(theme.SPACE_S)
        layout.addWidget(self._title)
        layout.addWidget(self.side, 1)
        layout.addSpacing(theme.SPACE_S)
        layout.addWidget(self.value)
        self.show_value(UNKNOWN, "")

    def show_title(self, title: str, short: str = "") -> None:
        """Call the figure something else, by a shorter name where that does not fit."""
        self._name = title
        self._title.set_text(title, short)

    def show_value(self, text: str, hint: str) -> None:
        """Show a value, and on hover what it means or why it is unknown."""
        if (self._name, text, hint) != self._shown:
            self._shown = (self._name, text, hint)
            self.value.set_text(text)
            self.value.setAccessibleName(f"{self._name}: {text}")
            set_hint(self, hint)

    def show_beside(self, text: str, colour: QColor | None = None) -> None:
        """Show a quieter figure, or a word, beside the value."""
        self.side.set_colour(colour)
        if text != self._beside:
            self._beside = text
            self.side.set_text(text)
            self.side.setAccessibleName(text)

    def show_theme(self, look: theme.Theme) -> None:
        """Draw the icon in the colour of its stage."""
        self._picture.setPixmap(self._icons.icon(self._icon, look.colour(self._token)).pixmap(ICON_PX, ICON_PX))
