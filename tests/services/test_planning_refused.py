"""What a plan says of a file that llama.cpp refuses or that is gone, and when the same is asked again."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from app.core.metrics import DeviceMemory
from app.services.planning import Planning
from tests.desk import Desk
from tests.services.planned_here import ask

MIB = 1 << 20
CPU = DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True)


def asked_more_than(desk: Desk, count: int) -> bool:
    return len(desk.dry_run.asked) > count


@pytest.mark.parametrize("sequences", [1, 3])
def test_what_llama_cpp_refuses_fits_nowhere_and_the_reason_is_the_answer(
    desk: Desk, planning: Planning, sequences: int
) -> None:
    ask(desk, planning)
    planning.change(sequences=sequences, context=256)
    desk.dry_run.answer(CPU)
    desk.until(lambda: desk.dry_run.asked and desk.dry_run.asked[-1].options.context == 256 * sequences)
    desk.dry_run.fail("model", "It is damaged.")
    desk.settle()
    shown = planning.view
    assert shown is not None and (shown.fit, shown.answer.english()) == ("unknown", "It is damaged.")
    assert (shown.is_possible, shown.pace, shown.speed.decode, shown.levers) == (None, None, None, ())
    assert (shown.largest_context, shown.most_sequences) == (None, None)
    assert shown.asked_problem is None, "it is not said twice"


@pytest.mark.parametrize("kind", ["model", "engine"])
def test_what_came_to_nothing_is_asked_again(desk: Desk, planning: Planning, kind: str) -> None:
    ask(desk, planning)
    for looks_away in (False, True):
        desk.dry_run.fail(kind)  # type: ignore[arg-type]
        desk.settle()
        count = len(desk.dry_run.asked)
        if looks_away:
            planning.watch(False)
            planning.watch(True)
        else:
            planning.choose_model(planning.path)
        desk.until(partial(asked_more_than, desk, count))
    desk.dry_run.answer(CPU)
    desk.settle()
    assert planning.view is not None and planning.view.is_asked and planning.view.fit == "fits"


def test_a_file_that_changed_or_is_gone_is_looked_at_again_when_llama_cpp_refuses_it(
    desk: Desk, planning: Planning, model: Path, other_model: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.gguf"
    shutil.copy(model, file)
    ask(desk, planning)
    planning.choose_model(str(file))
    desk.dry_run.answer(CPU)
    desk.until(lambda: desk.dry_run.asked[-1].path == str(file))
    shutil.copy(other_model, file)
    desk.dry_run.fail("model", "It changed meanwhile.")
    count = len(desk.dry_run.asked)
    desk.until(lambda: len(desk.dry_run.asked) > count)
    file.unlink()
    desk.dry_run.fail("model", "It is gone.")
    desk.until(lambda: planning.problem)
    assert planning.view is None and planning.problem is not None
    assert "mine.gguf" in planning.problem.english()
