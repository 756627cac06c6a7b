"""The starter model answers one prompt in several lanes, through every part of the program, and the chat goes on after it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.sampling import SamplingSettings
from app.probability.record import join_blocks, read_records
from app.services.lane_starts import Lanes, lanes_for
from app.services.lanes_run import LanesRun
from tests.e2e.inside import Inside

PRESENT = SamplingSettings(seed=11, max_tokens=24)
QUESTION = "Name three colours and say what each is like."
TIE = 0.02
"""So far apart two candidates may be where a batch of another shape takes the other one, in natural logarithms."""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(starter_model)
        made.program.sampling.change(temperature=0.0, max_tokens=24)
        yield made


def compared(inside: Inside, lanes: Lanes, text: str) -> LanesRun:
    """Compare the answers to a new question and return what came of it."""
    comparing = inside.program.comparing
    assert comparing.begin(lanes, None, text)
    inside.until(lambda: comparing.running is None)
    assert comparing.shown is not None
    return comparing.shown


def test_one_prefill_serves_all_lanes_and_one_of_them_becomes_the_answer(program: Inside) -> None:
    run = compared(program, lanes_for("temperature", PRESENT), QUESTION)
    assert [lane.turn.state for lane in run.lanes] == ["done"] * 5
    assert all(lane.turn.text and lane.tokens <= 24 for lane in run.lanes)
    prefill, plan = run.comparison.prefill, run.comparison.plan
    assert prefill is not None and plan is not None
    assert prefill.from_cache + prefill.evaluated == prefill.prompt_tokens
    assert plan.waves == ((0, 1, 2, 3, 4),) and plan.how == "together" and not plan.lowered
    assert program.program.live.figures.kv_cells_used == prefill.prompt_tokens
    comparing, chat = program.program.comparing, program.program.chat
    assert [turn.role for turn in chat.turns] == ["user"]
    assert comparing.keep(2)
    assert chat.turns[-1].text == run.lanes[2].turn.text
    following = program.ask("And a fourth one?")
    assert following.finished is not None
    assert following.finished.metrics.prompt_tokens_from_cache >= prefill.prompt_tokens - 1


def test_the_greedy_lane_is_the_greedy_answer(program: Inside) -> None:
    chat = program.program.chat
    plain = program.ask(QUESTION)
    comparing = program.program.comparing
    assert comparing.begin(lanes_for("greedy", PRESENT), chat.turns[0])
    program.until(lambda: comparing.running is None)
    run = comparing.shown
    assert run is not None and plain.finished is not None
    analysis = program.program.comparison_analysis
    program.until(lambda: analysis.shown is not None and analysis.shown.is_whole)
    greedy = run.lanes[0].turn
    if greedy.ids != plain.ids:  # a batch of another shape may round a tie the other way
        pairs = zip(memoryview(plain.ids).cast("i"), memoryview(greedy.ids).cast("i"), strict=False)
        differs = next(n for n, (one, other) in enumerate(pairs) if one != other)
        _, chances = read_records(join_blocks(run.lanes[0].record)).alternatives(differs)
        assert abs(float(chances[0]) - float(chances[1])) <= TIE
    shown = analysis.shown
    assert shown is not None
    figures = [lane.figures for lane in shown.lanes]
    assert all(each.mean_log_probability is not None and math.isfinite(each.mean_log_probability) for each in figures)
    first = shown.divergence(0)
    assert first is None or (first.reason.english() and first.token < 24)


def test_lanes_are_stopped_singly_and_what_they_wrote_is_kept(program: Inside) -> None:
    comparing = program.program.comparing
    long = SamplingSettings(seed=3, temperature=0.9, max_tokens=200)
    assert comparing.begin(Lanes((long, long)), None, QUESTION)
    program.until(lambda: comparing.running is not None and comparing.running.lanes[1].tokens > 4)
    comparing.stop_lane(1)
    program.until(lambda: comparing.shown is not None and not comparing.shown.lanes[1].is_open)
    run = comparing.shown
    assert run is not None
    stopped = run.lanes[1].turn.finished
    assert stopped is not None and stopped.stop_reason == "cancelled"
    at = run.lanes[0].tokens
    program.until(lambda: run.lanes[0].tokens > at + 4)
    comparing.stop()
    program.until(lambda: comparing.running is None)
    assert [lane.turn.state for lane in run.lanes] == ["done", "done"]
    assert run.lanes[0].tokens > run.lanes[1].tokens > 4


def test_a_killed_engine_costs_no_word_of_any_lane(program: Inside) -> None:
    comparing = program.program.comparing
    long = SamplingSettings(seed=3, temperature=0.9, max_tokens=400)
    assert comparing.begin(Lanes((long, long, long)), None, QUESTION)
    program.until(lambda: comparing.running is not None and all(lane.tokens > 4 for lane in comparing.running.lanes))
    assert program.engine is not None
    program.engine.kill()
    program.until(lambda: comparing.running is None)
    run = comparing.shown
    assert run is not None
    assert [lane.turn.state for lane in run.lanes] == ["interrupted"] * 3
    written = [lane.turn.text for lane in run.lanes]
    assert all(written)
    first = program.program.chat.conversation_id
    program.program.conversations.new()
    program.program.conversations.open(first)
    program.until(lambda: program.program.chat.conversation_id == first)
    (kept,) = comparing.of(program.program.chat.turns[0])
    assert comparing.open(kept.id)
    assert comparing.shown is not None
    assert [lane.turn.text for lane in comparing.shown.lanes] == written
