"""Models of a hub in the comparison: named there, read, compared with others, and after a restart not read unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from app.services.plan_values import Chosen, ModelChoice
from tests.gui.conftest import Stage
from tests.gui.planner.beside import Beside
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.planned_hub import NAMES, planned_hub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
PATH = "hub:org/tiny-GGUF"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    with planned_hub(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def beside_hub(hub: LoopbackHub, stage: Stage, model: Path) -> Beside:
    stage.load(model)
    return Beside(stage, model)


def names(beside: Beside) -> set[str]:
    return {row.model for row in beside.table.rows.rows}


def types(beside: Beside, text: str) -> None:
    line = beside.stage.find_as(QLineEdit, "plan_compared_hub_line")
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def test_a_model_of_a_hub_gets_rows_beside_those_of_this_machine(beside_hub: Beside) -> None:
    beside = beside_hub
    types(beside, "org/tiny-GGUF")
    beside.waits(lambda: len(beside.table.rows.rows) == 10)
    assert names(beside) == {"tiny", "tiny-Q8_0"}
    box = beside.part.hub.files
    box.setCurrentIndex(0)
    box.activated.emit(0)
    beside.waits(lambda: len(beside.table.rows.rows) == 15)
    assert [choice.path for choice in beside.service.chosen.models][1:] == [PATH, f"{PATH}:{NAMES[0]}"]
    groups = [beside.part.choices.models.tree.topLevelItem(row) for row in range(3)]
    items = [group.child(0) for group in groups if group is not None]
    tips = [item.toolTip(0).removeprefix("<qt>").partition("<br>")[0] for item in items if item is not None]
    assert tips[1:] == ["org/tiny-GGUF", f"org/tiny-GGUF:{NAMES[0]}"]
    assert not any(asked.path.startswith("hub:") for asked in beside.stage.desk.dry_run.asked)


def test_one_that_was_compared_before_a_restart_is_read_when_somebody_says_so(
    hub: LoopbackHub, stage: Stage, model: Path
) -> None:
    stage.load(model)
    comparison = stage.desk.program.planner.comparison
    comparison.choose(Chosen((ModelChoice(str(model)), ModelChoice(PATH)), ("rtx-4090",)))
    beside = Beside(stage, model)
    assert names(beside) == {"tiny"} and hub.asked == []
    assert "was not read since the start" in beside.says("plan_compared_hub_state")
    assert not stage.sees("plan_comparison_problems"), "it is said once, beside its button"
    stage.find_as(QPushButton, "plan_compared_hub_button").click()
    beside.waits(lambda: len(beside.table.rows.rows) == 2)
    assert not stage.sees("plan_comparison_problems") and hub.asked


def fails(beside: Beside, path: str) -> None:
    """Wait until it is known that a model is not there."""
    models = beside.stage.desk.program.planner.models.hub
    beside.waits(lambda: models.get(path).state == "failed")


def test_what_is_wrong_is_said_once_and_of_each_model(beside_hub: Beside, hub: LoopbackHub) -> None:
    beside = beside_hub
    hub.listing = lambda request: request.send_text("no", 404)
    for name in ("first", "second"):
        types(beside, f"org/{name}-GGUF")
        fails(beside, f"hub:org/{name}-GGUF")
    first, second = (f"hub:org/{name}-GGUF" for name in ("first", "second"))
    chosen = beside.service.chosen
    beside.service.choose(replace(chosen, models=(*chosen.models, ModelChoice(first), ModelChoice(second))))
    beside.waits(lambda: not beside.service.is_busy)
    assert beside.part.hub.path == second and "has no such model" in beside.says("plan_compared_hub_problem")
    assert beside.problems().startswith("org/first-GGUF: ")
    assert beside.problems().count("\n") == 0
    types(beside, "nothing at all")
    beside.waits(lambda: beside.problems().count("\n") == 1)


def test_one_that_cannot_be_read_after_it_was_chosen_is_told_without_another_choice(
    beside_hub: Beside, hub: LoopbackHub
) -> None:
    beside, hub_models = beside_hub, beside_hub.stage.desk.program.planner.models.hub
    hub.listing = lambda request: request.send_text("no", 404)
    chosen = beside.service.chosen
    first, second = (f"hub:org/{name}-GGUF" for name in ("first", "second"))
    beside.service.choose(replace(chosen, models=(*chosen.models, ModelChoice(first), ModelChoice(second))))
    beside.waits(lambda: "org/second-GGUF of the hub" in beside.problems())
    heard: list[str] = []
    beside.service.changed.connect(lambda: heard.append(str(dict(beside.service.problems).get(second))))
    hub_models.read(second)
    beside.waits(lambda: "has no such model" in beside.problems())
    beside.waits(lambda: any("has no such model" in said for said in heard))
    assert not beside.service.is_busy and "Working it out" not in beside.says("plan_comparison_use")


def answers(beside: Beside, said: str) -> None:
    """Wait until the comparison says something."""
    beside.waits(lambda: beside.says("plan_comparison_answer").startswith(said))


def test_a_model_that_is_not_read_is_no_missing_gpu(beside_hub: Beside) -> None:
    beside = beside_hub
    for models, said in (
        ((ModelChoice(PATH),), "The model that is ticked is not read"),
        ((ModelChoice(PATH), ModelChoice(f"{PATH}-2")), "None of the models that are ticked is read"),
    ):
        beside.service.choose(replace(beside.service.chosen, models=models))
        answers(beside, said)
        assert beside.stage.sees("plan_comparison_begin")


def test_a_tick_reads_it(beside_hub: Beside, hub: LoopbackHub) -> None:
    beside, hub_models = beside_hub, beside_hub.stage.desk.program.planner.models.hub
    hub.listing = lambda request: request.send_text("no", 404)
    types(beside, "org/tiny-GGUF")
    beside.waits(lambda: hub_models.get(PATH).state == "failed")
    assert "has no such model" in beside.says("plan_compared_hub_problem")
    hub.listing = None
    item = beside.part.choices.models._by_key[ModelChoice(PATH)]
    item.setCheckState(0, Qt.CheckState.Unchecked)
    beside.waits(lambda: ModelChoice(PATH) not in beside.service.chosen.models)
    assert beside.part.hub.path == ""
    item = beside.part.choices.models._by_key[ModelChoice(PATH)]
    item.setCheckState(0, Qt.CheckState.Checked)
    beside.waits(lambda: "tiny-Q8_0" in names(beside))


def test_a_model_that_is_here_and_on_the_hub_stands_there_twice_and_is_told_apart(
    beside_hub: Beside, tmp_path: Path
) -> None:
    beside, copy = beside_hub, tmp_path / "copies" / NAMES[0]
    copy.parent.mkdir()
    copy.write_bytes((tmp_path / NAMES[0]).read_bytes())
    models = (ModelChoice(str(copy)), ModelChoice(f"{PATH}:{NAMES[0]}"))
    beside.stage.desk.program.planner.models.hub.read(models[1].path)
    beside.service.choose(replace(beside.service.chosen, models=models, gpus=("rtx-4090",)))
    beside.waits(lambda: len(beside.table.rows.rows) == 2)
    here, hub = beside.table.rows.rows  # the model that is loaded is the third of this name
    assert here.model == "tiny · copies" and hub.model == f"tiny · org/tiny-GGUF:{NAMES[0]}"
    assert here.quantisation == hub.quantisation
    titles = [group.title for group in beside.part.choices.models._groups]
    assert {here.model, hub.model} <= set(titles)
