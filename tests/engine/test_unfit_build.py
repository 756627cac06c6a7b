"""What is wanted of a process that cannot run its build of llama.cpp: done again in its order, or not at all."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.commands import Cancel, ChangeSettings, Command, Load, Tokenize, Watch
from app.core.events import Failed, Hello, Loaded, LoadProgress, Tokenized, Unloaded
from app.core.sampling import PRESETS
from app.engine.client import EngineClient
from app.engine.incarnation import Incarnation
from app.engine.scripted import Script
from tests.broken_libraries import needs_linux, real_folder
from tests.engine.harness import GUARD_SECONDS, Engine, write_script

pytestmark = needs_linux


class SlowClient(EngineClient):
    """What the thread of a process that ended has to say waits until a test lets it through."""

    def __init__(self, engine: Engine) -> None:
        self.gone, self.may_tell = threading.Event(), threading.Event()
        super().__init__(engine.inbox.put, backend="scripted", plain_folder=str(real_folder()))

    def _put(self, task: object) -> None:
        if threading.current_thread().name == "engine-events":
            self.gone.set()
            self.may_tell.wait()
        super()._put(task)  # type: ignore[arg-type]


class UnfitEngine(Engine):
    """An engine whose first process dies of an illegal instruction while it loads “slow”."""

    client: SlowClient

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.client = SlowClient(self)
        self._folder = folder
        (folder / "quick").mkdir()
        self.slow = write_script(folder, Script(fault="hang", fault_at=-2))
        self.quick = write_script(folder / "quick", Script())

    def begin(self, path: str) -> int:
        request = self.client.new_request()
        self.send(Load(request, path))
        return request

    def start_loading(self) -> int:
        """Begin the load that hangs, and return its request."""
        request = self.begin(self.slow)
        self.wait(LoadProgress)
        return request

    def break_down(self) -> None:
        """Let the process die; what it was asked for is quick from now on."""
        write_script(self._folder, Script())
        assert self.client.process_id is not None
        os.kill(self.client.process_id, signal.SIGILL)
        assert self.client.gone.wait(GUARD_SECONDS)

    def loaded(self) -> list[int]:
        return [event.request for event in self.seen if isinstance(event, Loaded)]

    def settle(self) -> None:
        """Wait until everything that was sent so far is done."""
        request = self.client.new_request()
        self.send(Tokenize(request, "x"))
        self.wait(Tokenized, Failed, request=request)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[UnfitEngine]:
    with UnfitEngine(tmp_path) as made:
        yield made
        made.client.may_tell.set()


def test_what_a_process_left_is_done_before_what_came_later(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.break_down()
    second = engine.begin(engine.quick)
    engine.wait(Loaded, request=second)
    engine.client.may_tell.set()
    engine.settle()
    assert engine.loaded() == [first, second]


def test_a_process_that_nobody_asks_for_more_is_followed_by_another_at_once(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.break_down()
    engine.client.may_tell.set()
    engine.wait(Loaded, request=first)
    assert sum(isinstance(event, Hello) for event in engine.seen) == 2


def test_a_cancel_that_the_dying_process_got_holds(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.cancel(first)
    engine.settle()
    engine.break_down()
    engine.client.may_tell.set()
    # the process may have come to its cancel before it hung, and then it said so itself
    answers = [event for event in engine.seen if isinstance(event, Failed) and event.request == first]
    answers = answers or [engine.wait(Failed, request=first)]
    assert [answer.kind for answer in answers] == ["cancelled"]
    engine.wait(Loaded, request=engine.begin(engine.quick))
    assert first not in engine.loaded()


def test_a_cancel_after_the_death_drops_what_was_left(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.break_down()
    engine.cancel(first)
    second = engine.begin(engine.quick)
    engine.client.may_tell.set()
    engine.wait(Loaded, request=second)
    engine.settle()
    assert [event.request for event in engine.seen if isinstance(event, Failed)] == [first]
    assert engine.loaded() == [second]


def test_an_unload_after_the_death_drops_everything(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.break_down()
    engine.client.unload()
    second = engine.begin(engine.quick)
    engine.client.may_tell.set()
    engine.wait(Loaded, request=second)
    engine.settle()
    failed = [event for event in engine.seen if isinstance(event, Failed)]
    assert [(event.request, event.kind) for event in failed] == [(first, "cancelled")]
    assert sum(isinstance(event, Unloaded) for event in engine.seen) == 1
    assert engine.loaded() == [second]


def test_closing_after_the_death_starts_no_process(engine: UnfitEngine) -> None:
    first = engine.start_loading()
    engine.break_down()
    engine.client._put("close")
    engine.client.may_tell.set()
    engine.client.close()
    assert engine.wait(Failed, request=first).kind == "cancelled"
    engine.wait(Unloaded)
    assert engine.inbox.empty()
    assert sum(isinstance(event, Hello) for event in engine.seen) == 1


def test_what_goes_with_a_request_is_said_again(engine: UnfitEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[object]] = []
    begin = Incarnation.begin

    def note(this: Incarnation, orders: tuple[tuple[object, bytes], ...]) -> None:
        begun.append([command for command, _ in orders])
        begin(this, orders)  # type: ignore[arg-type]

    monkeypatch.setattr(Incarnation, "begin", note)
    first = engine.start_loading()
    said: list[Command] = [Watch(True), ChangeSettings(first, PRESETS["Precise"])]
    for command in (*said, ChangeSettings(77, PRESETS["Precise"]), Cancel(77)):
        engine.send(command)
    engine.settle()
    engine.break_down()
    engine.client.may_tell.set()
    engine.wait(Loaded, request=first)
    assert begun[1] == [Load(first, engine.slow), *said]
