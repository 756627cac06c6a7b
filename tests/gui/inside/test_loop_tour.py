"""The tour of the loop: eight steps on first use, which can be skipped, found again, and followed by the keyboard."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.commands import ReadAttention
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.tour_words import stops
from app.services.loop_example import example
from app.services.loop_values import STAGES
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import catch_up, looks
from tests.made_up_attention import attention

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
STEPS = 8


def opens(looker: Inspector) -> LoopPart:
    looker.stage.clicks("inside_button")
    looker.known()
    part = looker.stage.find_as(LoopPart, "loop_view")
    part._rest.timeout.emit()  # what waits for its turn to be painted
    return part


def lit(part: LoopPart) -> list[str]:
    return [stage for stage, box in part.map.boxes.items() if box._is_lit]


def is_seen(looker: Inspector) -> bool:
    return looker.stage.desk.program.settings.values.loop_tour_seen


def test_the_steps_are_about_every_stage_once() -> None:
    found = [stage for stop in stops() for stage in stop.stages]
    assert len(stops()) == STEPS and sorted(found) == sorted(STAGES)
    assert len({stop.title for stop in stops()}) == STEPS and all(len(stop.text) > 100 for stop in stops())


def test_it_goes_through_the_real_page_by_the_keyboard(inspector: Inspector) -> None:
    inspector.answers()
    part = opens(inspector)
    values = inspector.stage.desk.program.views.loop.values
    assert inspector.stage.sees("loop_tour") and not inspector.stage.sees("loop_sheet")
    for place, stop in enumerate(stops(), 1):
        assert inspector.reads("tour_step") == f"Tour, step {place} of {STEPS}"
        assert inspector.reads("tour_title") == stop.title and sorted(lit(part)) == sorted(stop.stages)
        assert inspector.reads("tour_number") == number(stop.stages[0], values)
        spoken = part.tour.accessibleName()
        assert all(words in spoken for words in (stop.title, stop.text, inspector.reads("tour_number")))
        focus: QWidget | None = inspector.stage.window.focusWidget()
        assert focus is part.tour.on
        QTest.keyClick(focus, Qt.Key.Key_Space)
    assert not inspector.stage.sees("loop_tour") and inspector.stage.sees("loop_sheet") and is_seen(inspector)
    assert part.map.boxes["stop"].hasFocus(), "the keyboard stays where the tour ended"


def test_back_goes_back(inspector: Inspector) -> None:
    inspector.answers()
    part = opens(inspector)
    assert not part.tour.back.isEnabled()
    inspector.stage.clicks("tour_next")
    inspector.stage.clicks("tour_back")
    assert inspector.reads("tour_step") == f"Tour, step 1 of {STEPS}" and not part.tour.back.isEnabled()


@pytest.mark.parametrize("way", ["skip", "escape", "stage"])
def test_it_can_be_left_at_any_step_and_is_found_again(inspector: Inspector, way: str) -> None:
    inspector.answers()
    part = opens(inspector)
    inspector.stage.clicks("tour_next")
    if way == "skip":
        inspector.stage.clicks("tour_skip")
    elif way == "escape":
        QTest.keyClick(part.tour.on, Qt.Key.Key_Escape)
    else:
        inspector.stage.clicks("loop_kv")
        assert inspector.reads("loop_title") == "KV cache"
    assert not inspector.stage.sees("loop_tour") and is_seen(inspector) and lit(part) == []
    inspector.stage.clicks("inside_answer_tab")
    inspector.stage.clicks("inside_loop_tab")
    assert not inspector.stage.sees("loop_tour"), "once is enough"
    inspector.stage.clicks("loop_tour_button")
    assert inspector.reads("tour_step") == f"Tour, step 1 of {STEPS}" and not inspector.stage.sees("loop_tour_button")


def test_that_it_was_seen_is_in_the_settings_file(inspector: Inspector, tmp_path: Path) -> None:
    opens(inspector)
    inspector.stage.clicks("tour_skip")
    settings = inspector.stage.desk.program.settings
    settings.write()
    kept = json.loads((tmp_path / "home" / "settings.json").read_text(encoding="utf-8"))
    assert kept["loop_tour_seen"] is True


def test_without_an_answer_it_runs_on_an_example_that_says_so(inspector: Inspector) -> None:
    part = opens(inspector)
    assert "made-up" in part.place.said.text() and not inspector.stage.sees("loop_previous")
    for stop in stops():
        assert inspector.reads("tour_step").startswith("Example")
        assert inspector.reads("tour_number") == number(stop.stages[0], example())
        part.tour.go(part.tour._at + 1)
    assert "made-up" not in part.place.said.text() and part.map.boxes["tokens"].face.figure == "–"


def test_its_buttons_have_names_and_its_card_fits(inspector: Inspector) -> None:
    inspector.answers()
    part = opens(inspector)
    inspector.stage.window.resize(inspector.stage.window.minimumSize())
    inspector.stage.settle()
    for button in (part.tour.on, part.tour.back, part.tour.skip):
        assert button.text() and button.objectName()
        assert part.tour.rect().contains(button.geometry())


def test_the_step_of_the_row_of_numbers_has_the_button_that_reads_them(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tour_button")
    assert not inspector.stage.sees("tour_read_row")
    inspector.stage.clicks("tour_next")
    said = inspector.reads("tour_number")
    assert part.tour.read.isEnabled() and "Once read" in said and f"For token {COUNT} the one before goes in" in said
    part.tour.read.setFocus()
    QTest.keyClick(part.tour.read, Qt.Key.Key_Space)
    inspector.stage.settle()
    catch_up(part)
    assert "being read" in inspector.reads("tour_number") and not part.tour.read.isEnabled()
    assert part.tour.on.hasFocus(), "the keyboard goes on"
    asked, answer = inspector.stage.engine.all(ReadAttention)[-1], inspector.service.answer
    assert answer is not None and asked.ids == array("i", [answer.ids[COUNT - 2]]).tobytes(), "the one that goes in"
    inspector.stage.engine.say(attention(asked.request, 1))
    inspector.stage.settle()
    catch_up(part)
    assert part.map.boxes["embedding"].face.strip and not inspector.stage.sees("tour_read_row")
    assert "from -0.25 to 0.50" in inspector.reads("tour_number")
    inspector.stage.clicks("tour_next")
    assert not inspector.stage.sees("tour_read_row")
