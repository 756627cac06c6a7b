"""NVIDIA's management library as tests need it: with GPUs, and with whatever fails.

As an object it is led by a test; as a module, in a process that is told its name, by an environment variable.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

MODE = "TOKENLIGHT_TEST_NVML"
ASKED = "TOKENLIGHT_TEST_NVML_ASKED"
"""Names a port of this machine that is called when the library is asked."""
GIB = 1 << 30


class NVMLError(Exception):
    """As the binding raises it: the number of the error is its value."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


@dataclass
class FakeGpu:
    """One card; memory in GiB."""

    name: str = "NVIDIA L4"
    uuid: str = "GPU-11111111-0000"
    bus_id: str = "00000000:01:00.0"
    total: float = 24
    used: float = 1
    processes: dict[int, float | None] = field(default_factory=dict)
    busy_percent: int = 97
    power_milliwatts: int = 68_400
    celsius: int = 61
    clock_reasons: int = 0


class FakeNvml:
    """Stands in for the binding's module."""

    NVMLError = NVMLError

    def __init__(self, *gpus: FakeGpu, **errors: Exception | int) -> None:
        self.gpus = list(gpus)
        self.errors: dict[str, Exception | int] = dict(errors)
        """What a function raises, by its name without `nvml`; a number is NVML's."""
        self.calls: list[str] = []

    def _called(self, name: str) -> None:
        self.calls.append(name)
        error = self.errors.get(name)
        if error is not None:
            raise NVMLError(error) if isinstance(error, int) else error

    def nvmlInit(self) -> None:  # noqa: N802
        self._called("Init")

    def nvmlShutdown(self) -> None:  # noqa: N802
        self._called("Shutdown")

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        self._called("DeviceGetCount")
        return len(self.gpus)

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        self._called("SystemGetDriverVersion")
        return "550.54.15"

    def nvmlSystemGetCudaDriverVersion(self) -> int:  # noqa: N802
        self._called("SystemGetCudaDriverVersion")
        return 12040

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:  # noqa: N802
        self._called("DeviceGetHandleByIndex")
        return self.gpus[index]

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str:  # noqa: N802
        self._called("DeviceGetName")
        return gpu.name

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:  # noqa: N802
        self._called("DeviceGetUUID")
        return gpu.uuid

    def nvmlDeviceGetPciInfo(self, gpu: FakeGpu) -> Any:  # noqa: N802
        self._called("DeviceGetPciInfo")
        return SimpleNamespace(busId=gpu.bus_id)

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:  # noqa: N802
        self._called("DeviceGetMemoryInfo")
        free = gpu.total - gpu.used
        return SimpleNamespace(total=int(gpu.total * GIB), used=int(gpu.used * GIB), free=int(free * GIB))

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> Any:  # noqa: N802
        self._called("DeviceGetUtilizationRates")
        return SimpleNamespace(gpu=gpu.busy_percent, memory=40)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._called("DeviceGetPowerUsage")
        return gpu.power_milliwatts

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._called("DeviceGetCurrentClocksEventReasons")
        return gpu.clock_reasons

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._called("DeviceGetCurrentClocksThrottleReasons")
        return gpu.clock_reasons

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, _sensor: int) -> int:  # noqa: N802
        self._called("DeviceGetTemperature")
        return gpu.celsius

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[Any]:  # noqa: N802
        self._called("DeviceGetComputeRunningProcesses")
        return [
            SimpleNamespace(pid=pid, usedGpuMemory=None if size is None else int(size * GIB))
            for pid, size in gpu.processes.items()
        ]

    def nvmlDeviceGetGraphicsRunningProcesses(self, gpu: FakeGpu) -> list[Any]:  # noqa: N802
        self._called("DeviceGetGraphicsRunningProcesses")
        return []


_module = FakeNvml(FakeGpu())


def nvmlInit() -> None:  # noqa: N802
    """Do as the environment says."""
    if port := os.environ.get(ASKED):
        socket.create_connection(("127.0.0.1", int(port))).close()
    match os.environ.get(MODE):
        case "blocks":
            threading.Event().wait()
        case "dies":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        case "mismatch":
            raise NVMLError(18)
        case "fault":
            raise ZeroDivisionError("a fault of our own")


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
