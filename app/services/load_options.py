"""Options of a load while people choose them: what they are, what they would take of each device, and the load itself.

A dry run answers what memory they take; the last question wins. Loads nothing and knows no widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from app.core.devices import GPU_KINDS, MAIN_MEMORY, MainMemory
from app.core.events import Failed, MemoryMeasured
from app.core.job_events import ModelChecked
from app.core.lane_memory import MARGIN as MAIN_MARGIN
from app.core.layer_choice import Room
from app.core.load_estimate import LoadEstimate
from app.core.metrics import DeviceMemory
from app.core.model import CONTEXT_STEP, FoundModel, LoadOptions, ModelInfo, ModelRef
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.core.words import Sentence
from app.services.engine_session import EngineSession
from app.services.largest_context import LargestContext
from app.services.load_check import CheckModel, Shortage, given_back, shortage, unchecked
from app.services.load_plan import LoadPlan
from app.services.wishes import Wish
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile


class DeviceNeed(msgspec.Struct, frozen=True):
    """What a load would take of one device; None is unknown."""

    name: str
    use: DeviceMemory
    free: int | None
    """Free bytes, with those that unloading the present model gives back."""
    total: int | None = None
    """Bytes of the whole device."""

    @property
    def room(self) -> int | None:
        """Bytes that stay free beyond its margin; None where a figure is unknown."""
        if self.free is None or self.use.total is None:
            return None
        is_main = self.use.device == MAIN_MEMORY
        limit = self.free - min(MAIN_MARGIN, self.free // 2) if is_main else Room(self.total, self.free).limit
        return None if limit is None else limit - self.use.total

    @property
    def fits(self) -> bool | None:
        """Whether it fits; None where a figure is unknown."""
        return None if self.free is None or self.use.total is None else self.use.total <= self.free


class LoadOptionsDraft:
    """The options of one model at a time; begins with what is remembered of it."""

    def __init__(
        self,
        session: EngineSession,
        dry_run: DryRunPort,
        settings: SettingsFile,
        jobs: Jobs,
        check: CheckModel,
        memory: Callable[[], MainMemory],
        plan: LoadPlan,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The model, an option, the figures or the problem are others."""
        self._session = session
        self._dry_run = dry_run
        self._settings = settings
        self._jobs = jobs
        self._check = check
        self._memory = memory
        self.plan = plan
        """What these options take by formula."""
        self._path: Path | None = None
        self._file: FoundModel | None = None
        self.last_load: LoadEstimate | None = None
        """What this model took when it was loaded last, beside what had been worked out; None where nobody saw that."""
        self._options = LoadOptions()
        self._changes: Mapping[str, object] = {}
        self._checking: int | None = None
        self._measuring: tuple[int, LoadOptions] | None = None
        self._measured: MemoryMeasured | None = None
        self.has_gpu: bool | None = None
        """Whether the engine's build computes on a GPU of this machine; None until the first dry run has told."""
        self._measured_for: LoadOptions | None = None
        self._lack: Shortage | None = None
        self._largest: LargestContext | None = None
        self._problem: Sentence | None = None
        plan.changed.connect(self.changed.emit)

    @property
    def path(self) -> Path | None:
        """The model's file; None while nobody chooses."""
        return self._path

    @property
    def file(self) -> FoundModel | None:
        """What the model's file says of itself; None until it was looked at."""
        return self._file

    @property
    def options(self) -> LoadOptions:
        """The options as they are chosen now."""
        return self._options

    @property
    def needs(self) -> tuple[DeviceNeed, ...]:
        """What a dry run said last that each device gives; empty where nothing is known yet."""
        return _needs(self._measured, self._memory(), self._session.model) if self._measured else ()

    @property
    def measured(self) -> MemoryMeasured | None:
        """What the last dry run said."""
        return self._measured

    @property
    def is_current(self) -> bool:
        """Whether the figures belong to the options as they are now."""
        return self._measured_for == self._options

    @property
    def lack(self) -> Shortage | None:
        """What these options lack; None where they fit or where too little is known."""
        return self._lack

    @property
    def largest_context(self) -> int | None:
        """The largest context that fits, where the chosen one does not; None while it is looked for or if none does."""
        return self._largest.found if self._largest is not None else None

    @property
    def problem(self) -> Sentence | None:
        """Why nothing can be said of this model, or of what it takes."""
        return self._problem

    def begin(self, path: Path, changes: Mapping[str, object] | None = None) -> None:
        """Choose options for a model, beginning with what is remembered of it and what was asked for beside that."""
        self.end()
        self._path, self._file, self.last_load, self._options = path, None, None, LoadOptions()
        self._changes = changes or {}
        request = self._checking = self._session.new_request()
        self._jobs.submit(
            "load options",
            lambda: ModelChecked(request, *self._check(path)),
            lambda: ModelChecked(request, unchecked(path), None),
        )
        self.changed.emit()

    def end(self) -> None:
        """Choose no longer; answers that are still on their way are ignored."""
        self.plan.end()
        self._path = self._checking = self._measuring = self._measured_for = None
        self._measured = self._lack = self._problem = self._largest = None

    def change(self, **changes: object) -> None:
        """Use other values for some options, held within their ranges."""
        options = msgspec.structs.replace(self._options, **changes).validated()
        if options != self._options:
            self._options = options
            self._measure()
            self.changed.emit()

    def reset(self) -> None:
        """Use the defaults."""
        self.change(**msgspec.structs.asdict(LoadOptions()))

    def load(self, *, anyway: bool = False) -> None:
        """Load the model with these options; `anyway` although memory does not seem to be enough."""
        if self._path is not None:
            self._session.use(Wish(self._path, msgspec.structs.asdict(self._options), anyway=anyway))

    def take(self, event: ModelChecked | MemoryMeasured | Failed) -> None:
        """Take in what a look or a dry run found; what belongs to an earlier choice is ignored."""
        if isinstance(event, ModelChecked):
            if event.request == self._checking:
                self._checking = None
                self._take_file(event.file, event.ref)
        elif self._measuring is not None and event.request == self._measuring[0]:
            _, options = self._measuring
            self._measuring = None
            self._take_measured(event, options)

    def _take_file(self, file: FoundModel, ref: ModelRef | None) -> None:
        self._file, self._problem = file, file.problem
        self.last_load = (
            next(reversed(self._settings.model(ref.identity).estimates), None) if ref is not None else None
        )
        if file.problem is None and ref is not None:
            chosen = self._options != LoadOptions()
            if not chosen:
                remembered = self._settings.model(ref.identity).options or LoadOptions()
                self._options = msgspec.structs.replace(remembered, **self._changes).validated()
            self._measure()
        self.changed.emit()

    def _measure(self) -> None:
        """Ask what the options take, unless an answer to an earlier question is still to come."""
        self._largest = None
        if self._file is None or self._file.problem is not None:
            return
        self.plan.want(str(self._path), self._options)
        if self._measuring is None:
            self._ask(self._options)

    def _ask(self, options: LoadOptions) -> None:
        self._measuring = (self._session.new_request(), options)
        self._dry_run.measure(self._measuring[0], str(self._path), options)

    def _take_measured(self, event: MemoryMeasured | Failed, options: LoadOptions) -> None:
        if self._largest is not None and self.is_current:
            self._search(self._largest, event)
        elif options == self._options:
            self._show(event)
        else:
            self._ask(self._options)  # somebody went on choosing
        self.changed.emit()

    def _show(self, event: MemoryMeasured | Failed) -> None:
        """Keep the figures of the options as they are now; where they lack memory, look for a context that does not."""
        self._measured_for = self._options
        self._measured = event if isinstance(event, MemoryMeasured) else None
        if isinstance(event, MemoryMeasured):
            self.has_gpu = any(device.kind in GPU_KINDS for device in event.devices)
            self.plan.note(event.devices)
        self._problem = event.sentence if isinstance(event, Failed) else None
        self._lack = self._shortage(event) if isinstance(event, MemoryMeasured) else None
        if isinstance(event, MemoryMeasured) and self._lack is not None and event.context > CONTEXT_STEP:
            lacking = self._lack.needed - self._lack.free
            self._largest = LargestContext(event.context, _taken(event), lacking)
            self._ask_next(self._largest)

    def _search(self, largest: LargestContext, event: MemoryMeasured | Failed) -> None:
        if isinstance(event, Failed):
            return
        lack = self._shortage(event)
        largest.note(event.context, _taken(event), lack.needed - lack.free if lack is not None else 0)
        self._ask_next(largest)

    def _ask_next(self, largest: LargestContext) -> None:
        context = largest.next
        if context is not None:
            self._ask(msgspec.structs.replace(self._options, context=context))

    def _shortage(self, event: MemoryMeasured) -> Shortage | None:
        return shortage(event, self._options, self._memory().available, self._session.model)


def _taken(measured: MemoryMeasured) -> int:
    return sum(use.total or 0 for use in measured.memory)


def _needs(measured: MemoryMeasured, main: MainMemory, present: ModelInfo | None) -> tuple[DeviceNeed, ...]:
    back = given_back(present)
    devices = {device.name: device for device in measured.devices if device.kind in GPU_KINDS}
    needs = []
    for use in measured.memory:
        device = devices.get(use.device)
        free = main.available if device is None or device.kind == "integrated_gpu" else device.free
        total = main.total if device is None else device.total
        name = device.description if device is not None else use.device
        needs.append(DeviceNeed(name, use, None if free is None else free + back.get(use.device, 0), total))
    return tuple(sorted(needs, key=lambda need: need.use.device == MAIN_MEMORY))
