"""Opens a model file: checks it in Python first, then lets the backend load it, and says why when it cannot.

Knows which backends there are; the worker knows none.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from app.core.cache_shape import attention_shape
from app.core.commands import Load, MeasureBandwidth, MeasureMemory
from app.core.devices import GPU_KINDS, Device, LibraryFacts
from app.core.errors import UserError
from app.core.events import MemoryMeasured
from app.core.gguf_header import Header, short_label
from app.core.layer_choice import Choice, Room, choose_context, choose_layers
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.core.model_facts import model_facts
from app.core.model_file import ModelSource, check_model_file
from app.core.model_reads import weight_bytes_per_token
from app.core.model_shape import shape_of
from app.core.operations import BandwidthMeasured
from app.core.words import Sentence, translate
from app.engine.backend import Backend
from app.engine.bandwidth import measure
from app.engine.cache_classes import parse_classes
from app.engine.devices import library_facts, list_devices
from app.engine.dry_run import DryRun, gpu_bytes
from app.engine.failures import LoadRefused
from app.engine.llama import LogCapture, start_library
from app.engine.llama_context import LoadFailed
from app.engine.llama_model import LlamaBackend
from app.engine.llama_parameters import inspection_options, inspection_parameters
from app.engine.load_remarks import load_remarks, without_context_warnings
from app.engine.pieces import end_tokens
from app.engine.placement import narrowed
from app.engine.scripted import ScriptedOpener
from app.engine.tokenizer_digest import digest_of

REASONS_SHOWN = 8
_FUNCTION = re.compile(r"^\w+:\s*")
"""llama.cpp begins a line of its log with the name of the C function."""


class Opener(Protocol):
    """What the worker asks of a backend before there is a model."""

    def __call__(self, command: Load, progress: Callable[[float], bool]) -> Backend:
        """Load a model; `progress` gets per cent and returns False to cancel. Raises `UserError`."""

    def devices(self) -> tuple[LibraryFacts, tuple[Device, ...]]:
        """Return what there is to compute on; safe to call from a second thread."""

    def measure(self, command: MeasureMemory, stopped: Callable[[], bool]) -> MemoryMeasured:
        """Work out what a model would take; asks `stopped` between two configurations. Raises `UserError`."""

    def bandwidth(self, command: MeasureBandwidth, stopped: Callable[[], bool]) -> BandwidthMeasured:
        """Measure how fast each device's memory is; asks `stopped` between two passes."""


def opener_for(backend: str) -> Opener:
    """Return the opener of a backend: "llama" or "scripted"."""
    return ScriptedOpener() if backend == "scripted" else LlamaOpener(start_library())


class LlamaOpener:
    """Opens GGUF files with llama.cpp."""

    def __init__(self, log: LogCapture) -> None:
        self._log = log
        self._dry_run = DryRun(log)

    def __call__(self, command: Load, progress: Callable[[float], bool]) -> Backend:
        """Check and load a file; raises `UserError` with the reason."""
        headers = checked_headers(Path(command.path))
        _refuse_impossible(command.options)
        try:
            try:
                options = self._decided(command, headers, lambda: not progress(0.0))
            finally:
                self._dry_run.close()  # the engine keeps no model beside its own
            backend = LlamaBackend(command.path, options, self._log, progress, weight_bytes_per_token(headers))
        except LoadFailed as error:
            raise _refusal(error, command) from error
        backend.memory = narrowed(backend.memory, headers, self._log.lines())
        backend.needed_to_inspect = partial(self._needed_to_inspect, command.path, options)
        backend.info = msgspec.structs.replace(
            backend.info,
            memory=backend.memory,
            cache_classes=parse_classes(self._log.lines()),
            attention=attention_shape(headers[0]),
            options=options,
            notes=without_context_warnings(backend.info.notes),
            remarks=load_remarks(command.options, options, backend.info),
            shape=shape_of(model_facts(headers)),
            tokenizer=tokenizer_of(Path(command.path), headers[0]),
            end_tokens=end_tokens(backend.vocabulary),
            begin_token=backend.vocabulary.bos,
        )
        return backend

    def devices(self) -> tuple[LibraryFacts, tuple[Device, ...]]:
        """Return the build and its devices with what is free on them now."""
        return library_facts(), list_devices()

    def measure(self, command: MeasureMemory, stopped: Callable[[], bool]) -> MemoryMeasured:
        """Work out what a load would take; the layers are chosen as a load would choose them."""
        headers = checked_headers(Path(command.path))
        _refuse_impossible(command.options)
        try:
            options = self._decided(command, headers, stopped)
            measured = self._dry_run.measure(command.path, headers, options)
        except LoadFailed as error:
            raise _refusal(error, command) from error
        return MemoryMeasured(
            request=command.request,
            path=command.path,
            options=options,
            memory=measured.memory,
            context=measured.context,
            layers=measured.layers,
            devices=list_devices(),
        )

    def bandwidth(self, command: MeasureBandwidth, stopped: Callable[[], bool]) -> BandwidthMeasured:
        """Measure main memory and that of each GPU."""
        free = command.main_memory.available if command.main_memory is not None else None
        return BandwidthMeasured(command.request, measure(list_devices(), command.threads, free, stopped))

    def _needed_to_inspect(
        self, path: str, options: LoadOptions, cells: int, watched: bool
    ) -> tuple[DeviceMemory, ...] | None:
        """Return the buffers of an inspection context; None where the file does not tell them any more."""
        try:
            headers = checked_headers(Path(path))
            return self._dry_run.measure(
                path, headers, inspection_options(options, cells, watched=watched), inspection_parameters
            ).memory
        except (LoadRefused, LoadFailed, OSError):
            return None  # the file may be gone, which a loaded model survives: llama.cpp may still refuse
        finally:
            self._dry_run.close()

    def _decided(
        self, command: Load | MeasureMemory, headers: Sequence[Header], stopped: Callable[[], bool]
    ) -> LoadOptions:
        """Return the options with the layers that fit, where nobody chose them and there is a GPU.

        The context is shortened for them where people allow it, as far as that lets all layers fit.
        """
        options, facts = command.options, model_facts(headers)
        if options.gpu_layers is not None or facts.layers is None:
            return options
        rooms = {
            device.name: Room(device.total, device.free) for device in list_devices() if device.kind in GPU_KINDS
        }
        if not rooms:
            return options

        def taken(tried: LoadOptions) -> dict[str, int | None]:
            if stopped():
                raise LoadRefused.cancelled()
            return gpu_bytes(self._dry_run.measure(command.path, headers, tried), tried, rooms)

        def measure(layers: int, experts_on_cpu: int) -> dict[str, int | None]:
            return taken(_with(options, Choice(layers, experts_on_cpu)))

        if options.may_shorten_context:
            whole = _with(options, Choice(facts.layers + 1, experts_on_cpu=0))
            cells = options.cells(facts.trained_context)
            shorter = choose_context(
                lambda context: taken(msgspec.structs.replace(whole, context=context)), rooms, cells
            )
            if shorter is not None:
                return whole if shorter == cells else msgspec.structs.replace(whole, context=shorter)
        undecided = facts.is_mixture and not options.experts_on_cpu
        choice = choose_layers(measure, rooms, facts.layers + 1, mixture=undecided)
        return options if choice is None else _with(options, choice)


def _with(options: LoadOptions, choice: Choice) -> LoadOptions:
    experts_on_cpu = options.experts_on_cpu or choice.experts_on_cpu
    return msgspec.structs.replace(options, gpu_layers=choice.gpu_layers, experts_on_cpu=experts_on_cpu)


def _refuse_impossible(options: LoadOptions) -> None:
    if options.flash_attention == "off" and options.kv_type_v != "f16":
        raise LoadRefused(
            translate(
                "Engine",
                "A quantised V cache needs flash attention. Turn flash attention on, or keep V in f16.",
            ),
            "wrong_use",
        )


def checked_headers(path: Path) -> tuple[Header, ...]:
    """Return the headers of a model's files after every check; raises `LoadRefused`."""
    with ExitStack() as files:

        def open_file(name: str) -> ModelSource | None:
            try:
                if not stat.S_ISREG((path.parent / name).stat().st_mode):
                    raise LoadRefused(_no_ordinary_file(name))  # opening a pipe waits for who writes to it
                file = files.enter_context((path.parent / name).open("rb"))
            except FileNotFoundError:
                return None
            size = (path.parent / name).stat().st_size
            return ModelSource(lambda offset, length: _read(file, offset, length), size)

        try:
            return check_model_file(path.name, open_file)
        except LoadRefused:
            raise
        except UserError as error:
            raise LoadRefused(error.sentence) from error
        except OSError as error:
            raise LoadRefused(
                translate(
                    "ModelFile",
                    "“{file}” cannot be read ({reason}). Check that it is a file that you may read.",
                    file=path.name,
                    reason=error.strerror or type(error).__name__,
                )
            ) from error


def tokenizer_of(path: Path, header: Header) -> str:
    """Return the digest of a model's vocabulary; nothing where the file can no longer be read."""
    try:
        with path.open("rb") as file:
            return digest_of(header, lambda offset, length: _read(file, offset, length))
    except OSError:
        return ""


def _no_ordinary_file(name: str) -> Sentence:
    return translate("ModelFile", "“{file}” is no ordinary file. Choose a .gguf file.", file=name)


def _read(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _not_planned(file: str, step: str) -> Sentence:
    """Return why a dry run came to nothing, which takes no memory that could run out; llama.cpp's own words are its details."""
    if step == "model":
        return translate(
            "Engine",
            "llama.cpp refuses “{file}”: it is damaged, or no chat model of a kind that this version knows. Download it again, "
            "or choose another model.",
            file=file,
        )
    return translate(
        "Engine",
        "llama.cpp makes no context for “{file}” with these options. Keep K and V in f16, take a smaller context, or choose "
        "another model.",
        file=file,
    )


def _refusal(error: LoadFailed, command: Load | MeasureMemory) -> LoadRefused:
    if error.step == "cancelled":
        return LoadRefused.cancelled()
    said = short_label(_FUNCTION.sub("", error.reason).strip(" ."))
    file, reason = Path(command.path).name, said or "no reason given"
    if error.step == "diffusion":
        sentence = translate(
            "Engine",
            "“{file}” is a diffusion model, which does not write token by token. Choose a chat model.",
            file=file,
        )
    elif error.step == "encoder":
        sentence = translate(
            "Engine",
            "“{file}” needs an encoder for its input, which is not how chats run here. Choose a chat model.",
            file=file,
        )
    elif isinstance(command, MeasureMemory):
        sentence = _not_planned(file, error.step)
    elif error.step == "model":
        sentence = translate(
            "Engine",
            "llama.cpp could not load “{file}”: {reason}. If memory ran out, put fewer layers on the GPU or take a "
            "smaller model; otherwise download the file again.",
            file=file,
            reason=reason,
        )
    elif (command.options.kv_type_k, command.options.kv_type_v) != ("f16", "f16"):
        sentence = translate(
            "Engine",
            "llama.cpp could not make a context for “{file}”: {reason}. Keep K and V in f16 or take a smaller context.",
            file=file,
            reason=reason,
        )
    else:
        sentence = translate(
            "Engine",
            "llama.cpp could not make a context for “{file}”: {reason}. "
            "Load it with a smaller context or fewer GPU layers.",
            file=file,
            reason=reason,
        )
    return LoadRefused(sentence, "model", error.log[-REASONS_SHOWN:])
