"""A backend that follows a script instead of a model: for the window's tests, fault injection and a tour.

Speaks bytes and the words of its script as tokens, at the speed that the script says; knows nothing of llama.cpp.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from app.core.bandwidth import MemorySpeed
from app.core.commands import Load, MeasureBandwidth, MeasureMemory
from app.core.devices import MAIN_MEMORY, Device, LibraryFacts, MainMemory
from app.core.errors import UserError
from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import DEFAULT_CONTEXT, CacheSizes, LoadOptions, MemoryKind, ModelInfo
from app.core.operations import BandwidthMeasured
from app.core.sampling import SamplingSettings
from app.core.words import translate
from app.engine.backend import ContextLost, DecodeResult, Inspect, Row, TokenIds, Watcher, WholeState
from app.engine.scripted_chain import ScriptedCandidates, ScriptedChain, ScriptedGrammar
from app.engine.scripted_inspection import ScriptedInspection
from app.engine.scripted_sequences import ScriptedSequences
from app.engine.scripted_state import ScriptedState
from app.engine.scripted_vocabulary import END, START, TEMPLATE, ScriptedVocabulary

LIKELY, MARGIN = 20.0, 8.0
"""Logits of the scripted token and of the best of the others."""
KV_BYTES_PER_CELL = 1024
MOST_LATE_S = 0.5
"""A token that comes later than this moves those after it; a shorter delay is made up for."""

CHAT = 0

Fault = Literal["none", "abort", "hang", "exit", "memory", "context"]


class Script(msgspec.Struct, frozen=True):
    """What happens: times in seconds, and where a fault strikes (index of a token, -1 in the prefill, -2 in the load)."""

    answers: tuple[str, ...] = ("Sunlight holds every colour. Air scatters the blue most, so the sky looks blue.",)
    load_seconds: float = 0.0
    prefill_tokens_per_s: float = 0.0
    """0 is as fast as it goes."""
    tokens_per_s: float = 0.0
    """Counted from the first token of an answer: what the loop takes for one is part of its time."""
    paced_last: int = 0
    """Only so many tokens at the end of an answer keep to that speed, those before come at once; 0 is all of them."""
    pieces: tuple[str, ...] = ()
    """Texts that are one token each; all others are written in bytes."""
    context: int = DEFAULT_CONTEXT
    fault: Fault = "none"
    fault_at: int = 0
    template: str | None = TEMPLATE
    devices: tuple[Device, ...] = (Device("CPU", "a script", "cpu", "CPU", 1 << 34, None),)
    memory: tuple[DeviceMemory, ...] | None = None
    """What the model takes by device, measured and loaded alike; None is a little main memory."""
    gpu_layers: int = 0


class ScriptedBackend:
    """Follows a script; a path that ends in .json is read as one, any other gets the script of the defaults."""

    def __init__(self, script: Script, path: str) -> None:
        self._script = script
        self._wait = threading.Event()
        self._stop: Callable[[], bool] | None = None
        self._answer = -1
        self._turn = -1
        self._position = 0
        self.inspect: Inspect = self._inspect
        self.sequences = ScriptedSequences(self._step, self._evaluated)
        self.whole: WholeState = ScriptedState()
        self._next: list[int] = []
        """The token that each row of the last decode makes likely."""
        self._due = 0.0
        """When the next token is due, by the monotonic clock."""
        self.vocabulary = ScriptedVocabulary(script.template, script.pieces)
        self._noise = np.random.default_rng(7).normal(0, 1, self.vocabulary.size).astype(np.float32)
        self._answers = [self.vocabulary.tokenize(text, special=False) for text in script.answers]
        self.cells = LoadOptions(context=script.context).cells(None)
        self.micro_batch = 512
        self.memory_kind: MemoryKind = "plain"
        self.window = 0
        kv = self.cells * KV_BYTES_PER_CELL
        self.sequences.cache = CacheSizes(full=kv)
        self.memory = _memory(script, self.cells)
        self.info = ModelInfo(
            path=path,
            name="Scripted",
            architecture="script",
            description="a script instead of a model",
            parameters=0,
            weight_bytes=1 << 20,
            weight_bytes_per_token=1 << 20,
            quantisation="none",
            trained_context=self.cells,
            context=self.cells,
            layers=1,
            vocabulary=self.vocabulary.size,
            chat_template=script.template,
            license=None,
            kv_bytes=kv,
            cache=self.sequences.cache,
            threads=1,
            gpu_layers=script.gpu_layers,
            devices=tuple(use.device for use in self.memory),
            memory=self.memory,
            system_info="",
            load_ms=script.load_seconds * 1000,
            tokenizer=self.vocabulary.name,
            end_tokens=(END,),
        )

    def load(self, progress: Callable[[float], bool]) -> None:
        """Take as long as the script says; ends early where `progress` returns False."""
        script = self._script
        for percent in range(101):
            self._wait.wait(script.load_seconds / 100)
            if script.fault != "none" and script.fault_at == -2 and percent == 50:
                self.strike()
            if not progress(float(percent)):
                break

    def decode(self, ids: TokenIds, position: int, *, sequence: int, logits: bool) -> DecodeResult:
        """Take the time that the script gives to these tokens; strikes where the script says so."""
        count = len(ids)
        if self._answer < 0:
            if self._script.fault_at == -1:
                self.strike()
            rate = self._script.prefill_tokens_per_s
            for _ in range(count if rate else 0):
                if self._stop is not None and self._stop():
                    return "aborted"
                self._wait.wait(1 / rate)
        else:
            self._step(self._answer)
        self._position = position + count
        self._answer += int(logits)
        self._evaluated([(0, self._answer)])
        return "done"

    def _step(self, index: int) -> None:
        """Take the time of the token of this index."""
        if self._script.tokens_per_s:
            self._pace(1 / self._script.tokens_per_s, index)

    def _evaluated(self, lanes: Sequence[tuple[int, int]]) -> None:
        """Have rows for the next tokens of these lanes, of which the chat is the first one; or strike."""
        answers = [self._ids_of(lane) for lane, _ in lanes]
        nexts = zip(answers, (index for _, index in lanes), strict=True)
        self._next = [ids[index] if 0 <= index < len(ids) else END for ids, index in nexts]
        furthest = max(index for _, index in lanes)
        if furthest >= 0 and self._script.fault_at == furthest:
            self.strike()

    def _pace(self, seconds: float, index: int) -> None:
        """Wait until the next token of the answer is due."""
        now, last = time.monotonic(), self._script.paced_last
        first = max(len(self._ids_of(0)) - last, 0) if last else 0
        if index >= first:
            self._due = now if index == first else max(self._due, now - MOST_LATE_S)
            self._due += seconds
            self._wait.wait(max(self._due - now, 0.0))

    def _ids_of(self, lane: int) -> list[int]:
        """Return the tokens that a lane writes: those of the chat's turn, the next ones in the next lanes."""
        return self._answers[(self._turn + lane) % len(self._answers)]

    def strike(self) -> None:
        """Fail in the way that the script says, or not at all."""
        match self._script.fault:
            case "abort":
                os.abort()
            case "exit":
                os._exit(9)
            case "hang":
                self._wait.wait()
            case "memory":
                raise MemoryError
            case "context":
                raise ContextLost
            case "none":
                pass

    def logits(self, place: int = -1) -> Row:
        """Return a row in which the script's next token is likely and the bytes share the rest."""
        row = self._noise + np.float32(LIKELY - MARGIN)
        row[START:] = -LIKELY
        row[self._next[place]] = LIKELY
        return row

    def synchronize(self) -> None:
        """Nothing runs behind our back."""

    def remove(self, sequence: int, start: int) -> bool:
        """Forget the cells from a position on: the next logits begin a new answer, where they are the chat's."""
        if sequence != CHAT:
            self.sequences.forget(sequence)
            return True
        self._answer = -1
        self._turn += 1
        self._position = start
        return True

    def min_position(self, sequence: int) -> int:
        """Return the smallest position in the cache."""
        return 0 if self._position else -1

    def state_bytes(self, sequence: int) -> int:
        """A script rewinds to anywhere."""
        return 0

    def save_state(self, sequence: int) -> npt.NDArray[np.uint8]:
        """Return nothing: a script rewinds to anywhere."""
        return np.zeros(0, np.uint8)

    def restore_state(self, sequence: int, state: npt.NDArray[np.uint8]) -> bool:
        """Take nothing back."""
        return False

    def set_abort(self, stop: Callable[[], bool] | None) -> None:
        """Look at `stop` between the tokens of a prefill."""
        self._stop = stop

    def candidates(self) -> ScriptedCandidates:
        """Return the array for the stages."""
        return ScriptedCandidates()

    def chain(self, settings: SamplingSettings) -> ScriptedChain:
        """Build the stages of these settings."""
        return ScriptedChain(settings)

    def _inspect(
        self, _cells: int, _main_memory: MainMemory | None, _watcher: Watcher | None = None
    ) -> ScriptedInspection:
        row = self._noise + np.float32(LIKELY - MARGIN)
        row[START:] = -LIKELY
        return ScriptedInspection(row, self._script.prefill_tokens_per_s, LIKELY)

    def grammar(self, gbnf: str) -> ScriptedGrammar:
        """A script keeps to no grammar."""
        return ScriptedGrammar()

    def close(self) -> None:
        """Nothing to free."""


class ScriptedOpener:
    """Opens scripts: devices and memory are what the script says they are."""

    def __init__(self) -> None:
        self._script = Script()

    def __call__(self, command: Load, progress: Callable[[float], bool]) -> ScriptedBackend:
        """Load a script, as slowly as it says; raises `UserError` when it is unreadable."""
        self._script = script = _read_script(Path(command.path))
        backend = ScriptedBackend(script, command.path)
        backend.load(progress)
        return backend

    def devices(self) -> tuple[LibraryFacts, tuple[Device, ...]]:
        """Return the devices of the script that was read last."""
        devices = self._script.devices
        backends = tuple(dict.fromkeys(device.backend for device in devices))
        offload = any(device.kind != "cpu" for device in devices)
        return LibraryFacts("scripted", "", offload, backends, ()), devices

    def bandwidth(self, command: MeasureBandwidth, stopped: Callable[[], bool]) -> BandwidthMeasured:
        """Return the same for every device."""
        speeds = (
            MemorySpeed(each.name, each.description, "read", 20.0, command.threads) for each in self._script.devices
        )
        return BandwidthMeasured(command.request, tuple(speeds))

    def measure(self, command: MeasureMemory, stopped: Callable[[], bool]) -> MemoryMeasured:
        """Return what the script says of memory; raises `UserError` when it is unreadable."""
        self._script = script = _read_script(Path(command.path))
        if script.fault_at == -2:
            ScriptedBackend(script, command.path).strike()
        cells = LoadOptions(context=command.options.context or script.context).cells(None)
        return MemoryMeasured(
            request=command.request,
            path=command.path,
            options=msgspec.structs.replace(command.options, gpu_layers=script.gpu_layers),
            memory=_memory(script, cells),
            context=cells,
            layers=1,
            devices=script.devices,
        )


def _read_script(path: Path) -> Script:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Script) if path.suffix == ".json" else Script()
    except (OSError, msgspec.DecodeError) as error:
        raise UserError(
            translate("Engine", "“{file}” is no readable script. Choose another file.", file=path.name)
        ) from error


def _memory(script: Script, cells: int) -> tuple[DeviceMemory, ...]:
    if script.memory is not None:
        return script.memory
    return (DeviceMemory(MAIN_MEMORY, 1 << 20, cells * KV_BYTES_PER_CELL, 1 << 20),)
