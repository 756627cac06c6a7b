"""Lanes on models of every kind of memory: the context is made anew for them, and afterwards it is what it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.events import Event, LaneTokens
from app.core.model import LoadOptions
from app.engine.backend import ContextLost, DecodeResult
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture, api
from app.engine.llama_context import LlamaContext, State
from app.engine.llama_model import LlamaBackend
from app.engine.sizes import parse_sizes
from tests.engine.comparisons import Told, assert_same_draws, compare, limited
from tests.engine.exchanges import OPTIONS, WRITERS, as_prompt, tokens
from tests.engine.harness import GREEDY, assert_same_answer, records_of
from tests.engine.test_loop import finished, run

REMADE = [kind for kind in WRITERS if kind != "plain"]
PROMPT = tokens(150, 1)
LANES = [
    limited(GREEDY, 30),
    limited(GREEDY, 30, temperature=1.0, seed=3),
    limited(GREEDY, 9, temperature=1.5, seed=4),
    limited(GREEDY, 30),
]


@pytest.fixture(params=list(WRITERS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def backend(kind: str, llama_log: LogCapture, tmp_path: Path) -> Iterator[LlamaBackend]:
    """A small model of this kind."""
    path = WRITERS[kind](tmp_path / f"{kind}.gguf")
    loaded = LlamaBackend(str(path), LoadOptions(**OPTIONS), llama_log, lambda percent: True)  # type: ignore[arg-type]
    yield loaded
    loaded.close()


def assert_as_alone(told: Told, backend: LlamaBackend) -> None:
    """Each lane says what a single answer from an empty cache does."""
    for lane, settings in enumerate(LANES):
        alone = records_of(run(backend, as_prompt(PROMPT), settings, cache=KVCache(backend)), 1)
        assert_same_draws(told.records(lane), alone, 0.02)
        if not settings.temperature:
            assert_same_answer(told.records(lane), alone)


def test_lanes_answer_as_single_runs_do(backend: LlamaBackend, kind: str) -> None:
    usual = backend.sequences.count
    cache = KVCache(backend)
    told = compare(backend, cache, LANES, as_prompt(PROMPT))
    assert told.plan.plan.how == "together" and told.plan.notes == ()
    assert told.plan.plan.waves == ((0, 1, 2, 3),)
    assert told.end.kv.cells_used == len(PROMPT)
    assert backend.sequences.count == usual == (9 if kind == "plain" else 1)
    assert_as_alone(told, backend)


def test_the_chat_goes_on_behind_the_prompt_as_if_nothing_had_been_compared(backend: LlamaBackend, kind: str) -> None:
    cache = KVCache(backend)
    compare(backend, cache, LANES, as_prompt(PROMPT))
    further = [*PROMPT, *tokens(40, 2)]
    got = run(backend, as_prompt(further), limited(GREEDY, 20), cache=cache)
    assert finished(got).metrics.prompt_tokens_from_cache == len(PROMPT)
    again = run(backend, as_prompt([*PROMPT, *tokens(9, 5)]), limited(GREEDY, 20), cache=cache)
    assert finished(again).metrics.prompt_tokens_from_cache == len(PROMPT), "cut, or back to the saved state"
    for events, prompt in ((got, further), (again, [*PROMPT, *tokens(9, 5)])):
        expected = run(backend, as_prompt(prompt), limited(GREEDY, 20), cache=KVCache(backend))
        assert_same_answer(records_of(events, 1), records_of(expected, 1))


class Refusing:
    """llama.cpp, which makes no context with so many sequences, and none at all after `lost`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int = 1, *, lost: bool = False) -> None:
        self._make = api.llama_init_from_model
        self._most = most
        self._lost = lost
        self.refused = 0
        monkeypatch.setattr(api, "llama_init_from_model", self)

    def __call__(self, model: Any, params: Any) -> Any:
        if params.n_seq_max > self._most or (self._lost and self.refused):
            self.refused += 1
            return None
        return self._make(model, params)


@pytest.mark.parametrize("kind", REMADE)
def test_where_the_memory_does_not_suffice_lanes_run_one_after_another(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(monkeypatch)
    cache = KVCache(backend)
    for _ in range(2):
        told = compare(backend, cache, LANES, as_prompt(PROMPT))
        assert told.plan.plan.how == "one_by_one" and told.plan.plan.waves == ((0,), (1,), (2,), (3,))
        assert "one after another" in told.plan.notes[0].english()
        assert told.end.kv.cells_used == len(PROMPT)
    assert refusing.refused == 4 and backend.sequences.count == 1, "four lanes at once, then two"
    assert told.end.prefill.evaluated == 1
    assert_as_alone(told, backend)


@pytest.mark.parametrize("kind", REMADE)
def test_lanes_that_wait_for_their_turn_can_be_stopped(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(event: Event, control: Control) -> None:
        if isinstance(event, LaneTokens):
            control.stopped |= {0, 2}

    Refusing(monkeypatch)
    told = compare(backend, KVCache(backend), LANES, as_prompt(PROMPT), on_event=stop)
    assert [told.lane(lane).finished.stop_reason == "cancelled" for lane in range(4)] == [True, False, True, False]
    assert told.ids(0) == told.ids(3)[: len(told.ids(0))] and told.ids(2) == []
    assert told.end.kv.cells_used == len(PROMPT)


@pytest.mark.parametrize("kind", REMADE)
def test_no_memory_for_what_the_chat_holds_is_no_memory_for_lanes(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LlamaContext) -> State:
        raise MemoryError

    monkeypatch.setattr(LlamaContext, "save", refuse)
    told = compare(backend, KVCache(backend), LANES[:2], as_prompt(PROMPT))
    assert told.plan.plan.how == "one_by_one"
    assert len(told.ids(1)) > 0


@pytest.mark.parametrize("kind", REMADE)
def test_without_checkpoints_lanes_go_back_to_the_prompt_all_the_same(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Refusing(monkeypatch)
    told = compare(backend, KVCache(backend, 0), LANES, as_prompt(PROMPT))
    assert (told.end.kv.checkpoints, told.end.kv.cells_used) == (0, len(PROMPT))
    assert_as_alone(told, backend)


@pytest.mark.parametrize("result", ["no_room", "aborted"])
@pytest.mark.parametrize("kind", REMADE)
def test_a_token_that_is_not_evaluated_ends_its_lane_alone_where_lanes_run_one_after_another(
    backend: LlamaBackend, kind: str, result: DecodeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    Refusing(monkeypatch)
    evaluate, steps = LlamaContext.evaluate, 0

    def fail_once(self: LlamaContext, batch: Any) -> DecodeResult:
        nonlocal steps
        steps += batch.n_tokens == 1
        done = evaluate(self, batch)  # what it evaluated spoils a recurrent state, as an abort does
        return result if steps == 12 else done

    cache = KVCache(backend)
    compare(backend, cache, LANES[:1], as_prompt(PROMPT[:100]))  # with a checkpoint that lies before the prompt's end
    monkeypatch.setattr(LlamaContext, "evaluate", fail_once)
    told = compare(backend, cache, LANES, as_prompt(PROMPT))
    assert told.plan.plan.how == "one_by_one"
    reason = "context_full" if result == "no_room" else "cancelled"
    assert [told.lane(lane).finished.stop_reason == reason for lane in range(4)] == [True, False, False, False]
    assert told.streamed(0)[0] == told.ids(0) == told.ids(3)[: len(told.ids(0))] != []
    assert told.end.kv.cells_used == len(PROMPT)
    monkeypatch.setattr(LlamaContext, "evaluate", evaluate)
    further = [*PROMPT, *tokens(40, 2)]
    got = run(backend, as_prompt(further), LANES[0], cache=cache)
    assert finished(got).metrics.prompt_tokens_from_cache == len(PROMPT)
    assert_same_answer(records_of(got, 1), records_of(run(backend, as_prompt(further), LANES[0]), 1))
    assert_same_answer(told.records(3), records_of(run(backend, as_prompt(PROMPT), LANES[3]), 1))


@pytest.mark.parametrize("kind", REMADE)
def test_a_single_lane_needs_no_other_context(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(monkeypatch)
    told = compare(backend, KVCache(backend), LANES[:1], as_prompt(PROMPT))
    assert (told.plan.plan.how, told.plan.notes, refusing.refused) == ("together", (), 0)
    alone = run(backend, as_prompt(PROMPT), LANES[0], cache=KVCache(backend))
    assert_same_answer(told.records(0), records_of(alone, 1))


@pytest.mark.parametrize("kind", ["recurrent"])
def test_a_context_that_cannot_be_had_back_says_so(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Refusing(monkeypatch, lost=True)
    with pytest.raises(ContextLost, match="Load the model again"):
        compare(backend, KVCache(backend), LANES, as_prompt(PROMPT))


@pytest.mark.parametrize("kind", REMADE)
def test_the_memory_of_the_lanes_is_given_back(backend: LlamaBackend, kind: str, llama_log: LogCapture) -> None:
    sizes = []
    for count in (5, 1, 9):
        llama_log.clear()
        if count > 1:
            assert backend.sequences.open(count) and backend.sequences.count == count
        else:
            backend.sequences.close()
            assert backend.sequences.count == 1
        sizes.append(sum((use.kv or 0) + (use.state or 0) for use in parse_sizes(llama_log.lines())))
    backend.sequences.close()
    assert sizes[0] > sizes[1] or kind == "window"
    assert sizes[2] > sizes[0]


@pytest.mark.parametrize("kind", REMADE)
def test_the_context_is_made_anew_twenty_times_and_holds_the_same(backend: LlamaBackend, kind: str) -> None:
    cache = KVCache(backend)
    first = compare(backend, cache, LANES[:3], as_prompt(PROMPT))
    for _ in range(20):
        told = compare(backend, cache, LANES[:3], as_prompt(PROMPT))
        assert told.end.prefill.evaluated == 1
    for lane in range(3):
        assert_same_draws(first.records(lane), told.records(lane), 0.02)
