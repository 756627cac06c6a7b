"""NVIDIA's GPUs as the driver's management library (NVML) tells them; every failure of it is a value with a reason.

Knows nothing of models and of llama.cpp's devices, which find their GPU here by its PCI address. A query of a broken
driver may never come back, or end the process: `gpu_probe` asks from a process of its own.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from app.core.devices import Gpu, GpuFault, GpuLimit, GpuReport
from app.core.words import Sentence, translate

_T = TypeVar("_T")

VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
MODULE = "pynvml"

_NOT_SUPPORTED, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _GPU_IS_LOST, _MISMATCH = 3, 9, 12, 15, 18
"""Numbers of NVML's errors; they are part of its interface and never change."""
_FAULTS: dict[int, GpuFault] = {
    _DRIVER_NOT_LOADED: "no_driver",
    _LIBRARY_NOT_FOUND: "no_library",
    _MISMATCH: "driver_mismatch",
}
_REASONS: dict[GpuFault, Sentence] = {
    "no_library": translate("Gpus", "NVIDIA's driver is not installed on this machine."),
    "no_driver": translate(
        "Gpus", "NVIDIA's driver is installed but not running. Restart the computer, or install the driver again."
    ),
    "driver_mismatch": translate(
        "Gpus", "NVIDIA's driver was updated while it was running. Restart the computer to use the new one."
    ),
    "no_gpu": translate(
        "Gpus", "NVIDIA's driver finds no GPU. Restart the computer, or install a driver that supports the card."
    ),
    "blocked": translate(
        "Gpus",
        "NVIDIA's driver does not answer, so nothing is known of the GPU. Restart the computer if it stays so.",
    ),
    "died": translate(
        "Gpus", "NVIDIA's driver ended the process that asked it. Restart the computer, or install the driver again."
    ),
    "no_process": translate(
        "Gpus",
        "No process could be started to ask NVIDIA's driver, so nothing is known of the GPU. Close other programs.",
    ),
    "own_fault": translate(
        "Gpus",
        "Asking NVIDIA's driver met a fault of the program itself, so nothing is known of the GPU. "
        "The log has the details.",
    ),
}
_UNTOLD = translate(
    "Gpus", "This GPU does not tell its memory; it may share the main memory: go by what is free there."
)
_LOST = translate("Gpus", "The connection to this GPU was lost. Restart the computer.")
_CORE = 0
"""NVML's number of the sensor on the GPU itself."""
_CLOCK_REASONS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
"""The newer name first; drivers before 535 know the other one alone."""
_LIMITS: tuple[tuple[int, GpuLimit], ...] = ((0x04, "power"), (0x20 | 0x40, "heat"), (0x08 | 0x80, "hardware"))
"""Bits of NVML's clocks-event reasons (nvml.h): power cap; slowdown by temperature, in software or hardware; slowdown by
the card itself or by the power brake of its supply. An idle GPU and clocks that somebody set hold nothing back."""
_PROCESS_LISTS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses")


def fault_report(fault: GpuFault, number: int | str = "") -> GpuReport:
    """Return a report that says why there are no figures."""
    reason = _REASONS.get(fault) or translate(
        "Gpus",
        "NVIDIA's driver answers with an error ({number}), so nothing is known of the GPU. "
        "Restart the computer, or install the driver again.",
        number=number,
    )
    return GpuReport(fault=fault, reason=reason)


def load_nvml(name: str = MODULE) -> Any:
    """Return the binding of NVML; raises ImportError where it is not installed."""
    return importlib.import_module(name)


class GpuReader:
    """Asks NVML; it is started with the first question, and anew after a failure."""

    def __init__(self, load: Callable[[], Any] = load_nvml, environment: Mapping[str, str] = os.environ) -> None:
        self._load = load
        self._environment = environment
        self._nvml: Any = None
        self._started = False

    def read(self, process: int | None = None) -> GpuReport:
        """Return what the driver says now, `process` being whose share is looked for; never raises."""
        try:
            nvml = self._nvml = self._nvml or self._load()
        except ImportError:
            return fault_report("failed", MODULE)
        errors = _errors(nvml)
        try:
            if not self._started:
                nvml.nvmlInit()
                self._started = True
            gpus = [_gpu(nvml, index, process) for index in range(nvml.nvmlDeviceGetCount())]
        except errors as error:
            self.close()
            number = _number(error)
            return fault_report(_FAULTS.get(number, "failed") if isinstance(number, int) else "failed", number)
        driver = _told(nvml, lambda: str(nvml.nvmlSystemGetDriverVersion()))
        cuda = _told(nvml, lambda: int(nvml.nvmlSystemGetCudaDriverVersion()))
        version = (cuda // 1000, cuda % 1000 // 10) if cuda else None
        if not gpus:
            return msgspec.structs.replace(fault_report("no_gpu"), driver=driver, cuda=version)
        visible = visible_gpus(self._environment, gpus)
        seen = tuple(
            msgspec.structs.replace(gpu, visible=is_seen) for gpu, is_seen in zip(gpus, visible, strict=True)
        )
        if any(gpu.reason is _LOST for gpu in seen):
            self.close()  # it may be back once the library is started anew
        return GpuReport(seen, driver, version)

    def close(self) -> None:
        """Let go of the driver; the next question starts anew."""
        if self._started:
            self._started = False
            _told(self._nvml, self._nvml.nvmlShutdown)


def visible_gpus(environment: Mapping[str, str], gpus: Sequence[Gpu]) -> list[bool | None]:
    """Return for each GPU, in the order of the bus, whether CUDA shows it to programs; None is unknown.

    CUDA stops at the first entry that names nothing, and counts the fastest GPU first unless it is told otherwise.
    """
    chosen = environment.get(VISIBLE)
    if chosen is None:
        return [True] * len(gpus)
    by_bus = environment.get(ORDER) == "PCI_BUS_ID" or len({gpu.name for gpu in gpus}) == 1
    found: list[bool | None] = [False] * len(gpus)
    for word in (word.strip() for word in chosen.split(",")):
        if word.startswith("MIG-"):
            return [None] * len(gpus)
        if word.isdecimal() and int(word) < len(gpus):
            found[int(word)] = True
            continue
        named = [index for index, gpu in enumerate(gpus) if word.startswith("GPU-") and gpu.uuid.startswith(word)]
        if len(named) != 1:
            break
        found[named[0]] = True
    numbered = any(word.strip().isdecimal() for word in chosen.split(","))
    if numbered and not by_bus and 0 < found.count(True) < len(gpus):
        return [None] * len(gpus)
    return found


def _gpu(nvml: Any, index: int, process: int | None) -> Gpu:
    unnamed = f"NVIDIA GPU {index}"
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except _errors(nvml) as error:
        return Gpu(unnamed, "", "", None, None, None, reason=_why(error))
    gpu = Gpu(
        name=_told(nvml, lambda: str(nvml.nvmlDeviceGetName(handle))) or unnamed,
        uuid=_told(nvml, lambda: str(nvml.nvmlDeviceGetUUID(handle))) or "",
        bus_id=_told(nvml, lambda: str(nvml.nvmlDeviceGetPciInfo(handle).busId)) or "",
        total=None,
        used=None,
        free=None,
        ours=_share(nvml, handle, process) if process is not None else None,
        busy_percent=_told(nvml, lambda: int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
        power_watts=_told(nvml, lambda: round(nvml.nvmlDeviceGetPowerUsage(handle) / 1000)),
        celsius=_told(nvml, lambda: int(nvml.nvmlDeviceGetTemperature(handle, _CORE))),
        limits=_limits(nvml, handle),
    )
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, used, free = int(memory.total), int(memory.used), int(memory.free)
    except _errors(nvml) as error:
        return msgspec.structs.replace(gpu, reason=_why(error))
    if total <= 0:
        return msgspec.structs.replace(gpu, reason=_UNTOLD)
    return msgspec.structs.replace(gpu, total=total, used=used, free=free)


def _limits(nvml: Any, handle: Any) -> tuple[GpuLimit, ...]:
    """Return what holds the clock down; a slowdown by heat sets the hardware's bit, too, and counts as heat."""
    for name in _CLOCK_REASONS:
        reasons = _told(nvml, lambda name=name: int(getattr(nvml, name)(handle)))  # type: ignore[misc]
        if reasons is not None:
            found = tuple(limit for bits, limit in _LIMITS if reasons & bits)
            return tuple(limit for limit in found if limit != "hardware") if "heat" in found else found
    return ()


def _share(nvml: Any, handle: Any, process: int) -> int | None:
    """Return the bytes that the driver counts for a process; in a container its number may be another one there."""
    shares = []
    for name in _PROCESS_LISTS:
        rows = _told(nvml, lambda name=name: getattr(nvml, name)(handle)) or ()  # type: ignore[misc]
        shares += [row.usedGpuMemory for row in rows if row.pid == process and row.usedGpuMemory is not None]
    return max(shares, default=None)


def _told(nvml: Any, ask: Callable[[], _T]) -> _T | None:
    """Return an answer; None where this GPU or this driver has none."""
    try:
        return ask()
    except _errors(nvml):
        return None


def _errors(nvml: Any) -> tuple[type[Exception], ...]:
    """Return what a binding raises when the driver refuses, or does not know a question."""
    return (nvml.NVMLError, OSError, AttributeError, ValueError)


def _number(error: Exception) -> int | str:
    number = getattr(error, "value", None)
    return number if isinstance(number, int) else type(error).__name__


def _why(error: Exception) -> Sentence:
    number = _number(error)
    if number == _GPU_IS_LOST:
        return _LOST
    if number == _NOT_SUPPORTED:
        return _UNTOLD
    return translate(
        "Gpus",
        "This GPU does not tell its memory (error {number} of its driver). "
        "Restart the computer, or install the driver again.",
        number=number,
    )
