"""The command `plan`: finds models, asks this machine where it is meant, and makes the answer. Prints nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from app.core.commands import ListDevices
from app.core.devices import Device, GpuReport, MainMemory
from app.core.errors import ExitCode, UserError
from app.core.events import DevicesListed, EngineGone, Event, Failed, MemoryMeasured
from app.core.model import LoadOptions
from app.core.ports import DryRunPort, EnginePort, HubPort
from app.core.words import Sentence, translate
from app.planner.gpu import Gpu
from app.planner.gpu_table import MAKERS, called, gpu_id, matching
from app.planner.this_machine import known_as
from app.services.models import Models
from app.services.plan_answer import THIS_MACHINE, PlanAsked, PlanReport
from app.services.plan_models import ReadModel, Told, find_planned
from app.services.plan_report import Here, report_of, usage_of
from app.services.planning_devices import KnownGpus, SpeedFacts, known_gpus, planned_here
from app.system.settings_file import SettingsFile

NEAR = 0.5
"""Names that are less alike are none that somebody meant."""
EXAMPLES = ("l4", "rtx-4090", "h100-sxm", "rx-7900-xtx")
"""One of each kind, where nothing like a name is known."""
_PARTED = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
"""Where people leave out a space: “RTX4090”, “4070ti”."""
_SIZE = re.compile(r"\s*·\s*[\d.,]+\s*GiB\s*$")
"""What lists write behind a name."""


@dataclass(frozen=True)
class PlanSources:
    """Where the command asks."""

    engine: EnginePort
    dry_run: DryRunPort
    hub: HubPort
    read_table: Callable[[], str]
    main_memory: Callable[[], MainMemory]


class PlanCommand:
    """One question: `find`, then `ask` and the events that follow, then `report`."""

    def __init__(self, sources: PlanSources, models: Models, settings: SettingsFile) -> None:
        self._sources = sources
        self._models = models
        self._settings = settings
        self._asked = PlanAsked("")
        self._read: tuple[ReadModel, ...] = ()
        self._gpus: tuple[Gpu, ...] = ()
        self._request: int | None = None
        self._devices: tuple[Device, ...] = ()
        self._measured: MemoryMeasured | None = None
        self._note: Sentence | None = None
        self._refusal: Sentence | None = None

    @property
    def is_answered(self) -> bool:
        """Whether nothing is waited for any more."""
        return self._request is None

    def find(self, asked: PlanAsked, told: Told) -> None:
        """Find the GPUs and the models that are meant, or raise the sentence that says what is wrong.

        Waits for disk and network.
        """
        self._asked = asked
        known = self._known()
        if asked.gpus and known.problem is not None:
            raise UserError(known.problem)
        self._gpus = tuple({gpu.id: gpu for gpu in _gpus_meant(asked.gpus, known)}.values())
        if asked.prompt is not None and asked.context is not None and asked.prompt > asked.context:
            raise _too_long_prompt(asked.prompt, asked.context)
        self._read = find_planned(asked.model, self._models, self._sources.hub, told)
        first = self._read[0]
        if asked.prompt is not None and len(self._read) == 1 and first.model is not None:
            context = usage_of(asked, first.model.trained_context).context
            if asked.prompt > context:
                raise _too_long_prompt(asked.prompt, context)
        if len(self._read) == 1 and first.problem is not None:
            raise UserError(first.problem, first.exit_code)

    def ask(self) -> None:
        """Ask this machine, if it is meant: what it can compute on, and of one model on its disk the bytes."""
        if self._gpus:
            return
        self._request = self._sources.engine.new_request()
        first = self._read[0]
        if len(self._read) > 1 or not first.is_local or first.model is None:
            self._sources.engine.send(ListDevices(self._request))
            return
        options = LoadOptions(
            context=usage_of(self._asked, first.model.trained_context).planned.cells,
            kv_type_k=self._asked.kv_type,
            kv_type_v=self._asked.kv_type,
        )
        self._sources.dry_run.measure(self._request, first.path, options, keep=False)

    def take(self, event: Event) -> None:
        """Take in what this machine says; one that says nothing is planned by what else is known of it."""
        if self._request is None:
            return
        match event:
            case MemoryMeasured(request=self._request):
                self._measured, self._devices = event, event.devices
            case DevicesListed(request=self._request):
                self._devices = event.devices
            case Failed(request=self._request) if event.refuses_model:
                self._refusal = event.sentence
            case Failed(request=self._request):
                self._note = event.sentence
            case EngineGone():
                self._note = event.sentence
            case _:
                return
        self._request = None

    def report(self) -> PlanReport:
        """Return the answer."""
        main, known = self._sources.main_memory(), self._known()
        here = Here(
            devices=planned_here(self._devices, GpuReport(), main),
            speeds=known.here,
            names={device.name: device.description for device in self._devices},
            measured=self._measured,
            note=self._note,
            refusal=self._refusal,
        )
        return replace(report_of(self._asked, self._read, self._gpus, here), problem=known.problem)

    @property
    def is_usable(self) -> bool:
        """Whether any of the models can be planned: what llama.cpp refuses is none."""
        return self._refusal is None and any(read.model is not None for read in self._read)

    def _known(self) -> KnownGpus:
        values = self._settings.values
        facts = SpeedFacts(values.memory_speeds, values.answers_here, values.gpus)
        return known_gpus(self._sources.read_table(), facts, self._devices, self._sources.main_memory().total)


def _gpus_meant(names: Sequence[str], known: KnownGpus) -> list[Gpu]:
    """Return the GPUs of names that had commas between them: a name may hold some itself."""
    others = [name for name in names if gpu_id(name) != THIS_MACHINE]
    if others and len(others) < len(names):
        raise UserError(
            translate("Planner", "This machine is planned for by itself: leave it out of --gpu, or the others."),
            ExitCode.WRONG_USE,
        )
    found: list[Gpu] = []
    place = 0
    while place < len(others):
        runs = ((end, called(" ".join(others[place:end]), known.all)) for end in range(len(others), place + 1, -1))
        end, meant = next((run for run in runs if run[1]), (place + 1, ()))
        found += meant or _named(others[place], known)
        place = end
    return found


def _named(name: str, known: KnownGpus) -> tuple[Gpu, ...]:
    name = _SIZE.sub("", name)
    found = matching(name, known.all) or matching(_PARTED.sub(" ", name), known.all)
    if not found and gpu_id(name).partition("-")[0] in MAKERS:
        by_driver = known_as(name, None, known.all)
        found = () if by_driver is None else (by_driver,)
    if found:
        return found
    names = {gpu_id(word): gpu.name for gpu in known.all for word in (gpu.name, gpu.id)}
    shorter = {"-".join(key.split("-")[-2:]): name for key, name in names.items()}
    near = difflib.get_close_matches(gpu_id(name), {**shorter, **names}, n=1, cutoff=NEAR)
    if not near:
        examples = (gpu.name for gpu in known.all if gpu.id in EXAMPLES)
        raise UserError(
            translate(
                "Planner",
                "No GPU is called “{name}”: names are such as {examples}. The planner of the window lists all of them, and"
                " you can add your own there.",
                name=name,
                examples=", ".join(examples),
            ),
            ExitCode.WRONG_USE,
        )
    suggestion = {**shorter, **names}[near[0]]
    raise UserError(
        translate(
            "Planner",
            "No GPU is called “{name}” (did you mean {near}?): the planner of the window lists them, and you can add"
            " your own there.",
            name=name,
            near=suggestion,
        ),
        ExitCode.WRONG_USE,
    )


def _too_long_prompt(prompt: int, context: int) -> UserError:
    return UserError(
        translate(
            "Planner",
            "A prompt of {prompt:,} tokens does not fit into a context of {context:,}: make --context larger, or --prompt"
            " smaller.",
            prompt=prompt,
            context=context,
        ),
        ExitCode.WRONG_USE,
    )
