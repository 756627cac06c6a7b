"""Where people land on the page: on the whole process by its tab at first, on what they asked for by another way."""

from __future__ import annotations

import pytest

from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def asks_for_time(looker: Inspector) -> None:
    """Press the sentence that tells where the time went."""
    looker.stage.window.parts.live.timeline_wanted.emit()


def test_the_way_to_the_timeline_makes_no_other_part(inspector: Inspector) -> None:
    inspector.answers()
    asks_for_time(inspector)
    inspector.known()
    page = inspector.page
    assert page.part == "time" and inspector.stage.window.page == "inside"
    assert "loop" not in page._made, "nobody asked for it"
    assert inspector.service.turn is inspector.service.answers[-1]


def test_who_came_for_the_timeline_lands_on_the_loop_later_and_once(inspector: Inspector) -> None:
    inspector.answers()
    asks_for_time(inspector)
    seen = []
    for _each in range(2):
        inspector.stage.window.show_page("chat")
        inspector.stage.clicks("inside_button")
        inspector.known()
        seen.append(inspector.page.part)
        inspector.stage.clicks("inside_time_tab")
    assert seen == ["loop", "time"]


def test_by_the_tab_people_come_to_what_they_left(inspector: Inspector) -> None:
    inspector.answers()
    inspector.stage.clicks("inside_button")
    assert inspector.page.part == "loop"
    inspector.stage.clicks("inside_answer_tab")
    inspector.stage.window.show_page("chat")
    inspector.stage.clicks("inside_button")
    inspector.known()
    assert inspector.page.part == "answer"
