"""The options of a load: chosen by hand, answered by a dry run, and loaded."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPushButton,
    QSlider,
)

from app.core.devices import Device
from app.core.events import MemoryMeasured
from app.core.load_estimate import LoadEstimate
from app.core.metrics import DeviceMemory
from app.gui.models.context_row import USUAL_LENGTH, stops
from app.system.settings_file import Theme
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.load_options_dialog import CPU, GPU, HUGE, LARGE, MIB, TRAINED, Options

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


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
    for _ in range(2):  # what was chosen last is asked about after what was chosen before it
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
    for name in ("mmap_box", "mlock_box"):
        box = options.dialog.findChild(QCheckBox, name)
        assert box is not None
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)
    sent = len(ready.engine.sent)
    options.clicks("load_button")
    assert options.reads("fit_answer") == "Working out what this takes, to load it then …"
    options.answer_all(MIB)
    ready.desk.until(lambda: len(ready.engine.sent) > sent)
    loaded = ready.engine.load.options
    assert (loaded.flash_attention, loaded.threads, loaded.batch, loaded.micro_batch) == ("off", 1, 1024, 256)
    assert (loaded.experts_on_cpu, loaded.mmap, loaded.mlock) == (0, False, True)


def test_without_a_gpu_no_layers_for_one_are_offered(ready: Stage, options: Options) -> None:
    box = options.dialog.findChild(QDoubleSpinBox, "gpu_layers_box")
    assert box is not None
    caption = next(each for each in options.dialog.findChildren(QLabel) if each.buddy() is box)
    assert not box.isEnabled() and box.toolTip() == "Looking for a GPU …"
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    assert not box.isEnabled() and not caption.isEnabled()
    assert "No GPU to compute on" in box.toolTip() and "No GPU to compute on" in caption.toolTip()
    disabled = ready.themes.current.colour("disabled").name()
    assert box.palette().color(box.foregroundRole()).name() == disabled
    options.dialog.reject()
    box = Options(ready).dialog.findChild(QDoubleSpinBox, "gpu_layers_box")
    assert box is not None and "No GPU to compute on" in box.toolTip(), "it is known from the first time"


def test_layers_can_be_chosen_where_a_gpu_is_and_where_nobody_can_tell(options: Options) -> None:
    box = options.dialog.findChild(QDoubleSpinBox, "gpu_layers_box")
    assert box is not None
    options.stage.desk.dry_run.fail()
    options.stage.settle()
    assert box.isEnabled()
    options.chooses_context("512")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    assert box.isEnabled()


@pytest.mark.parametrize(
    ("experts", "devices", "hint"),
    [
        (0, (GPU, CPU), "it has no experts"),
        (4, (CPU,), "all of the model is in main memory"),
        (4, (GPU, CPU), "Leaves more room on the GPU"),
    ],
)
def test_experts_are_kept_apart_where_there_are_some_and_a_gpu(
    stage: Stage, tmp_path: Path, experts: int, devices: tuple[Device, ...], hint: str
) -> None:
    stage.load(write_tiny_llama(tmp_path / "model.gguf", experts=experts))
    options = Options(stage)
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=devices)
    options.clicks("more_options_button")
    box = options.dialog.findChild(QDoubleSpinBox, "experts_box")
    assert box is not None and hint in box.toolTip()
    assert box.isEnabled() is hint.startswith("Leaves")
    if box.isEnabled():
        draft = stage.desk.program.load_options
        assert box.text() == "automatic"
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Up)
        QTest.keyClick(box, Qt.Key.Key_Up)
        assert draft.options.experts_on_cpu == 1 and box.text() == "1"
        draft.change(gpu_layers=2, experts_on_cpu=0)
        assert box.text() == "0", "nothing is automatic where the layers are not"
        draft.change(experts_on_cpu=-1)
        assert box.value() == draft.measured.layers if draft.measured is not None else box.maximum()
    options.dialog.reject()


def test_rounding_and_a_context_beyond_the_training_are_explained(options: Options) -> None:
    assert options.reads("load_remarks").startswith("Automatic is ")
    options.types("context_box", "100001")
    remarks = options.reads("load_remarks")
    assert "100,001 tokens are rounded up to 100,096, a multiple of 256." in remarks
    said = "Working out what this takes … Its answers fall apart beyond 1,024 tokens."
    assert options.reads("fit_answer") == said


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_what_fits_is_not_approved_where_answers_fall_apart(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    options = Options(ready)
    ready.bot.waitUntil(options.dialog.isActiveWindow, timeout=60_000)
    options.answer_all(MIB)
    answer = options.dialog.findChild(QLabel, "fit_answer")
    assert answer is not None
    for tokens, kv, begins, looks in (
        ("512", MIB, "Fits, with ", "text"),
        ("4096", MIB, "Fits, but its answers fall apart beyond the 1,024 tokens", "danger"),
        ("8192", None, "Whether it fits is not known, and its answers fall apart beyond 1,024", "danger"),
        ("65536", HUGE, "Does not fit: it needs ", "danger"),
        ("768", MIB, "Fits, with ", "text"),
    ):
        options.chooses_context(tokens)
        options.answer_all(kv)
        assert options.reads("fit_answer").startswith(begins)
        assert ("fall apart" in options.reads("fit_answer")) is (int(tokens) > TRAINED)
        colour = answer.palette().color(answer.foregroundRole())
        assert colour.name() == ready.themes.current.colour(looks).name()
    options.dialog.reject()


def test_nothing_moves_when_a_context_is_chosen(options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    load = options.dialog.findChild(QPushButton, "load_button")
    assert load is not None
    QApplication.sendPostedEvents()
    before = (options.dialog.size(), load.mapTo(options.dialog, load.rect().topRight()))
    for tokens, kv in (("512", MIB), ("700", MIB), ("100001", MIB), ("65536", LARGE), ("99999999", LARGE)):
        options.chooses_context(tokens)
        QApplication.sendPostedEvents()
        assert (options.dialog.size(), load.mapTo(options.dialog, load.rect().topRight())) == before
        options.answer_all(kv)
        QApplication.sendPostedEvents()
        assert (options.dialog.size(), load.mapTo(options.dialog, load.rect().topRight())) == before


def test_the_slider_and_the_arrow_keys_end_where_the_training_ended(options: Options) -> None:
    slider = options.dialog.findChild(QSlider, "context_slider")
    box = options.dialog.findChild(QDoubleSpinBox, "context_box")
    assert slider is not None and box is not None
    assert slider.value() == 0 and box.text() == "automatic"
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert box.value() == TRAINED
    assert "fall apart" not in options.reads("fit_answer")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == TRAINED
    options.types("context_box", str(TRAINED + 1))
    assert box.value() == TRAINED + 1 and slider.value() == slider.maximum()
    assert "fall apart" in options.reads("fit_answer")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == TRAINED + 1
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert box.text() == "automatic" and slider.accessibleName().endswith("automatic")


def test_the_slider_doubles_up_to_what_the_model_was_trained_for() -> None:
    assert stops(8192) == [1024, 2048, 4096, 8192]
    assert stops(5000) == [1024, 2048, 4096, 5000]
    assert stops(512) == [512]
    assert stops(None)[-1] == USUAL_LENGTH


def test_what_automatic_is_stays_whatever_is_chosen(options: Options) -> None:
    automatic = options.reads("load_remarks")
    options.types("context_box", "256")
    assert options.reads("load_remarks") == automatic == "Automatic is 1,024 tokens."


@pytest.mark.parametrize(
    ("name", "typed", "reads", "says"),
    [
        ("context_box", "16384", "fit_answer", "fall apart beyond 1,024"),
        ("context_box", "700", "load_remarks", "700 tokens are rounded up to 768"),
        ("batch_box", "64", "fit_answer", "Working out"),
    ],
)
def test_what_is_being_typed_is_looked_at_after_a_pause(
    options: Options, name: str, typed: str, reads: str, says: str
) -> None:
    options.answer_all(MIB)
    options.clicks("more_options_button")
    options.is_typing(name, typed)
    options.stage.bot.waitUntil(lambda: says in options.reads(reads), timeout=60_000)
    slider = options.dialog.findChild(QSlider, "context_slider")
    assert slider is not None and slider.value() == (1 if name == "context_box" else 0)
    box = options.dialog.findChild(QDoubleSpinBox, name)
    assert box is not None and box.hasFocus()
    options.answer_all(MIB)
    assert box.lineEdit().text() == typed, "an answer does not write over it"


def test_load_waits_until_it_is_known_what_the_typed_number_takes(ready: Stage, options: Options) -> None:
    options.answer_all(MIB)
    sent, asked = len(ready.engine.sent), len(ready.desk.dry_run.asked)
    options.is_typing("context_box", "512")
    box = options.dialog.findChild(QDoubleSpinBox, "context_box")
    assert box is not None
    QTest.keyClick(box, Qt.Key.Key_Return)
    ready.desk.until(lambda: len(ready.desk.dry_run.asked) > asked)
    assert options.dialog.isVisible() and len(ready.engine.sent) == sent
    options.answer_all(MIB)
    assert not options.dialog.isVisible()
    ready.desk.until(lambda: len(ready.engine.sent) > sent)
    assert ready.engine.load.options.context == 512


@pytest.mark.parametrize(("typed", "kv", "warning"), [("16384", MIB, "fall apart"), ("65536", HUGE, "Does not fit")])
def test_load_approves_nothing_that_nobody_could_read_of(
    ready: Stage, options: Options, typed: str, kv: int, warning: str
) -> None:
    options.answer_all(MIB)
    sent = len(ready.engine.sent)
    options.is_typing("context_box", typed)
    options.clicks("load_button")
    options.answer_all(kv)
    assert options.dialog.isVisible() and len(ready.engine.sent) == sent
    assert warning in options.reads("fit_answer")
    options.clicks("load_button")
    assert not options.dialog.isVisible()
    ready.desk.until(lambda: len(ready.engine.sent) > sent)
    assert ready.engine.load.options.context == int(typed)


def test_what_is_chosen_while_load_waits_is_not_loaded_by_that(ready: Stage, options: Options) -> None:
    options.answer_all(MIB)
    sent = len(ready.engine.sent)
    options.is_typing("context_box", "512")
    options.clicks("load_button")
    options.types("context_box", "768")
    options.answer_all(MIB)
    assert options.dialog.isVisible() and len(ready.engine.sent) == sent


@pytest.mark.parametrize(
    ("real", "said"),
    [(180, "last load 1 % more than estimated"), (178, "last load as estimated"), (160, "10 % less than estimated")],
)
def test_how_far_the_last_load_was_from_its_estimate_is_said(ready: Stage, real: int, said: str) -> None:
    ref = ready.desk.program.session.ref
    assert ref is not None
    settings = ready.desk.program.settings
    kept = msgspec.structs.replace(settings.model(ref.identity), estimates=(LoadEstimate(178 * 1024, real * 1024),))
    settings.remember_model(ref.identity, kept)
    assert any(said in text.replace("\u00a0", " ") for text in Options(ready).texts())


def test_without_a_gpu_no_context_gives_way(options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    options.clicks("more_options_button")
    box = options.dialog.findChild(QCheckBox, "shorten_box")
    assert box is not None and not box.isEnabled() and "Without a GPU" in box.toolTip()


def test_a_context_may_give_way_to_automatic_layers_where_that_is_ticked(ready: Stage, options: Options) -> None:
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    options.clicks("more_options_button")
    box = options.dialog.findChild(QCheckBox, "shorten_box")
    assert box is not None and box.isEnabled() and not box.isChecked() and "4,096" in box.toolTip()
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert ready.desk.dry_run.asked[-1].options.may_shorten_context
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    assert options.reads("fit_answer").startswith("Fits, with ")
    options.types("context_box", "1024")
    asked = ready.desk.dry_run.asked[-1]
    ready.desk.program.dispatch(
        MemoryMeasured(asked.request, asked.path, asked.options, (DeviceMemory("CPU", 1, 1, 1),), 512, 2, (GPU, CPU))
    )
    assert options.reads("fit_answer") == "Fits with a context shortened to 512 tokens."
    options.types("gpu_layers_box", "1")
    assert not box.isEnabled() and "is chosen" in box.toolTip()
    options.dialog.reject()
