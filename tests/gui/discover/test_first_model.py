"""Whoever has no model at all is offered one in the chat; whoever has one is not bothered."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QWidget

from app.core.commands import Load
from app.core.devices import MainMemory
from app.core.download import DownloadChanged, wanted_of
from app.core.words import translate
from app.gui.discover.first_model_card import FirstModelCard
from app.gui.widgets.words import render
from app.services.download_ends import watch_ends
from app.services.recommending import ModelChoice
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


@pytest.fixture
def without(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A window without any model on a machine with 8 GiB free."""
    program = stage.desk.program
    monkeypatch.setattr(program.models, "_files", lambda _folders: ())
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    program.planner.fits.note(())
    watch_ends(program.downloads, program.models, program.notices, program.session)  # as the program's start does
    program.models.refresh()
    stage.desk.until(lambda: program.planner.recommending.models.recommended)
    return stage


def test_the_recommended_model_is_offered_above_the_button_that_opens_a_file(without: Stage) -> None:
    best = without.desk.program.planner.recommending.models.recommended
    assert best is not None and without.sees("first_model_card")
    assert without.reads("first_model_title") == best.name and without.reads("first_model_purpose") == best.purpose
    assert without.reads("welcome_title") == "Get a model to begin"
    assert without.reads("first_model_download_button").startswith("Download and chat (")
    choice = without.desk.program.planner.recommending.models
    assert choice.reason is not None and without.reads("first_model_reason") == render(choice.reason)
    assert without.sees("open_model_button") and without.find("open_model_button").property("look") == ""
    assert cut_off(without.find("first_model_card")) == []
    without.window.resize(960, 540)
    without.settle()
    button = without.find("first_model_download_button")
    assert button.height() >= button.sizeHint().height(), "low windows squeeze no button"


def test_a_small_one_is_offered_beside_it_with_its_reason(without: Stage) -> None:
    choice = without.desk.program.planner.recommending.models
    assert choice.starter is not None and choice.starter_reason is not None
    assert without.reads("first_model_starter_reason") == render(choice.starter_reason)
    assert without.reads("first_model_starter_download_button").startswith(f"Download {choice.starter.name} (")
    without.desk.program.planner.recommending.models = msgspec.structs.replace(choice, starter=None)
    without.desk.program.planner.recommending.changed.emit()
    assert not without.sees("first_model_starter_reason") and not without.sees("first_model_starter_download_button")


def test_a_reason_that_the_words_on_memory_are_already_is_told_once(without: Stage) -> None:
    recommending = without.desk.program.planner.recommending
    best = next(each for each in recommending.models.models if each.model == recommending.models.recommended)
    recommending.models = ModelChoice((best,), best.model, best.fit.reason)
    recommending.changed.emit()
    assert without.sees("first_model_fit") and not without.sees("first_model_reason")


def test_it_is_gone_as_soon_as_there_is_a_model(without: Stage, model: Path) -> None:
    without.load(model)
    assert not without.sees("first_model_card") and without.reads("welcome_title") == "Ask tiny anything"
    assert without.find("open_model_button").property("look") == "primary"
    assert not without.desk.program.planner.recommending.is_followed


def test_with_a_model_nothing_is_offered_and_nothing_is_asked(ready: Stage) -> None:
    ready.desk.program.models.refresh()
    ready.settle()
    assert ready.window.findChild(QWidget, "first_model_card") is None
    assert not ready.desk.program.planner.recommending.is_followed


def test_a_download_says_how_far_it_is_and_what_is_whole_is_loaded(without: Stage, model: Path) -> None:
    program = without.desk.program
    best = program.planner.recommending.models.recommended
    assert best is not None
    wanted = wanted_of(best.hub_model)
    half = wanted.size // 2
    program.downloads.take(DownloadChanged(wanted, "running", half, wanted.size / 100, path=str(model)))
    assert without.reads("first_model_download_state").startswith(
        "It is among the downloads: 50 % are here. 50 s left"
    )
    program.downloads.take(DownloadChanged(wanted, "done", wanted.size, path=str(model)))
    without.desk.until(lambda: without.desk.engine.all(Load))
    (load,) = without.desk.engine.all(Load)
    assert load.path == str(model)
    assert not without.sees("first_model_card")


def test_what_is_here_already_is_loaded_by_its_button(without: Stage, model: Path) -> None:
    card = without.find_as(FirstModelCard, "first_model_card")
    card.load_wanted.emit(str(model))
    without.desk.until(lambda: without.desk.engine.all(Load))
    assert without.desk.engine.load.path == str(model) and without.window.page == "chat"


def test_one_that_failed_says_why_and_leads_to_the_downloads(without: Stage) -> None:
    program = without.desk.program
    best = program.planner.recommending.models.recommended
    assert best is not None
    reason = translate("Hub", "The disk is full.")
    program.downloads.take(DownloadChanged(wanted_of(best.hub_model), "failed", problem=reason))
    assert without.reads("first_model_download_state") == "Its download has failed. The disk is full."
    assert program.session.phase == "no_model" and program.session.name is None
    without.clicks("first_model_downloads_button")
    assert without.window.page == "models" and without.sees("downloads_part")
    without.triggers("models_action")
    assert without.window.page == "models"


def test_the_way_to_other_models(without: Stage) -> None:
    without.clicks("first_model_others_button")
    assert without.window.page == "models" and without.sees("catalogue_list")


def test_what_ends_while_a_model_is_there_is_not_loaded(ready: Stage, tmp_path: Path) -> None:
    program = ready.desk.program
    best = program.planner.recommending.models_now().models[0].model
    watch_ends(program.downloads, program.models, program.notices, program.session)
    before = program.session.name
    program.downloads.take(
        DownloadChanged(wanted_of(best.hub_model), "done", best.size, path=str(tmp_path / "x.gguf"))
    )
    ready.settle()
    assert program.session.name == before
