"""How much disk the chats take, asked for when somebody looks; knows no database and no widget."""

from __future__ import annotations

from app.core.ports import EnginePort, StorePort
from app.core.signal import Signal
from app.core.store_commands import MeasureStore
from app.core.store_events import StoreMeasured


class DiskUse:
    """The latest figures; None until the store has answered."""

    def __init__(self, store: StorePort, engine: EnginePort) -> None:
        self.changed: Signal[()] = Signal()
        """The figures are others."""
        self._store = store
        self._engine = engine
        self._request: int | None = None
        self._measured: StoreMeasured | None = None

    @property
    def total_bytes(self) -> int | None:
        """What everything that is kept takes."""
        return self._measured.total_bytes if self._measured is not None else None

    @property
    def record_bytes(self) -> int | None:
        """What the record of every token takes of it."""
        return self._measured.record_bytes if self._measured is not None else None

    def refresh(self) -> None:
        """Ask the store; `changed` follows."""
        self._request = self._engine.new_request()
        self._store.send(MeasureStore(self._request))

    def take(self, event: StoreMeasured) -> None:
        """Take an answer, unless a later question is open."""
        if event.request == self._request:
            self._measured = event
            self.changed.emit()
