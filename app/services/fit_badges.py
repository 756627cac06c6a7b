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
from app.core.words import Sentence, counted, translate
from app.planner.memory_plan import MemoryPlan, PlannedDevice, Verdict
from app.planner.plan_options import plan_options
from app.planner.planning import plan_memory
from app.planner.quantised import of_size, quantised
from app.services.engine_session import EngineSession
from app.services.hub_models import is_hub_path
from app.services.latest_job import LatestJob
from app.services.memory import Memory
from app.services.models import Models
from app.services.planning import Planning
from app.services.planning_models import PlannedFile
from app.services.units import byte_size
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

JOB = "fit badges"
STEP_BYTES = 64 << 20
"""Free memory counts in such steps: with every sample it is a little different, and no verdict is."""
MOST_TRIED = 3
"""So many files are asked about before it is said that nothing tells which GPUs there are."""

_BEING_FOUND_OUT = translate("FitBadges", "Which GPUs this machine has is being found out.")
_UNTOLD = translate("FitBadges", "What it takes cannot be said: its file does not tell enough. Load it to find out.")


class Fit(msgspec.Struct, frozen=True):
    """Whether a model fits."""

    verdict: Verdict
    reason: Sentence


class Estimate(NamedTuple):
    """A model as it would be in another quantisation, by what is known of the one at a path."""

    path: str
    quantisation: str
    size: int | None = None
    """Of the other file, where that is known; None judges it by bits per weight."""

    def of(self, file: PlannedFile) -> PlannedFile:
        """Return the other one."""
        if file.model is None:
            return file
        name, size = self.quantisation, self.size
        return replace(file, model=quantised(file.model, name) if size is None else of_size(file.model, name, size))


Wanted = str | Estimate
"""What a verdict is wanted of: a file by its path, or an estimate."""


class _Asked(msgspec.Struct, frozen=True):
    """What verdicts rest on."""

    models: tuple[tuple[Wanted, PlannedFile, LoadOptions], ...]
    devices: tuple[PlannedDevice, ...]
    problem: Sentence | None
    """Why it is not known which devices there are, where asking has failed."""


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
        self._known: dict[Wanted, Fit] = {}
        self._asked: _Asked | None = None
        self._listing: int | None = None
        """The dry run that tells which GPUs there are, where nothing else has told them."""
        self._tried: list[str] = []
        """The files that were asked about since somebody began to look, the newest last."""
        self._problem: Sentence | None = None
        """Why asking has failed."""
        self._is_listed = False
        self._job: LatestJob[dict[Wanted, Fit]] = LatestJob(jobs, JOB, self._take_fits)
        models.changed.connect(self._list_devices)
        for signal in (planning.devices.changed, models.changed, session.changed):
            signal.connect(self._look)
        planning.models.changed.connect(lambda _path: self._look())

    def get(self, path: Wanted) -> Fit | None:
        """Return what is known of a model; None while it is worked out, or where nobody wants it."""
        return self._known.get(path)

    def want(self, who: object, paths: Iterable[Wanted]) -> None:
        """Have worked out whether these models fit; they are followed until `who` wants others, or rests."""
        self._wanted[who] = tuple(dict.fromkeys(paths))
        for path in dict.fromkeys(map(_path_of, self._wanted[who])):
            self._planning.models.want(path)
        if self._listing is None:
            self._tried.clear()  # what failed before is asked again for who looks again
        self._list_devices()
        self._look()

    @property
    def devices(self) -> tuple[PlannedDevice, ...]:
        """This machine's devices with what is free on them, in steps; none before it is known which there are."""
        here = self._planning.devices.here
        is_known = self._is_listed or bool(self._memory.devices) or any(device.is_gpu for device in here)
        return tuple(_in_steps(device) for device in here) if is_known else ()

    def note(self, devices: tuple[Device, ...]) -> None:
        """Take in which devices there are, as a dry run has told."""
        self._is_listed, self._problem = True, None
        self._planning.devices.note(devices)
        self._look()

    def rest(self, who: object) -> None:
        """Follow none for somebody: what is known stays known."""
        self._wanted.pop(who, None)

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
        self._problem = event.sentence
        self._list_devices()
        self._look()

    def _list_devices(self) -> None:
        """Beside no model nothing has told which GPUs there are: a dry run of a file does."""
        if self._is_listed or self._listing is not None or self._memory.devices or self._session.phase != "no_model":
            return
        if len(self._tried) >= MOST_TRIED:
            return
        wanted, found = self._paths, [found.path for found in self._planning.models.found]
        for path in sorted(found, key=lambda each: each not in wanted) if wanted else ():
            if path not in self._tried:
                self._tried.append(path)
                self._listing = self._session.new_request()
                self._dry_run.measure(self._listing, path, LoadOptions(gpu_layers=0), keep=False)
                return

    def _look(self) -> None:
        if not self._wanted:
            return
        waits = self._listing is not None
        devices = self.devices
        if not (devices or self._planning.models.found) and all(map(is_hub_path, self._paths)):
            # no file can be asked which GPUs there are: what the page plans for counts, as for its answer
            devices = tuple(_in_steps(device) for device in self._planning.devices.here)
        asked = _Asked(tuple(self._models_wanted()), devices, None if waits else self._problem)
        if asked != self._asked:
            self._asked = asked
            self._job.want(
                lambda: {
                    wanted: fit_of(_meant(wanted, file), options, asked.devices, asked.problem)
                    for wanted, file, options in asked.models
                }
            )

    @property
    def _paths(self) -> dict[str, None]:
        return dict.fromkeys(map(_path_of, self._all_wanted))

    @property
    def _all_wanted(self) -> dict[Wanted, None]:
        return dict.fromkeys(wanted for each in self._wanted.values() for wanted in each)

    def _models_wanted(self) -> Iterable[tuple[Wanted, PlannedFile, LoadOptions]]:
        for wanted in self._all_wanted:
            path = _path_of(wanted)
            file = self._planning.models.get(path)
            if file is not None:
                yield wanted, file, self._options(path)

    def _options(self, path: str) -> LoadOptions:
        model = self._session.model
        if model is not None and model.path == path:
            return model.options
        identity = self._models.identity_of(path)
        return (self._settings.model(identity).options if identity else None) or LoadOptions()

    def _take_fits(self, fits: dict[Wanted, Fit] | None) -> None:
        known = {**self._known, **(fits or {})}
        if known != self._known:
            self._known = known
            self.changed.emit()


def fit_of(
    file: PlannedFile, options: LoadOptions, devices: tuple[PlannedDevice, ...], problem: Sentence | None = None
) -> Fit:
    """Return whether a model fits with these options; takes a few milliseconds, never raises.

    `problem` is why it is not known which devices there are, where there are none.
    """
    model = file.model
    if model is None:
        return Fit("unknown", file.problem or _UNTOLD)
    if not devices:
        return Fit("unknown", problem or _BEING_FOUND_OUT)
    plan = plan_memory(
        model,
        plan_options(options, model.trained_context),
        devices,
        may_shorten=options.may_shorten_context,
    )
    return Fit(plan.verdict, reason_of(plan, plan_options(options, model.trained_context).cells))


def reason_of(plan: MemoryPlan, cells: int) -> Sentence:
    """Return one sentence that says why a plan has its verdict; `cells` is the context that was asked for."""
    fullest = _fullest(plan)
    needed = None if fullest is None else fullest[0]
    free = None if fullest is None else fullest[1]
    if plan.verdict == "unknown" or needed is None or free is None:
        return plan.reason or _UNTOLD
    if plan.verdict == "less_context":
        return translate(
            "FitBadges",
            "A context of {context:,} tokens does not fit; {largest:,} tokens do.",
            context=cells,
            largest=plan.largest_context or 0,
        )
    if plan.verdict == "partly" and plan.options.experts_on_cpu:
        return translate(
            "FitBadges",
            "Experts of this mixture are in main memory, because all of it does not fit on the GPU: it is slower.",
        )
    if plan.verdict == "partly":
        return _partly(plan.gpu_layers or 0, byte_size(free))
    values: dict[str, str | int | float] = {"context": cells, "needed": byte_size(needed), "free": byte_size(free)}
    if plan.verdict == "too_large":
        return translate(
            "FitBadges",
            "With a context of {context:,} tokens it needs {needed}, and {free} are free: take a smaller quantisation or"
            " a smaller model.",
            **values,
        )
    return translate(
        "FitBadges", "With a context of {context:,} tokens it needs {needed}, and {free} are free.", **values
    )


def _partly(layers: int, free: str) -> Sentence:
    if not layers:
        return translate("FitBadges", "No layer is on the GPU: all of them are in main memory, and it is slower.")
    one = translate(
        "FitBadges",
        "1 layer is on the GPU and the others in main memory: it is slower. {free} are free on the GPU.",
        free=free,
    )
    several = translate(
        "FitBadges",
        "{layers} layers are on the GPU and the others in main memory: it is slower. {free} are free on the GPU.",
        layers=layers,
        free=free,
    )
    return counted(layers, one, several)


def _fullest(plan: MemoryPlan) -> tuple[int, int] | None:
    """Return what the device needs that has the least to spare, and what is free there; None where unknown."""
    known = [
        (device.needed, device.free)
        for device in plan.devices
        if device.taken and device.needed is not None and device.free is not None
    ]
    return min(known, key=lambda pair: pair[1] - pair[0], default=None)


def _meant(wanted: Wanted, file: PlannedFile) -> PlannedFile:
    return file if isinstance(wanted, str) else wanted.of(file)


def _path_of(wanted: Wanted) -> str:
    return wanted if isinstance(wanted, str) else wanted.path


def _in_steps(device: PlannedDevice) -> PlannedDevice:
    if device.free is None:
        return device
    return replace(device, free=device.free // STEP_BYTES * STEP_BYTES)
