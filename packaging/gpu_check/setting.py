"""What every check gets: where to report, which device and model, how large everything is, and until when.

It must not measure anything.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.devices import Device
from devtools.machine import core_count
from gpu_check import model_file
from gpu_check.meters import Meter
from gpu_check.model_file import LARGE, SMALL, TINY, Shape
from gpu_check.report import Report

SOFTWARE = ("llvmpipe", "lavapipe", "SwiftShader")
"""Vulkan devices that are no GPU but a program on the CPU: everything works there, no figure says anything."""
GIB = 1024**3
TWO_MODELS = 2.2
"""The engine and the bare loop hold the model at once."""
MOST_THREADS = 8


@dataclass(frozen=True)
class Sizes:
    """How large prompts and contexts are, in tokens, and how often a speed is measured."""

    context: int
    micro_batch: int
    prefill_tokens: int
    decode_tokens: int
    long_context: int
    rounds: int


REAL = Sizes(context=4096, micro_batch=512, prefill_tokens=2000, decode_tokens=128, long_context=16384, rounds=6)
SOFT = Sizes(context=512, micro_batch=32, prefill_tokens=96, decode_tokens=6, long_context=1024, rounds=2)


class TimeIsUp(Exception):
    """A check may not begin, or has to stop: the run's time is over."""


@dataclass(frozen=True)
class Setting:
    """The circumstances of all checks."""

    backend: str
    report: Report
    work: Path
    ends_at: float
    """`time.monotonic` when the checks have to be over."""
    device: Device | None
    """The GPU that is checked; None where everything is computed on the CPU."""
    meter: Meter
    shape: Shape
    """Of the model that speeds and memory are measured with."""
    sizes: Sizes

    @property
    def is_real(self) -> bool:
        """Whether there is a GPU whose figures mean something."""
        return is_real(self.device)

    @property
    def model(self) -> Path:
        """The model that speeds and memory are measured with."""
        return self.work / "model.gguf"

    @property
    def comparison_shape(self) -> Shape:
        """The shape of the model whose logits are compared."""
        return SMALL if self.is_real else TINY

    @property
    def comparison_model(self) -> Path:
        """The model whose logits are compared."""
        return self.work / "comparison.gguf"

    @property
    def threads(self) -> int:
        """Threads on the CPU of the bare loop and of the engine; where no figure counts, none that waits for another."""
        return min(core_count(), MOST_THREADS) if self.is_real else 1

    @property
    def all_layers(self) -> int:
        """Every layer of the model, the output layer counted."""
        return self.shape.layers + 1

    def left_s(self) -> float:
        """Return the seconds that are left; raises `TimeIsUp` where there are none."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise TimeIsUp
        return left


def is_real(device: Device | None) -> bool:
    """Return whether a device is a GPU and not a program that stands in for one."""
    return device is not None and not any(name in device.description for name in SOFTWARE)


def shape_for(device: Device | None, work: Path) -> Shape:
    """Return the largest model that two programs can hold on the device at once, and the disk once."""
    if device is None or not is_real(device):
        return TINY
    free = device.free or device.total or 4 * GIB
    for layers in range(LARGE.layers, 1, -1):
        shape = replace(LARGE, layers=layers)
        needed = TWO_MODELS * shape.total_bytes + 2 * GIB
        if needed <= free and 2 * shape.total_bytes <= shutil.disk_usage(work).free:
            return shape
    return SMALL


def write_models(setting: Setting) -> None:
    """Write both model files."""
    model_file.write(setting.model, setting.shape)
    model_file.write(setting.comparison_model, setting.comparison_shape, seed=2)
