"""The program as the window holds it, in this process and with an engine process of its own; the test is the pump."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import pytest

from app.bootstrap import Options, build
from app.core.events import Event, Failed, Finished
from app.engine.client import EngineClient
from app.services.program import Program
from app.services.turns import Turn
from app.services.wishes import Wish

GUARD_SECONDS = 120.0
MOST_TOKENS = 24
"""A tiny model writes nonsense without an end."""


class Inside:
    """Hands events on, keeps them, and counts how often each question ended."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, *, scripted: bool) -> None:
        monkeypatch.setenv("TOKENLIGHT_HOME", str(home))
        self.program: Program = build(Options(fake_engine=scripted, window=True))
        self.program.sampling.change(max_tokens=0 if scripted else MOST_TOKENS)
        self.ends: list[Finished | Failed] = []
        self.refusals: list[Failed] = []
        """Loads that came to nothing."""
        self.labels: list[str] = []
        """The model that was shown as ready, at every change."""
        self._woken = threading.Event()
        self.program.inbox.on_first(lambda _urgent: self._woken.set())
        self.program.session.answer_told.connect(self._note_end)
        self.program.session.load_told.connect(self._note_refusal)
        self.program.session.changed.connect(self._note_label)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.program.inbox.on_first(None)
        self.program.stop()

    @property
    def answer(self) -> Turn:
        """The last turn."""
        return self.program.chat.turns[-1]

    @property
    def phase(self) -> str:
        """What the engine is doing."""
        return self.program.session.phase

    @property
    def engine(self) -> psutil.Process | None:
        """The engine process, None when there is none."""
        client = self.program.engine
        assert isinstance(client, EngineClient)
        number = client.process_id
        return psutil.Process(number) if number is not None else None

    def until(self, is_so: Callable[[], object]) -> None:
        """Hand events on until something is so; silence for long fails the test."""
        while not is_so():
            self._woken.clear()
            events = self.program.inbox.drain()
            for event in events:
                self.program.dispatch(event)
            if not events and not is_so():
                assert self._woken.wait(GUARD_SECONDS), f"nothing happened any more; {self.phase}"

    def load(self, path: Path) -> None:
        """Load a model and wait until it is ready."""
        self.refusals.clear()
        self.program.session.use(Wish(path))
        self.until(lambda: self.phase == "ready" or self.refusals)
        assert not self.refusals, self.refusals

    def send(self, text: str) -> None:
        """Ask, as the button does."""
        assert self.program.chat.send(text)

    def ask(self, text: str) -> Turn:
        """Ask and wait for the end of the answer."""
        self.send(text)
        self.until(lambda: not self.program.chat.busy)
        return self.answer

    def _note_end(self, event: Event) -> None:
        if isinstance(event, Finished | Failed):
            self.ends.append(event)

    def _note_refusal(self, event: Event) -> None:
        if isinstance(event, Failed):
            self.refusals.append(event)

    def _note_label(self) -> None:
        if self.phase in ("ready", "busy") and self.program.session.model is not None:
            self.labels.append(Path(self.program.session.model.path).name)
