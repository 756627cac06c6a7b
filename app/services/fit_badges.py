"""Whether each model that can be chosen fits on this machine: a verdict and its reason, by the options it would load with.

Worked out in a job by the header's arithmetic; nobody waits for it, and `changed` follows where a verdict is another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from app.core.devices import Device
from app.core.events import Failed, MemoryMeasured
from app.core.job_events import LanesAnalysed
from app.core.model import LoadOptions
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.quantised import of_size, quantised
from app.services.engine_session import EngineSession
from app.services.fit_verdict import Fit, fit_of
from app.services.hub_models import is_hub_path
from app.services.latest_job import LatestJob
from app.services.memory import Memory
from app.services.models import Models
from app.services.planning import Planning
from app.services.planning_models import PlannedFile
from app.services.planning_values import PlanChoice
from app.services.planning_view import place_of, plan_options_of
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

JOB = "fit badges"
STEP_BYTES = 64 << 20
"""Free memory counts in such steps: with every sample it is a little different, and no verdict is."""
MOST_TRIED = 3
"""The engine may fail so often before it is said that nothing tells which GPUs there are."""
MOST_REFUSED = 20
"""So many files may be refused before what is known of this machine without them counts."""


class Estimate(NamedTuple):
    """A model as it would be in another quantisation, by what is known of the one at a path."""

    path: str
    quantisation: str
    size: int | None = None
    """Of the other file, where that is known; None estimates it."""

    def of(self, file: PlannedFile) -> PlannedFile:
        """Return the other one."""
        if file.model is None:
            return file
        name, size = self.quantisation, self.size
        return replace(file, model=quantised(file.model, name) if size is None else of_size(file.model, name, size))


class Elsewhere(NamedTuple):
    """A model as it would run on one GPU, or with other options than a load here takes."""

    model: str | Estimate
    gpu: str
    """The id of the GPU; empty is this machine."""
    planned: PlanChoice | None = None
    """What is planned; None is as a load takes it. A context is at most what the model was trained for."""


Wanted = str | Estimate | Elsewhere
"""What a verdict is wanted of: a file by its path, or an estimate; on this machine unless it says another."""


class _Machine(msgspec.Struct, frozen=True):
    """What all verdicts rest on."""

    devices: tuple[PlannedDevice, ...] = ()
    problem: Sentence | None = None
    """Why it is not known which devices there are, where asking has failed."""


class _Asked(msgspec.Struct, frozen=True):
    """What one verdict rests on."""

    file: PlannedFile
    options: LoadOptions
    machine: _Machine
    refusal: Sentence | None = None
    """Why llama.cpp does not take the file, where it was asked."""
    planned: PlanOptions | None = None
    """What is planned instead of a load."""


class FitBadges:
    """Tells what is known, and works out what somebody wants to see."""

    def __init__(
        self,
        session: EngineSession,
        models: Models,
        settings: SettingsFile,
        memory: Memory,
        dry_run: DryRunPort,
        planning: Planning,
        jobs: Jobs,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """A verdict is another."""
        self._session = session
        self._models = models
        self._settings = settings
        self._memory = memory
        self._dry_run = dry_run
        self._planning = planning
        self._wanted: dict[object, tuple[Wanted, ...]] = {}
        """The models that somebody looks at, by who it is."""
        self._by_path: dict[str, dict[Wanted, None]] = {}
        """The same by their files."""
        self._known: dict[Wanted, Fit] = {}
        self._machine = _Machine()
        self._asked: dict[Wanted, _Asked] = {}
        """What each verdict rests on that is known or worked out: of thousands only what is another one is worked out anew."""
        self._stale: dict[Wanted, None] = {}
        """Those that are worked out next."""
        self._batch: dict[Wanted, _Asked] = {}
        """Those that are worked out now."""
        self._listing: int | None = None
        """The dry run that tells which GPUs there are, where nothing else has told them."""
        self._tried: list[str] = []
        """The files that were asked about since somebody began to look, the newest last."""
        self._refused: dict[str, Sentence] = {}
        """Of these files, those that llama.cpp refused, and why: that says nothing of any other."""
        self._problem: Sentence | None = None
        """Why asking has failed."""
        self._is_listed = self._is_given_up = False
        self._job: LatestJob[dict[Wanted, Fit]] = LatestJob(jobs, JOB, self._take_fits)
        models.changed.connect(self._list_devices)
        for signal in (planning.devices.changed, models.changed, session.changed):
            signal.connect(self._look)
        planning.models.changed.connect(self._look_at)

    def get(self, path: Wanted) -> Fit | None:
        """Return what is known of a model; None while it is worked out, or where nobody wants it."""
        return self._known.get(path)

    def want(self, who: object, paths: Iterable[Wanted]) -> None:
        """Have worked out whether these models fit; they are followed until `who` wants others, or rests."""
        self._wanted[who] = tuple(dict.fromkeys(paths))
        self._sort()
        for path in dict.fromkeys(map(_path_of, self._wanted[who])):
            self._planning.models.want(path)
        if self._listing is None:
            self._tried.clear()  # what failed before is asked again for who looks again
            self._refused.clear()
        self._list_devices()
        self._look()

    @property
    def devices(self) -> tuple[PlannedDevice, ...]:
        """This machine's devices with what is free on them, in steps; none before it is known which there are."""
        here = self._planning.devices.here
        is_known = self._is_listed or self._is_given_up or bool(self._memory.devices)
        is_known = is_known or any(device.is_gpu for device in here)
        return tuple(_in_steps(device) for device in here) if is_known else ()

    def note(self, devices: tuple[Device, ...]) -> None:
        """Take in which devices there are, as a dry run has told."""
        self._is_listed, self._problem = True, None
        self._planning.devices.note(devices)
        self._look()

    def rest(self, who: object) -> None:
        """Follow none for somebody: what is known stays known."""
        self._wanted.pop(who, None)
        self._sort()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was worked out."""
        self._job.take(event)

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Take in which GPUs there are; where that failed, another file is asked about, as one may be damaged."""
        if event.request != self._listing:
            return
        self._listing = None
        if isinstance(event, MemoryMeasured):
            self.note(event.devices)
            return
        if event.kind in ("engine", "cancelled"):
            self._problem = event.sentence
        else:
            self._refused[self._tried[-1]] = event.sentence
        self._list_devices()
        self._look()

    def _list_devices(self) -> None:
        """Beside no model nothing has told which GPUs there are: a dry run of a file does."""
        if self._is_listed or self._listing is not None or self._memory.devices or self._session.phase != "no_model":
            return
        refused = len(self._refused)
        if len(self._tried) - refused >= MOST_TRIED:
            return
        wanted, found = self._by_path, [found.path for found in self._planning.models.found]
        for path in sorted(found, key=lambda each: each not in wanted) if wanted else ():
            if path not in self._tried and refused < MOST_REFUSED:
                self._tried.append(path)
                self._listing = self._session.new_request()
                self._dry_run.measure(self._listing, path, LoadOptions(gpu_layers=0), keep=False)
                return
        self._is_given_up = bool(refused) and len(self._tried) == refused

    def _sort(self) -> None:
        """Put what is wanted beside its file."""
        self._by_path = {}
        for wanted in (wanted for each in self._wanted.values() for wanted in each):
            self._by_path.setdefault(_path_of(wanted), {})[wanted] = None

    def _look(self) -> None:
        """Have all worked out anew that rests on something else now."""
        if not self._wanted:
            return
        devices = self.devices
        if not (devices or self._planning.models.found) and all(map(is_hub_path, self._by_path)):
            # no file can be asked which GPUs there are: what the page plans for counts, as for its answer
            devices = tuple(_in_steps(device) for device in self._planning.devices.here)
        self._machine = _Machine(devices, None if self._listing is not None else self._problem)
        for path in self._by_path:
            self._note(path)
        self._work()

    def _look_at(self, path: str) -> None:
        """More is known of one file; of no other, where it is none."""
        if path in self._by_path:
            self._note(path)
            self._work()

    def _note(self, path: str) -> None:
        """See whether verdicts of a file rest on something else now."""
        file = self._planning.models.get(path)
        if file is None:
            return
        here = _Asked(file, self._options(path), self._machine, self._refused.get(path))
        for wanted in self._by_path[path]:
            asked = self._elsewhere(here, wanted) if isinstance(wanted, Elsewhere) else here
            if self._asked.get(wanted) != asked:
                self._asked[wanted] = asked
                self._stale[wanted] = None

    def _elsewhere(self, here: _Asked, wanted: Elsewhere) -> _Asked:
        """Return the same on a GPU that is not in this machine: where layers lie here is nothing to it."""
        here, gpu = (
            replace(here, planned=plan_options_of(wanted.planned) if wanted.planned is not None else None),
            wanted.gpu,
        )
        if not gpu:
            return here
        devices = self._planning.devices
        machine = _Machine(place_of(gpu, devices.here, devices.gpus).devices)
        return replace(here, options=replace(here.options, gpu_layers=None, experts_on_cpu=0), machine=machine)

    def _work(self) -> None:
        """Work out what waits, unless something is worked out: what it rests on then counts."""
        if self._batch or not self._stale:
            return
        batch, self._stale = {wanted: self._asked[wanted] for wanted in self._stale}, {}
        self._batch = batch
        self._job.want(lambda: {wanted: _judged(wanted, asked) for wanted, asked in batch.items()})

    def _options(self, path: str) -> LoadOptions:
        model = self._session.model
        if model is not None and model.path == path:
            return model.options
        identity = self._models.identity_of(path)
        return (self._settings.model(identity).options if identity else None) or LoadOptions()

    def _take_fits(self, fits: dict[Wanted, Fit] | None) -> None:
        batch, self._batch = self._batch, {}
        made = {wanted: fit for wanted, fit in (fits or {}).items() if self._asked[wanted] == batch[wanted]}
        is_news = any(self._known.get(wanted) != fit for wanted, fit in made.items())
        self._known.update(made)
        self._work()
        if is_news:
            self.changed.emit()


def _judged(wanted: Wanted, asked: _Asked) -> Fit:
    if asked.refusal is not None:
        return Fit("unknown", asked.refusal)
    file, machine = _meant(wanted, asked.file), asked.machine
    return fit_of(file, asked.planned or asked.options, machine.devices, machine.problem)


def _meant(wanted: Wanted, file: PlannedFile) -> PlannedFile:
    model = wanted.model if isinstance(wanted, Elsewhere) else wanted
    return file if isinstance(model, str) else model.of(file)


def _path_of(wanted: Wanted) -> str:
    model = wanted.model if isinstance(wanted, Elsewhere) else wanted
    return model if isinstance(model, str) else model.path


def _in_steps(device: PlannedDevice) -> PlannedDevice:
    if device.free is None:
        return device
    return replace(device, free=device.free // STEP_BYTES * STEP_BYTES)
