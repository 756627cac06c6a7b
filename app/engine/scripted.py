"""A backend that follows a script instead of a model: for the window's tests, fault injection and a tour.

Speaks bytes as tokens, at the speed that the script says; knows nothing of llama.cpp.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from app.core.commands import Load, MeasureMemory
from app.core.devices import MAIN_MEMORY, Device, LibraryFacts
from app.core.errors import UserError
from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import DEFAULT_CONTEXT, CacheSizes, LoadOptions, MemoryKind, ModelInfo
from app.core.sampling import SamplingSettings
from app.core.words import translate
from app.engine.backend import DecodeResult, Row, TokenIds
from app.probability import stages
from app.probability.candidates import candidates_of

VOCABULARY = 512
START, END, USER, ANSWER = 256, 257, 258, 259
CONTROL_TEXTS = {START: "<|start|>", END: "<|end|>", USER: "<|user|>", ANSWER: "<|answer|>"}
TOKENIZER = "scripted-bytes"
"""Every script has the same vocabulary."""
LIKELY, MARGIN = 20.0, 8.0
"""Logits of the scripted byte and of the best of the others."""
KV_BYTES_PER_CELL = 1024
TEMPLATE = (
    "{% for message in messages %}{{ '<|user|>' if message.role == 'user' else '<|answer|>' }}"
    "{{ message.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|answer|>{% endif %}"
)

Fault = Literal["none", "abort", "hang", "exit", "memory"]


class Script(msgspec.Struct, frozen=True):
    """What happens: times in seconds, and where a fault strikes (index of a token, -1 in the prefill, -2 in the load)."""

    answers: tuple[str, ...] = ("Sunlight holds every colour. Air scatters the blue most, so the sky looks blue.",)
    load_seconds: float = 0.0
    prefill_tokens_per_s: float = 0.0
    """0 is as fast as it goes."""
    tokens_per_s: float = 0.0
    context: int = DEFAULT_CONTEXT
    fault: Fault = "none"
    fault_at: int = 0
    template: str | None = TEMPLATE
    devices: tuple[Device, ...] = (Device("CPU", "a script", "cpu", "CPU", 1 << 34, None),)
    memory: tuple[DeviceMemory, ...] | None = None
    """What the model takes by device, measured and loaded alike; None is a little main memory."""
    gpu_layers: int = 0


class ScriptedVocabulary:
    """Bytes as tokens, and four control tokens."""

    def __init__(self, template: str | None) -> None:
        self.size = VOCABULARY
        self.bos: int | None = START
        self.eos: int | None = END
        self.add_bos = True
        self._template = template

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the bytes of a text; `special` finds control tokens."""
        ids: list[int] = []
        rest = text
        while rest:
            found = [
                (rest.find(name), token, name) for token, name in CONTROL_TEXTS.items() if special and name in rest
            ]
            place, token, name = min(found, default=(len(rest), None, ""))
            ids += rest[:place].encode()
            if token is not None:
                ids.append(token)
            rest = rest[place + len(name) :]
        return ids

    def piece(self, token: int) -> bytes:
        """Return the byte of a token."""
        return bytes([token]) if token < START else b""

    def token_text(self, token: int) -> str:
        """Return a token's text, control tokens included."""
        return CONTROL_TEXTS.get(token) or self.piece(token).decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Return whether generation ends at this token."""
        return token == END

    def special_texts(self) -> list[tuple[int, str, bool]]:
        """Return (id, text, is_control) of the control tokens."""
        return [(token, text, True) for token, text in CONTROL_TEXTS.items()]

    def chat_template(self, name: str | None = None) -> str | None:
        """Return the script's template."""
        return self._template


class ScriptedCandidates:
    """The candidates of one step, for the pure stages of `app.probability`."""

    def __init__(self) -> None:
        self.value = candidates_of(np.empty(0, np.int32), np.empty(0, np.float32))

    def fill(self, ids: npt.NDArray[np.int32], logits: Row) -> None:
        """Start a step."""
        self.value = candidates_of(np.array(ids), np.array(logits))

    def survivors(self) -> tuple[npt.NDArray[np.int32], Row]:
        """Return the ids and logits that are left."""
        return self.value.ids, self.value.logits


class ScriptedStage:
    """One pure stage, fed with the tokens that it is told."""

    def __init__(self, stage: stages.Stage, history: list[int]) -> None:
        self.name = stage.name
        self.remembers = stage.name == "penalties"
        self._stage = stage
        self._history = history
        self.accept: Callable[[int], object] = history.append

    def apply(self, candidates: ScriptedCandidates) -> None:
        """Cut or reshape the candidates in place."""
        step = stages.Step(np.asarray(self._history, np.int32), xtc_decides=True)
        candidates.value = self._stage.apply(candidates.value, step)


class ScriptedChain:
    """The pure stages that a set of settings turns on."""

    def __init__(self, settings: SamplingSettings) -> None:
        self.stages: Sequence[ScriptedStage] = [ScriptedStage(stage, []) for stage in stages.chain(settings)]

    def close(self) -> None:
        """Forget the stages."""
        self.stages = []


class ScriptedBackend:
    """Follows a script; a path that ends in .json is read as one, any other gets the script of the defaults."""

    def __init__(self, script: Script, path: str) -> None:
        self._script = script
        self._wait = threading.Event()
        self._stop: Callable[[], bool] | None = None
        self._answer = -1
        self._turn = -1
        self._position = 0
        self._noise = np.random.default_rng(7).normal(0, 1, VOCABULARY).astype(np.float32)
        self.vocabulary = ScriptedVocabulary(script.template)
        self.cells = LoadOptions(context=script.context).cells(None)
        self.micro_batch = 512
        self.memory_kind: MemoryKind = "plain"
        self.window = 0
        kv = self.cells * KV_BYTES_PER_CELL
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
            vocabulary=VOCABULARY,
            chat_template=script.template,
            license=None,
            kv_bytes=kv,
            cache=CacheSizes(full=kv),
            threads=1,
            gpu_layers=script.gpu_layers,
            devices=tuple(use.device for use in self.memory),
            memory=self.memory,
            system_info="",
            load_ms=script.load_seconds * 1000,
            tokenizer=TOKENIZER,
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
        elif self._script.tokens_per_s:
            self._wait.wait(1 / self._script.tokens_per_s)
        self._position = position + count
        self._answer += int(logits)
        if self._answer >= 0 and self._script.fault_at == self._answer:
            self.strike()
        return "done"

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
            case "none":
                pass

    def logits(self) -> Row:
        """Return a row in which the script's next byte is likely and the others share the rest."""
        texts = self._script.answers
        text = texts[self._turn % len(texts)].encode()
        row = self._noise + np.float32(LIKELY - MARGIN)
        row[START:] = -LIKELY
        row[text[self._answer] if self._answer < len(text) else END] = LIKELY
        return row

    def synchronize(self) -> None:
        """Nothing runs behind our back."""

    def remove(self, sequence: int, start: int) -> bool:
        """Forget the cells from a position on: the next logits begin a new answer."""
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
