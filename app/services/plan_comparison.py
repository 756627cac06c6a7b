"""Models beside GPUs: what people can choose and have chosen, and the rows that a job works out of it.

Nothing is worked out while nobody looks. Must not know how it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY
from app.core.events import Failed, MemoryMeasured
from app.core.job_events import LanesAnalysed
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.gpu import Gpu
from app.planner.planned_model import PlannedModel
from app.planner.quantised import ALL_BITS
from app.services.engine_session import EngineSession
from app.services.file_names import short_name
from app.services.hub_models import is_hub_path, named
from app.services.kept_choice import chosen_of, kept_of
from app.services.latest_job import LatestJob
from app.services.own_gpus import OwnGpus
from app.services.plan_refusals import PlanRefusals
from app.services.plan_rows import Grounds, Worked, work_out
from app.services.plan_together import TOGETHER, shared_out, together_of
from app.services.plan_use import PartUse, UseField
from app.services.plan_values import Chosen, GpuGroup, ModelChoice, OfferedGpu, OfferedModel
from app.services.planning_devices import PlanningDevices
from app.services.planning_models import PlanningModels
from app.services.told_apart import told_apart
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

JOB = "plan comparison"
HERE = "here "
"""Before the name of a device of this machine, whose GPU the table may have too."""
FIRST_GPUS = ("rtx-3060", "rtx-4090", "l4", "h100-sxm")
"""One of each size, to begin with beside this machine."""
REFERENCE = "h100-sxm"
"""The GPU that most published figures are of: its roof stands beside those of others."""


class PlanComparison:
    """What is compared; `changed` follows when there is another choice, or more is known."""

    def __init__(
        self,
        models: PlanningModels,
        devices: PlanningDevices,
        session: EngineSession,
        settings: SettingsFile,
        dry_run: DryRunPort,
        jobs: Jobs,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Other rows, another choice, or something else to choose from."""
        self.use = PartUse()
        """What somebody set here of the use, beside what they set for one model."""
        self._models = models
        self._devices = devices
        self._session = session
        self._settings = settings
        self._chosen: Chosen | None = None
        """None until somebody looked."""
        self._worked: Worked | None = None
        self._grounds: Grounds | None = None
        """What the newest rows are worked out from."""
        self._offered_models: tuple[OfferedModel, ...] = ()
        self._offered_gpus: tuple[OfferedGpu, ...] = ()
        self.own_gpus = OwnGpus(settings, devices, lambda: self.chosen.gpus, self._compare_on)
        """Those that people added."""
        self._elsewhere: dict[str, None] = {}
        """Paths of models that were open or chosen: they can be chosen again wherever they lie."""
        self._is_watched = False
        self._told: tuple[object, ...] = ()
        """What `changed` was told of last."""
        self._refusals = PlanRefusals(dry_run, session.new_request, self._look)
        self._job: LatestJob[Worked] = LatestJob(jobs, JOB, self._take_worked)
        models.changed.connect(self._take_model)
        devices.changed.connect(self._look)

    @property
    def chosen(self) -> Chosen:
        """What is compared."""
        return self._chosen or Chosen()

    @property
    def worked(self) -> Worked | None:
        """The newest rows; None until there are some. Those of an earlier choice stay until the next are there."""
        return self._worked

    @property
    def is_busy(self) -> bool:
        """Whether rows are being worked out, or what they are worked out from is read."""
        chosen = self.chosen
        unread = chosen.gpus and any(self._models.get(choice.path) is None for choice in chosen.models)
        return self._job.is_busy or bool(unread)

    @property
    def models(self) -> tuple[OfferedModel, ...]:
        """What can be chosen of the models that were found, and of others that were open or chosen already."""
        return self._offered_models

    @property
    def gpus(self) -> tuple[OfferedGpu, ...]:
        """What models can be compared on: this machine, people's own, and the table."""
        return self._offered_gpus

    @property
    def problems(self) -> tuple[tuple[str, Sentence], ...]:
        """What is wrong with models that were chosen, each with its path; and without one, with the table of GPUs."""
        paths = dict.fromkeys(choice.path for choice in self.chosen.models)
        table = self._devices.gpus.problem
        told = ((path, self._problem(path)) for path in paths)
        return (() if table is None else (("", table),)) + tuple(
            (path, problem) for path, problem in told if problem is not None
        )

    def watch(self, on: bool) -> None:
        """Begin to work rows out, or stop; what was chosen stays."""
        self._is_watched = on
        if on:
            self._look()

    def choose(self, chosen: Chosen) -> None:
        """Compare something else."""
        if chosen != self._chosen:
            self.use.note(_use_of(self.chosen), _use_of(chosen))
            self._keep(chosen)
            self._look()

    def follow(self, old: frozenset[str], new: str) -> None:
        """Compare models under their new paths; one whose file is gone says so itself."""
        kept = self._settings.values.comparison
        chosen = self._chosen or (chosen_of(kept) if kept is not None else Chosen())
        models = tuple(replace(each, path=new) if each.path in old else each for each in chosen.models)
        if new and models != chosen.models:
            self._elsewhere = {path: None for path in self._elsewhere if path not in old}
            self._keep(replace(chosen, models=models))
            self._look()

    def begin_anew(self) -> None:
        """Choose what it begins with, for the same use."""
        before = self.chosen
        first = self._first(self._gpus())
        if first is not None:
            self._keep(replace(before, models=first.models, gpus=first.gpus))
        self._look()

    def remove_model(self, path: str) -> None:
        """Offer and compare a model no longer that somebody named; one that was found here is offered still."""
        chosen = self.chosen
        self._elsewhere.pop(path, None)
        self._keep(replace(chosen, models=tuple(each for each in chosen.models if each.path != path)))
        self._look()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was worked out."""
        self._job.take(event)

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Take in what llama.cpp said of a file."""
        self._refusals.take_measured(event)

    def _problem(self, path: str) -> Sentence | None:
        """Return why nothing can be said of a model: its file cannot be read, or llama.cpp refuses it."""
        file = self._models.get(path)
        if file is None or file.model is None:
            return file.problem if file is not None else None
        return self._refusals.get(path, file.model)

    def _planned(self, path: str) -> PlannedModel | None:
        file = self._models.get(path)
        return file.model if file is not None else None

    def _gpus(self) -> dict[str, Gpu]:
        known = self._devices.gpus
        shared = shared_out(known.here)
        own = [(HERE + name, gpu) for name, gpu in known.here.items()]
        found = [(key, gpu) for key, gpu in own if not gpu.is_processor]
        found += [(TOGETHER, together_of(shared))] if shared else []
        found += [(key, gpu) for key, gpu in own if gpu.is_processor]
        return {**dict(found), **{gpu.id: gpu for gpu in known.all}}

    def _look(self) -> None:
        """Have rows worked out where they would be others, and tell of whatever is another."""
        if not self._is_watched:
            return
        gpus = self._gpus()
        self._choose_first(gpus)
        self._begin_use()
        self._offered_gpus = self._offer_gpus(gpus)
        self._offered_models = self._offer_models()
        chosen = self.chosen
        paths = dict.fromkeys(choice.path for choice in chosen.models)
        read = {path: model for path in paths if (model := self._planned(path)) is not None}
        self._refusals.want({path: model for path, model in read.items() if not is_hub_path(path)})
        models = {path: model for path, model in read.items() if self._refusals.get(path, model) is None}
        here = self._devices.gpus.here
        beside = tuple(gpus[key] for key in chosen.gpus if key in gpus)
        host = here.get(MAIN_MEMORY)
        names = {offered.path: offered.name for offered in self._offered_models if offered.path in models}
        grounds = Grounds(chosen, models, beside, host, gpus.get(REFERENCE), shared_out(here), names)
        if grounds != self._grounds:
            self._grounds = grounds
            if grounds.models and grounds.gpus:
                self._job.want(lambda: work_out(grounds))
            else:
                self._job.forget()
                self._worked = Worked(chosen)
        told = chosen, self._offered_models, self._offered_gpus, grounds, self.problems, self.is_busy
        if told != self._told:
            self._told = told
            self.changed.emit()

    def _offer_models(self) -> tuple[OfferedModel, ...]:
        found_here = {found.path: found.name for found in self._models.found}
        names = dict(found_here)
        opened = [self._session.model.path] if self._session.model is not None else []
        for path in (*opened, *(choice.path for choice in self.chosen.models)):
            self._elsewhere.setdefault(path)
        for path in self._elsewhere:
            names.setdefault(path, named(path) if is_hub_path(path) else short_name(Path(path)))
        offered = []
        for path, name in names.items():
            model = self._planned(path)
            is_added = path not in found_here and path not in opened
            if model is None:
                offered.append(OfferedModel(path, name or short_name(Path(path)), None, None, (), is_added))
                continue
            is_known = model.weights is not None and bool(model.parameters)
            others = tuple(each for each in ALL_BITS if each != model.quantisation) if is_known else ()
            offered.append(
                OfferedModel(path, model.name or name, model.quantisation, model.file_bytes, others, is_added)
            )
        return told_apart(offered)

    def _offer_gpus(self, gpus: Mapping[str, Gpu]) -> tuple[OfferedGpu, ...]:
        own = {gpu.id for gpu in self._devices.gpus.own}

        def group(key: str, gpu: Gpu) -> GpuGroup:
            return "here" if key.startswith(HERE) else "own" if gpu.id in own else gpu.family

        count = len(shared_out(self._devices.gpus.here))
        return tuple(
            OfferedGpu(key, gpu.name, group(key, gpu), gpu.memory, count if key == TOGETHER else 1)
            for key, gpu in gpus.items()
        )

    def _choose_first(self, gpus: Mapping[str, Gpu]) -> None:
        """Choose what to begin with, once it is known what there is: what was compared last, as far as it was something."""
        if self._chosen is not None or not self._devices.is_known:
            return
        kept = self._settings.values.comparison
        if kept is not None and kept.models and kept.gpus:
            self._chosen = chosen_of(kept)
            return
        first = self._first(gpus)
        if first is not None and kept is not None:
            first = replace(chosen_of(kept), models=first.models, gpus=first.gpus)
        self._chosen = first

    def _begin_use(self) -> None:
        """Take what was set for one model; a context that is needed here stays."""
        if self._chosen is None:
            return
        start, needed = self.use.start, ("context", "users") if self._chosen.wanted.room else ()
        self._chosen = replace(self._chosen, **{field: start[field] for field in start if field not in needed})

    def _first(self, gpus: Mapping[str, Gpu]) -> Chosen | None:
        open_model, found = self._session.model, self._models.found
        path = open_model.path if open_model is not None else found[0].path if found else None
        if path is None:
            return None
        keys = [key for key in gpus if key.startswith(HERE)]
        return Chosen((ModelChoice(path),), (*keys, *(key for key in FIRST_GPUS if key in gpus)))

    def _compare_on(self, gpus: tuple[str, ...]) -> None:
        self._keep(replace(self.chosen, gpus=gpus))
        self._look()

    def _keep(self, chosen: Chosen) -> None:
        """Compare this from now on, and after a restart: but no model of a hub that was never read, as it may be none."""
        self._chosen = chosen
        kept = self._settings.values.comparison
        before = {path for path, _ in kept.models} if kept is not None else set()
        models = tuple(each for each in chosen.models if each.path in before or self._is_known(each.path))
        self._settings.change(comparison=kept_of(replace(chosen, models=models)))

    def _is_known(self, path: str) -> bool:
        return not is_hub_path(path) or self._models.hub.get(path).state == "read"

    def _take_model(self, path: str) -> None:
        """Notice that more is known of a model; one of a hub that was read is kept from now on."""
        if is_hub_path(path) and self._is_known(path) and any(each.path == path for each in self.chosen.models):
            self._keep(self.chosen)
        self._look()

    def _take_worked(self, worked: Worked | None) -> None:
        self._worked = worked
        self.changed.emit()


def _use_of(chosen: Chosen) -> dict[UseField, int]:
    return {"context": chosen.context, "users": chosen.users, "prompt": chosen.prompt}
