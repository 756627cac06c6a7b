"""Opens a model file: checks it in Python first, then lets the backend load it, and says why when it cannot.

Knows which backends there are; the worker knows none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from app.core.commands import Load
from app.core.errors import UserError
from app.core.gguf_header import Header
from app.core.model_file import ModelSource, check_model_file
from app.core.model_reads import weight_bytes_per_token
from app.core.words import translate
from app.engine.backend import Backend
from app.engine.failures import LoadRefused
from app.engine.llama import LogCapture, start_library
from app.engine.llama_model import LlamaBackend, LoadFailed
from app.engine.scripted import ScriptedBackend

Opener = Callable[[Load, Callable[[float], bool]], Backend]
"""Loads a model; the function gets per cent and returns False to cancel. Raises `UserError`."""
REASONS_SHOWN = 8
_FUNCTION = re.compile(r"^\w+:\s*")
"""llama.cpp begins a line of its log with the name of the C function."""


def opener_for(backend: str) -> Opener:
    """Return the opener of a backend: "llama" or "scripted"."""
    return ScriptedBackend.open if backend == "scripted" else LlamaOpener(start_library())


class LlamaOpener:
    """Opens GGUF files with llama.cpp."""

    def __init__(self, log: LogCapture) -> None:
        self._log = log

    def __call__(self, command: Load, progress: Callable[[float], bool]) -> Backend:
        """Check and load a file; raises `UserError` with the reason."""
        headers = checked_headers(Path(command.path))
        if command.options.flash_attention == "off" and command.options.kv_type_v != "f16":
            raise LoadRefused(
                translate(
                    "Engine",
                    "A quantised V cache needs flash attention. Turn flash attention on, or keep V in f16.",
                ),
                "wrong_use",
            )
        try:
            return LlamaBackend(command.path, command.options, self._log, progress, weight_bytes_per_token(headers))
        except LoadFailed as error:
            raise _refusal(error, command) from error


def checked_headers(path: Path) -> tuple[Header, ...]:
    """Return the headers of a model's files after every check; raises `UserError`."""
    with ExitStack() as files:

        def open_file(name: str) -> ModelSource | None:
            try:
                file = files.enter_context((path.parent / name).open("rb"))
            except FileNotFoundError:
                return None
            size = (path.parent / name).stat().st_size
            return ModelSource(lambda offset, length: _read(file, offset, length), size)

        try:
            return check_model_file(path.name, open_file)
        except OSError as error:
            raise UserError(
                translate(
                    "ModelFile",
                    "“{file}” cannot be read ({reason}). Check that it is a file that you may read.",
                    file=path.name,
                    reason=error.strerror or type(error).__name__,
                )
            ) from error


def _read(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _refusal(error: LoadFailed, command: Load) -> LoadRefused:
    if error.step == "cancelled":
        return LoadRefused.cancelled()
    file, reason = Path(command.path).name, _FUNCTION.sub("", error.reason).strip(" .") or "no reason given"
    if error.step == "model":
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
