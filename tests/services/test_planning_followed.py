"""Which model the planner begins with: the one that is loaded, or about to be, until somebody chooses another."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.events import Loaded
from app.services.planning import Planning
from app.services.wishes import Wish
from tests.desk import Desk
from tests.fake_engine import model_info


@pytest.fixture
def planning(desk: Desk) -> Planning:
    """A page that was opened before anything was loaded."""
    made = desk.program.planner.planning
    made.watch(True)
    return made


def loaded(desk: Desk, path: Path, context: int = 4096) -> None:
    request = desk.engine.load.request
    desk.program.dispatch(Loaded(request, model_info(str(path), context)))


def test_a_page_that_is_open_follows_the_model_that_begins_to_load(
    desk: Desk, planning: Planning, model: Path, other_model: Path
) -> None:
    desk.begin_load(model)
    assert planning.path == str(model), "while it is being loaded"
    desk.until(lambda: planning.view is not None)
    loaded(desk, model, 512)
    assert planning.choice.context == 512, "as it is loaded, once that is known"
    desk.begin_load(other_model)
    assert planning.path == str(other_model)
    loaded(desk, other_model)
    assert planning.path == str(other_model)


def test_what_somebody_chose_stays_whatever_is_loaded(
    desk: Desk, planning: Planning, model: Path, other_model: Path
) -> None:
    desk.begin_load(model)
    planning.choose_model(str(model))  # the one that is shown already
    desk.begin_load(other_model)
    loaded(desk, other_model)
    assert planning.path == str(model)


def test_a_choice_that_somebody_changed_while_it_was_loaded_stays(
    desk: Desk, planning: Planning, model: Path
) -> None:
    desk.begin_load(model)
    desk.until(lambda: planning.view is not None)
    planning.change(context=256)
    loaded(desk, model, 512)
    assert planning.choice.context == 256


def test_a_page_that_nobody_looks_at_follows_when_somebody_looks_again(
    desk: Desk, planning: Planning, model: Path, other_model: Path
) -> None:
    desk.begin_load(model)
    loaded(desk, model)
    planning.watch(False)
    desk.begin_load(other_model)
    assert planning.path == str(model)
    planning.watch(True)
    assert planning.path == str(other_model)


def test_a_file_that_is_refused_gives_the_page_back_to_the_model_that_is_loaded(
    desk: Desk, planning: Planning, model: Path, tmp_path: Path
) -> None:
    desk.begin_load(model)
    loaded(desk, model)
    desk.program.session.use(Wish(tmp_path / "gone.gguf"))
    desk.until(lambda: desk.program.session.phase == "ready")
    assert planning.path == str(model)
