"""The plan of one model on one machine: what is chosen, whether it fits, and how fast it would be.

Worked out by formula at once, whatever is moved; for this machine llama.cpp is asked as soon as the choice rests. Must not
know how it is shown.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from app.core.events import Failed, MemoryMeasured
from app.core.job_events import LanesAnalysed
from app.core.model import ALL_LAYERS, DEFAULT_CONTEXT, LoadOptions
from app.core.ports import DryRunPort
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.memory_plan import Lever, PlannedDevice
from app.services.engine_session import EngineSession
from app.services.hub_models import is_hub_path, other_files
from app.services.plan_use import PartUse
from app.services.planning_asked import AskedPlans
from app.services.planning_devices import PlanningDevices
from app.services.planning_loads import as_loaded, is_loaded_so, load_changes
from app.services.planning_models import PlannedFile, PlanningModels
from app.services.planning_values import HERE, PlanChoice, PlanView, use_of, with_use
from app.services.planning_view import Made, Place, asked_options, make_plan, place_of, view_of
from app.services.planning_words import shortened_remark
from app.services.wishes import Wish
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile


class Planning:
    """What is planned; `view` is the answer, which `changed` announces."""

    def __init__(
        self,
        session: EngineSession,
        models: PlanningModels,
        devices: PlanningDevices,
        settings: SettingsFile,
        dry_run: DryRunPort,
        jobs: Jobs,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Another model, another choice, or another answer."""
        self.models, self.devices = models, devices
        self.use = PartUse()
        """What somebody set here of the use, beside what they set in the comparison."""
        self._session = session
        self._settings = settings
        self._asked = AskedPlans(dry_run, jobs, session.new_request, self._show_asked)
        self._path = ""
        self._is_chosen = False
        """Whether somebody chose that model: until then it is the one that is loaded, or is about to be."""
        self._choice = PlanChoice()
        self._first: PlanChoice | None = None
        """What the choice for the model that is planned began with; None where it was made for another one."""
        self._loaded = session.model
        self._shortened_from: int | None = None
        """The context that was set for another model, where it is longer than what this one was trained for."""
        self._made: Made | None = None
        self._view: PlanView | None = None
        self._watched = False
        self._here: tuple[PlannedDevice, ...] | None = None
        """This machine as it was last looked at: what is free on it is not asked at every step of a slider."""
        models.changed.connect(self._take_model)
        devices.changed.connect(self._take_devices)
        session.changed.connect(self._take_session)

    @property
    def path(self) -> str:
        """The file of the model that is planned; empty where none is."""
        return self._path

    @property
    def file(self) -> PlannedFile | None:
        """What its header says; None while it is read, and where there is none."""
        return self.models.get(self._path) if self._path else None

    @property
    def choice(self) -> PlanChoice:
        """What is chosen now."""
        return self._choice

    @property
    def view(self) -> PlanView | None:
        """The answer; None as long as there is no model, or its header is not read."""
        return self._view

    @property
    def problem(self) -> Sentence | None:
        """Why nothing can be said of the model."""
        file = self.file
        return file.problem if file is not None else None

    @property
    def is_asking(self) -> bool:
        """Whether llama.cpp is asked about this choice."""
        return self._asked.is_asking

    @property
    def has_gpu(self) -> bool:
        """Whether there is, or may be, a GPU where it is planned to run: a machine that is not listed may have one."""
        place = self._place()
        return (place.is_here and not self.devices.is_listed) or any(device.is_gpu for device in place.devices)

    def watch(self, on: bool) -> None:
        """Let somebody look or look away; where no model was chosen, it is the loaded one, or the first found."""
        self._watched, self._here = on, None
        if not on:
            self._asked.leave()
            return
        if self._path:
            self.models.want(self._path)
        self._choose_some_model()
        self._begin_as_loaded()
        self._choice = with_use(self._choice, self.use.start)
        self._work_out()

    def choose_model(self, path: str, *, is_same: bool = False) -> None:
        """Plan another model, or the same one under another path: then what was chosen for it stays."""
        self._is_chosen = self._is_chosen or not is_same
        if path == self._path:
            self._ask_again()
            return
        self._plan(path, is_same=is_same)

    def change(self, **changes: object) -> None:
        """Choose something else, by the fields of `PlanChoice`."""
        if "kv_type" in changes:
            changes = {"kv_type_v": None, **changes}  # one choice for both, as people see it
        choice = replace(self._choice, **changes)
        if choice != self._choice:
            self.use.note(use_of(self._choice), use_of(choice))
            if choice.context != self._choice.context:
                self._shortened_from = None
            self._choice = choice
            self._work_out()

    def use_lever(self, number: int) -> None:
        """Make one of the changes that need less memory; another file of a hub is read for it."""
        levers: tuple[Lever, ...] = self._made.plan.levers if self._made is not None else ()
        lever = levers[number] if 0 <= number < len(levers) else None
        if lever is not None and lever.path:
            self.models.hub.read(lever.path)
            self.choose_model(lever.path, is_same=True)
        options = lever.options if lever is not None else None
        if options is None:
            return
        layers = options.gpu_layers
        is_same = self._choice.gpu_layers is None and layers == ALL_LAYERS
        self.change(
            context=max(1, options.context // self._choice.sequences),
            kv_type=options.kv_type_k,
            kv_type_v=options.kv_type_v if options.kv_type_v != options.kv_type_k else None,
            gpu_layers=None if is_same else layers,
            experts_on_cpu=options.experts_on_cpu,
            flash_attention=options.flash_attention,
        )

    @property
    def can_load(self) -> bool:
        """Whether the model can be loaded on this machine as it is planned."""
        return self._view is not None and self._choice.where == HERE and not is_hub_path(self._path)

    def load(self) -> None:
        """Load the model with these options, also where it does not seem to fit: somebody saw that and wants it."""
        if not self.can_load or self._made is None:
            return
        changes = load_changes(self._made.options, self._remembered())
        if self._view is not None and self._view.is_possible is False:
            self._session.use(Wish(Path(self._path), changes, anyway=True))
        else:
            self._session.use(Wish(Path(self._path), changes))

    def take(self, event: LanesAnalysed) -> None:
        """Notice that the choice has rested."""
        self._asked.take(event)

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Take in what llama.cpp said."""
        self._asked.take_measured(event)

    def _plan(self, path: str, *, is_same: bool = False) -> None:
        self._path, self._first = path, self._first if is_same else None
        self._shortened_from = self._shortened_from if is_same else None
        self._asked.leave()
        self.models.want(path)
        self._work_out()

    def _ask_again(self) -> None:
        """Look again at the file, and ask again about what came to nothing."""
        if self._path:
            self.models.want(self._path)
            if self._asked.drop_failure():
                self._work_out()

    def _choose_some_model(self) -> None:
        """Plan what is loaded, or is about to be, until somebody chooses; where nothing is, the first that was found."""
        if self._is_chosen:
            return
        found = self.models.found
        path = self._loaded_path() or self._path or (found[0].path if found else "")
        if path and path != self._path:
            self._plan(path)

    def _loaded_path(self) -> str:
        """Return the model that is being loaded, else the one that is, else the one that the next question goes to."""
        loaded, wish = self._session.model, self._session.wish
        if loaded is not None and self._session.phase not in ("starting", "loading"):
            return loaded.path
        return str(wish.path) if wish is not None else ""

    def _begin_as_loaded(self) -> bool:
        """Take over how the planned model was loaded just now, unless somebody chose otherwise; return whether it is so."""
        loaded = self._session.model
        is_another, self._loaded = loaded is not self._loaded, loaded
        if not is_another or loaded is None or loaded.path != self._path or self._choice != self._first:
            return False
        self._first = None
        return True

    def _take_session(self) -> None:
        if not self._watched:
            return
        self._choose_some_model()
        if self._begin_as_loaded():
            self._work_out()

    def _take_model(self, path: str) -> None:
        if path and path == self._path:
            self._asked.forget(path)
            self._work_out()
        elif not path and self._watched:
            self._choose_some_model()
            self.changed.emit()

    def _take_devices(self) -> None:
        self._here = None
        if self._watched:
            self._choose_some_model()
        if self._watched and self._path:
            self._work_out()

    def _show_asked(self, said: MemoryMeasured | Failed) -> None:
        if isinstance(said, Failed):
            self.models.want(self._path)  # the file may be gone, or another one
        elif said.devices and not self.devices.is_listed:
            self.devices.note(said.devices)
            self.devices.changed.emit()  # which works it out as well
            return
        if self._watched:
            self._work_out()

    def _place(self) -> Place:
        if self._here is None:
            self._here = self.devices.here
        return place_of(self._choice.where, self._here, self.devices.gpus)

    def _work_out(self) -> None:
        """Work everything out anew: a few milliseconds, so that it follows a slider."""
        file = self.models.get(self._path) if self._path else None
        model = file.model if file is not None else None
        if model is None:
            self._made = self._view = None
            self.changed.emit()
            return
        if self._first is None:
            self._first = self._choice = self._first_choice(model.trained_context)
        place = self._place()
        files = other_files(self.models.hub.get(self._path)) if is_hub_path(self._path) else None
        made = make_plan(model, self._choice, place, self._made, files)
        asked: MemoryMeasured | Failed | None = None
        is_file_here = place.is_here and not is_hub_path(self._path)
        if made.plan.devices and is_file_here and self._watched:
            asked = self._asked.get(self._path, asked_options(made, self._remembered()))
        else:
            self._asked.leave()
        self._made = made
        self._view = replace(view_of(made, self._choice, place, asked), is_loaded=self._is_loaded_so(made, place))
        if self._shortened_from is not None:
            self._view = replace(self._view, remark=shortened_remark(self._shortened_from, self._choice.context))
        self.changed.emit()

    def _is_loaded_so(self, made: Made, place: Place) -> bool:
        loaded = self._session.model
        if loaded is None or loaded.path != self._path or not place.is_here:
            return False
        return is_loaded_so(self._choice, made.plan.gpu_layers, loaded, self._asked_for())

    def _first_choice(self, trained: int | None) -> PlanChoice:
        """Return what is chosen for another model: how it is loaded now, else what a load takes by itself."""
        loaded = self._session.model
        usual = min(DEFAULT_CONTEXT, trained or DEFAULT_CONTEXT)
        base = replace(self._choice, context=usual, gpu_layers=None, experts_on_cpu=0, kv_type_v=None)
        if loaded is not None and loaded.path == self._path:
            base = as_loaded(base, loaded, self._asked_for())
        wanted = self.use.set_here.get("context")
        if wanted is not None:  # people set it: it stays, as far as this model was trained for it
            base = replace(base, context=min(wanted, trained or wanted))
            self._shortened_from = wanted if base.context < wanted else None
        return with_use(base, self.use.start)

    def _asked_for(self) -> LoadOptions:
        """Return the options that the open model was loaded with as people chose them."""
        ref, wish, kept = self._session.ref, self._session.wish, LoadOptions()
        if ref is not None:
            kept = self._settings.model(ref.identity).options or kept
        return replace(kept, **wish.changes) if wish is not None and str(wish.path) == self._path else kept

    def _remembered(self) -> LoadOptions:
        """Return the options of a load that a plan does not speak of."""
        loaded = self._session.model
        return loaded.options if loaded is not None and loaded.path == self._path else LoadOptions()
