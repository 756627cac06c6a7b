"""Models that people named are removed again, are read each by itself, and are not kept where they are none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.gui.planner.comparison.choice_list import ChoiceList
from app.services.plan_values import Chosen, ModelChoice
from tests.gui.conftest import Stage
from tests.gui.planner.beside import Beside
from tests.gui.planner.test_hub_beside import PATH, fails, names, types
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.planned_hub import planned_hub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
NONE = "hub:org/none"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    with planned_hub(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def beside(hub: LoopbackHub, stage: Stage, model: Path) -> Beside:
    stage.load(model)
    return Beside(stage, model)


def kept(beside: Beside) -> list[str]:
    comparison = beside.stage.desk.program.settings.values.comparison
    return [] if comparison is None else [path for path, _ in comparison.models]


def offered(beside: Beside) -> list[str]:
    return [model.path for model in beside.service.models]


def list_of(beside: Beside) -> ChoiceList:
    return beside.part.choices.models


@pytest.fixture
def refused(beside: Beside, hub: LoopbackHub) -> Beside:
    """Somebody named a model that the hub does not have."""
    hub.listing = lambda request: request.send_text("no", 404)
    types(beside, "org/none")
    fails(beside, NONE)
    hub.listing = None
    assert NONE in offered(beside)
    return beside


@pytest.mark.parametrize("way", ["delete", "heading", "menu", "of_list"])
def test_a_model_that_is_none_can_be_removed_in_each_way(refused: Beside, model: Path, way: str) -> None:
    choices, models = refused.part.choices, list_of(refused)
    item = models._by_key[ModelChoice(NONE)]
    if way in ("delete", "heading"):
        models.tree.setCurrentItem(item if way == "delete" else item.parent() or item)
        models.tree.setFocus()
        QTest.keyClick(models.tree, Qt.Key.Key_Delete)
    else:
        menu = choices.added_menu(NONE if way == "menu" else "")
        assert [action.text() for action in menu.actions()] == ["Remove org/none"]
        menu.actions()[0].trigger()
    assert NONE not in offered(refused) and ModelChoice(NONE) not in refused.service.chosen.models
    assert not choices.added.isVisibleTo(choices) and refused.part.hub.path == ""
    models.tree.setCurrentItem(models._by_key[ModelChoice(str(model))])
    QTest.keyClick(models.tree, Qt.Key.Key_Delete)
    assert str(model) in offered(refused), "what lies here is no list of theirs"


def test_a_model_of_a_hub_is_kept_once_it_was_read_and_not_before(refused: Beside, model: Path) -> None:
    assert kept(refused) == [str(model)]
    types(refused, "org/tiny-GGUF")
    refused.waits(lambda: "tiny-Q8_0" in names(refused))
    assert kept(refused) == [str(model), PATH]


def test_after_a_restart_each_model_that_is_not_read_has_its_own_button(
    hub: LoopbackHub, stage: Stage, model: Path
) -> None:
    stage.load(model)
    comparison = stage.desk.program.planner.comparison
    paths = ["hub:org/one-GGUF", PATH, NONE]
    comparison.choose(Chosen((ModelChoice(str(model)), *map(ModelChoice, paths)), ("rtx-4090",)))
    beside = Beside(stage, model)
    assert beside.part.hub.path == paths[0] and hub.asked == []
    lines = beside.problems().splitlines()
    assert [line.partition(" of the hub was not read")[0] for line in lines] == ["org/tiny-GGUF", "org/none"]
    button = stage.find_as(QPushButton, "plan_problem_read_0")
    assert button.text() == "Read" and button.accessibleName() == "Read: org/tiny-GGUF"
    button.click()
    beside.waits(lambda: "tiny-Q8_0" in names(beside))
    assert beside.problems().startswith("org/none ")
    button = stage.find_as(QPushButton, "plan_problem_remove_0")
    assert button.accessibleName() == "Remove: org/none"
    button.click()
    assert beside.problems() == "" and not stage.sees("plan_comparison_problems")


def test_what_failed_is_tried_again_beside_what_is_said_of_it(refused: Beside, hub: LoopbackHub) -> None:
    types(refused, "org/tiny-GGUF")
    refused.waits(lambda: "tiny-Q8_0" in names(refused))
    assert refused.problems().startswith("org/none: ") and refused.part.hub.path == PATH
    assert refused.stage.reads("plan_problem_read_0") == "Try again"
    asked = len(hub.asked)
    refused.stage.find_as(QPushButton, "plan_problem_read_0").click()
    refused.waits(lambda: len(hub.asked) > asked)
