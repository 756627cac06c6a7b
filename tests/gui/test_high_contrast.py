"""High contrast: it is not lost on the way, what stands on a ground has a border, and thick lines take no more room."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QListView, QRadioButton

from app.core.sampling import SamplingSettings
from app.gui.next_token.candidates import LEAST_ROWS, ROW_PX
from app.gui.theme import Themes
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.section import Section
from app.gui.widgets.section_column import SectionColumn
from app.system.settings_file import Theme
from tests.gui.conftest import Stage
from tests.made_up_steps import row_of, step_of

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
NAMES: tuple[Theme, ...] = ("light", "dark", "contrast")
VOCABULARY = 49_152


def chosen(stage: Stage) -> tuple[str, Theme]:
    """Return the theme in force and the one that was chosen."""
    return stage.themes.current.name, stage.themes.choice


def test_the_button_leads_out_of_high_contrast_and_back(stage: Stage) -> None:
    stage.triggers("contrast_theme_action")
    for name in ("light", "contrast", "light", "contrast"):
        stage.clicks("theme_button")
        assert chosen(stage) == (name, name)
    stage.clicks("theme_button")
    stage.themes.choose("light")  # in the preferences: that is no way out, but a choice
    stage.triggers("theme_action")
    assert chosen(stage) == ("dark", "dark")
    stage.triggers("theme_action")
    assert chosen(stage) == ("light", "light")


def test_the_high_contrast_of_the_system_is_come_back_to(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Themes, "_system_has_contrast", lambda _self: True)
    stage.triggers("system_theme_action")
    assert chosen(stage) == ("contrast", "system")
    stage.triggers("theme_action")
    assert chosen(stage) == ("light", "light")
    stage.triggers("theme_action")
    assert chosen(stage) == ("contrast", "system")


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_menu_has_high_contrast_whatever_is_chosen(stage: Stage, name: Theme) -> None:
    stage.themes.choose(name)
    stage.clicks("theme_button")
    action = stage.window.actions_by_name["contrast_theme_action"]
    assert action in stage.window.actions_by_name.in_order and action.text().replace("&", "") == "High contrast"
    action.trigger()
    assert chosen(stage) == ("contrast", "contrast")


def ring_of(picture: QImage, place: QRect, colour: QColor) -> int:
    """Return how thick a border of a colour is around a place, in the middle of its left and of its upper side."""
    across = [picture.pixelColor(x, place.center().y()) for x in range(place.left(), place.left() + 6)]
    down = [picture.pixelColor(place.center().x(), y) for y in range(place.top(), place.top() + 6)]
    return min(sum(each == colour for each in side) for side in (across, down))


@pytest.mark.parametrize("theme", NAMES)
def test_a_message_and_the_open_chat_have_a_border_in_high_contrast(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    ready.sends("Why is the sky blue?")
    ready.desk.answer("Hello")
    ready.settle()
    ready.composer.setFocus()
    strong = ready.themes.current.colour("border_strong")
    thick = 2 if theme == "contrast" else 0
    chats = ready.find_as(QListView, "conversation_list")
    row = chats.visualRect(chats.currentIndex()).adjusted(0, 1, -1, -1)
    assert ring_of(chats.viewport().grab().toImage(), row, strong) == thick
    transcript = ready.find("transcript")
    picture = transcript.grab().toImage()
    sunken = ready.themes.current.colour("sunken")
    right = next(x for x in reversed(range(picture.width() - 20)) if picture.pixelColor(x, 40) == sunken)
    left = next(x for x in range(right) if all(picture.pixelColor(x + step, 40) == sunken for step in range(8)))
    top = next(y for y in range(40) if picture.pixelColor((left + right) // 2, y) == sunken)
    ground = picture.pixelColor(left - 6, 40)
    edge = QRect(left - thick, top - thick, right - left + 1, 2 * (40 - top + thick))
    assert ground == ready.themes.current.colour("surface")
    assert ring_of(picture, edge, strong) == thick


def answers_elsewhere(stage: Stage) -> None:
    """Let an answer be written in another chat than the one that is shown."""
    stage.desk.program.chat.send("Write a long story about a cat, with many chapters")
    stage.engine.prompt()
    stage.engine.write("a")
    stage.engine.say(step_of(row_of(VOCABULARY), stage.engine.question.request, 0))
    stage.settle()
    stage.desk.program.conversations.new()
    stage.settle()


@pytest.mark.parametrize("theme", NAMES)
def test_the_side_panel_fits_in_every_theme_and_nothing_cuts_the_sixth_candidate(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    bar = ready.find_as(SectionColumn, "section_column").verticalScrollBar()
    chart = ready.window.parts.next_token.chart
    ready.bot.waitUntil(lambda: bar.maximum() == 0, timeout=4_000)
    answers_elsewhere(ready)
    ready.bot.waitUntil(lambda: ready.sees("elsewhere_text") and ready.sees("candidates_whose"), timeout=4_000)
    ready.bot.waitUntil(lambda: bar.maximum() == 0, timeout=4_000)
    assert chart.height() >= LEAST_ROWS * ROW_PX
    assert ready.find_as(FixedText, "candidates_whose").shown.startswith("from “Write")


def test_thick_lines_take_no_more_room_than_thin_ones(ready: Stage) -> None:
    column = ready.find_as(SectionColumn, "section_column")
    heights = []
    for theme in NAMES:
        ready.themes.choose(theme)
        ready.bot.waitUntil(lambda: column.verticalScrollBar().maximum() == 0, timeout=4_000)
        heights.append([(each.name, each.height_px()) for each in column.findChildren(Section)])
    assert heights[0] == heights[1] == heights[2]
    assert len(heights[0]) == 3


@pytest.mark.parametrize("theme", NAMES)
def test_every_setting_has_room_in_the_narrowest_side_panel(ready: Stage, theme: Theme, tmp_path: Path) -> None:
    ready.themes.choose(theme)
    ready.window.resize(960, 800)
    ready.window.panes.pin(True)
    ready.desk.program.sampling.change(seed=4_294_967_295, penalty_last_n=-1, max_tokens=0)
    panel = ready.window.parts.sampling
    QTest.mouseClick(ready.find("sampling_more_button"), Qt.MouseButton.LeftButton)
    ready.bot.waitUntil(lambda: ready.sees("seed_button"), timeout=4_000)
    assert ready.sees("panel_button") and SamplingSettings().seed is None
    assert panel.minimumSizeHint().width() <= panel.width()
    ready.desk.program.sampling.change(seed=None)
    assert ready.reads("seed_button") == "Keep last seed"
    assert panel.minimumSizeHint().width() <= panel.width()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
@pytest.mark.parametrize("checked", [False, True])
def test_the_ring_of_what_has_the_focus_is_whole(
    stage: Stage, name: Theme, kind: type[QCheckBox | QRadioButton], checked: bool
) -> None:
    stage.themes.choose(name)
    box = kind("Ticked", stage.window)
    box.setChecked(checked)
    box.resize(box.sizeHint())
    box.show()
    before = box.grab().toImage()
    box.setFocus()
    image = box.grab().toImage()
    middle = image.height() // 2
    end = max(x for x in range(24) if image.pixelColor(x, middle) != before.pixelColor(x, middle))
    ring = stage.themes.current.colour("text" if checked else "accent")
    assert image.pixelColor(0, middle) == image.pixelColor(end, middle) == ring
    assert box.sizeHint() == box.size()
    box.hide()
