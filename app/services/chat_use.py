"""How long people's chats are, asked of the store when somebody plans for them; knows no database and no widget."""

from __future__ import annotations

from app.core.model import CONTEXT_STEP
from app.core.ports import EnginePort, StorePort
from app.core.signal import Signal
from app.core.store_commands import MeasureUse
from app.core.store_events import UseMeasured


class ChatUse:
    """The latest figures; None until the store has answered."""

    def __init__(self, store: StorePort, engine: EnginePort) -> None:
        self.changed: Signal[()] = Signal()
        """The figures are others."""
        self._store = store
        self._engine = engine
        self._request: int | None = None
        self._measured: UseMeasured | None = None

    @property
    def measured(self) -> UseMeasured | None:
        """What the store has said."""
        return self._measured

    @property
    def context(self) -> int | None:
        """A context that holds every chat so far, in llama.cpp's steps; None where there is none, or nobody knows."""
        found = self._measured.context if self._measured is not None else None
        return None if found is None else max(1, -(-found.longest // CONTEXT_STEP)) * CONTEXT_STEP

    def refresh(self) -> None:
        """Ask the store; `changed` follows."""
        self._request = self._engine.new_request()
        self._store.send(MeasureUse(self._request))

    def take(self, event: UseMeasured) -> None:
        """Take an answer, unless a later question is open."""
        if event.request == self._request:
            self._measured = event
            self.changed.emit()
