"""What can be planned for: this machine with what is free on it now, the GPUs of the table, and people's own.

How fast this machine's devices are, answers on it have shown (`calibrating`); that is worked out in a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from app.core.devices import GPU_KINDS, MAIN_MEMORY, Device, GpuReport, MainMemory, gpu_of
from app.core.job_events import LanesAnalysed
from app.core.machine_speed import KeptAnswers, KnownMemory
from app.core.own_gpu import OwnGpu
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.calibration import ENOUGH, Calibrated, calibrated, carried_over
from app.planner.gpu import Gpu
from app.planner.gpu_table import own_gpus, read_gpu_table
from app.planner.memory_plan import PlannedDevice
from app.planner.this_machine import OwnDevice, this_machine
from app.services.calibrating import calibration_of
from app.services.engine_session import EngineSession
from app.services.latest_job import LatestJob
from app.services.load_check import given_back
from app.services.measuring import Measuring
from app.services.own_devices import answers_key, own_gpu, own_processor
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

JOB = "planned devices"


class KnownGpus(msgspec.Struct, frozen=True):
    """Whose speed is known."""

    table: tuple[Gpu, ...] = ()
    own: tuple[Gpu, ...] = ()
    """Those that people added."""
    here: dict[str, Gpu] = {}
    """This machine's devices, the processor among them, by the engine's name of each."""
    answers: dict[str, KeptAnswers] = {}
    """What answers on each of them showed, where any did."""
    problem: Sentence | None = None
    """What is wrong with the table."""

    @property
    def all(self) -> tuple[Gpu, ...]:
        """Every GPU that people can choose beside this machine."""
        return (*self.own, *self.table)


class SpeedFacts(msgspec.Struct, frozen=True):
    """What the settings tell of speed."""

    memories: Mapping[str, KnownMemory]
    answers: Mapping[str, KeptAnswers]
    own: Mapping[str, OwnGpu]
    threads: int | None = None
    """Of decode on the processor; None takes those that answered last."""


class PlanningDevices:
    """This machine and all GPUs that are known; begins to look when somebody asks."""

    def __init__(
        self,
        session: EngineSession,
        measured: Measuring,
        settings: SettingsFile,
        jobs: Jobs,
        read_table: Callable[[], str],
        main_memory: Callable[[], MainMemory],
    ) -> None:
        """`read_table` returns the text of the table of GPUs."""
        self.changed: Signal[()] = Signal()
        """Something else is free, or more is known of how fast it is."""
        self._session = session
        self._memory = measured.memory
        self._machine = measured.machine
        self._settings = settings
        self._read_table = read_table
        self._main_memory = main_memory
        self._devices: tuple[Device, ...] = ()
        self._listed: tuple[Device, ...] = ()
        self._back: Mapping[str, int] = {}
        """What the model gave back that was open when the devices were told."""
        self._gpus: KnownGpus | None = None
        self._asked_for: tuple[SpeedFacts, tuple[Device, ...]] | None = None
        self._job: LatestJob[KnownGpus] = LatestJob(jobs, JOB, self._take_gpus)
        self._memory.changed.connect(self._take_listed)
        session.changed.connect(self._take_session)
        self._machine.changed.connect(self.changed.emit)
        measured.calibrating.changed.connect(self._take_answers)
        self._model = session.model

    @property
    def here(self) -> tuple[PlannedDevice, ...]:
        """This machine's GPUs as the engine orders them, and last main memory; what the open model gives back is free."""
        self._take_listed()
        return planned_here(
            self._devices, self._machine.gpus, self._main_memory(), given_back(self._session.model), self._back
        )

    @property
    def gpus(self) -> KnownGpus:
        """Whose speed is known; empty until it was read, and then `changed` follows."""
        self._look()
        return self._gpus or KnownGpus()

    @property
    def is_known(self) -> bool:
        """Whether the table was read."""
        return self._gpus is not None

    @property
    def is_listed(self) -> bool:
        """Whether it was told which devices this machine has."""
        return bool(self._devices)

    def note(self, devices: tuple[Device, ...]) -> None:
        """Take in devices, and what is free on them, that a dry run beside the open model has told."""
        self._devices, self._back = devices, given_back(self._session.model)

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was worked out."""
        self._job.take(event)

    def _take_listed(self) -> None:
        if self._memory.devices is not self._listed:
            self._listed = self._memory.devices
            if self._listed:
                self.note(self._listed)
                self.changed.emit()

    def _take_session(self) -> None:
        if self._session.model is not self._model:
            self._model = self._session.model
            self.changed.emit()

    def _take_answers(self) -> None:
        """One more answer tells of a device: what somebody has asked for is worked out anew."""
        if self._gpus is not None:
            self._look()

    def _look(self) -> None:
        values, devices = self._settings.values, self._devices
        model = self._session.model
        facts = SpeedFacts(
            values.memory_speeds, values.answers_here, values.gpus, model.threads if model is not None else None
        )
        if (facts, devices) == self._asked_for:
            return
        self._asked_for = (facts, devices)
        total = self._main_memory().total
        self._job.want(lambda: known_gpus(self._read_table(), facts, devices, total))

    def _take_gpus(self, gpus: KnownGpus | None) -> None:
        if gpus is not None:
            self._gpus = gpus
            self.changed.emit()


def planned_here(
    devices: Iterable[Device],
    report: GpuReport,
    main: MainMemory,
    back: Mapping[str, int] | None = None,
    back_when_told: Mapping[str, int] | None = None,
) -> tuple[PlannedDevice, ...]:
    """Return this machine's GPUs, and last its main memory, with what a model may take of each.

    `back` is what unloading the open model frees, by device, `back_when_told` what it would have freed when `devices`
    were told. An integrated GPU counts only where there is no other, as for llama.cpp.
    """
    back, told_back = back or {}, back_when_told or {}
    free = main.available + back.get(MAIN_MEMORY, 0)
    gpus = [device for device in devices if device.kind in GPU_KINDS]
    gpus = [device for device in gpus if device.kind == "gpu"] or gpus
    planned = []
    for device in gpus:
        if device.kind == "integrated_gpu":
            room: int | None = free + back.get(device.name, 0)
        elif (seen := gpu_of(device, report.gpus)) is not None and seen.free is not None:
            room = seen.free + back.get(device.name, 0)
        else:
            room = None if device.free is None else device.free + told_back.get(device.name, 0)
        room = room if room is None or device.total is None else min(room, device.total)
        planned.append(PlannedDevice(device.name, True, device.total, room, device.kind == "integrated_gpu"))
    return (*planned, PlannedDevice(MAIN_MEMORY, False, main.total, min(free, main.total)))


def known_gpus(table_text: str, facts: SpeedFacts, devices: Iterable[Device], main_total: int) -> KnownGpus:
    """Return the GPUs of the table, people's own, and how fast this machine's devices are; takes some milliseconds.

    What answers here changed of a GPU is carried over to those of its class, and to people's own that are like them.
    """
    read = read_gpu_table(table_text)
    table = read.gpus
    here: dict[str, Gpu] = {}
    answers: dict[str, KeptAnswers] = {}
    told: dict[str, tuple[Gpu, Calibrated]] = {}
    for name, key, device in _own_devices(facts, tuple(devices), main_total):
        gpu = this_machine(device, read.gpus)
        if gpu is None:
            continue
        if key in facts.answers:
            answers[name] = facts.answers[key]
        known = calibrated(gpu, calibration_of(answers.get(name, KeptAnswers())))
        here[name] = known.gpu
        before = told.get(gpu.speed_class)
        if known.decode_answers >= ENOUGH and (before is None or before[1].decode_answers < known.decode_answers):
            told[gpu.speed_class] = gpu, known
    for gpu, known in told.values():
        table = tuple(carried_over(gpu, known.gpu, other) for other in table)
    return KnownGpus(table, own_gpus(facts.own, table), here, answers, read.problem)


def _own_devices(
    facts: SpeedFacts, devices: tuple[Device, ...], main_total: int
) -> Iterable[tuple[str, str, OwnDevice]]:
    """Return this machine's devices, each with the engine's name and with what its answers are kept under."""
    for device in devices:
        if device.kind in GPU_KINDS:
            gpu = own_gpu(device, facts.memories)
            yield device.name, answers_key(gpu), gpu
    name = next((device.description for device in devices if device.kind == "cpu"), MAIN_MEMORY)
    processor = own_processor(facts.memories, name, main_total)
    yield MAIN_MEMORY, answers_key(processor, facts.threads, facts.answers), processor
