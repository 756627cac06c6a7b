"""What the open model takes of each device: what was worked out beside what the load really took.

Asks for the estimate after each load of the window; the command line asks for none.
"""

from __future__ import annotations

import msgspec

from app.core.events import Failed, Loaded, LoadProgress, MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.services.engine_session import EngineSession


class MemoryRow(msgspec.Struct, frozen=True):
    """One device; None is unknown."""

    device: str
    estimate: DeviceMemory | None
    real: DeviceMemory | None


class Memory:
    """Keeps estimate beside reality for the model in the engine."""

    def __init__(self, session: EngineSession, dry_run: DryRunPort, *, asks: bool) -> None:
        """`asks` says whether there is somebody to look at an estimate."""
        self.changed: Signal[()] = Signal()
        """The rows are others."""
        self._session = session
        self._dry_run = dry_run
        self._asks = asks
        self._request: int | None = None
        self._estimate: tuple[DeviceMemory, ...] = ()
        self._real: tuple[DeviceMemory, ...] = ()
        session.load_told.connect(self._take_load)
        session.changed.connect(self._model_changed)

    @property
    def rows(self) -> tuple[MemoryRow, ...]:
        """Each device of the open model, in the order of llama.cpp's log; empty when none is open."""
        estimate = {use.device: use for use in self._estimate}
        real = {use.device: use for use in self._real}
        return tuple(MemoryRow(name, estimate.get(name), real.get(name)) for name in {**real, **estimate})

    def take(self, event: MemoryMeasured | Failed) -> None:
        """Take in an estimate; one that could not be made leaves it unknown."""
        if event.request != self._request:
            return
        self._request = None
        if isinstance(event, MemoryMeasured):
            self._estimate = event.memory
            self.changed.emit()

    def _take_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if not isinstance(event, Loaded):
            return
        self._real, self._estimate = event.model.memory, ()
        self.changed.emit()
        if self._asks:
            self._request = self._session.new_request()
            # nobody asks again, and beside the model every byte and every core is wanted
            self._dry_run.measure(self._request, event.model.path, event.model.options, keep=False)

    def _model_changed(self) -> None:
        if self._session.model is None and self._real:
            self._request, self._real, self._estimate = None, (), ()
            self.changed.emit()
