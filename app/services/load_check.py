"""Looks at a load before anything is given up for it: what the file is, and whether memory is enough.

The first look is at the file's own words, in a job. Only where these make it doubtful, a dry run works out the bytes;
what is unknown never stands in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.core.devices import GPU_KINDS, MAIN_MEMORY, Device, DeviceKind, MainMemory
from app.core.events import Failed, MemoryMeasured
from app.core.job_events import ModelChecked
from app.core.metrics import DeviceMemory
from app.core.model import KV_ELEMENT_BYTES, FoundModel, LoadOptions, ModelInfo, ModelRef
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.planner.margins import reserve
from app.planner.memory_plan import PlannedDevice
from app.services.file_names import short_name
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

CheckModel = Callable[[Path], tuple[FoundModel, ModelRef | None]]
"""Looks at a file before it is loaded; runs on a job thread."""
GIB = 1 << 30
_SHARES_MAIN_MEMORY: frozenset[DeviceKind] = frozenset({"integrated_gpu"})


class Checked(msgspec.Struct, frozen=True):
    """A load that nothing speaks against."""

    request: int
    file: FoundModel
    ref: ModelRef
    options: LoadOptions


class Shortage(msgspec.Struct, frozen=True):
    """What a load lacks, in bytes."""

    device: str
    needed: int
    free: int
    by_cache: bool
    """Whether a smaller context could make it fit."""
    kept: int = 0
    """What stays free beside it on purpose."""

    @property
    def told(self) -> int:
        """What people are told that a model needs, here and on its card: with what stays free."""
        return self.needed + self.kept


@dataclass
class _Inquiry:
    request: int
    path: Path
    changes: Mapping[str, object]
    anyway: bool
    present: ModelInfo | None
    checked: Checked | None = None


class LoadCheck:
    """Looks at one wish at a time; the last one counts."""

    def __init__(
        self,
        jobs: Jobs,
        settings: SettingsFile,
        dry_run: DryRunPort,
        check: CheckModel,
        memory: Callable[[], MainMemory],
    ) -> None:
        self.passed: Signal[Checked] = Signal()
        """Nothing speaks against a load."""
        self.refused: Signal[Failed, FoundModel] = Signal()
        """Why a model is not loaded, and what its file says."""
        self._jobs = jobs
        self._settings = settings
        self._dry_run = dry_run
        self._check = check
        self.memory = memory
        """What main memory there is now."""
        self._inquiry: _Inquiry | None = None
        self.own_name: Callable[[str], str] = lambda _identity: ""
        """What people call a model; empty where they have given it no name."""

    @property
    def busy(self) -> bool:
        """Whether a wish is being looked at."""
        return self._inquiry is not None

    def begin(
        self, request: int, path: Path, changes: Mapping[str, object], *, anyway: bool, present: ModelInfo | None
    ) -> None:
        """Look at a file and at memory; `anyway` leaves out the latter, `present` is the model that would go."""
        self._inquiry = _Inquiry(request, path, changes, anyway, present)
        self._jobs.submit(
            "model check",
            lambda: ModelChecked(request, *self._check(path)),
            lambda: ModelChecked(request, unchecked(path), None),
        )

    def cancel(self) -> None:
        """Look no further."""
        self._inquiry = None

    def take(self, event: ModelChecked | MemoryMeasured | Failed) -> None:
        """Take in what a look found; what belongs to an earlier wish is ignored."""
        inquiry = self._inquiry
        if inquiry is None or event.request != inquiry.request:
            return
        match event:
            case ModelChecked():
                self._take_file(inquiry, event)
            case MemoryMeasured() if inquiry.checked is not None:
                checked = inquiry.checked
                lack = shortage(event, checked.options, self.memory().available, inquiry.present)
                name = self.own_name(checked.ref.identity) or checked.file.name
                self._end(checked, None if lack is None else _no_room(name, checked.request, event, lack))
            case Failed() if inquiry.checked is not None:
                self._end(inquiry.checked, event if event.kind in ("model", "wrong_use") else None)
            case _:
                pass

    def _take_file(self, inquiry: _Inquiry, event: ModelChecked) -> None:
        problem, ref = event.file.problem, event.ref
        if problem is not None or ref is None:
            self._inquiry = None
            self.refused.emit(Failed(event.request, "model", problem or _unusable(inquiry.path)), event.file)
            return
        remembered = self._settings.model(ref.identity).options or LoadOptions()
        options = msgspec.structs.replace(remembered, **inquiry.changes).validated()
        inquiry.checked = checked = Checked(event.request, event.file, ref, options)
        if not inquiry.anyway and doubtful(checked.file, options, self.memory().available, inquiry.present):
            self._dry_run.measure(event.request, str(inquiry.path), options, keep=False)
        else:
            self._end(checked, None)

    def _end(self, checked: Checked, failed: Failed | None) -> None:
        self._inquiry = None
        if failed is None:
            self.passed.emit(checked)
        else:
            self.refused.emit(failed, checked.file)


def doubtful(file: FoundModel, options: LoadOptions, available: int, present: ModelInfo | None) -> bool:
    """Return whether a load is worth a closer look: it may take more than half of the memory, or its cache is unknown
    and larger than usual, or somebody's layers must fit a GPU and a model that is open would be given up for them.
    """
    if present is not None and options.gpu_layers not in (None, 0):
        return True
    cells = options.cells(file.trained_context)
    usual = options.context is None or cells <= LoadOptions().cells(file.trained_context)
    if file.cache_elements is None and not usual:
        return True
    element = max(KV_ELEMENT_BYTES[options.kv_type_k], KV_ELEMENT_BYTES[options.kv_type_v])
    most = file.size + (file.cache_elements or 0) * cells * element
    return most > (available + given_back(present).get(MAIN_MEMORY, 0)) / 2


def given_back(present: ModelInfo | None) -> dict[str, int]:
    """Return the bytes by device that unloading a model frees; weights of a mapped file that nothing locks are free already."""
    if present is None:
        return {}
    mapped = present.options.mmap and not present.options.mlock
    return {
        use.device: (use.total or 0) - ((use.weights or 0) if mapped and use.device == MAIN_MEMORY else 0)
        for use in present.memory
    }


def shortage(
    measured: MemoryMeasured, asked: LoadOptions, available: int, present: ModelInfo | None
) -> Shortage | None:
    """Return what a load lacks; None where it fits or where too little is known."""
    back = given_back(present)
    gpus = {device.name: device for device in measured.devices if device.kind in GPU_KINDS}
    shared = {name for name, device in gpus.items() if device.kind in _SHARES_MAIN_MEMORY}
    room = available + sum(back.get(name, 0) for name in {MAIN_MEMORY, *shared})
    own = {
        name: None if device.free is None else device.free + back.get(name, 0)
        for name, device in gpus.items()
        if name not in shared
    }
    if asked.gpu_layers is None and not own.keys().isdisjoint(back):
        # the layers were chosen beside a model that will be gone: only all devices together say something
        rooms = [_planned(gpus[name], free) for name, free in own.items() if free is not None]
        together = (PlannedDevice(MAIN_MEMORY, False, free=room), *rooms)
        return _lack(MAIN_MEMORY, measured.memory, *together) if len(rooms) == len(own) else None
    for use in measured.memory:
        gpu, free = gpus.get(use.device), own.get(use.device)
        if gpu is None or free is None:
            continue
        lack = _lack(gpu.description, (use,), _planned(gpu, free))
        if lack is not None:
            return lack
    others = tuple(use for use in measured.memory if use.device not in own)
    return _lack(MAIN_MEMORY, others, PlannedDevice(MAIN_MEMORY, False, free=room))


def _planned(gpu: Device, free: int) -> PlannedDevice:
    return PlannedDevice(gpu.name, True, gpu.total, free)


def _lack(device: str, uses: tuple[DeviceMemory, ...], *places: PlannedDevice) -> Shortage | None:
    needed = sum(use.total or 0 for use in uses)
    weights = sum(use.weights or 0 for use in uses)
    free = sum(place.free or 0 for place in places)
    if needed <= free:
        return None
    return Shortage(device, needed, free, weights < free, sum(reserve(place) or 0 for place in places))


def _no_room(name: str, request: int, measured: MemoryMeasured, lack: Shortage) -> Failed:
    values: dict[str, str | int | float] = {
        "name": name,
        "context": measured.context,
        "needed": round(lack.told / GIB, 1),
        "free": round(lack.free / GIB, 1),
        "device": lack.device,
    }
    if lack.device != MAIN_MEMORY:
        sentence = translate(
            "LoadCheck",
            "“{name}” with a context of {context:,} tokens needs {needed:,} GiB on {device}, where {free:,} GiB are"
            " free: put fewer layers on the GPU or take a smaller context.",
            **values,
        )
    elif lack.by_cache:
        sentence = translate(
            "LoadCheck",
            "“{name}” with a context of {context:,} tokens needs {needed:,} GiB of memory, and {free:,} GiB are free:"
            " take a smaller context or close other programs.",
            **values,
        )
    else:
        sentence = translate(
            "LoadCheck",
            "“{name}” needs {needed:,} GiB of memory, and {free:,} GiB are free: take a smaller model or a smaller"
            " quantisation of it, or close other programs.",
            **values,
        )
    return Failed(request, "memory", sentence)


def unchecked(path: Path) -> FoundModel:
    """Return what is said of a file when the look at it broke."""
    problem = translate(
        "EngineSession",
        "Looking at “{file}” failed in a way that nobody expected; the log has the details. Choose another file.",
        file=short_name(path),
    )
    return FoundModel(str(path), 0, path.stem, problem=problem)


def _unusable(path: Path) -> Sentence:
    return translate("EngineSession", "“{file}” is no usable model. Choose another file.", file=short_name(path))
