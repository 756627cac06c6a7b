"""Somebody who looks at the candidates, with nothing behind but what the test says."""

from __future__ import annotations

import tempfile
from pathlib import Path

from app.core.commands import Command
from app.core.conversation import Pieces
from app.core.events import Failed, Loaded, LoadProgress
from app.core.model import ModelInfo
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.store_commands import ReadPieces
from app.core.store_events import PiecesRead
from app.services.next_token import CandidatesView, NextToken
from app.services.questions import AnswerEvent
from app.services.sampling import Sampling
from app.services.vocabulary import Vocabulary
from app.system.settings_file import SettingsFile
from tests.fake_engine import FakeEngine
from tests.made_up_steps import NoStore


class BareSession:
    """As much of a session as those need who follow answers."""

    def __init__(self) -> None:
        self.changed: Signal[()] = Signal()
        self.load_told: Signal[LoadProgress | Loaded | Failed] = Signal()
        self.answer_told: Signal[AnswerEvent] = Signal()
        self.sent: Signal[int, int] = Signal()
        self.model: ModelInfo | None = None


class Onlooker:
    """The services of the section, around a session that the test leads."""

    def __init__(self, settings: SamplingSettings | None = None, *, asks: bool = True) -> None:
        self.session = BareSession()
        self.engine = FakeEngine(lambda _event: None)
        self.store = NoStore()
        file = SettingsFile(Path(tempfile.gettempdir()) / "no-such-folder" / "settings.json", lambda *_: None)
        self.sampling = Sampling(file)
        if settings is not None:
            self.change(settings)
        session, engine, store = self.session, self.engine, self.store
        self.vocabulary = Vocabulary(session, engine, store, asks=asks)  # type: ignore[arg-type]  # a bare session
        self.next_token = NextToken(session, engine, self.sampling, self.vocabulary)  # type: ignore[arg-type]  # likewise
        self.next_token.watch(True)

    @property
    def view(self) -> CandidatesView:
        """What is shown."""
        view = self.next_token.candidates()
        assert view is not None
        return view

    @property
    def sent(self) -> list[Command]:
        """What the engine was told."""
        return self.engine.sent

    def change(self, settings: SamplingSettings) -> None:
        """Move every slider."""
        self.sampling.change(**{name: getattr(settings, name) for name in settings.__struct_fields__})

    def load(self, event: Loaded, pieces: Pieces | None = None) -> None:
        """Have a model loaded whose pieces the store has, or not."""
        self.engine.alive = True
        self.session.model = event.model
        self.session.load_told.emit(event)
        self.session.changed.emit()
        asked = [command for command in self.store.sent if isinstance(command, ReadPieces)]
        if pieces is not None and asked:
            self.vocabulary.take(PiecesRead(asked[-1].request, pieces.tokenizer, pieces))

    def go(self) -> None:
        """Let the model go."""
        self.engine.alive = False
        self.session.model = None
        self.session.changed.emit()
