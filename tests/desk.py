"""A whole program around an engine that the test leads, and what a pump would do with its events."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import Options, assemble
from app.core.events import Event
from app.services.notices import Notice
from app.services.program import Program
from app.services.wishes import Wish
from tests.fake_dry_run import FakeDryRun
from tests.fake_engine import FakeEngine
from tests.inline_store import InlineStore

WAIT_S = 60


class Desk:
    """Hands events on when the test says so."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TOKENLIGHT_HOME", str(home))
        self.engine: FakeEngine
        self.dry_run: FakeDryRun
        self.store: InlineStore
        self.take_from_store: Callable[[Event], None] = self._dispatch
        """What happens with what the store says; it says it before `send` returns."""
        self._woken = threading.Event()
        self.program: Program = assemble(
            Options(window=True), self._make_engine, self._make_dry_run, make_store=self._make_store
        )

    def _make_engine(self, sink: Callable[[Event], None], _log: str) -> FakeEngine:
        self.engine = FakeEngine(sink)
        return self.engine

    def _dispatch(self, event: Event) -> None:
        self.program.dispatch(event)

    def _hear_store(self, event: Event) -> None:
        self.take_from_store(event)

    def _make_store(self, folder: Path, _sink: Callable[[Event], None]) -> InlineStore:
        self.store = InlineStore(folder, self._hear_store)
        return self.store

    def _make_dry_run(self, sink: Callable[[Event], None]) -> FakeDryRun:
        self.dry_run = FakeDryRun(sink)
        return self.dry_run

    @property
    def notice(self) -> Notice:
        """What people are told now."""
        assert self.program.notices.latest is not None
        return self.program.notices.latest

    @property
    def told(self) -> str:
        """The sentence that people are told now."""
        return self.notice.sentence.english()

    @property
    def loaded_path(self) -> str:
        """The file of the model that is loaded."""
        assert self.program.session.model is not None
        return self.program.session.model.path

    def settle(self) -> None:
        """Hand on what has been said so far, and what follows from it."""
        while events := self.program.inbox.drain():
            for event in events:
                self.program.dispatch(event)

    def until(self, is_so: Callable[[], object]) -> None:
        """Hand on what background threads say until something is so."""
        self.program.inbox.on_first(lambda _urgent: self._woken.set())
        while True:
            self._woken.clear()
            self.settle()
            if is_so():
                break
            assert self._woken.wait(WAIT_S), "nothing happened any more"
        self.program.inbox.on_first(None)

    def begin_load(self, path: Path) -> None:
        """Wish for a model and wait until the engine was asked to load it."""
        loads = len(self.engine.sent)
        self.program.session.use(Wish(path))
        self.until(lambda: len(self.engine.sent) > loads)

    def load(self, path: Path) -> None:
        """Have a model loaded."""
        self.begin_load(path)
        self.engine.loaded()
        self.settle()

    def answer(self, *texts: str) -> None:
        """Let the engine answer the open question."""
        self.engine.prompt()
        for text in texts:
            self.engine.write(text)
        self.engine.finish()
        self.settle()
