from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QPushButton, QTextBrowser, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.core.comparison import MOST_AT_ONCE
from app.gui import theme
from app.gui.compare.lane_mark import lane_colour
from app.gui.planner.comparison.line_marks import MOST_LINES, line_colour
from app.gui.theme import Themes, contrast_theme
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.system.resources import find_resources
from app.system.settings_file import SettingsFile, Theme
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
NAMES: tuple[Theme, ...] = ("light", "dark", "contrast")
SURFACES = ("window", "surface", "sunken")
READ_ON_SURFACES = ("text", "muted", "accent", "danger", "link")
MARKS = ("border_strong", "accent", "amber", "red", "disabled")
OTHER_PAIRS = (
    ("text", "hover"),
    ("text", "pressed"),
    ("text", "selection"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
    ("on_accent", "accent_pressed"),
    ("text", "danger_surface"),
    ("danger", "danger_surface"),
    ("text", "hint_surface"),
    ("accent", "hint_surface"),
)
BLOCKS = "\u2588\u2588\u2588\u2588"
"""Characters without a fringe: what is painted is the colour itself."""


def luminance(colour: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def shown_contrast(image: QImage) -> float:
    """Return how far the text in a picture is from what it stands on: the two commonest colours."""
    pixels = Counter(image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height()))
    (ground, _), *others = pixels.most_common()
    ink = max(others, key=lambda each: (each[1] > 8, contrast(QColor(each[0]), QColor(ground))))[0]
    return contrast(QColor(ink), QColor(ground))


@pytest.fixture(params=NAMES)
def look(qapp: QApplication, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[theme.Theme]:
    """Return each theme in turn, in force without a window."""
    themes = Themes(qapp, find_resources(), SettingsFile(tmp_path / "settings.json", lambda *_: None))
    themes.choose(request.param)
    yield themes.current
    qapp.setStyleSheet("")


def test_text_can_be_read_on_every_surface(look: theme.Theme) -> None:
    texts = [*READ_ON_SURFACES, *(token for token in look.colours if token.startswith(("stage_", "code_")))]
    assert len(texts) >= len(READ_ON_SURFACES) + 6
    weak = {
        (text, surface): round(contrast(look.colour(text), look.colour(surface)), 2)
        for text in texts
        for surface in SURFACES
        if contrast(look.colour(text), look.colour(surface)) < 4.5
    }
    assert weak == {}


def test_marks_can_be_seen_on_every_surface(look: theme.Theme) -> None:
    lanes = [lane_colour(lane) for lane in range(MOST_AT_ONCE)]
    assert len(set(lanes)) == MOST_AT_ONCE
    weak = [
        (mark, surface)
        for mark in (*MARKS, *lanes)
        for surface in SURFACES
        if contrast(look.colour(mark), look.colour(surface)) < 3
    ]
    assert weak == []


def test_lines_of_the_planner_have_colours_of_their_own(look: theme.Theme) -> None:
    lines = [line_colour(number, look) for number in range(MOST_LINES)]
    others = {colour.lower() for token, colour in look.colours.items() if token.startswith(("lane_", "stage_"))}
    assert len({line.name() for line in lines}) == MOST_LINES and others.isdisjoint(line.name() for line in lines)
    weak = [(line.name(), each) for line in lines for each in SURFACES if contrast(line, look.colour(each)) < 3]
    assert weak == []


def test_text_can_be_read_on_everything_else_that_it_stands_on(look: theme.Theme) -> None:
    weak = [pair for pair in OTHER_PAIRS if contrast(look.colour(pair[0]), look.colour(pair[1])) < 4.5]
    assert weak == []


def test_every_theme_has_every_token(stage: Stage) -> None:
    tokens = []
    for name in NAMES:
        stage.themes.choose(name)
        tokens.append(set(stage.themes.current.colours))
    assert tokens[0] == tokens[1] == tokens[2]
    assert all(QColor(colour).isValid() for colour in stage.themes.current.colours.values())


def button() -> QWidget:
    return QPushButton(BLOCKS)


def main_button() -> QWidget:
    made = QPushButton(BLOCKS)
    made.setProperty("look", "primary")
    return made


def tool_button() -> QWidget:
    made = QToolButton()
    made.setText(BLOCKS)
    return made


def check_box() -> QWidget:
    made = QCheckBox(BLOCKS)
    made.setFont(theme.font(theme.TITLE_PX))
    return made


def choice() -> QWidget:
    made = ChoiceBox()
    made.addItem(BLOCKS)
    return made


def muted() -> QWidget:
    made = label(BLOCKS, look="muted")
    made.setMargin(theme.SPACE_L)
    return made


def line() -> QWidget:
    return QLineEdit(BLOCKS)


def link() -> QWidget:
    made = QTextBrowser()
    made.setHtml(f'<a href="https://example.org">{BLOCKS}</a>')
    made.setFixedSize(120, 40)
    return made


MAKERS = (button, main_button, tool_button, check_box, choice, muted, line, link)


@pytest.fixture
def shown() -> Iterator[Callable[[QWidget], QImage]]:
    """Return what paints a widget as it looks in a window."""
    hosts: list[QWidget] = []

    def show(widget: QWidget) -> QImage:
        host = QWidget()
        host.setObjectName("page")
        hosts.append(host)
        widget.setParent(host)
        widget.adjustSize()
        host.resize(widget.size())
        widget.show()
        frame = 6 if widget.width() > 40 and widget.height() > 20 else 0
        return host.grab(host.rect().adjusted(frame, frame, -frame, -frame)).toImage()

    yield show
    for host in hosts:
        host.deleteLater()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_painted_can_be_read(
    look: theme.Theme, make: Callable[[], QWidget], shown: Callable[[QWidget], QImage]
) -> None:
    assert shown_contrast(shown(make())) >= 4.5


def test_an_open_list_can_be_read(look: theme.Theme, qtbot: QtBot) -> None:
    box = ChoiceBox()
    qtbot.addWidget(box)
    box.addItems([BLOCKS, BLOCKS, BLOCKS])
    box.setMinimumWidth(120)
    box.show()
    box.showPopup()
    image = box.view().viewport().grab().toImage()
    row = image.height() // 3
    chosen, other = image.copy(0, 0, image.width(), row), image.copy(0, row, image.width(), row)
    box.hidePopup()
    assert shown_contrast(chosen) >= 4.5
    assert shown_contrast(other) >= 4.5


@pytest.mark.parametrize("make", [button, main_button, tool_button, choice, line], ids=lambda make: make.__name__)
def test_what_is_disabled_can_still_be_made_out(
    look: theme.Theme, make: Callable[[], QWidget], shown: Callable[[QWidget], QImage]
) -> None:
    widget = make()
    widget.setEnabled(False)
    assert shown_contrast(shown(widget)) >= 2.9


def test_high_contrast_has_borders_of_two_pixels_and_a_wider_ring(stage: Stage, qapp: QApplication) -> None:
    stage.themes.choose("contrast")
    assert stage.themes.current.line_px == 2
    sheet = qapp.styleSheet()
    assert "border: 2px solid" in sheet
    assert "border: 3px solid" in sheet
    stage.themes.choose("light")
    assert "border: 3px solid" not in qapp.styleSheet()


def test_the_system_s_own_high_contrast_is_used_where_it_is_on(
    stage: Stage, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.themes.choose("system")
    assert stage.themes.current.name != "contrast"
    monkeypatch.setattr(Themes, "_system_has_contrast", lambda _self: True)
    system = QPalette(QColor("#202020"), QColor("#000000"))
    system.setColor(QPalette.ColorRole.Highlight, QColor("#1AEBFF"))
    monkeypatch.setattr(QApplication, "palette", lambda *_: system)
    hints = qapp.styleHints()
    hints.accessibility().contrastPreferenceChanged.emit(Qt.ContrastPreference.HighContrast)
    assert stage.themes.current.name == "contrast"
    assert stage.themes.current.colours["accent"] == "#1aebff"
    assert stage.themes.current.line_px == 2
    stage.themes.choose("light")
    assert stage.themes.current.name == "light"


@pytest.mark.parametrize(
    ("ground", "ink", "mark"), [("#000000", "#FFFFFF", "#1AEBFF"), ("#FFFFFF", "#000000", "#37006E")]
)
def test_every_text_can_be_read_on_a_high_contrast_system(stage: Stage, ground: str, ink: str, mark: str) -> None:
    palette = QPalette()
    for role in (QPalette.ColorRole.Window, QPalette.ColorRole.Base, QPalette.ColorRole.HighlightedText):
        palette.setColor(role, QColor(ground))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
        palette.setColor(role, QColor(ink))
    for role in (QPalette.ColorRole.Highlight, QPalette.ColorRole.Link):
        palette.setColor(role, QColor(mark))
    stage.themes.choose("dark")  # made for another background than one of the two
    look = contrast_theme(palette, stage.themes.current)
    texts = [*READ_ON_SURFACES, *(token for token in look.colours if token.startswith(("stage_", "code_")))]
    assert [token for token in texts if contrast(look.colour(token), QColor(ground)) < 4.5] == []
    assert [pair for pair in OTHER_PAIRS if contrast(look.colour(pair[0]), look.colour(pair[1])) < 4.5] == []


def test_every_choice_of_a_theme_is_one_that_there_is(stage: Stage) -> None:
    for choice in get_args(Theme):
        stage.themes.choose(choice)
        assert stage.themes.current.name in NAMES
        assert stage.desk.program.settings.values.theme == choice


def test_the_system_s_light_and_dark_are_followed(
    stage: Stage, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.themes.choose("system")
    for is_dark, name in ((True, "dark"), (False, "light")):
        monkeypatch.setattr(Themes, "_system_is_dark", lambda _self, is_dark=is_dark: is_dark)
        qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Unknown)
        assert stage.themes.current.name == name


def test_the_theme_changes_at_once_and_is_kept(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.themes.choose("light")
    light = ready.find("transcript").grab().toImage().pixelColor(3, 3)
    ready.triggers("theme_action")
    dark = ready.find("transcript").grab().toImage().pixelColor(3, 3)
    assert (light.lightness() > 200, dark.lightness() < 60) == (True, True)
    assert QApplication.palette().color(QPalette.ColorRole.Window) == ready.themes.current.colour("window")
    assert ready.desk.program.settings.values.theme == "dark"


def test_the_scale_grows_with_a_font_that_the_system_made_large(stage: Stage, qapp: QApplication) -> None:
    usual = theme.font(theme.BASE_PX).pixelSize()
    large = qapp.font()
    large.setPixelSize(26)
    qapp.setFont(large)
    Themes(qapp, stage.desk.program.resources, stage.desk.program.settings)
    try:
        assert theme.font(theme.BASE_PX).pixelSize() == 2 * usual
        assert theme.scaled(304) == 608
    finally:
        large.setPixelSize(usual)
        qapp.setFont(large)
