"""A native call of a grammar that does not come back: Stop is heard, else the answer ends with a notice; nothing it uses is freed."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import Pipe
from threading import Event as Flag
from threading import Thread

import msgspec
import pytest

from app.core.events import Event, Finished, LaneFinished, PromptReady
from app.core.sampling import SamplingSettings
from app.engine import aside, letting_go
from app.engine.aside import Aside, Stopped, TooLong
from app.engine.control import Control
from app.engine.grammar import TOO_SLOW, GrammarFit, StoppedAsking, TooSlow, refuse_unfit
from app.engine.kv_cache import KVCache
from app.engine.llama_grammar import LlamaGrammar
from app.engine.llama_model import LlamaBackend
from app.engine.worker import Worker
from tests.engine.comparisons import compare
from tests.engine.grammars import LIST, YES_OR_NO, with_grammar
from tests.engine.harness import GREEDY, ids_of, user
from tests.engine.test_going_on import QUESTION, open_prompt
from tests.engine.test_loop import finished, run

WHOLE = SamplingSettings(top_k=0, seed=5, max_tokens=8)


class Stuck:
    """A native call that goes on until somebody lets it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.waits_for_ever = True
        """Whether nobody gives it up."""
        self._patch = patch
        self.entered = Flag()
        self.released = Flag()
        self.stages: list[LlamaGrammar] = []

    def wait(self, stage: LlamaGrammar) -> None:
        """Be the native call."""
        self.stages.append(stage)
        if not self.waits_for_ever:
            self._patch.setattr(aside, "LONGEST_S", 0.0)
        self.entered.set()
        self.released.wait()

    def release(self) -> None:
        """Let it come back, and wait for all that was left to itself."""
        self.released.set()
        for thread in tuple(aside._left):
            thread.join()
        assert not aside.is_work_left()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    made = Stuck(monkeypatch)
    yield made
    made.release()


def sticks(patch: pytest.MonkeyPatch, stuck: Stuck, call: str) -> None:
    """Let a native call of every grammar stick: the one that masks, or the one that takes a token."""
    native = getattr(LlamaGrammar, call)

    def instead(stage: LlamaGrammar, given: object) -> None:
        stuck.wait(stage)
        native(stage, given)

    patch.setattr(LlamaGrammar, call, instead)


@pytest.mark.parametrize(("call", "tokens"), [("apply", 0), ("accept", 1)])
def test_stop_is_heard_while_a_native_call_does_not_come_back(
    starter_backend: LlamaBackend,
    cache: KVCache,
    monkeypatch: pytest.MonkeyPatch,
    stuck: Stuck,
    call: str,
    tokens: int,
) -> None:
    sticks(monkeypatch, stuck, call)
    monkeypatch.setattr(Control, "is_cancelled", lambda control: stuck.entered.is_set())
    done = finished(run(starter_backend, user("Hi"), with_grammar(WHOLE, LIST), cache=cache))
    assert (done.stop_reason, len(ids_of(done.ids)), done.notes) == ("cancelled", tokens, ())
    (stage,) = {*stuck.stages}
    assert aside.is_work_left() and stage._sampler is not None, "the call still reads it"
    stuck.release()
    assert stage._sampler is None


@pytest.mark.parametrize(("call", "tokens"), [("apply", 0), ("accept", 1)])
def test_an_answer_ends_with_a_notice_where_a_native_call_does_not_come_back(
    starter_backend: LlamaBackend,
    cache: KVCache,
    monkeypatch: pytest.MonkeyPatch,
    stuck: Stuck,
    call: str,
    tokens: int,
) -> None:
    stuck.waits_for_ever = False
    sticks(monkeypatch, stuck, call)
    done = finished(run(starter_backend, user("Hi"), with_grammar(WHOLE, LIST), cache=cache, watched=True))
    assert (done.stop_reason, len(ids_of(done.ids)), done.notes) == ("end", tokens, (TOO_SLOW,))
    assert aside.is_work_left()
    monkeypatch.undo()
    again = finished(run(starter_backend, user("Hi"), with_grammar(GREEDY, YES_OR_NO), cache=cache))
    assert again.text in ("yes", "no"), "the engine goes on"


def test_a_lane_ends_with_the_notice_and_the_others_go_on(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, stuck: Stuck
) -> None:
    stuck.waits_for_ever = False
    sticks(monkeypatch, stuck, "apply")
    told = compare(starter_backend, cache, [with_grammar(WHOLE, LIST), msgspec.structs.replace(GREEDY, max_tokens=3)])
    first, second = (told.lane(lane).finished for lane in (0, 1))
    assert (first.stop_reason, first.ids, first.notes) == ("end", b"", (TOO_SLOW,))
    assert (second.stop_reason, len(ids_of(second.ids))) == ("length", 3)


def test_a_lane_is_stopped_while_its_native_call_does_not_come_back(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, stuck: Stuck
) -> None:
    sticks(monkeypatch, stuck, "accept")
    monkeypatch.setattr(Control, "is_stopped", lambda control, lane: lane == 0 and stuck.entered.is_set())
    told = compare(starter_backend, cache, [with_grammar(WHOLE, LIST), msgspec.structs.replace(GREEDY, max_tokens=3)])
    assert [told.lane(lane).finished.stop_reason for lane in (0, 1)] == ["cancelled", "length"]
    assert len(told.all(LaneFinished)) == 2


def test_what_was_left_to_itself_is_not_used_again(
    starter_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, stuck: Stuck
) -> None:
    stuck.waits_for_ever = False
    sticks(monkeypatch, stuck, "apply")
    fit = GrammarFit(starter_backend, YES_OR_NO, [])
    for _ in range(2):
        with pytest.raises(TooSlow):
            fit.allows(3)
    assert len(stuck.stages) == 1
    fit.close()
    fit.close()
    assert stuck.stages[0]._sampler is not None


def test_a_model_is_not_freed_while_a_call_still_reads_it(stuck: Stuck) -> None:
    ours, theirs = Pipe()
    closed: list[bool | None] = []
    worker = Worker(ours, None)  # type: ignore[arg-type]  # nothing is loaded here
    model = type("Model", (), {"close": lambda self: closed.append(True)})
    beside = Aside(stuck.entered.is_set)
    with pytest.raises(Stopped):
        beside.run(lambda: stuck.wait(None))  # type: ignore[arg-type]
    beside.close(lambda: closed.append(False))
    worker._backend = model()
    worker._free()
    assert closed == []
    other = type("Model", (), {"close": lambda self: closed.append(None)})
    worker._letting_go.note_loaded()
    worker._backend = other()
    worker._free()
    assert closed == [None], "the call reads the model before it"
    worker._work.put(None)
    assert worker._next_work() is None and closed == [None], "commands go on"
    stuck.release()
    assert closed == [None, False]
    worker._work.put(None)
    assert worker._next_work() is None and closed == [None, False, True]
    ours.close()
    theirs.close()


def test_a_model_is_freed_once_the_call_is_over_without_another_command(
    stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letting_go, "LOOK_S", 0.001)
    ours, theirs = Pipe()
    closed = Flag()
    worker = Worker(ours, None)  # type: ignore[arg-type]  # nothing is loaded here
    model = type("Model", (), {"close": lambda self: closed.set()})
    beside = Aside(stuck.entered.is_set)
    with pytest.raises(Stopped):
        beside.run(lambda: stuck.wait(None))  # type: ignore[arg-type]
    beside.close(lambda: None)
    worker._backend = model()
    worker._free()
    waiting = Thread(target=worker._next_work)
    waiting.start()
    assert not closed.is_set()
    stuck.release()
    assert closed.wait(20), "nobody sends anything"
    worker._work.put(None)
    waiting.join()
    ours.close()
    theirs.close()


def test_only_the_end_of_the_process_is_promised_to_end_the_call() -> None:
    assert "unload the model" in TOO_SLOW.english() and "load the model again" not in TOO_SLOW.english()


def test_what_goes_on_is_waited_for_and_its_error_is_raised(stuck: Stuck) -> None:
    stuck.waits_for_ever = False
    beside = Aside(lambda: False)
    assert beside.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        beside.run(lambda: 1 // 0)
    with pytest.raises(TooLong):
        beside.run(lambda: stuck.wait(None))  # type: ignore[arg-type]
    beside.close(lambda: None)


@pytest.fixture
def begun(starter_backend: LlamaBackend, cache: KVCache) -> Finished:
    """An answer of some tokens that fits no list after the first."""
    return finished(run(starter_backend, user(QUESTION.text), with_grammar(WHOLE, LIST), cache=cache))


def stops_after_a_token(patch: pytest.MonkeyPatch) -> list[int]:
    """Let everything be stopped once a grammar took a token; returns those that it took."""
    taken: list[int] = []
    native = LlamaGrammar.accept

    def accept(stage: LlamaGrammar, token: int) -> None:
        taken.append(token)
        native(stage, token)

    patch.setattr(LlamaGrammar, "accept", accept)
    patch.setattr(Control, "is_cancelled", lambda control: bool(taken))
    return taken


def test_stop_is_heard_while_the_beginning_of_an_answer_is_looked_through(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, begun: Finished
) -> None:
    assert len(ids_of(begun.ids)) == 8
    taken = stops_after_a_token(monkeypatch)
    seen: list[Event] = run(starter_backend, open_prompt(begun), with_grammar(WHOLE, LIST), cache=cache)
    assert finished(seen).stop_reason == "cancelled" and finished(seen).ids == b""
    assert not any(isinstance(event, PromptReady) for event in seen), "its prompt is not read"
    assert len(taken) == 1


def test_stop_is_heard_while_tokens_that_were_chosen_are_looked_through(
    starter_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, begun: Finished
) -> None:
    ids = ids_of(begun.ids)
    refuse_unfit(starter_backend, LIST, ids[:2], ids[2:])
    taken = stops_after_a_token(monkeypatch)
    with pytest.raises(StoppedAsking):
        refuse_unfit(starter_backend, LIST, [], ids, lambda: len(taken) == 3)
    assert taken == ids[:3]


def test_lanes_end_where_somebody_stops_while_their_beginning_is_looked_through(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, begun: Finished
) -> None:
    taken = stops_after_a_token(monkeypatch)
    told = compare(starter_backend, cache, [with_grammar(WHOLE, LIST), WHOLE], prompt=open_prompt(begun))
    assert [told.lane(lane).finished.stop_reason for lane in (0, 1)] == ["cancelled"] * 2
    assert not told.all(PromptReady) and len(taken) == 1


def test_a_lane_that_is_stopped_before_its_first_draw_ends_with_those_that_never_began(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, begun: Finished
) -> None:
    given = len(ids_of(begun.ids))
    taken = stops_after_a_token(monkeypatch)
    monkeypatch.setattr(Control, "is_cancelled", lambda control: False)
    monkeypatch.setattr(Control, "is_stopped", lambda control, lane: lane == 0 and len(taken) > given)
    for others in ([], [msgspec.structs.replace(GREEDY, max_tokens=3)]):
        taken.clear()
        told = compare(starter_backend, cache, [with_grammar(WHOLE, LIST), *others], prompt=open_prompt(begun))
        ends = [told.lane(lane).finished.stop_reason for lane in range(1 + len(others))]
        assert ends == ["cancelled", "length"][: len(ends)] and len(told.all(LaneFinished)) == len(ends)
        assert len(taken) == given + 1
