"""What a load would take by formula: there at once, while llama.cpp is still asked, with the changes that would help.

Advises and decides nothing. Worked out in a job; `changed` follows.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from app.core.devices import MAIN_MEMORY, Device
from app.core.job_events import LanesAnalysed
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.layout import all_layers
from app.planner.memory_plan import DevicePlan, Lever, MemoryPlan, PlannedDevice
from app.planner.plan_options import plan_options
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory
from app.services.fit_badges import FitBadges
from app.services.fit_verdict import Fit, fit_by
from app.services.latest_job import LatestJob
from app.services.planning_models import PlanningModels
from app.services.planning_words import lever_words
from app.system.jobs import Jobs

JOB = "load plan"


class LoadLever(msgspec.Struct, frozen=True):
    """A change of the options that needs less memory."""

    words: Sentence
    saves: int
    """Bytes."""
    fits: bool
    """Whether that is enough."""
    changes: Mapping[str, object] = {}
    """Options to use instead; empty where another file is meant."""


class FormulaUse(msgspec.Struct, frozen=True):
    """What a load takes of one device by formula, and what is free there."""

    use: DeviceMemory
    free: int | None


class LoadFormula(msgspec.Struct, frozen=True):
    """All that the formula says of a load with these options."""

    path: str
    options: LoadOptions
    fit: Fit
    uses: tuple[FormulaUse, ...] = ()
    levers: tuple[LoadLever, ...] = ()


class LoadPlan:
    """Works out one wish at a time; the last one counts."""

    def __init__(self, fits: FitBadges, models: PlanningModels, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """There is another formula."""
        self._fits = fits
        self._models = models
        self._wanted: tuple[str, LoadOptions] | None = None
        self._asked: tuple[object, ...] | None = None
        self._known: LoadFormula | None = None
        self._job: LatestJob[LoadFormula] = LatestJob(jobs, JOB, self._take)
        models.changed.connect(lambda path: self._look() if self._wanted and path == self._wanted[0] else None)

    def get(self, path: str, options: LoadOptions) -> LoadFormula | None:
        """Return what is said of a load; None while it is worked out."""
        known = self._known
        return known if known is not None and (known.path, known.options) == (path, options) else None

    def want(self, path: str, options: LoadOptions) -> None:
        """Have a load worked out with what is free now."""
        self._wanted = (path, options)
        self._look()

    def note(self, devices: tuple[Device, ...]) -> None:
        """Take in which devices there are, as a dry run has told."""
        self._fits.note(devices)
        self._look()

    def end(self) -> None:
        """Want nothing any more."""
        self._wanted = self._asked = self._known = None
        self._job.forget()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was worked out."""
        self._job.take(event)

    def _look(self) -> None:
        if self._wanted is None:
            return
        path, options = self._wanted
        file, devices = self._models.get(path), self._fits.devices
        if file is None or file.model is None or not devices:
            return
        model, asked = file.model, (path, options, devices)
        if asked != self._asked:
            self._asked = asked
            self._job.want(lambda: load_formula(path, model, options, devices))

    def _take(self, formula: LoadFormula | None) -> None:
        if formula is not None:
            self._known = formula
            self.changed.emit()


def load_formula(
    path: str, model: PlannedModel, options: LoadOptions, devices: tuple[PlannedDevice, ...]
) -> LoadFormula:
    """Return what a load takes by formula; takes some milliseconds, never raises."""
    asked = plan_options(options, model.trained_context)
    plan = plan_memory(model, asked, devices, may_shorten=options.may_shorten_context)
    return LoadFormula(
        path,
        options,
        fit_by(plan, asked.cells),
        tuple(FormulaUse(_use(device), device.free) for device in plan.devices if device.taken != 0),
        _levers(plan, options, all_layers(model)),
    )


def _use(device: DevicePlan) -> DeviceMemory:
    return DeviceMemory(
        device.name if device.is_gpu else MAIN_MEMORY,
        weights=device.weights.bytes,
        kv=device.kv.bytes,
        compute=device.compute.bytes,
        state=device.state.bytes,
        complete=device.taken is not None,
    )


def _levers(plan: MemoryPlan, options: LoadOptions, everything: int | None) -> tuple[LoadLever, ...]:
    """Return what would help where not all fits as it is; the layers are no lever where they are chosen by what fits."""
    if plan.verdict in ("fits", "unknown"):
        return ()
    levers = []
    for lever in plan.levers:
        changes = _changes(lever)
        if lever.kind == "quantisation" or (
            changes and not (lever.kind == "gpu_layers" and options.gpu_layers is None)
        ):
            levers.append(LoadLever(lever_words(lever, everything, 1), lever.saves, lever.fits, changes))
    return tuple(levers)


def _changes(lever: Lever) -> Mapping[str, object]:
    options = lever.options
    if options is None:
        return {}
    match lever.kind:
        case "context":
            return {"context": options.context}
        case "kv_type":
            return {"kv_type_k": options.kv_type_k, "kv_type_v": options.kv_type_v}
        case "gpu_layers":
            return {"gpu_layers": options.gpu_layers, "experts_on_cpu": options.experts_on_cpu}
        case "experts_on_cpu":
            return {"experts_on_cpu": options.experts_on_cpu}
        case "flash_attention":
            return {"flash_attention": "auto"}
        case _:
            return {}
