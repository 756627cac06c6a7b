"""What the load options say by formula until llama.cpp has said, and the changes that would help."""

from __future__ import annotations

import pytest

from app.core.metrics import DeviceMemory
from app.gui.models.lever_button import LeverButton
from app.gui.widgets.fit_badge import FitBadge
from tests.gui.conftest import Stage
from tests.gui.load_options_dialog import CPU, GPU, MIB, Options

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_rows_say_where_they_come_from(ready: Stage) -> None:
    ready.desk.program.planner.fits.note((GPU, CPU))
    options = Options(ready)
    ready.desk.until(lambda: "formula" in options.texts())
    assert "asked" not in options.texts()
    badge = options.dialog.findChild(FitBadge, "load_fit")
    assert badge is not None and badge.accessibleName().startswith("fits.")
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    assert "asked" in options.texts() and "formula" not in options.texts()
    options.dialog.reject()


def test_what_would_help_is_offered_with_what_it_saves(ready: Stage) -> None:
    ready.desk.program.planner.fits.note((GPU, CPU))
    options = Options(ready)
    options.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(GPU, CPU))
    button = options.button("levers_button")
    assert not button.isVisibleTo(options.dialog)
    ready.desk.program.load_options.change(context=1 << 26)
    ready.desk.until(lambda: button.isVisibleTo(options.dialog))
    assert isinstance(button, LeverButton)
    enough = {lever.fits for lever in button.shown}
    for lever, each in zip(button.shown, button.menu().actions(), strict=True):
        assert each.text().endswith("then it fits" if lever.fits else "not enough alone"), each.text()
    assert enough == {True, False}, "of both kinds"
    entry = next(each for each in button.menu().actions() if "Smaller KV cache: Q4_0 · saves " in each.text())
    entry.trigger()
    assert ready.desk.program.load_options.options.kv_type_v == "q4_0"
    assert options.button("load_button").isEnabled()
    options.dialog.reject()
