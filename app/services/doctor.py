"""The doctor: starts the engine, looks at everything around it, and says what is wrong and what mends it.

Knows the engine by its port. What is judged here are values; `surroundings` looks.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from app.core.commands import ListDevices
from app.core.devices import Device, LibraryFacts, MainMemory
from app.core.events import DevicesListed, EngineGone, Failed, Hello, Unloaded
from app.core.library_fault import LibraryFault
from app.core.ports import EnginePort
from app.core.words import Sentence, translate
from app.services.doctor_facts import facts_of
from app.services.doctor_files import file_findings
from app.services.findings import Finding, Report
from app.services.gpu_reasons import GpuClues, gpu_findings, library_remedy
from app.services.models import Models
from app.services.surroundings import Surroundings, look_around
from app.services.units import byte_size
from app.services.window_reasons import window_findings
from app.system.cuda_build import cuda_major
from app.system.paths import Paths
from app.system.processor import known_features
from app.system.settings_file import SettingsFile

_WORTHWHILE = frozenset({"AVX2", "FMA", "F16C", "AVX512", "DOTPROD", "MATMUL_INT8"})
"""Features that make a build noticeably faster where the processor has them."""
LITTLE_MEMORY = 1 << 30
"""With less than this only the smallest models answer, and slowly where the system swaps."""
PROCESSOR = "CPU"
"""ggml's backend for the processor, without which no model runs."""
_NO_PROCESSOR = translate(
    "Doctor",
    "None of llama.cpp's parts for the processor can run on this one. Set Tokenlight up again on this machine.",
)
_SILENT = translate(
    "Doctor", "The engine does not answer. A driver that hangs is the usual reason: restart the computer."
)
_OTHER_CLOCK = translate(
    "Doctor", "The engine's clock is not the program's, so its times cannot be told. Restart the computer."
)


class EngineAnswer(msgspec.Struct, frozen=True):
    """How the engine's start ended."""

    library: LibraryFacts | None = None
    """None where it did not come so far."""
    devices: tuple[Device, ...] = ()
    start_ms: float | None = None
    """From asking for it to its first message, the start of the process included."""
    ready_ms: float | None = None
    """From asking for it to its list of devices."""
    shares_clock: bool = True
    sentence: Sentence | None = None
    """Why it did not start."""
    fault: LibraryFault | None = None
    details: tuple[str, ...] = ()


class Doctor:
    """Examines once: `begin`, hand it the engine's events until it `is_answered`, then `report`."""

    def __init__(
        self, engine: EnginePort, paths: Paths, settings: SettingsFile, models: Models, window_check: str
    ) -> None:
        """`window_check` is the name of the module that tries what a window needs, in a process of its own."""
        self._engine = engine
        self._paths = paths
        self._settings = settings
        self._models = models
        self._window_check = window_check
        self._request: int | None = None
        self._begun_ns = 0
        self._answer = EngineAnswer()
        self._answered = False

    @property
    def is_answered(self) -> bool:
        """Whether it is known how the engine's start ended."""
        return self._answered

    @property
    def answer(self) -> EngineAnswer:
        """What the engine said so far."""
        return self._answer

    def begin(self) -> None:
        """Start the engine and ask what it can compute on."""
        self._request = self._engine.new_request()
        self._begun_ns = time.perf_counter_ns()
        self._engine.send(ListDevices(self._request))

    def look_around(self) -> Surroundings:
        """Look at the machine; takes a second or two."""
        return look_around(self._paths, self._window_check)

    def take(self, event: Hello | DevicesListed | Failed | EngineGone | Unloaded) -> None:
        """Take in what the engine says of its start."""
        if self._request is None or self._answered:
            return
        match event:
            case Hello(clock_ns=clock_ns):
                shares = self._begun_ns <= clock_ns <= time.perf_counter_ns()
                self._set(start_ms=self._passed_ms(), shares_clock=shares)
            case DevicesListed(request=self._request, library=library, devices=devices):
                self._set(library=library, devices=devices, ready_ms=self._passed_ms())
                self._answered = True
            case Failed(request=self._request, kind="cancelled") | Unloaded():
                self._fail(_SILENT)
            case Failed(request=self._request, sentence=sentence, details=details):
                self._fail(sentence, details)
            case EngineGone(requests=requests) if self._request in requests:
                self._set(fault=event.fault)
                self._fail(event.sentence, event.details)
            case _:
                pass

    def report(self, around: Surroundings) -> Report:
        """Return what was found."""
        models = self._models.list_now()
        findings = [
            *self._engine_findings(around),
            *processor_findings(self._answer.library, around),
            *memory_findings(around.memory),
            *window_findings(around),
            *file_findings(around, self._settings.problems, models),
        ]
        failed = self._answer.fault.folder if self._answer.fault is not None else ""
        facts = facts_of(around, self._answer.library, self._answer.devices, self._answer.ready_ms, models, failed)
        library = self._answer.library
        return Report(facts, tuple(findings), library is not None and PROCESSOR in library.backends)

    def _engine_findings(self, around: Surroundings) -> list[Finding]:
        answer = self._answer
        if answer.library is None:
            fault = answer.fault
            command = library_remedy(fault, around.remedies) if fault is not None else ""
            return [Finding("engine", "problem", answer.sentence or _SILENT, command)]
        found = [] if answer.shares_clock else [Finding("engine", "problem", _OTHER_CLOCK)]
        if PROCESSOR not in answer.library.backends:
            found.append(Finding("engine", "problem", _NO_PROCESSOR, around.remedies.set_up()))
        clues = GpuClues(
            library=answer.library,
            devices=answer.devices,
            gpus=around.gpus,
            cards=around.cards,
            hidden_by=around.hidden_by,
            cuda_needed=cuda_major(Path(answer.library.folder)),
        )
        return [*found, *gpu_findings(clues, around.remedies)]

    def _passed_ms(self) -> float:
        return (time.perf_counter_ns() - self._begun_ns) / 1e6

    def _set(self, **changes: object) -> None:
        self._answer = msgspec.structs.replace(self._answer, **changes)

    def _fail(self, sentence: Sentence, details: tuple[str, ...] = ()) -> None:
        self._set(sentence=sentence, details=details)
        self._answered = True


def memory_findings(memory: MainMemory) -> list[Finding]:
    """Return whether main memory is short already, before any model is open."""
    if memory.available >= LITTLE_MEMORY:
        return []
    sentence = translate(
        "Doctor",
        "Only {available} of main memory are free: close other programs before you open a model.",
        available=byte_size(memory.available),
    )
    return [Finding("processor", "note", sentence)]


def processor_findings(library: LibraryFacts | None, around: Surroundings) -> list[Finding]:
    """Return where the build and the processor do not suit each other."""
    found = []
    if library is not None and around.features is not None:
        built_for = {feature.partition("=")[0] for feature in library.features} & known_features()
        lacking, unused = built_for - around.features, (around.features - built_for) & _WORTHWHILE
        if lacking:
            sentence = translate(
                "Doctor",
                "This build of llama.cpp uses instructions that this processor lacks ({features}), so the engine may "
                "stop at any moment. Set Tokenlight up again on this machine.",
                features=", ".join(sorted(lacking)),
            )
            found.append(Finding("processor", "problem", sentence, around.remedies.set_up()))
        elif unused and library.instead is None:
            sentence = translate(
                "Doctor",
                "This build of llama.cpp leaves instructions of this processor unused ({features}) and is slower than "
                "it could be. Set Tokenlight up again on this machine.",
                features=", ".join(sorted(unused)),
            )
            found.append(Finding("processor", "note", sentence, around.remedies.set_up()))
    return found
