"""Comparisons as the parent process sees them: routed, stopped, cancelled, and told when the engine is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.commands import Cancel, Compare, StopLane
from app.core.events import (
    Compared,
    EngineGone,
    Failed,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Unloaded,
)
from app.core.sampling import SamplingSettings
from app.engine.scripted import Script
from tests.engine.comparisons import QUESTION, Told, compare_in, limited
from tests.engine.harness import GREEDY, Engine, ids_of, write_script

ANSWERS = ("Light bends twice.", "Light is scattered.", "Light, then dark.")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine that follows scripts."""
    with Engine("scripted") as running:
        yield running


def begin(engine: Engine, *lanes: SamplingSettings) -> int:
    request = engine.client.new_request()
    engine.send(Compare(request, QUESTION, lanes, time.perf_counter_ns()))
    return request


def told_of(engine: Engine, request: int) -> Told:
    return Told(event for event in engine.seen if getattr(event, "request", None) == request)


def test_the_events_come_in_their_order(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(answers=ANSWERS)))
    told = compare_in(engine, [GREEDY] * 4)
    kinds = [type(event) for event in told.events]
    assert kinds[:4] == [PromptReady, PrefillProgress, PrefillProgress, LanesPlanned], "its last token is read alone"
    assert set(kinds[4:-1]) == {LaneTokens, LaneFinished} and kinds[-1] is Compared
    assert [told.lane(lane).finished.text for lane in range(4)] == [*ANSWERS, ANSWERS[0]]
    assert [told.streamed(lane)[1] for lane in range(4)] == [*ANSWERS, ANSWERS[0]]
    assert engine.ask("next").text == ANSWERS[1], "a comparison is one turn of the script"
    engine.client.unload()
    engine.wait(Unloaded)
    assert not [event for event in engine.seen if isinstance(event, Failed)], "nothing was open any more"


def test_a_stopped_lane_ends_and_the_others_go_on(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(answers=("x" * 40,), tokens_per_s=100)))
    request = begin(engine, GREEDY, GREEDY, GREEDY)
    engine.wait(LaneTokens, request=request)
    engine.send(StopLane(request, 1))
    engine.wait(Compared, request=request)
    told = told_of(engine, request)
    assert [told.lane(lane).finished.stop_reason for lane in range(3)] == ["end", "cancelled", "end"]
    assert [len(told.lane(lane).finished.text) == 40 for lane in range(3)] == [True, False, True]


def test_a_cancel_ends_all_lanes_with_what_they_have(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(answers=("x" * 400,), tokens_per_s=100)))
    request = begin(engine, GREEDY, GREEDY)
    engine.wait(LaneTokens, request=request)
    engine.send(Cancel(request))
    engine.wait(Compared, request=request)
    told = told_of(engine, request)
    for lane in range(2):
        assert told.lane(lane).finished.stop_reason == "cancelled"
        assert told.streamed(lane) == (told.ids(lane), told.lane(lane).finished.text)
        assert 0 < len(told.ids(lane)) < 400


def test_a_comparison_that_is_cancelled_while_it_waits_ends_with_every_lane(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(answers=("x" * 400,), tokens_per_s=100)))
    first = begin(engine, GREEDY)
    waiting = begin(engine, GREEDY, limited(GREEDY, 0, seed=7))
    engine.send(Cancel(waiting))
    engine.send(Cancel(first))
    engine.wait(Compared, request=waiting)
    told = told_of(engine, waiting)
    assert [type(event) for event in told.events] == [LaneFinished, LaneFinished, Compared]
    assert {told.lane(lane).finished.stop_reason for lane in range(2)} == {"cancelled"}
    assert told.lane(1).finished.seed == 7 and told.end.prefill.prompt_tokens == 0


def test_an_engine_that_dies_in_the_middle_names_the_comparison(engine: Engine, tmp_path: Path) -> None:
    script = Script(answers=("x" * 400,), tokens_per_s=100, fault="exit", fault_at=30)
    engine.load(write_script(tmp_path, script))
    request, waiting = begin(engine, GREEDY, GREEDY), begin(engine, GREEDY)
    gone = engine.wait(EngineGone)
    assert gone.requests == (request, waiting)
    told = told_of(engine, request)
    assert all(0 < len(told.streamed(lane)[0]) <= 31 for lane in range(2))


def test_a_comparison_without_a_model_is_refused(engine: Engine) -> None:
    request = begin(engine, GREEDY)
    assert engine.wait(Failed, request=request).kind == "wrong_use"


def test_a_prompt_that_cannot_fit_is_refused_before_anything_is_evaluated(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(context=256, template="{{ 'x' * 300 }}")))
    request = begin(engine, GREEDY, GREEDY)
    assert engine.wait(Failed, request=request).kind == "prompt_too_long"


def test_lanes_of_a_script_share_its_speed_and_are_told_seldom(engine: Engine, tmp_path: Path) -> None:
    engine.load(write_script(tmp_path, Script(answers=("x" * 100,), tokens_per_s=100)))
    told = compare_in(engine, [GREEDY] * 8)
    for lane in range(8):
        events = [event for event in told.all(LaneTokens) if event.lane == lane]
        assert len(events) < 40, "about twenty a second"
        assert sum(event.tokens.count for event in events) == 101
    assert told.end.prefill.ttft_ms is not None


def test_the_starter_model_compares_and_goes_on_in_the_same_engine(starter_model: Path) -> None:
    with Engine() as engine:
        engine.load(starter_model, context=512, threads=1)
        told = compare_in(engine, [limited(GREEDY, 8), limited(GREEDY, 8), limited(GREEDY, 3)])
        assert told.ids(0) == told.ids(1) and told.ids(0)[:3] == told.ids(2)
        alone = engine.ask(QUESTION, limited(GREEDY, 8))
        assert alone.metrics.prompt_tokens - alone.metrics.prompt_tokens_from_cache == 1
        assert len(ids_of(alone.ids)) == 8


def test_an_engine_whose_context_is_lost_ends_and_says_why(engine: Engine, tmp_path: Path) -> None:
    script = Script(answers=("x" * 400,), tokens_per_s=100, fault="context", fault_at=30)
    engine.load(write_script(tmp_path, script))
    request, waiting = begin(engine, GREEDY, GREEDY), begin(engine, GREEDY)
    gone = engine.wait(EngineGone)
    assert gone.requests == (request, waiting)
    assert "Load the model again" in gone.sentence.english()
    assert not [event for event in engine.seen if isinstance(event, Failed)], "who hears of the end knows it all"
    assert len(told_of(engine, request).streamed(0)[0]) > 0
    engine.load(write_script(tmp_path, Script()))
    assert engine.ask("again").stop_reason == "end"
