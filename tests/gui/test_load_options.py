"""The options of a load: chosen by hand, answered by a dry run, and loaded."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSlider,
    QToolButton,
)

from app.core.devices import Device
from app.core.metrics import DeviceMemory
from app.gui.models.context_row import USUAL_LENGTH, stops
from app.gui.models.load_dialog import LoadOptionsDialog
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MIB = 1 << 20
HUGE = 1 << 50
TRAINED = 1024
CPU = Device("CPU", "a processor", "cpu", "CPU", 16 << 30, None)
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 << 30, 20 << 30)


class Options:
    """The dialog as somebody sits before it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.asked = len(stage.desk.dry_run.asked)
        menu = stage.find_as(QToolButton, "model_button").menu()
        menu.aboutToShow.emit()
        action = menu.findChild(QAction, "load_options_action")
        assert action is not None
        action.trigger()
        self.dialog = stage.find_as(LoadOptionsDialog)
        stage.desk.until(lambda: len(stage.desk.dry_run.asked) > self.asked)

    def answer(self, *memory: DeviceMemory, devices: tuple[Device, ...] = (CPU,)) -> None:
        self.stage.desk.dry_run.answer(*memory, devices=devices)
        self.stage.settle()

    def chooses_context(self, tokens: str) -> None:
        """Type a context and wait until it is asked what that takes."""
        asked = len(self.stage.desk.dry_run.asked)
        self.types("context_box", tokens)
        self.stage.desk.until(lambda: len(self.stage.desk.dry_run.asked) > asked)

    def types(self, name: str, text: str) -> None:
        box = self.dialog.findChild(QDoubleSpinBox, name)
        assert box is not None
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)
        QTest.keyClick(box, Qt.Key.Key_Tab)

    def chooses(self, name: str, text: str) -> None:
        box = self.dialog.findChild(QComboBox, name)
        assert box is not None
        box.setFocus()
        while box.currentText() != text:
            QTest.keyClick(box, Qt.Key.Key_Down)

    def clicks(self, name: str) -> None:
        QTest.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

    def button(self, name: str) -> QPushButton:
        found = self.dialog.findChild(QPushButton, name)
        assert found is not None
        return found

    def reads(self, name: str) -> str:
        found = self.dialog.findChild(QLabel, name)
        assert found is not None
        return found.text() if found.isVisibleTo(self.dialog) else ""

    def texts(self) -> list[str]:
        return [each.text() for each in self.dialog.findChildren(QLabel) if each.isVisibleTo(self.dialog)]

    @property
    def measured(self) -> dict[str, object]:
        """What was asked of the last dry run, as far as it is no default."""
        options = self.stage.desk.dry_run.asked[-1].options
        return {
            "context": options.context,
            "gpu_layers": options.gpu_layers,
            "kv_type_k": options.kv_type_k,
            "kv_type_v": options.kv_type_v,
        }


@pytest.fixture
def options(ready: Stage) -> Options:
    return Options(ready)


def test_the_options_of_the_loaded_model_say_what_it_takes_and_what_is_free(options: Options) -> None:
    assert options.reads("load_options_model") == "tiny"
    assert options.reads("fit_answer") == "Working out what this takes …"
    options.answer(DeviceMemory("CPU", 92 * MIB, 180 * MIB, 23 * MIB))
    assert options.reads("fit_answer").startswith("Fits, with ")
    for text in ("Main memory", "92.0 MiB", "180 MiB", "23.0 MiB", "295 MiB"):
        assert text in options.texts()
    assert options.button("load_button").text() == "Load"


def test_an_unknown_figure_is_a_dash_and_the_answer_claims_nothing(options: Options) -> None:
    options.answer(DeviceMemory("CPU", 92 * MIB, None, None, complete=False))
    assert "–" in options.texts()
    assert options.reads("fit_answer").startswith("Whether it fits is not known")


def test_what_is_chosen_is_measured_and_loaded(ready: Stage, options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    options.types("context_box", "2048")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    options.types("gpu_layers_box", "1")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    options.chooses("kv_type_k_box", "8 bits (Q8_0)")
    options.chooses("kv_type_v_box", "4 bits (Q4_0)")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    expected = {"context": 2048, "gpu_layers": 1, "kv_type_k": "q8_0", "kv_type_v": "q4_0"}
    assert options.measured == expected
    asked = len(ready.desk.dry_run.asked)
    options.clicks("load_button")
    ready.desk.until(lambda: len(ready.desk.dry_run.asked) > asked)  # layers for a GPU are looked at once more
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    loaded = ready.engine.load.options
    assert {name: getattr(loaded, name) for name in expected} == expected


def test_the_rest_stands_behind_a_button_and_is_loaded_too(ready: Stage, options: Options) -> None:
    flash = options.dialog.findChild(QComboBox, "flash_attention_box")
    assert flash is not None
    assert not flash.isVisibleTo(options.dialog)
    options.clicks("more_options_button")
    assert flash.isVisibleTo(options.dialog)
    options.chooses("flash_attention_box", "off")
    for name, text in {"threads_box": "1", "batch_box": "1024", "micro_batch_box": "256"}.items():
        options.types(name, text)
    for name in ("experts_box", "mmap_box", "mlock_box"):
        box = options.dialog.findChild(QCheckBox, name)
        assert box is not None
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)
    sent = len(ready.engine.sent)
    options.clicks("load_button")
    ready.desk.until(lambda: len(ready.engine.sent) > sent)
    loaded = ready.engine.load.options
    assert (loaded.flash_attention, loaded.threads, loaded.batch, loaded.micro_batch) == ("off", 1, 1024, 256)
    assert (loaded.experts_on_cpu, loaded.mmap, loaded.mlock) == (True, False, True)


def test_a_build_without_a_gpu_offers_no_layers_for_one(options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    box = options.dialog.findChild(QDoubleSpinBox, "gpu_layers_box")
    assert box is not None
    assert not box.isEnabled()
    assert "no GPU" in box.toolTip()


def test_rounding_and_a_context_beyond_the_training_are_explained(options: Options) -> None:
    assert options.reads("load_remarks").startswith("Automatic is ")
    options.types("context_box", "100001")
    remarks = options.reads("load_remarks")
    assert "100,001 tokens are rounded up to 100,096, a multiple of 256." in remarks
    assert options.reads("context_warning").endswith(f"its answers fall apart: choose {TRAINED:,} or fewer.")


def test_nothing_moves_when_a_context_is_chosen(options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    load = options.dialog.findChild(QPushButton, "load_button")
    assert load is not None
    QApplication.sendPostedEvents()
    before = (options.dialog.size(), load.mapTo(options.dialog, QPoint()))
    for tokens in ("512", "700"):
        options.chooses_context(tokens)
        options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
        QApplication.sendPostedEvents()
        assert (options.dialog.size(), load.mapTo(options.dialog, QPoint())) == before


def test_the_slider_and_the_arrow_keys_end_where_the_training_ended(options: Options) -> None:
    slider = options.dialog.findChild(QSlider, "context_slider")
    box = options.dialog.findChild(QDoubleSpinBox, "context_box")
    assert slider is not None and box is not None
    assert slider.value() == 0 and box.text() == "automatic"
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert box.value() == TRAINED
    assert options.reads("context_warning") == ""
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == TRAINED
    options.types("context_box", str(TRAINED + 1))
    assert box.value() == TRAINED + 1 and slider.value() == slider.maximum()
    assert options.reads("context_warning").startswith("This model was trained for ")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == TRAINED + 1
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert box.text() == "automatic" and slider.accessibleName().endswith("automatic")


def test_the_slider_doubles_up_to_what_the_model_was_trained_for() -> None:
    assert stops(8192) == [1024, 2048, 4096, 8192]
    assert stops(5000) == [1024, 2048, 4096, 5000]
    assert stops(512) == [512]
    assert stops(None)[-1] == USUAL_LENGTH


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
    assert options.reads("fit_answer").startswith("Does not fit: it takes ")
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
    next(action for action in others.actions() if action.text() == "other").trigger()
    dialog = ready.find_as(LoadOptionsDialog)
    ready.desk.until(lambda: ready.desk.program.load_options.file)
    assert ready.desk.program.load_options.path == folder / "other.gguf"
    dialog.close()


def test_a_draft_that_is_too_long_leads_to_the_options(ready: Stage) -> None:
    ready.window.parts.chat_page.larger_context_wanted.emit()
    dialog = ready.find_as(LoadOptionsDialog)
    assert ready.desk.program.load_options.path is not None
    dialog.close()
