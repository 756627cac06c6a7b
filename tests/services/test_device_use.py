"""What each memory holds: the model's own parts, other programs, what is free; and why no GPU is used."""

from __future__ import annotations

import msgspec
import pytest

from app.core.devices import Device, Gpu, GpuReport, LibraryFacts, MainMemory
from app.core.metrics import DeviceMemory
from app.services.device_use import (
    computing_on,
    device_use,
    gpu_use,
    main_memory_use,
    why_no_gpu,
)
from app.services.units import byte_share
from app.system.gpus import GpuReader, fault_report
from tests.fake_engine import model_info
from tests.fake_nvml import GIB, FakeGpu, FakeNvml
from tests.services.surroundings_of_tests import LIBRARY

MIB = 1 << 20
ON_GPU = DeviceMemory("CUDA0", 4 * GIB, GIB, 256 * MIB)
CUDA0 = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB, "0000:01:00.0")
PROCESSOR = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)
MODEL = model_info("/models/a.gguf")


def report(*gpus: FakeGpu, **errors: int) -> GpuReport:
    """Return what a driver says of these GPUs."""
    return GpuReader(lambda: FakeNvml(*gpus, **errors), {}).read()


def test_of_a_gpu_the_rest_of_what_is_used_is_other_programs() -> None:
    use = device_use(CUDA0, "CUDA0", ON_GPU, None, report(FakeGpu(used=20)).gpus)
    assert (use.ours, use.others, use.free) == (5.25 * GIB, 14.75 * GIB, 4 * GIB)
    assert (use.used, use.total, use.name) == (20 * GIB, 24 * GIB, "NVIDIA L4")


def test_a_gpu_is_found_by_its_place_among_several() -> None:
    gpus = report(FakeGpu(used=1), FakeGpu(bus_id="00000000:41:00.0", total=16, used=8)).gpus
    second = msgspec.structs.replace(CUDA0, bus_id="0000:41:00.0")
    assert device_use(second, "CUDA1", ON_GPU, None, gpus).total == 16 * GIB


def test_a_gpu_that_does_not_tell_its_memory_has_a_reason_and_no_zero() -> None:
    use = device_use(CUDA0, "CUDA0", ON_GPU, None, report(FakeGpu(), DeviceGetMemoryInfo=3).gpus)
    assert (use.others, use.free, use.used) == (None, None, None)
    assert use.total == 24 * GIB
    assert use.reason is not None and "share the main memory" in use.reason.english()


def test_a_device_that_no_driver_lists_has_a_reason() -> None:
    use = device_use(None, "Vulkan0", ON_GPU, None, ())
    assert (use.total, use.others, use.used) == (None, None, None)
    assert use.reason is not None


def test_main_memory_that_is_mapped_and_not_counted_yet_never_gives_less_than_nothing() -> None:
    real = DeviceMemory("CPU", 8 * GIB, GIB, None)
    use = main_memory_use(MainMemory(16 * GIB, 14 * GIB, 16 * GIB), real, None)
    assert (use.ours, use.others, use.free, use.used) == (9 * GIB, 0, 7 * GIB, 9 * GIB)


def test_parts_that_the_engine_does_not_know_leave_all_unknown() -> None:
    real = DeviceMemory("CPU", GIB, None, None, complete=False)
    use = main_memory_use(MainMemory(16 * GIB, 14 * GIB, 16 * GIB), real, None)
    assert (use.ours, use.others, use.free, use.used) == (None, None, None, None)
    assert use.total == 16 * GIB


def test_a_gpu_without_a_model_shows_what_is_taken_of_it() -> None:
    (gpu,) = report(FakeGpu(used=3)).gpus
    use = gpu_use(gpu)
    assert (use.device, use.used, use.free) == ("NVIDIA L4", 3 * GIB, 21 * GIB)


@pytest.mark.parametrize(
    ("used", "total", "text"),
    [
        (int(6.1 * GIB), 24 * GIB, "6.1 / 24 GiB"),
        (0, 24 * GIB, "0.0 / 24 GiB"),
        (int(6.1 * GIB), int(15.4 * GIB), "6.1 / 15.4 GiB"),
        (300 * MIB, 512 * MIB, "300.0 / 512 MiB"),
        (None, 24 * GIB, "– / 24 GiB"),
        (GIB, None, "1.0 GiB / –"),
        (None, None, "–"),
    ],
)
def test_a_share_is_told_in_the_unit_of_the_whole(used: int | None, total: int | None, text: str) -> None:
    assert byte_share(used, total) == text


NO_LIBRARY = fault_report("no_library")
L4 = Gpu("NVIDIA L4", "GPU-1", "00000000:01:00.0", 24 * GIB, GIB, 23 * GIB)
REASONS = {
    "no GPU at all": ((PROCESSOR,), NO_LIBRARY, LIBRARY, "No GPU was found that this build can use"),
    "no GPU, the build unknown": ((PROCESSOR,), NO_LIBRARY, None, "No GPU that this build can use was found"),
    "a build without CUDA": ((PROCESSOR,), GpuReport((L4,)), LIBRARY, "was made without CUDA"),
    "a GPU, the build unknown": ((PROCESSOR,), GpuReport((L4,)), None, "although there is one"),
    "a driver in trouble": ((PROCESSOR,), fault_report("driver_mismatch"), LIBRARY, "was updated while"),
    "a driver in trouble, the build unknown": ((), fault_report("no_driver"), None, "not running"),
    "no layer on it": ((CUDA0, PROCESSOR), GpuReport((L4,)), LIBRARY, "No layer of this model is on the GPU"),
}


@pytest.mark.parametrize(("devices", "gpus", "library", "words"), REASONS.values(), ids=REASONS.keys())
def test_it_is_said_why_no_gpu_is_used(
    devices: tuple[Device, ...], gpus: GpuReport, library: LibraryFacts | None, words: str
) -> None:
    reason = why_no_gpu(MODEL, devices, gpus, library)
    assert reason is not None and words in reason.english()


def test_a_model_on_the_gpu_needs_no_reason() -> None:
    on_gpu = msgspec.structs.replace(MODEL, gpu_layers=31, devices=("CUDA0", "CPU"))
    assert why_no_gpu(on_gpu, (CUDA0,), GpuReport((L4,))) is None
    assert why_no_gpu(None, (), GpuReport()) is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "2 threads · CPU"),
        ({"threads": 1}, "1 thread · CPU"),
        ({"system_info": "CPU : SSE3 = 1 | AVX = 1 | AVX2 = 1 | AVX512 = 0 |"}, "2 threads · CPU (AVX2)"),
        ({"gpu_layers": 31, "devices": ("CUDA0", "CPU")}, "CUDA · 31 of 31 layers"),
        ({"gpu_layers": 7, "devices": ("Vulkan1",)}, "Vulkan · 7 of 31 layers"),
    ],
)
def test_it_is_said_what_computes(changes: dict[str, object], text: str) -> None:
    assert computing_on(msgspec.structs.replace(MODEL, **changes)).english() == text
