"""What NVIDIA's library tells, and that each of its failures is a reason and never a figure of 0."""

from __future__ import annotations

from typing import get_args

import pytest

from app.core.devices import Device, GpuFault, GpuLimit, bus_place, gpu_of, others_use
from app.system import gpus
from app.system.gpus import GpuReader, fault_report, visible_gpus
from tests.fake_nvml import GIB, FakeGpu, FakeNvml, NVMLError

TWO = (
    FakeGpu(uuid="GPU-aaaa-1", bus_id="00000000:01:00.0"),
    FakeGpu(uuid="GPU-aabb-2", bus_id="00000000:41:00.0", used=20, processes={77: 6.5, 78: None}),
)
_LOST = 15


def reader(nvml: FakeNvml, **environment: str) -> GpuReader:
    return GpuReader(lambda: nvml, environment)


def test_each_gpu_is_told_with_the_driver() -> None:
    report = reader(FakeNvml(*TWO)).read()
    assert (report.driver, report.cuda, report.fault) == ("550.54.15", (12, 4), None)
    first, second = report.gpus
    assert (first.name, first.uuid, first.bus_id) == ("NVIDIA L4", "GPU-aaaa-1", "00000000:01:00.0")
    assert (second.total, second.used, second.free) == (24 * GIB, 20 * GIB, 4 * GIB)
    assert first.visible is second.visible is True


def test_the_share_of_a_process_is_told_where_the_driver_tells_it() -> None:
    assert [gpu.ours for gpu in reader(FakeNvml(*TWO)).read(77).gpus] == [None, 6.5 * GIB]
    assert [gpu.ours for gpu in reader(FakeNvml(*TWO)).read(78).gpus] == [None, None]
    refused = FakeNvml(*TWO, DeviceGetComputeRunningProcesses=4, DeviceGetGraphicsRunningProcesses=3)
    assert [gpu.ours for gpu in reader(refused).read(77).gpus] == [None, None]


@pytest.mark.parametrize(
    ("errors", "fault", "words"),
    [
        ({"Init": 12}, "no_library", "not installed"),
        ({"Init": 9}, "no_driver", "not running"),
        ({"Init": 18}, "driver_mismatch", "Restart"),
        ({"Init": 999}, "failed", "999"),
        ({"Init": OSError("broken")}, "failed", "OSError"),
        ({"DeviceGetCount": 10}, "failed", "10"),
        ({"DeviceGetCount": 18}, "driver_mismatch", "Restart"),
    ],
)
def test_a_library_that_fails_is_a_reason(errors: dict[str, Exception | int], fault: GpuFault, words: str) -> None:
    report = reader(FakeNvml(*TWO, **errors)).read()
    assert (report.gpus, report.fault) == ((), fault)
    assert report.reason is not None
    assert words in report.reason.english()


def test_a_binding_that_is_not_installed_is_a_reason() -> None:
    report = GpuReader(lambda: gpus.load_nvml("a_module_that_nobody_has")).read()
    assert report.fault == "failed"
    assert report.reason is not None


def test_no_gpu_is_a_reason_too_and_the_driver_is_told() -> None:
    report = reader(FakeNvml()).read()
    assert (report.fault, report.driver) == ("no_gpu", "550.54.15")


@pytest.mark.parametrize("error", [3, 999, OSError("broken"), ValueError("odd")])
def test_memory_that_is_not_told_is_unknown_and_not_0(error: Exception | int) -> None:
    (gpu,) = reader(FakeNvml(FakeGpu(), DeviceGetMemoryInfo=error)).read().gpus
    assert (gpu.total, gpu.used, gpu.free) == (None, None, None)
    assert gpu.reason is not None
    assert gpu.name == "NVIDIA L4"


def test_a_gpu_that_shares_main_memory_and_says_0_is_unknown() -> None:
    (gpu,) = reader(FakeNvml(FakeGpu(total=0, used=0))).read().gpus
    assert (gpu.total, gpu.used, gpu.free) == (None, None, None)
    assert gpu.reason is not None


@pytest.mark.parametrize("where", ["DeviceGetHandleByIndex", "DeviceGetMemoryInfo"])
def test_a_gpu_that_is_lost_says_so_and_is_found_again_later(where: str) -> None:
    nvml = FakeNvml(FakeGpu())
    asked = reader(nvml)
    assert asked.read().gpus[0].reason is None
    nvml.errors[where] = _LOST
    lost = asked.read().gpus[0]
    assert lost.reason is not None
    assert "lost" in lost.reason.english()
    assert (lost.total, lost.used) == (None, None)
    nvml.errors.clear()
    assert asked.read().gpus[0].total == 24 * GIB
    assert nvml.calls.count("Init") == 2


@pytest.mark.parametrize(
    "name",
    ["DeviceGetName", "DeviceGetUUID", "DeviceGetPciInfo", "SystemGetDriverVersion", "SystemGetCudaDriverVersion"],
)
def test_a_question_that_is_refused_costs_only_its_answer(name: str) -> None:
    report = reader(FakeNvml(FakeGpu(), **{name: 3})).read()
    assert report.fault is None
    assert report.gpus[0].total == 24 * GIB


@pytest.mark.parametrize(
    ("reasons", "limits"),
    [
        (0x0, ()),
        (0x1 | 0x2 | 0x10 | 0x100, ()),  # idle, clocks that somebody set
        (0x4, ("power",)),
        (0x20, ("heat",)),
        (0x40 | 0x8, ("heat",)),  # the hardware's bit comes with it
        (0x80, ("hardware",)),
        (0x8 | 0x4, ("power", "hardware")),
    ],
)
def test_what_holds_the_clock_down_is_told_in_words(reasons: int, limits: tuple[GpuLimit, ...]) -> None:
    card = FakeGpu(clock_reasons=reasons)
    assert reader(FakeNvml(card)).read().gpus[0].limits == limits
    older = FakeNvml(card, DeviceGetCurrentClocksEventReasons=13)
    assert reader(older).read().gpus[0].limits == limits
    silent = FakeNvml(card, DeviceGetCurrentClocksEventReasons=3, DeviceGetCurrentClocksThrottleReasons=3)
    assert reader(silent).read().gpus[0].limits == ()


def test_a_failure_starts_the_library_anew_the_next_time() -> None:
    nvml = FakeNvml(FakeGpu(), DeviceGetCount=NVMLError(999))
    asked = reader(nvml)
    assert asked.read().fault == "failed"
    nvml.errors.clear()
    assert asked.read().fault is None
    asked.close()
    asked.close()
    assert nvml.calls.count("Shutdown") == 2


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, [True, True]),
        ("0,1", [True, True]),
        ("1", [False, True]),
        ("1,0", [True, True]),
        ("", [False, False]),
        ("-1", [False, False]),
        ("1,7,0", [False, True]),
        ("GPU-aabb", [False, True]),
        ("GPU-aa", [False, False]),
        ("GPU-aaaa-1, 1", [True, True]),
        ("NoDevFiles", [False, False]),
        ("MIG-1234", [None, None]),
    ],
)
def test_what_cuda_hides_is_told(value: str | None, seen: list[bool | None]) -> None:
    environment = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    report = reader(FakeNvml(*TWO), **environment).read()
    assert [gpu.visible for gpu in report.gpus] == seen


def test_a_number_means_nothing_certain_among_different_gpus_unless_the_order_is_the_buss() -> None:
    report = reader(FakeNvml(FakeGpu(), FakeGpu(name="NVIDIA A2"))).read()
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "1"}, report.gpus) == [None, None]
    ordered = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert visible_gpus(ordered, report.gpus) == [False, True]
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "1,0"}, report.gpus) == [True, True]


def test_a_device_of_the_engine_finds_its_gpu_by_its_place_on_the_bus() -> None:
    told = reader(FakeNvml(*TWO)).read().gpus
    device = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", None, None, bus_id="0000:41:00.0")
    assert gpu_of(device, told) is told[1]
    assert gpu_of(Device("CPU", "", "cpu", "CPU", None, None), told) is None
    assert bus_place("0000:41:00.0-v1") == bus_place("00000000:41:00.0") == (0, 0x41, 0, 0)
    assert bus_place("") is bus_place("nonsense") is None


def test_what_others_use_is_never_negative_and_never_guessed() -> None:
    assert others_use(20 * GIB, 6 * GIB) == 14 * GIB
    assert others_use(1, 2) == 0
    assert others_use(None, 2) is others_use(2, None) is None


def test_every_fault_has_its_sentence() -> None:
    faults: tuple[GpuFault, ...] = (
        "no_library", "no_driver", "driver_mismatch", "no_gpu", "blocked", "died", "failed",
        "no_process", "own_fault",
    )  # fmt: skip
    said = [fault_report(fault, 1).reason for fault in faults]
    assert len({sentence.english() for sentence in said if sentence is not None}) == len(faults)


@pytest.mark.parametrize("fault", [fault for fault in get_args(GpuFault) if fault != "no_library"])
def test_every_fault_says_what_to_do_next(fault: GpuFault) -> None:
    reason = fault_report(fault, 999).reason
    assert reason is not None
    steps = {"no_process": "Close other programs", "own_fault": "The log has the details"}
    assert steps.get(fault, "Restart the computer") in reason.english()


@pytest.mark.parametrize(("error", "step"), [(3, "go by what is free there"), (999, "Restart the computer")])
def test_memory_that_is_not_told_says_what_to_do_instead(error: int, step: str) -> None:
    (gpu,) = reader(FakeNvml(FakeGpu(), DeviceGetMemoryInfo=error)).read().gpus
    assert gpu.reason is not None
    assert step in gpu.reason.english()
