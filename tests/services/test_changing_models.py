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


def test_a_load_is_stopped_alike_while_its_file_is_looked_at_and_while_it_is_read(desk: Desk, model: Path) -> None:
    session, chat = desk.program.session, desk.program.chat
    told = []
    for is_read in (False, True):
        if is_read:
            desk.begin_load(model)
        else:
            session.use(Wish(model))
        assert chat.send("Hi")
        session.cancel_load()
        if is_read:
            desk.engine.fail("cancelled", desk.engine.load.request)
        desk.settle()
        told.append((desk.notice.level, desk.notice.remedy, phase(desk), chat.turns[-1].state))
        desk.program.notices.dismiss()
    assert told == [("hint", "load_again", "no_model", "interrupted")] * 2


def test_a_question_after_a_check_that_was_cancelled_loads_the_model(
    desk: Desk, model: Path, ends: list[End]
) -> None:
    desk.program.session.use(Wish(model))
    desk.program.session.cancel_load()
    ask(desk)
    assert ends == []
    desk.until(lambda: desk.engine.all(Load))
    assert desk.engine.load.path == str(model)


def test_a_check_that_is_cancelled_leaves_the_open_model_wanted(
    desk: Desk, model: Path, other_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    desk.program.session.use(Wish(other_model))
    desk.program.session.cancel_load()
    assert (phase(desk), desk.program.session.name) == ("ready", "tiny")
    assert desk.program.notices.latest is None
    ask(desk)
    desk.answer("Here")
    assert [end.text for end in ends] == ["Here"] and len(desk.engine.all(Load)) == 1
