"""While a question waits for the engine, the page Inside says for what, lights no stage, and tells no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.gui.inside.timing.bar_words import summary_words, unknown_sentence
from app.services.timeline_values import AnswerTimeline
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.looking_at_time import shows_time
from tests.gui.inside.test_loop import catch_up, lit, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_it_says_what_it_waits_for_until_the_engine_has_it(inspector: Inspector, model: Path) -> None:
    inspector.stage.desk.begin_load(model)
    inspector.stage.desk.program.chat.send("Next")
    inspector.stage.settle()
    part = looks(inspector)
    catch_up(part)
    assert part.place.said.text() == "It waits until tiny is loaded." and lit(part) == set()
    assert part.time.face.said == "No time is measured yet: it counts from when the question goes to the model."
    inspector.stage.engine.progress(40.0)
    inspector.stage.settle()
    catch_up(part)
    assert part.place.said.text() == "It waits until tiny is loaded: 40 %."
    shows_time(inspector)
    assert inspector.reads("time_diagnosis") == part.time.face.said and inspector.reads("time_summary") == ""
    assert not inspector.stage.sees("time_unknown"), "it is said above"
    inspector.stage.engine.loaded()
    inspector.stage.settle()
    inspector.stage.clicks("inside_loop_tab")
    catch_up(part)
    assert "prompt is being made" in part.place.said.text() and lit(part) == {"tokens"}


def test_no_time_is_not_told_as_a_length() -> None:
    assert (
        summary_words(AnswerTimeline(1))
        == ""
        == unknown_sentence(AnswerTimeline(1, unknown=("waits",), is_open=True))
    )
