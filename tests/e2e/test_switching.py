"""The whole program on a real engine while people change their minds: models by turns, stop and send, two sends."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import psutil
import pytest

from app.core.events import Finished
from app.services.wishes import Wish
from tests.e2e.inside import Inside
from tests.engine.test_loads import Machine
from tests.ggufs import copy_with, write_tiny_llama


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    """Two models that are slow enough at their prompts to be caught at it."""
    first, second = tmp_path / "first.gguf", tmp_path / "second.gguf"
    return write_tiny_llama(first, context=4096), write_tiny_llama(second, context=4096, seed=2)


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A script whose answers are long rows of one letter, another one for every turn."""
    script = tmp_path / "letters.json"
    answers = [letter * 4000 for letter in "abcdefghijklmnopqrstuvwxyz"]
    script.write_text(json.dumps({"answers": answers, "tokens_per_s": 400, "prefill_tokens_per_s": 4000}))
    return script


@pytest.mark.parametrize("pause", ["none", "loading"])
def test_of_three_wishes_within_a_second_the_last_is_loaded_and_nothing_else_is_called_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[Path, Path], pause: str
) -> None:
    first, second = models
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as inside:
        session, engines = inside.program.session, set[psutil.Process | None]()
        for path in (first, second, first):
            session.use(Wish(path))
            assert session.name == path.stem
            engines |= {inside.engine} - {None}
            if pause == "loading":
                inside.until(
                    lambda: session.phase != "starting" and (session.percent > 0 or session.phase == "ready")
                )
        inside.until(lambda: session.phase == "ready")
        engines.add(inside.engine)
        assert session.model is not None and session.model.path == str(first)
        assert inside.program.settings.values.last_model == str(first)
        assert engines == {inside.engine}
        assert pause == "loading" or set(inside.labels) == {"first.gguf"}
        assert inside.ask("Hi").finished is not None
        assert session.model.path == str(first)


def test_what_was_loaded_is_never_called_ready_while_another_one_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[Path, Path]
) -> None:
    first, second = models
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as inside:
        session = inside.program.session
        inside.load(first)
        session.use(Wish(second))
        inside.until(lambda: session.phase == "loading")
        assert session.model is None
        inside.labels.clear()
        inside.until(lambda: session.phase == "ready")
        assert set(inside.labels) == {"second.gguf"}


@pytest.mark.parametrize("loaded_before", [False, True])
def test_a_question_that_is_asked_while_models_change_is_answered_by_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[Path, Path], loaded_before: bool
) -> None:
    first, second = models
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as inside:
        inside.load(first) if loaded_before else inside.program.session.use(Wish(first))
        inside.program.session.use(Wish(second))
        inside.send("Hi")
        inside.until(lambda: not inside.program.chat.busy)
        assert inside.answer.state == "done" and inside.answer.author == "second"
        (end,) = inside.ends
        assert isinstance(end, Finished) and end.stop_reason in ("length", "end")


def test_a_model_that_is_chosen_in_mid_answer_ends_it_once_and_keeps_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letters: Path
) -> None:
    other = letters.with_name("other.json")
    other.write_text(json.dumps({"answers": ["new"]}))
    with Inside(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.load(letters)
        inside.send("Hi")
        inside.until(lambda: len(inside.answer.text) > 3)
        inside.program.session.use(Wish(other))
        inside.until(lambda: inside.phase == "ready" and not inside.program.chat.busy)
        assert len(set(inside.answer.text)) == 1
        assert [type(end).__name__ for end in inside.ends] == ["Finished"]
        assert inside.ask("And now?").text == "new"


def test_tokens_of_a_stopped_answer_never_land_in_the_one_that_is_sent_right_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letters: Path
) -> None:
    with Inside(tmp_path / "home", monkeypatch, scripted=True) as inside:
        chat, shown = inside.program.chat, dict[int, str]()
        chat.text_added.connect(lambda turn, text: shown.update({turn.number: shown.get(turn.number, "") + text}))
        inside.load(letters)
        for number in range(20):
            inside.send(f"Question {number}")
            assert not chat.send("sent twice")
            if number % 3:
                inside.until(lambda: inside.answer.state == "writing")
            chat.stop()
            if number % 5 == 4:
                inside.program.conversations.new()  # a new conversation does not wait for the end of the old answer
            inside.until(lambda: not chat.busy)
        inside.until(lambda: not inside.program.answers.runs)
        assert len(shown) >= 10
        assert all(len(set(text)) == 1 for text in shown.values()), shown
        assert set(Counter(end.request for end in inside.ends).values()) == {1}


@pytest.mark.slow
def test_loads_and_unloads_leave_nothing_of_the_program_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[Path, Path]
) -> None:
    refused = copy_with(models[0], tmp_path / "odd.gguf", set={"general.architecture": "no-such-architecture"})
    before = None
    for number in range(2):
        with Inside(tmp_path / f"home {number}", monkeypatch, scripted=False) as inside:
            for path in models:
                inside.load(path)
                inside.program.session.use(Wish(refused))
                inside.until(lambda: inside.program.notices.latest)
                inside.program.session.unload()
                inside.until(lambda: inside.engine is None)
        before = before or Machine()
    assert before is not None
    before.assert_as_before()
