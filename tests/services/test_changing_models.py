"""What becomes of questions while another model is chosen, checked and loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.model import FoundModel, ModelRef
from app.services.wishes import Wish
from tests.desk import Desk
from tests.services.asking import End, ask, phase


def test_a_bad_file_chosen_in_mid_answer_leaves_the_answer_whole(
    desk: Desk, model: Path, tmp_path: Path, ends: list[End]
) -> None:
    desk.load(model)
    request = ask(desk)
    desk.engine.write("The sky ")
    broken = tmp_path / "empty.gguf"
    broken.touch()
    desk.program.session.use(Wish(broken))
    desk.until(lambda: desk.program.notices.latest)
    desk.engine.write("is blue.")
    desk.engine.finish()
    desk.settle()
    assert ends == [End(request, "finished", "The sky is blue.")]
    assert phase(desk) == "ready"


def test_a_check_that_is_cancelled_in_mid_answer_leaves_the_answer_whole(
    desk: Desk, model: Path, other_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    request = ask(desk)
    desk.program.session.use(Wish(other_model))
    desk.program.session.cancel_load()
    desk.engine.write("The sky is blue.")
    desk.engine.finish()
    desk.settle()
    assert ends == [End(request, "finished", "The sky is blue.")]
    assert desk.program.session.name == "tiny"
    desk.program.session.restart()
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.path == str(model)


def test_a_question_that_waits_for_a_check_ends_with_it(desk: Desk, model: Path, ends: list[End]) -> None:
    desk.program.session.use(Wish(model))
    request = ask(desk)
    desk.program.session.cancel_load()
    assert [(end.request, end.kind) for end in ends] == [(request, "cancelled")]


def test_a_death_that_is_told_late_ends_the_question_that_died_with_it(
    desk: Desk, model: Path, other_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    request = ask(desk)
    desk.begin_load(other_model)
    desk.engine.die(request)
    desk.engine.loaded()
    desk.settle()
    assert [(end.request, end.kind) for end in ends] == [(request, "engine")]
    assert phase(desk) == "ready"


def test_a_check_that_breaks_ends_with_a_sentence(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch, ends: list[End], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_path: Path) -> tuple[FoundModel, ModelRef | None]:
        raise ZeroDivisionError

    desk.load(model)
    monkeypatch.setattr(desk.program.session._check, "_check", broken)
    desk.program.session.use(Wish(model))
    request = ask(desk)
    desk.until(lambda: desk.program.notices.latest)
    assert phase(desk) == "ready"
    assert "tiny.F16.gguf" in desk.told
    assert [(end.request, end.kind) for end in ends] == [(request, "model")]
    assert "ZeroDivisionError" in caplog.text


def test_the_home_of_nobody_is_a_file_that_is_not_there(desk: Desk, ends: list[End]) -> None:
    desk.program.session.use(Wish(Path("~nobody-has-this-name/x.gguf")))
    desk.until(lambda: desk.program.notices.latest)
    assert "x.gguf" in desk.told
