"""Whether a model fits, where it is chosen: a picture, a word and a reason, that come when they are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QToolButton

from app.core.chat_preset import ChatPreset, PresetModel
from app.core.devices import Device
from app.core.words import translate
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import FitBadge, fit_icon
from app.services.fit_verdict import Fit
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
REASON = translate("Test", "Because it is so.")


def first_entry(stage: Stage) -> QAction:
    return stage.find_as(QToolButton, "model_button").menu().actions()[0]


def test_the_menu_of_models_says_at_once_that_it_looks_and_then_what_it_found(ready: Stage, model: Path) -> None:
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    entry = first_entry(ready)
    assert entry.text().endswith("\tlooking …") and entry.icon().isNull()
    ready.desk.program.planner.devices.note((GPU,))
    menu.aboutToShow.emit()
    ready.desk.until(lambda: first_entry(ready).text().endswith("\tfits"))
    entry = first_entry(ready)
    assert entry.isChecked() and entry.icon().isNull(), "a picture would take the place of the tick"
    assert str(model) in entry.toolTip() and "it needs" in entry.toolTip()


def test_a_menu_that_becomes_wider_while_it_is_open_stays_on_the_screen(ready: Stage) -> None:
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    room = menu.screen().availableGeometry()
    menu.popup(room.topRight())
    narrow = menu.geometry()
    assert room.contains(narrow) and narrow.right() >= room.right() - 1
    ready.desk.program.planner.devices.note((GPU,))
    ready.desk.until(lambda: first_entry(ready).text().endswith("\tfits"))
    first_entry(ready).setText(first_entry(ready).text() + ", as does a name that grows longer meanwhile")
    ready.desk.program.planner.fits.changed.emit()
    ready.settle()
    wide = menu.geometry()
    menu.close()
    assert room.contains(wide) and wide.top() == narrow.top()


def test_every_entry_that_leads_to_a_model_says_whether_it_fits(ready: Stage, model: Path) -> None:
    models = ready.desk.program.paths.models
    models.mkdir(parents=True, exist_ok=True)
    write_tiny_llama(models / "other.gguf", layers=3, seed=5)
    ready.desk.program.models.refresh()
    ready.desk.until(lambda: any(found.path.endswith("other.gguf") for found in ready.desk.program.models.found))
    ready.desk.program.planner.devices.note((GPU,))
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()

    def entries() -> list[QAction]:
        inner = [more for each in menu.actions() if isinstance(more := each.menu(), QMenu)]
        every = [*menu.actions(), *(each for more in inner for each in more.actions())]
        return [each for each in every if str(models / "other.gguf") in each.toolTip()]

    ready.desk.until(lambda: all(each.text().endswith("\tfits") for each in entries()))
    assert len(entries()) == 2 and not any(each.icon().isNull() for each in entries())


def test_the_model_of_a_chat_preset_says_whether_it_fits(ready: Stage, model: Path) -> None:
    ready.desk.program.chat_presets.save("Mine", ChatPreset("Be kind.", None, PresetModel("tiny", str(model), "")))
    ready.desk.program.chat_presets.save("No model", ChatPreset("Be kind."))
    ready.desk.program.planner.devices.note((GPU,))
    ready.clicks("system_prompt_button")
    menu = ready.find_as(QToolButton, "chat_presets_button").menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    ready.desk.until(lambda: any(each.text() == "Mine\tfits" for each in menu.actions()))
    entry = next(each for each in menu.actions() if each.text() == "Mine\tfits")
    assert "Model: tiny" in entry.toolTip() and "it needs" in entry.toolTip()
    assert any(each.text() == "No model" for each in menu.actions())


def test_a_badge_has_a_picture_a_word_and_its_reason(ready: Stage) -> None:
    icons = Icons(ready.desk.program.resources)
    badge = FitBadge(icons, ready.themes)
    ready.bot.addWidget(badge)
    word = badge.findChild(QLabel, "fit_badge_word")
    assert word is not None and word.text() == "looking …"
    seen = set()
    for verdict, words in (
        ("fits", "fits"),
        ("less_context", "fits with less context"),
        ("partly", "partly on the GPU"),
        ("too_large", "too large"),
        ("unknown", "–"),
    ):
        fit = Fit(verdict, REASON)  # type: ignore[arg-type]
        badge.show_fit(fit)
        assert word.text() == words and badge.toolTip() == "Because it is so."
        assert badge.accessibleName() == f"{words}. Because it is so."
        seen.add(bytes(fit_icon(fit, icons, ready.themes.current).pixmap(16, 16).toImage().constBits()))
    assert len(seen) == 5
    ready.themes.choose("dark")
    assert word.text() == "–"
