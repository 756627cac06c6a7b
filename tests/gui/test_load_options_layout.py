"""How the dialog of load options lies on small screens, and what it says of what does not fit."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QMenu,
    QPushButton,
    QScrollArea,
    QToolButton,
)

from app.core.metrics import DeviceMemory
from app.gui.models.load_dialog import LoadOptionsDialog
from tests.gui.conftest import Stage
from tests.gui.load_options_dialog import HUGE, MIB, Options

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def options(ready: Stage) -> Options:
    return Options(ready)


@pytest.mark.parametrize("size", [QSize(960, 540), QSize(900, 600)])
def test_on_a_small_screen_the_options_scroll_and_the_buttons_stay(
    ready: Stage, size: QSize, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = QRect(QPoint(0, 0), size)
    monkeypatch.setattr(LoadOptionsDialog, "room", lambda _self: room)
    options = Options(ready)
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    options.clicks("more_options_button")
    options.types("context_box", "100001")
    area = options.dialog.findChild(QScrollArea)
    assert area is not None
    ready.bot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0, timeout=60_000)
    assert room.contains(options.dialog.geometry())
    for name in ("load_button", "reset_options_button", "more_options_button"):
        button = options.button(name)
        corner = button.mapTo(options.dialog, button.rect().bottomRight())
        assert options.dialog.rect().contains(corner) and not area.isAncestorOf(button)
    options.clicks("more_options_button")
    ready.bot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0, timeout=60_000)


def test_the_dialog_grows_and_shrinks_with_what_it_shows(options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    small = options.dialog.height()
    options.clicks("more_options_button")
    options.stage.bot.waitUntil(lambda: options.dialog.height() > small, timeout=60_000)
    large = options.dialog.height()
    options.clicks("more_options_button")
    options.stage.bot.waitUntil(lambda: options.dialog.height() < large, timeout=60_000)


def test_reset_brings_the_defaults_back(options: Options) -> None:
    assert not options.button("reset_options_button").isEnabled()
    options.types("context_box", "512")
    options.clicks("reset_options_button")
    box = options.dialog.findChild(QDoubleSpinBox, "context_box")
    assert box is not None
    assert box.text() == "automatic"
    assert not options.button("reset_options_button").isEnabled()


def test_what_does_not_fit_says_so_and_offers_the_largest_context_that_does(ready: Stage, options: Options) -> None:
    options.types("context_box", "65536")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    options.answer(DeviceMemory("CPU", MIB, HUGE, MIB))
    assert options.reads("fit_answer").startswith("Does not fit: it needs ")
    assert options.button("load_button").text() == "Load anyway"
    assert not options.button("largest_context_button").isVisibleTo(options.dialog)
    seen = 0
    while seen < (seen := len(ready.desk.dry_run.asked)) or not options.dialog._draft.largest_context:
        context = ready.desk.dry_run.asked[-1].options.context or 0
        options.answer(DeviceMemory("CPU", MIB, MIB if context <= 12_288 else HUGE, MIB))
    options.clicks("largest_context_button")
    largest = options.measured["context"]
    assert isinstance(largest, int)
    assert 0 < largest <= 12_288
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    assert options.reads("fit_answer").startswith("Fits")
    assert options.button("load_button").text() == "Load"


def test_a_load_that_does_not_fit_can_be_wanted_all_the_same(ready: Stage, options: Options) -> None:
    options.types("context_box", "65536")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    options.answer(DeviceMemory("CPU", MIB, HUGE, MIB))
    loads = len(ready.engine.sent)
    options.clicks("load_button")
    ready.desk.until(lambda: len(ready.engine.sent) > loads)
    assert ready.engine.load.options.context == 65_536


def test_closing_the_options_changes_nothing(ready: Stage, options: Options) -> None:
    options.types("context_box", "512")
    sent = len(ready.engine.sent)
    QTest.keyClick(options.dialog, Qt.Key.Key_Escape)
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    assert len(ready.engine.sent) == sent
    assert ready.desk.program.load_options.path is None


def test_every_control_is_named_and_reached_by_keyboard(options: Options) -> None:
    options.clicks("more_options_button")
    for kind in (QDoubleSpinBox, QComboBox, QCheckBox, QPushButton):
        for control in options.dialog.findChildren(kind):
            named = control.accessibleName() or str(control.property("text") or "")
            assert named, control.objectName()
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.objectName()


def test_another_model_of_the_list_has_its_options_too(ready: Stage) -> None:
    folder = ready.desk.program.paths.models
    folder.mkdir(parents=True)
    loaded = ready.desk.program.session.model
    assert loaded is not None
    with open(loaded.path, "rb") as file:  # noqa: PTH123
        (folder / "other.gguf").write_bytes(file.read())
    ready.desk.program.models.refresh()
    ready.desk.until(lambda: ready.desk.program.models.found)
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    others = menu.findChild(QMenu, "load_with_options_menu")
    assert others is not None
    next(action for action in others.actions() if action.text().partition("\t")[0] == "other").trigger()
    dialog = ready.find_as(LoadOptionsDialog)
    ready.desk.until(lambda: ready.desk.program.load_options.file)
    assert ready.desk.program.load_options.path == folder / "other.gguf"
    dialog.close()


def test_a_draft_that_is_too_long_leads_to_the_options(ready: Stage) -> None:
    ready.window.parts.chat_page.larger_context_wanted.emit()
    dialog = ready.find_as(LoadOptionsDialog)
    assert ready.desk.program.load_options.path is not None
    dialog.close()
