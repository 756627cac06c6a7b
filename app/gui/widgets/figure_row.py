"""One figure: an icon in the colour of its stage, a name, a value, and on hover what it means or why it is unknown."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.labels import label
from app.services.units import UNKNOWN

_ICON_PX = 16


class FigureRow(QWidget):
    """A row of a card."""

    def __init__(self, icons: Icons, icon: str, token: str, title: str, name: str) -> None:
        """`token` is the colour's name in the theme, `name` the object name of the value."""
        super().__init__()
        self._icons = icons
        self._icon = icon
        self._token = token
        self._picture = QLabel()
        self._picture.setFixedSize(_ICON_PX, _ICON_PX)
        self._title = label(title)
        self.value = label(UNKNOWN, pixels=theme.FIGURE_PX, bold=True, name=name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self._picture)
        layout.addWidget(self._title)
        layout.addStretch(1)
        layout.addWidget(self.value)
        self.show_value(UNKNOWN, "")

    def show_title(self, title: str) -> None:
        """Call the figure something else."""
        self._title.setText(title)

    def show_value(self, text: str, hint: str) -> None:
        """Show a value, and on hover what it means or why it is unknown."""
        name = f"{self._title.text()}: {text}"
        if name != self.value.accessibleName() or hint != self.toolTip():
            self.value.setText(text)
            self.value.setAccessibleName(name)
            self.setToolTip(hint)

    def show_theme(self, look: theme.Theme) -> None:
        """Draw the icon in the colour of its stage."""
        self._picture.setPixmap(self._icons.icon(self._icon, look.colour(self._token)).pixmap(_ICON_PX, _ICON_PX))
