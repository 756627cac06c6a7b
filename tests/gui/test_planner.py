"""The page Planner as people use it: choices that act at once, the answer, what would help, and empty states."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QPushButton, QStyle, QStyleOptionComboBox, QWidget

from app.core.commands import Load
from app.core.devices import Device, MainMemory
from app.core.metrics import DeviceMemory
from app.gui.planner.answer_pane import AnswerPane
from app.gui.planner.comparison.part import ComparisonPart
from app.gui.planner.device_picture import DevicePicture
from app.gui.planner.page import PlannerPage
from app.gui.planner.plan_part import PlanPart
from app.gui.planner.speed_picture import SpeedPicture
from app.gui.planner.stops_row import context_stops
from app.gui.widgets.boxes import ChoiceBox, NumberBox, WheelSlider
from app.gui.widgets.search_box import SearchBox
from app.planner.planned_model import planned_model
from app.services.planning import Planning
from app.services.planning_models import PlannedFile
from tests.fake_dry_run import CPU
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off
from tests.planner.planned_models import planned

GIB, MIB = 1 << 30, 1 << 20
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 12 * GIB)


@pytest.fixture
def planner(stage: Stage, model: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page with a small model on a machine without a GPU; nothing is asked by itself."""
    planning = planning_of(stage)
    monkeypatch.setattr(planning.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    planning._asked._rest._after_s = 0.0
    stage.load(model)
    stage.triggers("planner_action")
    stage.desk.until(lambda: planning.view is not None and planning.devices.is_known)
    return stage


@pytest.fixture
def large(planner: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A model of 32 billion parameters before a GPU that takes some of its layers."""
    planning = planning_of(planner)
    planning.models._known["/large.gguf"] = (None, PlannedFile("/large.gguf", planned("qwen3-32b")))
    monkeypatch.setattr(planning.models, "want", lambda _path: None)
    monkeypatch.setattr(planning.devices, "_main_memory", lambda: MainMemory(64 * GIB, 50 * GIB, 64 * GIB))
    planning.devices.note((GPU,))
    planning.choose_model("/large.gguf")
    planner.desk.until(lambda: "CUDA0" in planning.devices.gpus.here)
    return planner


def planning_of(stage: Stage) -> Planning:
    return stage.desk.program.planner.planning


# The offscreen platform says this of every dialog and every hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def answer(stage: Stage) -> str:
    return stage.reads("plan_answer")


def pictures(stage: Stage) -> list[DevicePicture]:
    pane = stage.window.findChild(AnswerPane)
    assert pane is not None
    return [each for each in pane.findChildren(DevicePicture) if each.isVisible()]


def levers(stage: Stage) -> list[QPushButton]:
    pane = stage.window.findChild(AnswerPane)
    assert pane is not None
    return [button for button in pane.levers if button.isVisible()]


def test_the_page_says_whether_the_loaded_model_fits(planner: Stage) -> None:
    assert planner.window.page == "planner" and planner.find("planner_button").property("checked")
    assert answer(planner).startswith("Fits into main memory with ") and "tok/s (" in answer(planner)
    (main,) = pictures(planner)
    assert main.accessibleName().startswith("Main memory: needs ")
    assert "Weights" in main.accessibleName() and "formula" in main.accessibleName()
    box = planner.find_as(QComboBox, "plan_model_box")
    assert box.currentText().startswith("tiny")
    assert planner.find("plan_layers_slider").isEnabled(), "nobody has said yet that there is no GPU"
    planner.desk.program.planner.devices.note((CPU,))
    planner.desk.program.planner.devices.changed.emit()
    assert not planner.find("plan_layers_slider").isEnabled() and planner.find("plan_layers_slider").toolTip()


def test_a_slider_acts_at_once(planner: Stage) -> None:
    picture, before = pictures(planner)[0], pictures(planner)[0].device
    slider = planner.find_as(WheelSlider, "plan_context_slider")
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert planning_of(planner).choice.context == 256 == planner.find_as(NumberBox, "plan_context_box").value()
    assert picture.device != before and slider.accessibleName() == "Context, 256"
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert planning_of(planner).choice.context == 1024
    planner.find_as(NumberBox, "plan_context_box").setValue(5000)
    assert planning_of(planner).choice.context == 5000 and slider.beyond == 1


def test_every_choice_reaches_the_plan(planner: Stage) -> None:
    planning = planning_of(planner)
    planner.find_as(NumberBox, "plan_sequences_box").setValue(3)
    planner.find_as(NumberBox, "plan_batch_box").setValue(128)
    planner.find_as(NumberBox, "plan_prompt_box").setValue(700)
    planner.find_as(NumberBox, "plan_cached_box").setValue(300)
    choose(planner, "plan_kv_box", "q8_0")
    choice = planning.choice
    assert (choice.sequences, choice.micro_batch, choice.prompt, choice.cached) == (3, 128, 700, 300)
    assert choice.kv_type == "q8_0"
    planner.find_as(QCheckBox, "plan_flash_box").click()
    assert not planning.choice.flash_attention and "needs flash attention" in answer(planner)
    choose(planner, "plan_kv_box", "f16")
    assert answer(planner).startswith("Fits")
    choose(planner, "plan_where_box", "rtx-4090")
    assert answer(planner).startswith("Fits on one ")
    assert not planner.sees("plan_load_button") and planner.find("plan_layers_slider").isEnabled()
    assert "empty GPU" in planner.reads("plan_source")


def choose(stage: Stage, name: str, value: str) -> None:
    box = stage.find_as(QComboBox, name)
    row = box.findData(value)
    assert row >= 0
    box.setCurrentIndex(row)
    box.activated.emit(row)


def test_what_llama_cpp_says_takes_the_place_of_the_formula(planner: Stage) -> None:
    desk, planning = planner.desk, planning_of(planner)
    desk.until(lambda: desk.dry_run.asked and planning._asked._open)
    assert "is asked" in planner.reads("plan_source")
    desk.dry_run.answer(DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True))
    desk.settle()
    assert "itself" in planner.reads("plan_source")
    assert "Weights 111 MiB, asked of llama.cpp" in pictures(planner)[0].accessibleName()
    planner.find_as(NumberBox, "plan_context_box").setValue(512)
    desk.until(lambda: desk.dry_run.asked[-1].options.context == 512)
    desk.dry_run.fail()
    desk.settle()
    assert planner.reads("plan_source").endswith("Nobody knows.")


def test_of_how_many_layers_the_experts_move_is_chosen_or_automatic(large: Stage) -> None:
    planning = planning_of(large)
    planning.models._known["/mixture.gguf"] = (None, PlannedFile("/mixture.gguf", planned("qwen3-30b-a3b")))
    assert not large.sees("plan_experts_slider"), "no mixture, no experts"
    planning.choose_model("/mixture.gguf")
    choose(large, "plan_where_box", "rtx-3060")
    box, slider = large.find_as(NumberBox, "plan_experts_box"), large.find_as(WheelSlider, "plan_experts_slider")
    assert box.text() == "auto" and slider.isEnabled() and slider.maximum() == 48
    assert "the experts of 20 of them in main memory" in answer(large)
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert planning.choice.experts_on_cpu == 48 and "their experts in main memory" in answer(large)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert planning.choice.experts_on_cpu == 0 and box.text() == "auto"
    large.find_as(NumberBox, "plan_layers_box").setValue(49)
    assert box.text() == "0", "nothing is automatic where the layers are not"
    lever = next(button for button in levers(large) if button.text().startswith("Experts of 20 of 48 layers"))
    lever.setFocus()
    QTest.keyClick(lever, Qt.Key.Key_Space)
    assert planning.choice.experts_on_cpu == 20 and box.text() == "20" and answer(large).startswith("Fits partly")


def test_layers_that_fit_are_on_the_gpu_and_levers_say_whether_they_are_enough(large: Stage) -> None:
    assert answer(large).startswith("Fits partly: ") and len(pictures(large)) == 2
    assert [picture.device.name for picture in pictures(large)] == ["NVIDIA L4", ""]
    large.find_as(NumberBox, "plan_layers_box").setValue(65)
    assert answer(large).startswith("Too large: ")
    (gpu, *_) = pictures(large)
    assert "too small" in gpu.accessibleName() and "Missing" in gpu.accessibleName()
    texts = [button.text() for button in levers(large)]
    assert any("not enough alone" in text for text in texts) and any("then it fits" in text for text in texts)
    assert large.reads("plan_load_button").endswith("anyway")
    useful = next(b for b in levers(large) if "then it fits" in b.text() and b.isEnabled())
    useful.setFocus()
    QTest.keyClick(useful, Qt.Key.Key_Space)
    assert answer(large).startswith("Fits")


def test_a_speed_has_its_band_and_its_ceiling_in_words(planner: Stage) -> None:
    speed = planner.find_as(SpeedPicture, "planned_speed")
    assert "tok/s (" in speed.accessibleName() and "by bandwidth alone" in speed.accessibleName()
    said = planner.reads("plan_first_token")
    assert said.startswith("First token: –. ") and "but not the first one after a load" in said


def test_a_row_says_on_hover_what_it_is(planner: Stage) -> None:
    (main,) = pictures(planner)
    top = main._rows_top() + 3
    assert "learned" in main.hint_at(top) and main.hint_at(2) == ""
    event = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, top), main.mapToGlobal(QPoint(5, top)))
    assert main.event(event)


def test_a_model_can_be_loaded_as_it_is_planned(planner: Stage) -> None:
    planner.find_as(NumberBox, "plan_context_box").setValue(512)
    planner.clicks("plan_load_button")
    planner.desk.until(lambda: len(planner.engine.all(Load)) > 1)
    assert planner.engine.load.options.context == 512 and planner.window.page == "chat"


def test_without_a_model_there_is_a_way_to_one(stage: Stage, model: Path) -> None:
    stage.triggers("planner_action")
    stage.settle()
    assert stage.reads("plan_nothing").startswith("Choose a model") and not stage.sees("plan_answer")
    stage.clicks("plan_file_button")
    dialog = next(each for each in stage.window.findChildren(QFileDialog))
    dialog.fileSelected.emit(str(model))
    dialog.reject()
    stage.desk.until(lambda: planning_of(stage).view is not None)
    assert stage.sees("plan_answer") and not stage.sees("plan_nothing")


def test_what_is_wrong_with_a_file_is_said_and_another_can_be_chosen(planner: Stage, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing else")
    planning_of(planner).choose_model(str(broken))
    assert planner.reads("plan_nothing").startswith("Reading") and not planner.sees("plan_file_button")
    planner.desk.until(lambda: planning_of(planner).problem)
    assert planner.sees("plan_file_button") and planner.reads("plan_nothing").endswith(".")


def test_an_architecture_that_is_not_worked_out_says_why(planner: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    planning = planning_of(planner)
    planning.models._known["/odd.gguf"] = (None, PlannedFile("/odd.gguf", planned_model([])))
    monkeypatch.setattr(planning.models, "want", lambda _path: None)
    planning.choose_model("/odd.gguf")
    assert answer(planner).startswith("There is no header")


def test_everything_on_the_page_has_a_name_and_nothing_is_cut_off(large: Stage) -> None:
    page = large.find_as(PlannerPage, "planner_page")
    for size in ((1280, 800), (900, 600)):
        large.window.resize(*size)
        large.bot.wait(1)
        assert cut_off(large.find_as(PlanPart, "plan_part")) == []
    for widget in page.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            assert widget.accessibleName() or widget.property("text"), widget.objectName()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_pictures_follow_the_theme(large: Stage, theme: str) -> None:
    large.themes.choose(theme)  # type: ignore[arg-type]
    look = large.themes.current
    picture = pictures(large)[0]
    image = picture.grab().toImage()
    assert image.pixelColor(picture.width() - 2, picture.height() - 2) == look.colour("surface")
    shades = {image.pixelColor(4, y).name() for y in range(picture._rows_top(), picture.height())}
    assert {look.colour(token).name() for token in ("stage_decode", "stage_kv", "stage_prefill")} <= shades


def test_another_part_gets_a_tab_and_is_made_when_it_is_shown(planner: Stage) -> None:
    page = planner.find_as(PlannerPage, "planner_page")
    assert page.tabs.isVisible() and page.findChild(ComparisonPart) is None
    planner.clicks("planner_compare_tab")
    part = page.findChild(ComparisonPart)
    assert page.part == "compare" and part is not None and part.isVisible()
    part.part_wanted.emit("plan")
    assert page.part == "plan" and not part.isVisible()
    planner.clicks("planner_compare_tab")
    assert page.findChildren(ComparisonPart) == [part]


def test_another_chat_leaves_the_page(planner: Stage) -> None:
    planner.desk.program.chat.opened.emit()
    assert planner.window.page == "chat"


def test_the_machine_is_looked_at_only_while_the_page_is_shown(planner: Stage) -> None:
    machine = planner.desk.program.machine
    assert "planner" in machine._watchers
    planner.clicks("chat_button")
    assert "planner" not in machine._watchers
    planner.clicks("planner_button")
    assert "planner" in machine._watchers
    planner.window.close()
    assert "planner" not in machine._watchers


def test_contexts_go_in_quarters_of_a_doubling_to_the_end() -> None:
    stops = context_stops(4000)
    assert stops[:4] == [256, 512, 768, 1024] and stops[-1] == 4000 and stops == sorted(set(stops))


def test_a_damaged_table_of_gpus_is_told_on_both_parts(
    stage: Stage, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planning = planning_of(stage)
    monkeypatch.setattr(planning.devices, "_read_table", lambda: "{")
    stage.load(model)
    stage.triggers("planner_action")
    stage.desk.until(lambda: planning.view is not None and planning.devices.is_known)
    told = "The table of GPUs that came with the program is damaged: install the program again."
    assert stage.reads("plan_table_problem") == told
    stage.find_as(PlannerPage, "planner_page").show_part("compare")
    stage.desk.until(lambda: stage.sees("plan_comparison_problems"))
    assert stage.reads("plan_problem_0") == told


def test_a_whole_table_has_no_problem(planner: Stage) -> None:
    assert not planner.find("plan_table_problem").isVisible()


def test_gpus_are_offered_with_their_memory(planner: Stage) -> None:
    box = planner.find_as(SearchBox, "plan_where_box")
    words = [box.itemText(row) for row in range(box.count())]
    assert words[0] == "This machine" and {"RTX 4090 · 24.0 GiB", "A100 80 GB SXM · 80.0 GiB"} <= set(words)


def test_names_of_usual_length_are_whole_where_they_are_chosen(planner: Stage) -> None:
    box = planner.find_as(SearchBox, "plan_where_box")
    box.setCurrentIndex(box.findText("RTX 4070 Ti SUPER · 16.0 GiB"))
    planner.settle()
    for chosen in (box, planner.find_as(ChoiceBox, "plan_model_box")):
        option = QStyleOptionComboBox()
        chosen.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = chosen.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, chosen).width()
        assert option.fontMetrics.horizontalAdvance("SmolLM2-135M-Instruct · Q4_1 · 93.8 MiB") <= room - 2
    kv = planner.find_as(ChoiceBox, "plan_kv_box")
    assert kv.fontMetrics().horizontalAdvance("keys F16, values Q8_0") + 40 <= kv.width()
