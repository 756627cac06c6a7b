"""A model that memory is too small for: said in words, and the options say what would fit or load it all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.metrics import DeviceMemory
from app.services.wishes import Wish
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_a_model_that_does_not_fit_can_be_loaded_anyway(ready: Stage, model: Path) -> None:
    desk = ready.desk
    loads, asked = len(ready.engine.all(Load)), len(desk.dry_run.asked)
    desk.program.session.use(Wish(model, {"context": 1 << 26}))
    desk.until(lambda: len(desk.dry_run.asked) > asked)
    desk.dry_run.answer(DeviceMemory("CPU", 1 << 30, 1 << 50, None))
    desk.settle()
    assert "close other programs" in ready.reads("notice_text")
    assert ready.reads("notice_action") == "Load options…"
    assert len(ready.engine.all(Load)) == loads
    assert desk.program.session.phase == "ready"
    asked = len(desk.dry_run.asked)
    ready.clicks("notice_action")
    desk.until(lambda: len(desk.dry_run.asked) > asked)
    desk.dry_run.answer(DeviceMemory("CPU", 1 << 30, 1 << 50, None))
    desk.settle()
    ready.clicks("load_button")
    desk.until(lambda: len(ready.engine.all(Load)) > loads)
    assert ready.engine.load.options.context == 1 << 26
    assert not ready.sees("notice_bar")
