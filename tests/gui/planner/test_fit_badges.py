"""Wherever the planner lets a model or a quantisation be chosen stands whether it fits on this machine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QTreeWidgetItem

from app.core.devices import Device
from app.core.own_gpu import OwnGpu
from app.gui.planner.comparison.choice_list import KEY_ROLE
from app.services.fit_badges import Elsewhere
from app.services.plan_values import ModelChoice
from app.services.planning_values import HERE
from tests.gui.conftest import Stage
from tests.gui.planner.beside import Beside

# The offscreen platform says this of every list that opens.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
PROCESSOR = Device("CPU", "AMD EPYC", "cpu", "CPU", 64 * GIB, 60 * GIB)
SPOKEN, HINT = Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole


def items(beside: Beside) -> dict[ModelChoice, QTreeWidgetItem]:
    tree = beside.part.choices.models.tree
    tops = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    found = [top.child(row) for top in tops if top is not None for row in range(top.childCount())]
    return {item.data(0, KEY_ROLE): item for item in found if item is not None}


def test_in_the_list_of_models_of_the_plan(ready: Stage) -> None:
    ready.desk.program.planner.fits.note((GPU,))
    ready.triggers("planner_action")
    box = ready.find_as(QComboBox, "plan_model_box")
    ready.desk.until(lambda: box.count() > 1)
    assert box.itemData(0, SPOKEN) is None, "nothing is worked out before somebody looks"
    box.showPopup()
    ready.desk.until(lambda: str(box.itemData(0, SPOKEN)).endswith(", fits"))
    assert "On this machine: With a context of" in box.itemData(0, HINT)
    assert box.itemData(box.count() - 1, SPOKEN) is None, "“Choose a file…” is none"
    view = box.view()
    plain = view.sizeHintForIndex(box.model().index(box.count() - 1, 0)).width()
    assert view.sizeHintForIndex(box.model().index(0, 0)).width() > plain
    box.hidePopup()


def test_in_the_tree_of_the_comparison_estimates_as_well(beside: Beside) -> None:
    beside.stage.desk.program.planner.fits.note((GPU,))
    found = items(beside)
    assert len(found) > 2
    beside.waits(lambda: all(str(item.data(0, SPOKEN)).endswith(", fits") for item in items(beside).values()))
    estimate = next(item for key, item in found.items() if key.quantisation == "Q8_0")
    assert "≈ Q8_0" in estimate.toolTip(0) and "On this machine: " in estimate.toolTip(0)


def test_what_is_folded_away_is_not_worked_out(beside: Beside) -> None:
    fits, tree = beside.stage.desk.program.planner.fits, beside.part.choices.models.tree
    beside.stage.desk.program.planner.fits.note((GPU,))
    beside.waits(lambda: all(fits.get(each.path) for each in items(beside)))
    tree.collapseAll()
    assert beside.part.choices.models.unfolded == ()
    badges = beside.part.choices.fits
    assert fits._wanted.get(badges) == ()
    beside.part.hide()
    assert badges not in fits._wanted


def test_in_the_list_of_models_the_gpu_that_is_planned_for_counts(ready: Stage) -> None:
    planner = ready.desk.program.planner
    planner.fits.note((PROCESSOR,))
    small = OwnGpu(memory_gib=0.1, bandwidth=100.0)
    ready.desk.program.settings.change(gpus={"Thimble": small})
    ready.triggers("planner_action")
    box = ready.find_as(QComboBox, "plan_model_box")
    ready.desk.until(lambda: box.count() > 1 and planner.planning.devices.gpus.own)
    planner.planning.change(where=planner.planning.devices.gpus.own[0].id)
    box.showPopup()
    ready.desk.until(lambda: "On Thimble" in str(box.itemData(0, HINT)) and "looking" not in box.itemData(0, SPOKEN))
    choice = planner.planning.choice
    there = planner.fits.get(Elsewhere(box.itemData(0), choice.where, choice))
    assert there is not None and there != planner.fits.get(box.itemData(0))
    assert "On this machine" not in box.itemData(0, HINT)
    planner.planning.change(where=HERE)
    ready.desk.until(lambda: str(box.itemData(0, SPOKEN)).endswith(", fits"))
    assert "On this machine: " in box.itemData(0, HINT)
    box.hidePopup()


def test_in_the_list_of_models_what_is_planned_counts_as_in_the_answer(ready: Stage) -> None:
    planner = ready.desk.program.planner
    planner.fits.note((PROCESSOR,))
    ready.triggers("planner_action")
    box = ready.find_as(QComboBox, "plan_model_box")
    ready.desk.until(lambda: box.count() > 1 and planner.planning.view is not None)
    planner.planning.change(context=512, sequences=2)
    box.showPopup()
    ready.desk.until(lambda: "With a context of 512 tokens" in str(box.itemData(0, HINT)))
    planner.planning.change(context=256, sequences=4)
    ready.desk.until(lambda: "With a context of 256 tokens" in str(box.itemData(0, HINT)))
    box.hidePopup()


def test_without_a_gpu_its_controls_rest_once_llama_cpp_was_asked(ready: Stage) -> None:
    ready.triggers("planner_action")
    layers = ready.find("plan_layers_box")
    ready.desk.until(lambda: ready.desk.dry_run.asked)
    assert layers.isEnabled(), "there may be one"
    ready.desk.dry_run.answer(devices=(PROCESSOR,))
    ready.desk.until(lambda: not layers.isEnabled())
    assert ready.desk.program.planner.planning.devices.is_listed
