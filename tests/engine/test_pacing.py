"""An answer that is held waits for each of its tokens, goes on as it would have, and counts no time that it waited."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from app.core.commands import Cancel, Generate, SetPace, StepOn
from app.core.errors import UserError
from app.core.events import Event, Finished, Held, Step, Tokens
from app.core.metrics import KVUse
from app.core.sampling import SamplingSettings
from app.engine import joiner, loop
from app.engine.backend import Backend
from app.engine.clock import AnswerClock
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from app.engine.pacing import FREELY, Pacing, Turn
from app.engine.scripted import Script, ScriptedBackend
from app.engine.window_cells import CellsTold
from app.engine.writing import Asked, Writing
from app.probability.record import FORCED, NO_DRAW, TokenRecords, join_blocks, read_records
from app.probability.record_layout import tokens_in
from tests.engine.harness import Engine, ids_of, user, write_script
from tests.engine.test_loop import finished

SHORT = SamplingSettings(temperature=0.0, max_tokens=6)
SEEDED = SamplingSettings(seed=11, max_tokens=12)
TOKENS = 12
GUARD_S = 60.0


class Stepper:
    """Somebody who looks at each held step and decides how it goes on."""

    def __init__(self, *, choices: dict[int, int] | None = None, cancel_at: int = -1, run_from: int = -1) -> None:
        self.choices = choices or {}
        self.cancel_at = cancel_at
        self.run_from = run_from
        self.events: list[Event] = []

    def run(self, backend: Backend, settings: SamplingSettings = SEEDED, **more: object) -> Finished:
        """Let an answer be written that is held from its first token on."""
        control = Control(1, 0)
        command = Generate(1, user("Why?"), settings, time.perf_counter_ns(), **more)  # type: ignore[arg-type]
        for event in Answer(backend, KVCache(backend), command, control).run(lambda: False):
            self.events.append(event)
            if isinstance(event, Held):
                self._decide(event, control)
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last

    def _decide(self, held: Held, control: Control) -> None:
        sent = sum(event.count for event in self.events if isinstance(event, Tokens))
        assert sent == held.token
        if held.token == self.cancel_at:
            control.cancel()
        elif held.token == self.run_from:
            control.pacing.set_rate(None)
        else:
            control.pacing.give(self.choices.get(held.token))

    @property
    def held(self) -> list[Held]:
        """Where it waited."""
        return [event for event in self.events if isinstance(event, Held)]

    @property
    def record(self) -> TokenRecords:
        """What was noted of its tokens."""
        blocks = [event.record for event in self.events if isinstance(event, Tokens)]
        return read_records(join_blocks(blocks))


def through(backend: Backend, settings: SamplingSettings = SEEDED, **more: object) -> Finished:
    """Let the same answer be written without a stop."""
    command = Generate(1, user("Why?"), settings, time.perf_counter_ns(), **more)  # type: ignore[arg-type]
    events = list(Answer(backend, KVCache(backend), command, Control(1)).run(lambda: False))
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def scripted(text: str = "Light bends. 日本 😀 done") -> ScriptedBackend:
    return ScriptedBackend(Script(answers=(text,)), "script")


def test_step_by_step_is_the_same_answer(starter_backend: LlamaBackend) -> None:
    stepper = Stepper()
    done = stepper.run(starter_backend)
    straight = through(starter_backend)
    assert ids_of(done.ids) == ids_of(straight.ids)
    assert done.text == straight.text
    assert [held.token for held in stepper.held] == list(range(TOKENS))
    waited = [event.held_ns for event in stepper.events if isinstance(event, Tokens)]
    assert waited[0] > 0 and waited == sorted(set(waited)), "each step waits a little longer"


def test_who_lets_an_answer_wait_has_the_record_of_all_its_tokens(starter_backend: LlamaBackend) -> None:
    stepper = Stepper()
    stepper.run(starter_backend)
    known = 0
    for event in stepper.events:
        if isinstance(event, Held):
            assert known == event.token
        elif isinstance(event, Tokens):
            assert event.count, "it comes with its token"
            known += tokens_in(event.record)
    assert known == TOKENS


def test_where_an_answer_is_paused_the_record_of_what_was_sent_follows() -> None:
    backend, control, seen = scripted(), Control(1), list[Event]()
    for event in Answer(backend, KVCache(backend), Generate(1, user("Why?"), SHORT, 0), control).run(lambda: False):
        seen.append(event)
        if isinstance(event, Held):
            control.cancel()
        elif isinstance(event, Tokens) and event.first == 0:
            assert not event.record, "a block of one token would be mostly its head"
            control.pacing.set_rate(0.0)
    place = next(at for at, event in enumerate(seen) if isinstance(event, Held))
    told = [event for event in seen[:place] if isinstance(event, Tokens)]
    assert sum(event.count for event in told) == sum(tokens_in(event.record) for event in told) == 1


def test_the_row_that_is_shown_is_the_one_that_is_drawn_from(starter_backend: LlamaBackend) -> None:
    stepper = Stepper()
    done = stepper.run(starter_backend, SHORT)
    best = [int(np.frombuffer(held.logits, np.float32).argmax()) for held in stepper.held]
    assert best == ids_of(done.ids)


def test_a_half_character_and_a_possible_stop_string_wait_as_they_do_without_a_hold() -> None:
    stepper = Stepper()
    done = stepper.run(scripted("日本 ENDED"), SamplingSettings(temperature=0.0, stop=("END",)))
    assert done.text == "日本 "
    assert done.stop_reason == "stop_string"
    assert "".join(event.text for event in stepper.events if isinstance(event, Tokens)) == done.text


def test_a_chosen_token_is_marked_uses_no_draw_and_shifts_none(starter_backend: LlamaBackend) -> None:
    straight = through(starter_backend)
    chosen = ids_of(straight.ids)[3]
    stepper = Stepper(choices={3: chosen})
    done = stepper.run(starter_backend)
    assert ids_of(done.ids) == ids_of(straight.ids)
    assert stepper.record.flags.tolist()[:5] == [0, 0, 0, FORCED | NO_DRAW, 0]


def test_a_chosen_token_leads_where_a_prompt_with_it_leads(starter_backend: LlamaBackend) -> None:
    straight = through(starter_backend, SHORT)
    other = (ids_of(straight.ids)[0] + 100) % starter_backend.vocabulary.size
    stepper = Stepper(choices={0: other}, run_from=1)
    done = stepper.run(starter_backend, SHORT)
    forced = through(starter_backend, SHORT, forced=(other,))
    assert ids_of(done.ids) == ids_of(forced.ids)
    assert ids_of(done.ids)[0] == other
    assert stepper.record.probability_after[0] == 0.0


def test_a_token_that_the_model_has_not_is_refused() -> None:
    with pytest.raises(UserError, match="none of this model's tokens"):
        Stepper(choices={1: 10_000_000}).run(scripted())


def test_an_answer_that_is_held_can_be_stopped_without_another_token() -> None:
    stepper = Stepper(cancel_at=4)
    done = stepper.run(scripted())
    assert done.stop_reason == "cancelled"
    assert len(ids_of(done.ids)) == 4


def test_an_answer_goes_on_by_itself_when_it_is_let_go() -> None:
    stepper = Stepper(run_from=2)
    done = stepper.run(scripted(), SamplingSettings(temperature=0.0))
    assert done.stop_reason == "end"
    assert [held.token for held in stepper.held] == [0, 1, 2]


def test_the_time_that_an_answer_is_held_is_in_none_of_its_figures() -> None:
    now = [0]
    clock = AnswerClock(0, lambda: now[0])
    clock.mark_tokens()
    now[0] = 10
    clock.mark_prefill()
    for _ in range(3):
        with clock.held():
            now[0] += 1_000_000
        now[0] += 5
        clock.mark_token()
    clock.mark_visible()
    assert clock.decode_rate() == pytest.approx(2 / 10 * 1e9)
    assert clock.ttft_parts().first_sample == pytest.approx(5 / 1e6)
    assert clock.visible == 25
    assert clock.held_ns == 3_000_000
    assert clock.metrics(scripted(), 1, 0, 1, KVUse(1, 1, 1)).held_ms == 3.0


def test_steps_that_nobody_took_are_forgotten_when_the_answer_runs_again() -> None:
    pacing = Pacing(0)
    pacing.give(7)
    assert pacing.take() == Turn(7)
    pacing.give(8)
    pacing.set_rate(None)
    assert pacing.take() == FREELY
    pacing.set_rate(0)
    assert pacing.is_held
    assert pacing.take() is None


def test_leave_that_comes_too_late_is_forgotten() -> None:
    pacing = Pacing(0)
    pacing.give(7, place=3)
    pacing.give(8, place=5)
    assert pacing.take(5) == Turn(8, 5)
    pacing.give(9, place=5)
    assert pacing.take(6) is None
    assert pacing.is_held
    pacing.give()
    assert pacing.take(6) == FREELY


def test_an_answer_that_is_held_says_so_although_leave_for_an_earlier_token_comes_with_it() -> None:
    control = Control(1, 1e-3)
    command = Generate(1, user("Why?"), SEEDED, time.perf_counter_ns())
    seen: list[Event] = []
    backend, guard = scripted(), threading.Timer(GUARD_S, control.cancel)
    guard.start()
    for event in Answer(backend, KVCache(backend), command, control).run(lambda: False):
        seen.append(event)
        if isinstance(event, Tokens) and event.first == 0:
            control.pacing.set_rate(0)
            control.pacing.give(None, place=0)
        if isinstance(event, Held):
            control.cancel()
    guard.cancel()
    guard.join()
    assert [event.token for event in seen if isinstance(event, Held)] == [1]


def test_a_slow_answer_waits_for_the_time_of_its_next_token() -> None:
    now = [1_000_000_000]
    pacing = Pacing(50.0, lambda: now[0])
    assert pacing.take() == FREELY
    assert pacing.take() is None
    now[0] += 20_000_000
    assert pacing.take() == FREELY
    seen = pacing.changes
    pacing.end()
    pacing.wait(seen)
    assert pacing.take() == FREELY


def test_each_token_of_an_answer_that_is_slow_enough_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for which it is held is in none of its figures, but people who look live in it."""
    monkeypatch.setattr(loop, "STEP_NS", 15_000_000)
    monkeypatch.setattr(joiner, "JOIN_NS", 0)
    backend = scripted()
    command = Generate(1, user("Why?"), SHORT, time.perf_counter_ns())
    events = list(Answer(backend, KVCache(backend), command, Control(1, 50.0)).run(lambda: True))
    assert sum(isinstance(event, Step) for event in events) == finished(events).metrics.sampled_tokens


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -1.0])
def test_a_pace_that_is_none_is_as_fast_as_it_goes(rate: float) -> None:
    pacing = Pacing(rate)
    assert [pacing.take(), pacing.take()] == [FREELY, FREELY]


def test_a_pace_of_one_token_in_ages_can_be_given_up() -> None:
    pacing = Pacing(1e-320)
    assert pacing.take() is None
    threading.Timer(0.05, pacing.end).start()
    pacing.wait(pacing.changes)
    assert pacing.take() == FREELY


def test_an_answer_that_is_held_while_it_waits_for_its_time_says_so_and_sends_what_it_has() -> None:
    control = Control(1, 1e-3)
    command = Generate(1, user("Why?"), SEEDED, time.perf_counter_ns())
    seen: list[Event] = []
    backend = scripted()
    for event in Answer(backend, KVCache(backend), command, control).run(lambda: False):
        seen.append(event)
        if isinstance(event, Tokens) and event.first == 0:
            control.pacing.set_rate(0)
        if isinstance(event, Held):
            control.cancel()
    (held,) = (event for event in seen if isinstance(event, Held))
    assert held.token == 1
    before = seen[: seen.index(held)]
    assert sum(event.count for event in before if isinstance(event, Tokens)) == 1


def test_a_watched_answer_that_is_stopped_ends_with_its_whole_row() -> None:
    control, backend = Control(1), scripted()
    steps: list[Step] = []
    for event in Answer(backend, KVCache(backend), Generate(1, user("Why?"), SEEDED, 0), control).run(lambda: True):
        if isinstance(event, Step):
            steps.append(event)
            control.cancel()
    assert steps[-1].ids == b""
    assert len(steps[-1].logits) == 4 * backend.vocabulary.size


def test_steps_are_given_through_the_process_and_a_held_answer_can_be_cancelled(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=("one two three",)))
    with Engine("scripted") as engine:
        engine.load(script)
        request = engine.client.new_request()
        command = Generate(request, user("Why?"), SHORT, time.perf_counter_ns(), tokens_per_s=0)
        engine.send(command)
        assert engine.wait(Held, request=request).token == 0
        engine.send(StepOn(request))
        assert engine.wait(Held, request=request).token == 1
        engine.send(SetPace(request, None))
        assert len(ids_of(engine.wait(Finished, request=request).ids)) == SHORT.max_tokens
        again = engine.client.new_request()
        engine.send(Generate(again, user("Why?"), SHORT, time.perf_counter_ns(), tokens_per_s=0))
        engine.wait(Held, request=again)
        engine.send(Cancel(again))
        assert engine.wait(Finished, request=again).stop_reason == "cancelled"


def test_tokens_say_for_how_long_the_answer_was_held_before_them() -> None:
    moments = itertools.count(0, 5)
    clock = AnswerClock(0, lambda: next(moments))
    writing = Writing(Asked(1, user("Why?"), (), "off"), scripted().vocabulary, clock)
    told = []
    for token, holds in ((97, 1), (98, 0), (99, 2)):
        for _ in range(holds):
            with clock.held():
                pass
        writing.append(token, clock.mark_token())
        told.append(writing.take(CellsTold(0), last=False).held_ns)
    assert told == [5, 5, 15]
