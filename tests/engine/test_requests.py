"""Requests that meet: sent twice, stopped and sent again, counted meanwhile. Each ends once, and none touches another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import Cancel, ChangeSettings, Generate, Load, Render, Tokenize, Watch
from app.core.events import (
    Event,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    PrefillProgress,
    PromptReady,
    Rendered,
    Step,
    Tokenized,
    Tokens,
)
from app.core.model import LoadOptions
from app.core.sampling import PRESETS
from app.engine.scripted import Script
from tests.engine.harness import GREEDY, Engine, assert_same_answer, ids_of, records_of, user, write_script
from tests.ggufs import write_tiny_llama

LONG = "Sunlight is a mixture of all colours. " * 200
SHORT = msgspec.structs.replace(GREEDY, max_tokens=16)
ENDS = (Finished, Failed, Loaded, Tokenized, Rendered)
OPTIONS = LoadOptions(context=512, threads=1)


def assert_in_order(events: Iterable[Event]) -> Counter[int]:
    """Check that nothing follows the end of a request and that its tokens are whole; return how often each ended."""
    ended: Counter[int] = Counter()
    began: set[int] = set()
    texts: dict[int, str] = {}
    counts: dict[int, int] = {}
    for event in events:
        request = getattr(event, "request", None)
        if request is None:
            continue
        assert request not in ended, f"{type(event).__name__} of request {request} came after its end"
        match event:
            case PromptReady():
                assert not began - ended.keys(), "two answers at once"
                began.add(request)
            case Tokens():
                assert request in began and event.first == counts.get(request, 0)
                counts[request] = event.first + event.count
                texts[request] = texts.get(request, "") + event.text
            case PrefillProgress() | Step():
                assert request in began
            case Finished():
                assert event.text == texts.get(request, "")
                assert len(ids_of(event.ids)) == counts.get(request, 0)
            case _:
                pass
        ended[request] += isinstance(event, ENDS)
        ended += Counter()
    return ended


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A script that answers for longer than any test looks."""
    return write_script(tmp_path, Script(answers=(LONG,), tokens_per_s=200, prefill_tokens_per_s=2000))


@pytest.fixture
def engine(slow: str) -> Iterator[Engine]:
    with Engine("scripted") as made:
        made.load(slow)
        yield made


def test_two_prompts_at_once_are_answered_one_after_the_other(engine: Engine) -> None:
    first, second = engine.start("One", SHORT), engine.start("Two", SHORT)
    assert [engine.wait(Finished).request for _ in range(2)] == [first, second]
    assert assert_in_order(engine.seen)[first] == 1


def test_a_load_during_an_answer_waits_for_its_end(engine: Engine, slow: str) -> None:
    answer = engine.start("One", SHORT)
    engine.wait(Tokens, request=answer)
    load = engine.client.new_request()
    engine.send(Load(load, slow))
    after = engine.start("Two", SHORT)
    engine.wait(Finished, request=after)
    ends = [event.request for event in engine.seen if isinstance(event, Finished | Loaded)]
    assert ends[-3:] == [answer, load, after]
    assert_in_order(engine.seen)


def test_a_prompt_during_a_load_is_answered_by_the_model_that_was_asked_for_before_it(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=("new",), load_seconds=0.2))
    with Engine("scripted") as engine:
        load = engine.client.new_request()
        engine.send(Load(load, script))
        engine.wait(LoadProgress, request=load)
        answer = engine.start("One")
        assert engine.wait(Finished, request=answer).text == "new"
        assert_in_order(engine.seen)


def test_a_prompt_behind_a_load_that_fails_says_that_no_model_is_loaded(engine: Engine, tmp_path: Path) -> None:
    load = engine.client.new_request()
    engine.send(Load(load, str(tmp_path / "missing.json")))
    answer = engine.start("One")
    assert engine.wait(Failed).request == load
    failed = engine.wait(Failed)
    assert failed.request == answer and "No model is loaded" in failed.sentence.english()
    assert_in_order(engine.seen)


@pytest.mark.parametrize("ended", ["answer", "load", "count", "unknown"])
def test_a_cancel_of_what_has_ended_changes_nothing(engine: Engine, slow: str, ended: str) -> None:
    count = engine.client.new_request()
    engine.send(Tokenize(count, "ok"))
    engine.wait(Tokenized)
    requests = {"answer": engine.ask("One", SHORT).request, "load": engine.load(slow).request, "count": count}
    answer = engine.start("Two", msgspec.structs.replace(GREEDY, max_tokens=100))
    engine.wait(Tokens, request=answer)
    engine.cancel(requests.get(ended, 10**6))
    assert engine.wait(Finished, request=answer).stop_reason == "length"
    assert_in_order(engine.seen)


def test_counting_and_rendering_are_answered_while_an_answer_is_written(engine: Engine) -> None:
    answer = engine.start("Why?")
    engine.wait(Tokens, request=answer)
    for number in range(10):
        count, render = engine.client.new_request(), engine.client.new_request()
        engine.send(Tokenize(count, "x" * number))
        engine.send(Render(render, user("Another conversation")))
        assert len(ids_of(engine.wait(Tokenized, request=count).ids)) == number
        assert "Another conversation" in engine.wait(Rendered, request=render).text
    engine.cancel(answer)
    assert engine.wait(Finished, request=answer).stop_reason == "cancelled"
    assert_in_order(engine.seen)


def test_a_template_that_never_ends_is_rendered_beside_an_answer_that_goes_on(engine: Engine) -> None:
    endless = "{% for a in range(90000) %}{% for b in range(90000) %}{% set c = b %}{% endfor %}{% endfor %}"
    answer = engine.start("Why?")
    engine.wait(Tokens, request=answer)
    render = engine.client.new_request()
    engine.send(Render(render, ChatPrompt((PromptMessage("user", "Hi"),), endless)))
    assert engine.wait(Failed).kind == "template"
    before = len(engine.tokens(answer))
    while len(engine.tokens(answer)) < before + 3:
        engine.wait(Tokens, request=answer)
    engine.cancel(answer)
    assert engine.wait(Finished, request=answer).stop_reason == "cancelled"
    assert_in_order(engine.seen)


def count_and_render(engine: Engine) -> list[int]:
    """Send what a window may send at any moment; return the requests."""
    requests = [engine.client.new_request() for _ in range(4)]
    for request in requests[:2]:
        engine.send(Tokenize(request, "How many tokens are these? 日本 <|im_end|> " * 20))
    for request in requests[2:]:
        engine.send(Render(request, ChatPrompt((PromptMessage("system", "Other"), PromptMessage("user", "Title?")))))
    return requests


def converse(engine: Engine, meanwhile: Callable[[], object]) -> list[Finished]:
    """Lead a conversation of two turns, answer the second one again, and call `meanwhile` in every phase."""
    limited = msgspec.structs.replace(GREEDY, max_tokens=24)
    messages = [PromptMessage("user", "What is light? " * 60)]
    answers = []
    for question in ("And what is a prism? Explain at length.", ""):
        request = engine.start(ChatPrompt(tuple(messages)), limited)
        for kind in (PromptReady, PrefillProgress, Tokens):
            engine.wait(kind, request=request)
            meanwhile()
        answers.append(engine.wait(Finished, request=request))
        meanwhile()
        messages += [PromptMessage("assistant", answers[-1].text, answers[-1].ids), PromptMessage("user", question)]
    answers.append(engine.ask(ChatPrompt(tuple(messages[:-2])), limited))
    return answers


def leave_alone(model: Path) -> None:
    """Count and render in every phase of a conversation, and compare it with one that was left alone."""
    asked: list[int] = []
    with Engine() as engine:
        engine.load(model, context=2048, threads=1, micro_batch=64)
        alone = converse(engine, lambda: None)
        engine.load(model, context=2048, threads=1, micro_batch=64)
        disturbed = converse(engine, lambda: asked.extend(count_and_render(engine)))
        while asked[-1] not in assert_in_order(engine.seen):
            engine.wait(Rendered, request=asked[-1])
        ends = assert_in_order(engine.seen)
        assert all(ends[request] == 1 for request in asked)
        assert not [event for event in engine.seen if isinstance(event, Failed)]
        for left, right in zip(alone, disturbed, strict=True):
            assert left.metrics.prompt_tokens_from_cache == right.metrics.prompt_tokens_from_cache
            assert left.metrics.kv == right.metrics.kv
            assert_same_answer(records_of(engine.seen, left.request), records_of(engine.seen, right.request))
        first, second, again = (done.metrics for done in disturbed)
        assert second.prompt_tokens_from_cache >= first.prompt_tokens + first.sampled_tokens - 1
        assert again.prompt_tokens_from_cache == again.prompt_tokens - 1


def test_counting_and_rendering_in_every_phase_leave_the_cache_and_the_answers_alone(tmp_path: Path) -> None:
    leave_alone(write_tiny_llama(tmp_path / "tiny.gguf", context=2048))


@pytest.mark.slow
def test_counting_and_rendering_leave_a_real_conversation_alone(starter_model: Path) -> None:
    leave_alone(starter_model)


@pytest.mark.parametrize("stopped_after", [PromptReady, PrefillProgress, Tokens])
def test_what_is_sent_right_after_a_stop_gets_an_answer_of_its_own(
    tmp_path: Path, stopped_after: type[PromptReady | PrefillProgress | Tokens]
) -> None:
    with Engine() as engine:
        engine.load(write_tiny_llama(tmp_path / "tiny.gguf"), context=1024, threads=1, micro_batch=64)
        alone = engine.ask("What is the capital of France?", SHORT)
        for number in range(10):
            stopped = engine.start(f"Tell me story number {number}. " * 10)
            engine.wait(stopped_after, request=stopped)
            engine.cancel(stopped)
            done = engine.ask("What is the capital of France?", SHORT)
            assert_same_answer(records_of(engine.seen, alone.request), records_of(engine.seen, done.request))
        assert_in_order(engine.seen)


class Storm:
    """Sends whatever a hurried person could, in an order that a seed fixes."""

    def __init__(self, engine: Engine, models: list[str], seed: int) -> None:
        self._engine = engine
        self._models = models
        self._random = random.Random(seed)
        self.sent: list[int] = []

    def blow(self, commands: int) -> None:
        """Send so many commands."""
        kinds = [self._ask, self._ask, self._count, self._render, self._cancel, self._cancel, self._move, self._load]
        for _ in range(commands):
            self._random.choice(kinds)()

    def _new(self) -> int:
        self.sent.append(self._engine.client.new_request())
        return self.sent[-1]

    def _ask(self) -> None:
        settings = msgspec.structs.replace(PRESETS["Wild"], max_tokens=self._random.randrange(1, 12))
        self._engine.send(Generate(self._new(), user("word " * self._random.randrange(1, 60)), settings, 0))

    def _count(self) -> None:
        self._engine.send(Tokenize(self._new(), "x" * self._random.randrange(100)))

    def _render(self) -> None:
        self._engine.send(Render(self._new(), user("Render me")))

    def _cancel(self) -> None:
        self._engine.send(Cancel(self._random.choice(self.sent or [1])))

    def _move(self) -> None:
        self._engine.send(ChangeSettings(self._random.choice(self.sent or [1]), PRESETS["Precise"]))
        self._engine.send(Watch(self._random.random() < 0.5))

    def _load(self) -> None:
        self._engine.send(Load(self._new(), self._random.choice(self._models), OPTIONS))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("backend", ["scripted", "llama"])
def test_in_a_storm_of_commands_every_request_ends_exactly_once(tmp_path: Path, backend: str, seed: int) -> None:
    if backend == "llama":
        models = [str(write_tiny_llama(tmp_path / f"{name}.gguf", seed=name)) for name in (1, 2)]
    else:
        models = [write_script(tmp_path, Script(answers=("word " * 9,), tokens_per_s=5000))]
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    with Engine(backend) as engine:  # type: ignore[arg-type]
        engine.load(models[0], context=512, threads=1)
        storm = Storm(engine, [*models, str(tmp_path / "broken.gguf")], seed)
        storm.blow(120)
        # The last load comes behind all that is worked off, the last count behind all that is answered meanwhile.
        load, count = engine.client.new_request(), engine.client.new_request()
        engine.send(Load(load, models[0], OPTIONS))
        engine.send(Tokenize(count, "ok"))
        while not {load, count} <= (ends := assert_in_order(engine.seen)).keys():
            next(engine.events())
        assert [request for request in storm.sent if ends[request] != 1] == []
        assert engine.ask("Hi", SHORT).metrics.sampled_tokens > 0
