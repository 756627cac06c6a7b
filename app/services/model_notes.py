"""What people say of the models of their library, and when each answered last and how fast; kept by the store.

Of a model by its identity: whatever its file is called, and whosever folder it lies in.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.model_note import LONGEST_NOTE, ModelNote, ModelUse
from app.core.ports import StorePort
from app.core.preset_names import cleaned, fitting
from app.core.signal import Signal
from app.core.store_commands import KeepModelNote, MeasureModelUse
from app.core.store_events import ModelUseMeasured, StoreOpened, StoreRenewed
from app.services.engine_session import EngineSession
from app.services.keeper import Keeper
from app.services.models import Models


class ModelNotes:
    """What people do goes before what was read; each change is kept at once."""

    def __init__(self, keeper: Keeper, store: StorePort, session: EngineSession, models: Models) -> None:
        self.changed: Signal[()] = Signal()
        """Something else is said, or known, of a model."""
        self._keeper = keeper
        self._store = store
        self._session = session
        self._models = models
        self._notes: dict[str, ModelNote] = {}
        self._uses: dict[str, ModelUse] = {}
        self._request: int | None = None
        self.has_measured = False
        """Whether the store has said when models answered."""
        models.own_name = lambda identity: self.of(identity).name
        session.own_name = self._name_at

    def of(self, identity: str) -> ModelNote:
        """Return what is said of a model, which may be nothing."""
        return self._notes.get(identity, ModelNote(identity))

    def use_of(self, identity: str) -> ModelUse | None:
        """Return when a model answered last and how fast; None where it never did, or nobody knows yet."""
        return self._uses.get(identity)

    def write(self, identity: str, text: str) -> None:
        """Keep a note of a model in place of the one before; an empty one goes."""
        self._keep(identity, note=kept_note(text))

    def call(self, identity: str, name: str) -> None:
        """Call a model something, or what its file says where the name is empty; no file is touched."""
        self._keep(identity, name=kept_name(name))

    def star(self, identity: str, is_favourite: bool) -> None:
        """Make a model a favourite, or no longer one."""
        self._keep(identity, favourite=is_favourite)

    def refresh(self) -> None:
        """Ask the store when models answered; `changed` follows where that is news."""
        self._request = self._session.new_request()
        self._store.send(MeasureModelUse(self._request))

    def take(self, event: StoreOpened | StoreRenewed | ModelUseMeasured) -> None:
        """Take in what was kept, or keep all of it again where the file was made anew."""
        match event:
            case StoreOpened(notes=notes):
                for note in notes:
                    self._notes.setdefault(note.model, note)
                if notes:
                    self._tell()
            case StoreRenewed():
                for note in self._notes.values():
                    self._keeper.send(KeepModelNote(note, self._keeper.stamps.now_ms()))
            case ModelUseMeasured(request, uses):
                if request == self._request:
                    self._take_uses(uses)

    def _name_at(self, path: Path, identity: str) -> str:
        return self.of(identity or self._models.identity_of(str(path))).name

    def _take_uses(self, measured: tuple[ModelUse, ...]) -> None:
        uses = {use.model: use for use in measured}
        is_news, self._uses, self.has_measured = uses != self._uses or not self.has_measured, uses, True
        if is_news:
            self.changed.emit()

    def _keep(self, identity: str, **changes: object) -> None:
        if not identity:
            return
        note = msgspec.structs.replace(self.of(identity), **changes)
        if note != self.of(identity):
            self._notes[identity] = note
            self._keeper.send(KeepModelNote(note, self._keeper.stamps.now_ms()))
            self._tell()

    def _tell(self) -> None:
        self._models.name_again()
        self.changed.emit()


def kept_name(name: str) -> str:
    """Return a name as it is kept: on one line, not too long; empty where nothing of it would be seen."""
    return fitting(name) if cleaned(name) else ""


def kept_note(text: str) -> str:
    """Return a note as it is kept."""
    return text[:LONGEST_NOTE] if text.strip() else ""
