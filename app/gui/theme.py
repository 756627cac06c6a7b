"""Colours, type and spacing as named tokens, and the light, dark and high-contrast look made of them.

The one place that knows a colour; widgets ask for tokens by name.
"""

from __future__ import annotations

import json
from functools import cache
from string import Template
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

from app.system.resources import Resources
from app.system.settings_file import LEAST_TEXT_SIZE, MOST_TEXT_SIZE, Settings, SettingsFile
from app.system.settings_file import Theme as Choice

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL, SPACE_XXL = 4, 8, 12, 16, 24, 32
RADIUS_CONTROL, RADIUS_CARD = 6, 10
BASE_PX, SMALL_PX, READING_PX, FIGURE_PX, HEADING_PX, TITLE_PX = 13, 12, 15, 15, 17, 20
READING_LINE_PX = 23
READING_CHARACTERS = 78
TEXT_SIZES = (LEAST_TEXT_SIZE, 80, 90, 100, 110, 125, 150, 175, MOST_TEXT_SIZE)
"""The steps that the keys go through, in percent."""
LARGE_SYSTEM_FONT_PX = 16
"""A system font above this was made larger by somebody who needs it; the whole scale grows with it."""
LEAST_TEXT_CONTRAST = 4.5
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
    QPalette.ColorRole.Link: "link",
    QPalette.ColorRole.LinkVisited: "link",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_strong",
    QPalette.ColorRole.Shadow: "border_strong",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)
_SYSTEM_ROLES = {
    "window": QPalette.ColorRole.Window,
    "surface": QPalette.ColorRole.Base,
    "sunken": QPalette.ColorRole.Base,
    "danger_surface": QPalette.ColorRole.Base,
    "hint_surface": QPalette.ColorRole.Base,
    "text": QPalette.ColorRole.WindowText,
    "muted": QPalette.ColorRole.WindowText,
    "border_strong": QPalette.ColorRole.WindowText,
    "accent": QPalette.ColorRole.Highlight,
    "on_accent": QPalette.ColorRole.HighlightedText,
    "link": QPalette.ColorRole.Link,
}
_NO_TEXT = ("border", "scrim", "hover", "pressed", "selection", "on_accent")


class Theme(NamedTuple):
    """One look: its name, its colours by token, and how wide its lines are."""

    name: str
    colours: dict[str, str]
    line_px: int = 1
    """Width of a border; what has the focus has a ring one pixel wider."""

    @property
    def is_dark(self) -> bool:
        """Whether text is lighter than what it stands on."""
        return _luminance(self.colour("window")) < _luminance(self.colour("text"))

    def colour(self, token: str) -> QColor:
        """Return the colour of a token."""
        return QColor(self.colours[token])


class _Reading:
    """How large reading text is: in one place, as Qt has the font of the application, because all of it is painted."""

    percent = 100


_reading = _Reading()


class Themes(QObject):
    """The look of the application: follows the system until people choose."""

    changed = Signal()
    """Another theme is in force; palettes and style sheets are set already."""
    text_size_changed = Signal()
    """Reading text has another size now: what shows it is made anew."""

    def __init__(
        self, application: QApplication, resources: Resources, settings: SettingsFile, *, dressed: bool = True
    ) -> None:
        """With `dressed` off the style sheet waits for `dress`, because it makes a window twice as slow to build."""
        super().__init__()
        self._is_dressed = dressed
        self._left_contrast: Choice | None = None
        self._application = application
        self._settings = settings
        self._known = {
            name: Theme(name, json.loads(resources.read_text(f"themes/{name}.json")), 2 if name == "contrast" else 1)
            for name in ("light", "dark", "contrast")
        }
        self._style_sheet = Template(resources.read_text("themes/tokenlight.qss"))
        self._current = self._known["light"]
        application.setStyle("Fusion")
        application.setFont(_base_font(QFontInfo(application.font()).pixelSize()))
        _reading.percent = settings.values.text_size
        hints = application.styleHints()
        hints.colorSchemeChanged.connect(self._apply)
        hints.accessibility().contrastPreferenceChanged.connect(self._apply)
        self._apply()

    def dress(self) -> None:
        """Use the style sheet from now on: each widget that was put into another under it would be styled anew."""
        self._is_dressed = True
        self._set_style_sheet()

    @property
    def current(self) -> Theme:
        """The theme in force."""
        return self._current

    @property
    def paper(self) -> Theme:
        """The theme of what is printed, whatever the window looks like."""
        return self._known["light"]

    @property
    def night(self) -> Theme:
        """The dark theme, for what follows the look of another program."""
        return self._known["dark"]

    @property
    def choice(self) -> Choice:
        """What people chose."""
        return self._settings.values.theme

    def choose(self, choice: Choice) -> None:
        """Use a theme from now on; "system" follows the system."""
        self._left_contrast = None
        self._settings.change(theme=choice)
        self._apply()

    def toggle(self) -> None:
        """Change between light and dark; from high contrast to light, and from there back to it."""
        if self._current.name == "contrast":
            left = self.choice
            self.choose("light")
            self._left_contrast = left
        elif self._left_contrast is not None:
            self.choose(self._left_contrast)
        else:
            self.choose("light" if self._current.is_dark else "dark")

    @property
    def text_size(self) -> int:
        """The size of reading text, in percent of its usual size."""
        return _reading.percent

    def choose_text_size(self, percent: int) -> None:
        """Use another size for reading text from now on; what is beyond an end becomes the end."""
        chosen = min(max(percent, LEAST_TEXT_SIZE), MOST_TEXT_SIZE)
        self._settings.change(text_size=chosen)
        if chosen != _reading.percent:
            _reading.percent = chosen
            self.text_size_changed.emit()

    def step_text_size(self, steps: int) -> None:
        """Use the next larger or smaller size for reading text, or one so many steps away; 0 is the usual size."""
        size = self.text_size if steps else Settings().text_size
        for _ in range(abs(steps)):
            beyond = [each for each in TEXT_SIZES if (each > size if steps > 0 else each < size)]
            size = (min(beyond) if steps > 0 else max(beyond)) if beyond else size
        self.choose_text_size(size)

    def _apply(self) -> None:
        self._current = self._wanted()
        self._application.setPalette(_palette(self._current))
        if self._is_dressed:
            self._set_style_sheet()
        self.changed.emit()

    def _set_style_sheet(self) -> None:
        line = self._current.line_px
        widths = {"line": f"{line}px", "ring": f"{line + 1}px", "line_px": str(line)}
        widths |= {f"in_{room}": f"{room + 1 - line}px" for room in range(1, 25)}  # thicker lines take no more room
        self._application.setStyleSheet(self._style_sheet.substitute(self._current.colours, **widths))

    def _wanted(self) -> Theme:
        choice = self.choice
        has_contrast = self._system_has_contrast()
        if has_contrast and choice in ("system", "contrast"):
            self._application.setPalette(QPalette())  # gives the system's own palette back
            palette = self._application.palette()
            is_dark = _luminance(palette.color(QPalette.ColorRole.Window)) < 0.5
            return contrast_theme(palette, self._known["contrast" if is_dark else "light"])
        if choice == "system":
            choice = "dark" if self._system_is_dark() else "light"
        return self._known[choice]

    def _system_is_dark(self) -> bool:
        return self._application.styleHints().colorScheme() is Qt.ColorScheme.Dark

    def _system_has_contrast(self) -> bool:
        hints = self._application.styleHints()
        return hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast


def contrast_theme(palette: QPalette, basis: Theme) -> Theme:
    """Return the high-contrast theme of a system: its roles, and of `basis` what can be read on them."""
    colours = dict(basis.colours)
    for token, role in _SYSTEM_ROLES.items():
        colours[token] = palette.color(role).name()
    colours["disabled"] = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.WindowText).name()
    colours["border"] = _halfway(palette.color(QPalette.ColorRole.WindowText), QColor(colours["window"])).name()
    surfaces = [QColor(colours["window"]), QColor(colours["surface"])]
    for token, colour in colours.items():
        is_background = token in _NO_TEXT or token in _SYSTEM_ROLES or token.endswith(("_surface", "_hover"))
        if not is_background and any(contrast(QColor(colour), each) < LEAST_TEXT_CONTRAST for each in surfaces):
            colours[token] = colours["text"]
    for token in ("accent_hover", "accent_pressed"):
        colours[token] = colours["accent"]
    for token in ("hover", "pressed", "selection"):
        if contrast(QColor(colours[token]), QColor(colours["text"])) < LEAST_TEXT_CONTRAST:
            colours[token] = colours["window"]
    return Theme("contrast", colours, 2)


def contrast(one: QColor, other: QColor) -> float:
    """Return how far two colours are apart, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def scaled(pixels: int) -> int:
    """Return a length that grows with the font that people need."""
    chosen = QFont().pixelSize()
    return round(pixels * chosen / BASE_PX) if chosen > 0 else pixels


def font(pixels: int, *, bold: bool = False) -> QFont:
    """Return the system's font in one of the sizes of the scale, with digits of one width."""
    return _font(scaled(pixels), bold=bold)


def reading_px(pixels: int) -> int:
    """Return a length that grows with the reading text, and with the font that people need."""
    chosen = QFont().pixelSize()
    return round(pixels * (chosen if chosen > 0 else BASE_PX) * _reading.percent / (BASE_PX * 100))


def reading_font(pixels: int, *, bold: bool = False) -> QFont:
    """Return the system's font in one of the sizes of the scale, in the size of reading text that people chose."""
    return _font(reading_px(pixels), bold=bold)


@cache
def _font(pixels: int, *, bold: bool = False) -> QFont:
    made = QFont()
    made.setPixelSize(pixels)
    made.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    made.setFeature(QFont.Tag.fromString("tnum"), 1)
    return made


def reading_width() -> float:
    """Return the width of the widest line that is pleasant to read."""
    per_character = QFontMetricsF(reading_font(READING_PX)).horizontalAdvance(_ALPHABET) / len(_ALPHABET)
    return round(per_character * READING_CHARACTERS)


def _base_font(system_px: int) -> QFont:
    return _font(system_px if system_px > LARGE_SYSTEM_FONT_PX else BASE_PX)


def _halfway(one: QColor, other: QColor) -> QColor:
    pairs = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    return QColor(*((first + second) // 2 for first, second in pairs))


def _luminance(colour: QColor) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    for role, token in _ROLES.items():
        palette.setColor(role, theme.colour(token))
    for role in _DISABLED:
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.colour("disabled"))
    return palette
