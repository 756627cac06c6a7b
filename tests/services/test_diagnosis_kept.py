"""What was found out about an answer when it ended is found again whenever its record is read."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.core.circumstances import Circumstances
from app.core.events import Finished, Loaded
from app.core.metrics import Metrics
from app.services.chat import Chat
from app.services.figures import figures_at_end, figures_of_turn
from app.services.turns import Turn
from app.services.witness import cores
from app.store.columns import METRICS, maybe_json, to_json
from tests.desk import Desk
from tests.fake_engine import model_info
from tests.planner.made_answers import figures
from tests.planner.slow_answers import Case
from tests.planner.slow_writing import CASES
from tests.planner.test_two_causes import HELD_UP, MISPLACED, Two

ALL: dict[str, Case | Two] = {**CASES, **HELD_UP, **MISPLACED}


def kept(metrics: Metrics) -> Metrics:
    """Return figures as they come back from the disk."""
    read = maybe_json(to_json(metrics), METRICS)
    assert read is not None
    return read


def written(desk: Desk, chat: Chat) -> None:
    """Have a question asked, and 201 tokens of its answer written."""
    chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("so it is", 201)
    desk.settle()


@pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
def test_a_diagnosis_is_the_same_once_its_answer_was_kept(case: Case | Two) -> None:
    metrics = msgspec.structs.replace(case.metrics, circumstances=case.circumstances)
    end = Finished(1, "a", b"", "end", metrics, 7, ())
    read = msgspec.structs.replace(end, metrics=kept(metrics))
    paint = case.metrics.ttft_parts_ms.paint
    painted = None if paint is None else (metrics.ttft_ms or 0.0) + paint
    live, later = (
        figures_at_end(end, painted),
        figures_of_turn(Turn(1, "assistant", "a", finished=read, ttft_ms=painted)),
    )
    assert live.diagnosis is not None and live.diagnosis.cause == case.cause
    assert later.diagnosis == live.diagnosis


def test_what_is_as_always_takes_no_room() -> None:
    assert to_json(Circumstances()) == "{}"


def end(desk: Desk, metrics: Metrics, text: str, tokens: int) -> None:
    ids = array("i", range(tokens)).tobytes()
    desk.engine.say(Finished(desk.engine.question.request, text, ids, "length", metrics, 7, ()))
    desk.settle()


def told(desk: Desk) -> tuple[str, tuple[str, ...]]:
    found = desk.program.live.figures.diagnosis
    assert found is not None
    return found.sentence.english(), tuple(row.figure.english() for row in found.evidence)


def test_a_diagnosis_is_the_same_after_a_restart(
    desk: Desk, chat: Chat, model: Path, again: Callable[[], Desk]
) -> None:
    threads = 8 * cores()
    desk.begin_load(model)
    info = msgspec.structs.replace(model_info(desk.engine.load.path), threads=threads)
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    written(desk, chat)
    end(desk, figures(decode_cpu_s=10.0 * cores()), "so it is", 201)
    sentence, rows = told(desk)
    assert sentence.endswith("with more threads than cores.") and f"{threads} on {cores()} cores" in rows
    assert told(again()) == (sentence, rows)


def test_a_memory_that_is_measured_later_is_kept_with_the_answer(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    written(desk, chat)
    end(desk, figures(traffic_gb_per_s=15.0), "so it is", 201)
    live = desk.program.live
    live.witness.ceiling = lambda _model: 20.0
    live.know_bandwidth()
    sentence, rows = told(desk)
    assert "15.0 of 20.0 GB/s: 75 %" in rows
    assert told(again()) == (sentence, rows)


def test_a_diagnosis_of_two_parts_is_the_same_after_a_restart(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    written(desk, chat)
    cpu = 10.0 * min(2, cores())
    end(desk, figures(decode_cpu_s=cpu), "so it is", 201)
    before = told(desk)
    chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=tuple(range(201)))
    desk.engine.write(" or not", 21)
    desk.settle()
    end(desk, figures(tokens=21, decode_cpu_s=cpu / 10), " or not", 21)
    sentence, rows = told(desk)
    assert before[0].startswith("Writing (decode) took 10.0 of 10.1 s")
    assert sentence == before[0].replace("10.0 of 10.1", "11.0 of 11.1")
    assert "220 tokens after the first ones of its 2 parts in 11.0 s: 20.0 tok/s" in rows
    assert told(again()) == (sentence, rows)
