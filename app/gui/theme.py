"""Colours, type and spacing as named tokens, and the light and dark look made of them.

The one place that knows a colour; widgets ask for tokens by name.
"""

from __future__ import annotations

import json
from functools import cache
from string import Template
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

from app.system.resources import Resources
from app.system.settings_file import SettingsFile
from app.system.settings_file import Theme as Choice

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL, SPACE_XXL = 4, 8, 12, 16, 24, 32
RADIUS_CONTROL, RADIUS_CARD = 6, 10
BASE_PX, SMALL_PX, READING_PX, FIGURE_PX, HEADING_PX, TITLE_PX = 13, 12, 15, 15, 17, 20
READING_LINE_PX = 23
READING_CHARACTERS = 78
_ALPHABET = "the quick brown fox jumps over the lazy dog "

_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "on_accent",
    QPalette.ColorRole.ToolTipBase: "surface",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_strong",
    QPalette.ColorRole.Shadow: "border_strong",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


class Theme(NamedTuple):
    """One look: its name and its colours by token."""

    name: str
    colours: dict[str, str]

    def colour(self, token: str) -> QColor:
        """Return the colour of a token."""
        return QColor(self.colours[token])


class Themes(QObject):
    """The look of the application: follows the system until people choose."""

    changed = Signal()
    """Another theme is in force; palettes and style sheets are set already."""

    def __init__(self, application: QApplication, resources: Resources, settings: SettingsFile) -> None:
        super().__init__()
        self._application = application
        self._settings = settings
        self._known = {
            name: Theme(name, json.loads(resources.read_text(f"themes/{name}.json"))) for name in ("light", "dark")
        }
        self._style_sheet = Template(resources.read_text("themes/tokenlight.qss"))
        self._current = self._known["light"]
        application.setStyle("Fusion")
        application.setFont(font(BASE_PX))
        application.styleHints().colorSchemeChanged.connect(self._apply)
        self._apply()

    @property
    def current(self) -> Theme:
        """The theme in force."""
        return self._current

    def choose(self, choice: Choice) -> None:
        """Use a theme from now on; "system" follows the system."""
        self._settings.change(theme=choice)
        self._apply()

    def toggle(self) -> None:
        """Change between light and dark."""
        self.choose("light" if self._current.name == "dark" else "dark")

    def _apply(self) -> None:
        choice = self._settings.values.theme
        if choice == "system":
            is_dark = self._application.styleHints().colorScheme() is Qt.ColorScheme.Dark
            choice = "dark" if is_dark else "light"
        self._current = self._known[choice]
        self._application.setPalette(_palette(self._current))
        self._application.setStyleSheet(self._style_sheet.substitute(self._current.colours))
        self.changed.emit()


@cache
def font(pixels: int, *, bold: bool = False) -> QFont:
    """Return the system's font in one of the sizes of the scale, with digits of one width."""
    made = QFont()
    made.setPixelSize(pixels)
    made.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    made.setFeature(QFont.Tag.fromString("tnum"), 1)
    return made


def reading_width() -> float:
    """Return the width of the widest line that is pleasant to read."""
    per_character = QFontMetricsF(font(READING_PX)).horizontalAdvance(_ALPHABET) / len(_ALPHABET)
    return round(per_character * READING_CHARACTERS)


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    for role, token in _ROLES.items():
        palette.setColor(role, theme.colour(token))
    for role in _DISABLED:
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.colour("disabled"))
    return palette
