"""What the open model takes of each device: what was worked out beside what the load really took.

Asks for the estimate after each load of the window; the command line asks for none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from app.core.commands import ListDevices
from app.core.devices import GPU_KINDS, MAIN_MEMORY, Device, Gpu, GpuReport, LibraryFacts, MainMemory, gpu_of
from app.core.events import DevicesListed, Failed, Loaded, LoadProgress, MemoryMeasured
from app.core.load_estimate import kept_with, load_estimate
from app.core.metrics import DeviceMemory
from app.core.model import ModelInfo
from app.core.ports import DryRunPort, EnginePort
from app.core.signal import Signal
from app.core.words import Sentence
from app.services.device_use import DeviceUse, device_use, gpu_use, main_memory_use, named, why_no_gpu
from app.services.engine_session import EngineSession
from app.system.gpus import VISIBLE
from app.system.settings_file import SettingsFile


def whole(uses: Iterable[DeviceMemory]) -> int | None:
    """Return the bytes on all devices; None where a part of them is unknown."""
    sizes = [use.total for use in uses]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


class MemoryRow(msgspec.Struct, frozen=True):
    """One device; None is unknown."""

    device: str
    estimate: DeviceMemory | None
    real: DeviceMemory | None


class Memory:
    """Keeps estimate beside reality for the model in the engine."""

    def __init__(
        self,
        session: EngineSession,
        dry_run: DryRunPort,
        engine: EnginePort | None = None,
        settings: SettingsFile | None = None,
        *,
        asks: bool,
    ) -> None:
        """`asks` says whether there is somebody to look; an engine is asked what its build can compute on.

        `settings` keep how far the estimate was from the truth.
        """
        self.changed: Signal[()] = Signal()
        """The rows are others."""
        self._session = session
        self._dry_run = dry_run
        self._engine = engine
        self._settings = settings
        self._asks = asks
        self._request: int | None = None
        self._listing: int | None = None
        self._library: LibraryFacts | None = None
        self._devices: tuple[Device, ...] = ()
        self._estimate: tuple[DeviceMemory, ...] = ()
        self._real: tuple[DeviceMemory, ...] = ()
        session.load_told.connect(self._take_load)
        session.changed.connect(self._model_changed)

    @property
    def rows(self) -> tuple[MemoryRow, ...]:
        """Each device of the open model, in the order of llama.cpp's log; empty when none is open."""
        estimate, real = named(self._estimate), named(self._real)
        return tuple(MemoryRow(name, estimate.get(name), real.get(name)) for name in {**real, **estimate})

    @property
    def model(self) -> ModelInfo | None:
        """The open model."""
        return self._session.model

    @property
    def gpu_is_there(self) -> bool | None:
        """Whether the engine has a GPU that it can use; None before it is known."""
        return any(device.kind in GPU_KINDS for device in self._devices) if self._devices else None

    @property
    def devices(self) -> tuple[Device, ...]:
        """What the engine can compute on; empty before it is known."""
        return self._devices

    @property
    def gpu_names(self) -> tuple[str, ...]:
        """What the GPUs are called that the engine can compute on, as far as that is known."""
        return tuple(device.description for device in self._devices if device.kind in GPU_KINDS)

    def gpus_in_use(self, report: GpuReport) -> tuple[Gpu, ...]:
        """Return the GPUs that hold a part of the open model, as their driver knows them."""
        holds = {use.device for use in self._real if use.device != MAIN_MEMORY}
        found = (gpu_of(device, report.gpus) for device in self._devices if device.name in holds)
        return tuple(gpu for gpu in found if gpu is not None)

    def uses(self, memory: MainMemory | None, report: GpuReport) -> tuple[DeviceUse, ...]:
        """Return what is in each device's memory, GPUs first; of a machine without one it is the main memory."""
        rows = {row.device: row for row in self.rows}
        devices = {device.name: device for device in self._devices}
        main = rows.pop(MAIN_MEMORY, MemoryRow(MAIN_MEMORY, None, None))
        uses = [
            device_use(devices.get(row.device), row.device, row.real, row.estimate, report.gpus)
            for row in rows.values()
        ]
        if not rows:
            uses = [gpu_use(gpu) for gpu in report.gpus if gpu.visible and self._session.model is None]
        if main.real is not None or not uses:
            uses.append(main_memory_use(memory, main.real, main.estimate))
        return tuple(uses)

    def why_no_gpu(self, report: GpuReport) -> Sentence | None:
        """Return why the open model uses no GPU; None where it uses one or nothing can be said."""
        return why_no_gpu(self._session.model, self._devices, report, self._library, os.environ.get(VISIBLE))

    def take(self, event: MemoryMeasured | DevicesListed | Failed) -> None:
        """Take in an estimate or a list of devices; one that could not be made leaves it unknown."""
        if isinstance(event, DevicesListed) and event.request == self._listing:
            self._library, self._devices = event.library, event.devices
            self.changed.emit()
        elif event.request == self._request:
            self._request = None
            if isinstance(event, MemoryMeasured):
                self._estimate = event.memory
                self._devices = self._devices or event.devices
                self._keep()
                self.changed.emit()

    def _take_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if not isinstance(event, Loaded):
            return
        self._real, self._estimate, self._devices, self._library = event.model.memory, (), (), None
        self.changed.emit()
        if self._asks and self._engine is not None:
            self._listing = self._session.new_request()
            self._engine.send(ListDevices(self._listing))
        if self._asks:
            self._request = self._session.new_request()
            # nobody asks again, and beside the model every byte and every core is wanted
            self._dry_run.measure(self._request, event.model.path, event.model.options, keep=False)

    def _keep(self) -> None:
        """Keep the estimate beside what the load took, where both are whole."""
        ref, estimate, real = self._session.ref, whole(self._estimate), whole(self._real)
        if self._settings is None or ref is None or not estimate or real is None:
            return
        known = self._settings.model(ref.identity)
        kept = kept_with(known.estimates, load_estimate(estimate, real))
        self._settings.remember_model(ref.identity, msgspec.structs.replace(known, estimates=kept))

    def _model_changed(self) -> None:
        if self._session.model is None and (self._real or self._request is not None):
            self._request = self._listing = None
            self._real, self._estimate = (), ()
            self.changed.emit()
