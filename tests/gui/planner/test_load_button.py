"""The button that loads a model as it is planned, which is not there to load what is loaded just so."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from app.gui.widgets.boxes import NumberBox
from tests.gui.conftest import Stage
from tests.gui.test_planner import choose, planner, planning_of

__all__ = ["planner"]


def test_a_model_that_is_loaded_just_so_is_not_loaded_again(planner: Stage) -> None:
    context = planner.find_as(NumberBox, "plan_context_box")
    load = planner.find_as(QPushButton, "plan_load_button")
    assert planning_of(planner).choice.context == context.value() and not load.isEnabled()
    assert load.text() == "Loaded with these options" and "loaded just so" in load.toolTip()
    before = planning_of(planner).choice
    for change in ("context", "kv"):
        if change == "context":
            context.setValue(512)
        else:
            choose(planner, "plan_kv_box", "q8_0")
        assert load.isEnabled() and load.text() == "Load with these options"
        planning_of(planner).change(context=before.context, kv_type=before.kv_type)
        assert not load.isEnabled()
    planner.desk.program.session.unload()
    planner.settle()
    assert load.isEnabled(), "it is not loaded any more"
