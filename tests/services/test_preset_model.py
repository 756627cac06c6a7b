"""The model of a preset in its turn: it waits for what is written, and gives way to what people want after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.chat import TextPrompt
from app.core.chat_preset import ChatPreset, PresetModel
from app.core.commands import Load, ScorePrompt
from app.core.prompt_scores import PromptScored
from app.core.sampling import SamplingSettings
from app.services.program import Program
from app.services.wishes import LanesQuestion, Wish
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.services.asking import say
from tests.services.replaying import answer, asked, end, read


@pytest.fixture(scope="session")
def third_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "third.F16.gguf", seed=3)


@pytest.fixture
def program(desk: Desk, other_model: Path) -> Program:
    """Return a program with a preset that has another model, and with none loaded."""
    desk.program.conversations.start()
    desk.settle()
    desk.program.chat_presets.save("Other", ChatPreset(model=PresetModel("Other", str(other_model))))
    return desk.program


def loads(desk: Desk) -> list[str]:
    return [load.path for load in desk.engine.all(Load)]


def uses_and_waits(desk: Desk) -> None:
    """Use the preset while something is written; its model waits for that."""
    desk.program.preset_use.use("Other")
    desk.until(lambda: desk.program.preset_models._waiting)


@pytest.mark.parametrize("way", ["compared", "stopped", "failed"])
def test_it_waits_for_an_answer_that_is_reproduced_and_is_loaded_once_that_ends(
    desk: Desk, program: Program, model: Path, other_model: Path, way: str
) -> None:
    desk.load(model)
    say(desk, "One", "a", "b", "c")
    program.reproducing.begin(answer(desk))
    read(desk)
    uses_and_waits(desk)
    assert loads(desk) == [str(model)]
    if way == "compared":
        end(desk)
    elif way == "stopped":
        end(desk, stop_reason="cancelled")
    else:
        desk.engine.fail("engine", asked(desk).request)
    desk.until(lambda: len(loads(desk)) == 2)
    assert loads(desk) == [str(model), str(other_model)]


@pytest.mark.parametrize("way", ["scored", "stopped"])
def test_it_waits_for_a_pass_over_a_prompt(
    desk: Desk, program: Program, model: Path, other_model: Path, way: str
) -> None:
    desk.load(model)
    say(desk, "One", "a", "b", "c")
    program.inspecting.watch(True)
    desk.until(lambda: program.inspecting.prompt is not None)
    assert program.prompt_scores.begin()
    uses_and_waits(desk)
    assert loads(desk) == [str(model)]
    request = desk.engine.all(ScorePrompt)[-1].request
    if way == "scored":
        desk.engine.say(PromptScored(request, b"", b"", b""))
    else:
        desk.engine.fail("cancelled", request)
    desk.until(lambda: len(loads(desk)) == 2)
    assert loads(desk) == [str(model), str(other_model)]


def test_it_waits_for_the_lanes_of_a_comparison(desk: Desk, program: Program, model: Path, other_model: Path) -> None:
    desk.load(model)
    session = program.session
    session.ask(LanesQuestion(session.new_request(), TextPrompt("Hi"), (SamplingSettings(),) * 2))
    uses_and_waits(desk)
    assert loads(desk) == [str(model)]
    desk.engine.lanes.prompt()
    desk.engine.lanes.plan()
    for lane in (0, 1):
        desk.engine.lanes.finish(lane)
        desk.settle()
        assert loads(desk) == [str(model)]
    desk.engine.lanes.end()
    desk.until(lambda: len(loads(desk)) == 2)
    assert loads(desk) == [str(model), str(other_model)]


@pytest.mark.parametrize("way", ["waits", "is looked for"])
def test_a_model_is_not_loaded_for_a_preset_once_somebody_unloads(
    desk: Desk, program: Program, model: Path, way: str
) -> None:
    desk.load(model)
    program.chat.send("Hi")
    desk.engine.prompt()
    desk.settle()
    if way == "waits":
        uses_and_waits(desk)
    else:
        program.preset_use.use("Other")
    program.session.unload()
    assert program.session.phase == "no_model"
    assert program.preset_models._wanted is None
    program.jobs.stop()
    desk.settle()
    assert (program.session.phase, loads(desk)) == ("no_model", [str(model)])


def test_the_engine_that_ends_by_itself_costs_no_model_of_a_preset(
    desk: Desk, program: Program, model: Path, other_model: Path
) -> None:
    desk.load(model)
    program.chat.send("Hi")
    desk.engine.prompt()
    desk.settle()
    uses_and_waits(desk)
    desk.engine.die(desk.engine.question.request)
    desk.until(lambda: len(loads(desk)) == 2)
    assert loads(desk)[-1] == str(other_model)


@pytest.mark.parametrize("way", ["loading", "checking"])
def test_a_use_that_is_taken_back_loads_the_model_that_was_on_its_way(
    desk: Desk, program: Program, model: Path, other_model: Path, third_model: Path, way: str
) -> None:
    desk.load(model)
    if way == "loading":
        desk.begin_load(third_model)
    else:
        program.session.use(Wish(third_model))
    program.preset_use.use("Other")
    desk.until(lambda: loads(desk)[-1] == str(other_model))
    desk.engine.loaded()
    desk.settle()
    assert desk.loaded_path == str(other_model)
    program.preset_use.undo()
    desk.until(lambda: loads(desk)[-1] == str(third_model))
    desk.engine.loaded()
    desk.settle()
    assert desk.loaded_path == str(third_model)


def test_what_is_on_its_way_is_not_begun_again_where_the_use_is_taken_back_at_once(
    desk: Desk, program: Program, third_model: Path
) -> None:
    desk.begin_load(third_model)
    program.preset_use.use("Other")
    program.preset_use.undo()
    program.jobs.stop()
    desk.settle()
    assert loads(desk) == [str(third_model)]
    desk.engine.loaded()
    desk.settle()
    assert desk.loaded_path == str(third_model)


def test_what_was_on_its_way_waits_for_an_answer_of_the_model_that_is_left(
    desk: Desk, program: Program, other_model: Path, third_model: Path
) -> None:
    desk.begin_load(third_model)
    program.preset_use.use("Other")
    desk.until(lambda: loads(desk)[-1] == str(other_model))
    desk.engine.loaded()
    desk.settle()
    program.chat.send("Hi")
    desk.engine.prompt()
    desk.settle()
    program.preset_use.undo()
    desk.settle()
    assert (program.session.phase, desk.engine.cancelled[1:]) == ("busy", [])
    desk.engine.finish()
    desk.until(lambda: loads(desk)[-1] == str(third_model))


def test_a_model_that_was_unloaded_comes_back_where_the_one_of_a_preset_took_its_place(
    desk: Desk, program: Program, model: Path, other_model: Path
) -> None:
    desk.load(model)
    program.session.unload()
    program.preset_use.use("Other")
    desk.until(lambda: loads(desk)[-1] == str(other_model))
    desk.engine.loaded()
    desk.settle()
    program.preset_use.undo()
    desk.until(lambda: loads(desk)[-1] == str(model))


def test_a_model_whose_size_is_no_size_of_a_file_is_unknown() -> None:
    assert PresetModel("x", "/x", f"{2**40}-ab").ref is not None
    assert PresetModel("x", "/x", f"{'9' * 5000}-ab").ref is None
