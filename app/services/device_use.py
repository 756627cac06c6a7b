"""What each device's memory holds now: the open model's parts, other programs, and what is free; and why no GPU is used.

Pure: joins what the engine said of a load with what the machine says now. Unknown is None, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from app.core.devices import (
    GPU_KINDS,
    MAIN_MEMORY,
    Device,
    Gpu,
    GpuReport,
    LibraryFacts,
    MainMemory,
    gpu_of,
    others_use,
)
from app.core.metrics import DeviceMemory
from app.core.model import ModelInfo
from app.core.words import Sentence, translate
from app.services.gpu_reasons import GpuClues, gpu_findings
from app.services.remedies import Remedies

_FEATURES = ("AVX512", "AVX2", "AVX", "SVE", "NEON")
_NO_REMEDY = Remedies("frozen", "", "")
"""The panel says why; what mends it is the doctor's to say."""
_NOT_LISTED = translate("DeviceUse", "What other programs take of this device is not known: its driver does not say.")


class DeviceUse(msgspec.Struct, frozen=True):
    """The memory of one device, in bytes; None is unknown."""

    device: str
    """ggml's name, or what the driver calls a GPU that no model is on."""
    name: str = ""
    """The maker's name."""
    real: DeviceMemory | None = None
    """What the open model reserved."""
    estimate: DeviceMemory | None = None
    total: int | None = None
    others: int | None = None
    """Other programs, and the driver itself."""
    free: int | None = None
    reason: Sentence | None = None
    """Why something of it is not known."""
    gpu: Gpu | None = None

    @property
    def ours(self) -> int | None:
        """What the open model reserved; 0 where it reserved nothing."""
        return self.real.total if self.real is not None else 0

    @property
    def used(self) -> int | None:
        """All that is taken, the model's own included; None where a part of it is unknown."""
        return None if self.ours is None or self.others is None else self.ours + self.others


def main_memory_use(memory: MainMemory | None, real: DeviceMemory | None, estimate: DeviceMemory | None) -> DeviceUse:
    """Return what main memory holds; weights that are only mapped may not be counted as used by the system yet."""
    use = DeviceUse(MAIN_MEMORY, real=real, estimate=estimate)
    if memory is None:
        return use
    others = others_use(memory.total - memory.available, use.ours)
    return _with_room(use, memory.total, others)


def device_use(
    device: Device | None,
    name: str,
    real: DeviceMemory | None,
    estimate: DeviceMemory | None,
    gpus: Sequence[Gpu],
) -> DeviceUse:
    """Return what a device other than main memory holds."""
    gpu = gpu_of(device, tuple(gpus)) if device is not None else None
    use = DeviceUse(name, device.description if device is not None else "", real, estimate, gpu=gpu)
    if gpu is None or gpu.total is None:
        total = device.total if device is not None else None
        reason = gpu.reason if gpu is not None and gpu.reason is not None else _NOT_LISTED
        return msgspec.structs.replace(use, total=total, reason=reason)
    return _with_room(use, gpu.total, others_use(gpu.used, use.ours))


def gpu_use(gpu: Gpu) -> DeviceUse:
    """Return what a GPU holds that no model is on."""
    use = DeviceUse(gpu.name, reason=gpu.reason, gpu=gpu)
    return use if gpu.total is None else _with_room(use, gpu.total, gpu.used)


def why_no_gpu(
    model: ModelInfo | None,
    devices: Sequence[Device],
    report: GpuReport,
    library: LibraryFacts | None = None,
    hidden_by: str | None = None,
) -> Sentence | None:
    """Return why the open model uses no GPU; None where it uses one, or nothing can be said."""
    if model is None or model.gpu_layers:
        return None
    if any(device.kind in GPU_KINDS for device in devices):
        return translate("DeviceUse", "No layer of this model is on the GPU: “GPU layers” is 0, or none fits.")
    if library is not None:
        finding = gpu_findings(GpuClues(library, tuple(devices), report, hidden_by=hidden_by), _NO_REMEDY)[0]
        return finding.reason if finding.reason is not None else finding.sentence
    if report.fault not in (None, "no_library", "no_gpu") and report.reason is not None:
        return report.reason
    if report.gpus:
        return translate(
            "DeviceUse", "The engine uses no GPU although there is one. “tokenlight doctor” says what is in the way."
        )
    return translate("DeviceUse", "No GPU that this build can use was found: the model runs on the processor.")


def computing_on(model: ModelInfo) -> Sentence:
    """Return with what a model computes: threads and the processor's instructions, or layers on the GPU."""
    gpus = [name for name in model.devices if name != MAIN_MEMORY]
    if model.gpu_layers and gpus:
        return translate(
            "DeviceUse",
            "{backend} · {on_gpu} of {layers} layers",
            backend=re.sub(r"\d+$", "", gpus[0]),
            on_gpu=model.gpu_layers,
            layers=model.layers + 1,
        )
    known = dict(re.findall(r"(\w+) = (\d)", model.system_info))
    feature = next((name for name in _FEATURES if known.get(name) == "1"), None)
    processor = f"CPU ({feature})" if feature is not None else "CPU"
    if model.threads == 1:
        return translate("DeviceUse", "1 thread · {processor}", processor=processor)
    return translate("DeviceUse", "{threads} threads · {processor}", threads=model.threads, processor=processor)


def named(uses: Sequence[DeviceMemory]) -> Mapping[str, DeviceMemory]:
    """Return figures by the name of their device."""
    return {use.device: use for use in uses}


def _with_room(use: DeviceUse, total: int, others: int | None) -> DeviceUse:
    free = None if use.ours is None or others is None else max(0, total - use.ours - others)
    return msgspec.structs.replace(use, total=total, others=others, free=free)
