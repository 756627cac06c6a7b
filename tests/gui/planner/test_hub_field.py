"""A model of a hub on the page Planner: named, read, cancelled, tried again, planned, and how it is downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QPushButton

from app.core.devices import MainMemory
from app.services.fit_badges import Elsewhere, Estimate
from app.services.planning import Planning
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.planned_hub import NAMES, begin_and_wait, planned_hub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30
PATH = "hub:org/tiny-GGUF"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    with planned_hub(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def planner(hub: LoopbackHub, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page on a machine without a model, before that hub."""
    planning = planning_of(stage)
    monkeypatch.setattr(planning.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    monkeypatch.setattr(planning.models.hub._look, "_after_s", 0.0)
    stage.triggers("planner_action")
    stage.desk.until(lambda: planning.models.found == ())
    return stage


def planning_of(stage: Stage) -> Planning:
    return stage.desk.program.planner.planning


def types(stage: Stage, text: str) -> None:
    """Type a name and press Enter."""
    line = stage.find_as(QLineEdit, "plan_hub_line")
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def state_of(stage: Stage) -> str:
    return planning_of(stage).models.hub.get(planning_of(stage).path).state


def rests(stage: Stage) -> None:
    """Wait until nothing is read any more."""
    stage.desk.until(lambda: state_of(stage) not in ("waiting", "reading"))


def test_a_model_that_is_typed_is_read_and_planned(planner: Stage) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    assert planner.reads("plan_answer").startswith("Fits into main memory with ")
    assert "not on this machine" in planner.reads("plan_hub_state") and not planner.sees("plan_hub_button")
    assert planner.reads("plan_source") == "Memory by formula." and planner.desk.dry_run.asked == []
    assert planner.find_as(QComboBox, "plan_model_box").currentText() == "org/tiny-GGUF"
    assert not planner.sees("plan_load_button") and not planning_of(planner).can_load
    planning_of(planner).load()
    assert planner.engine.sent == []
    planner.clicks("plan_download_button")
    planner.desk.until(lambda: not planner.desk.program.discovering.is_reading)
    assert planner.window.page == "models" and planner.sees("discover_part")
    assert planner.desk.program.discovering.repository == "org/tiny-GGUF"


def test_an_address_that_is_pasted_is_the_file_that_it_names(planner: Stage) -> None:
    types(planner, f"https://huggingface.co/org/tiny-GGUF/blob/main/{NAMES[0]}")
    rests(planner)
    assert planning_of(planner).path == f"{PATH}:{NAMES[0]}" and planner.sees("plan_answer")
    assert planner.find_as(QLineEdit, "plan_hub_line").text() == f"org/tiny-GGUF:{NAMES[0]}"


def test_another_quantisation_of_the_repository_can_be_chosen(planner: Stage) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    box = planner.find_as(QComboBox, "plan_hub_file_box")
    assert [box.itemText(row).partition("\u00a0")[0] for row in range(box.count())] == ["F16", "Q8_0"]
    assert planner.sees("plan_hub_file_box") and box.currentText().startswith("Q8_0")
    box.setCurrentIndex(0)
    box.activated.emit(0)
    rests(planner)
    assert planning_of(planner).path == f"{PATH}:{NAMES[0]}" and box.currentText().startswith("F16")
    assert planner.sees("plan_download_button")


def test_a_smaller_file_that_would_help_is_one_of_the_repository_and_is_chosen(
    planner: Stage, tmp_path: Path
) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    planning_of(planner).change(context=512, prompt=100)

    def levers() -> list[QPushButton]:
        shown = planner.find("plan_part").findChildren(QPushButton)
        return [each for each in shown if not each.isHidden() and each.text().startswith("Smaller file")]

    (lever,) = levers()
    sizes = [(tmp_path / name).stat().st_size for name in NAMES]
    assert lever.text().startswith("Smaller file: F16 · saves ")
    assert sizes[0] < sizes[1] and lever.isEnabled() and "from the hub" in lever.toolTip()
    lever.click()
    rests(planner)
    assert planning_of(planner).path == f"{PATH}:{NAMES[0]}" and planner.sees("plan_download_button")
    assert planning_of(planner).choice.context == 512, "what was chosen stays"
    assert planner.find_as(QComboBox, "plan_hub_file_box").currentText().startswith("F16")
    assert levers() == [], "the repository has none that is smaller"


def test_each_quantisation_of_the_repository_says_whether_it_fits(planner: Stage, tmp_path: Path) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    box = planner.find_as(QComboBox, "plan_hub_file_box")
    box.showPopup()
    spoken = Qt.ItemDataRole.AccessibleTextRole
    planner.desk.until(lambda: all(str(box.itemData(row, spoken)).endswith(", fits") for row in range(box.count())))
    assert " it needs " in str(box.itemData(0, Qt.ItemDataRole.ToolTipRole))
    known = [each.model for each in planner.desk.program.planner.fits._known if isinstance(each, Elsewhere)]
    other = next(each for each in known if isinstance(each, Estimate))
    assert other.size == (tmp_path / NAMES[0]).stat().st_size, "each by its own size"
    box.hidePopup()


def test_while_it_is_read_it_says_how_much_has_come_and_can_be_cancelled(planner: Stage, hub: LoopbackHub) -> None:
    hub.delivering = lambda request: begin_and_wait(hub, request)
    types(planner, "org/tiny-GGUF")
    planner.desk.until(lambda: "have come" in planner.reads("plan_hub_state"))
    assert planner.reads("plan_nothing") == "Reading org/tiny-GGUF from the hub …"
    assert planner.reads("plan_hub_button") == "Cancel" and not planner.sees("plan_answer")
    planner.clicks("plan_hub_button")
    assert "was cancelled" in planner.reads("plan_hub_state")
    assert planner.reads("plan_nothing").startswith("Unknown: ")
    hub.delivering = None
    assert planner.reads("plan_hub_button") == "Try again"
    planner.clicks("plan_hub_button")
    rests(planner)
    assert planner.sees("plan_answer") and not planner.sees("plan_nothing")


def test_what_the_hub_refuses_stands_where_it_was_named_and_can_be_tried_again(
    planner: Stage, hub: LoopbackHub
) -> None:
    hub.listing = lambda request: request.send_text("no", 401)
    types(planner, "org/tiny-GGUF")
    rests(planner)
    assert "without permission" in planner.reads("plan_hub_problem") and planner.sees("plan_hub_problem")
    assert planner.reads("plan_nothing").startswith("Unknown: ") and not planner.sees("plan_file_button")
    assert not planner.sees("plan_hub_state")
    hub.listing = None
    planner.clicks("plan_hub_button")
    rests(planner)
    assert planner.sees("plan_answer") and not planner.sees("plan_hub_problem")


def test_offline_is_said_and_there_is_nothing_to_try(
    planner: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    types(planner, "org/tiny-GGUF")
    rests(planner)
    assert "is offline because TOKENLIGHT_OFFLINE is set" in planner.reads("plan_hub_state")
    assert not planner.sees("plan_hub_button") and hub.asked == []


def test_what_names_no_model_is_said_and_asks_nobody(planner: Stage, hub: LoopbackHub) -> None:
    types(planner, "not a model")
    assert planner.reads("plan_hub_problem").startswith("“not a model” names no model of a hub")
    assert hub.asked == [] and planning_of(planner).path == ""
    QTest.keyClicks(planner.find("plan_hub_line"), "!")
    assert not planner.sees("plan_hub_problem") and planner.reads("plan_hub_button") == "Read"


def test_another_model_is_named_while_one_is_shown(planner: Stage) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    line = planner.find_as(QLineEdit, "plan_hub_line")
    QTest.keyClicks(line, ":F16")
    assert planner.reads("plan_hub_button") == "Read"
    planner.clicks("plan_hub_button")
    rests(planner)
    assert planning_of(planner).path == f"{PATH}:F16" and planner.sees("plan_answer")


def test_a_file_of_this_machine_takes_the_place_of_one_of_the_hub(planner: Stage, model: Path) -> None:
    types(planner, "org/tiny-GGUF")
    rests(planner)
    box = planner.find_as(QComboBox, "plan_model_box")
    row = box.findText("Choose a file…")
    box.setCurrentIndex(row)
    box.activated.emit(row)
    dialog = next(each for each in planner.window.findChildren(QFileDialog))
    assert "hub:" not in dialog.directory().path()
    dialog.fileSelected.emit(str(model))
    dialog.reject()
    planner.desk.until(lambda: planning_of(planner).view is not None and planning_of(planner).can_load)
    assert planner.find_as(QLineEdit, "plan_hub_line").text() == ""
    for name in ("plan_hub_state", "plan_hub_file_box", "plan_hub_button", "plan_download_button"):
        assert not planner.sees(name)


def cut_texts(stage: Stage) -> list[str]:
    """Return what is cut off; the box of models ends its names in … by itself."""
    found = cut_off(stage.find("plan_part"))
    return [each for each in found if each.startswith(("QLabel", "QPushButton"))]


def test_nothing_of_it_is_cut_off(planner: Stage, hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text("no", 403)
    types(planner, "org/tiny-GGUF")
    rests(planner)
    planner.bot.wait(1)
    assert cut_texts(planner) == []
    hub.listing = None
    planner.clicks("plan_hub_button")
    rests(planner)
    planner.bot.wait(1)
    assert cut_texts(planner) == []
