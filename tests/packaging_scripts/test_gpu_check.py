"""The GPU check: what is reported, models, meters, and the whole of it on the CPU and on lavapipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gguf
import numpy as np
import pytest
from msgspec.structs import replace as replace_figures

from app.core.devices import Device
from app.core.metrics import DeviceMemory
from app.engine.opening import checked_headers
from app.planner.calibration import AnswerFigures
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu
from app.planner.memory_plan import DevicePlan, Figure
from app.planner.prefill_speed import prefill_time
from gpu_check import meters, model_file, planning, predicting
from gpu_check.arguments import CHECK_NAMES, read
from gpu_check.checking import CHECKS
from gpu_check.logits import log_probabilities
from gpu_check.model_file import LARGE, TINY, WIDE, any_prompt
from gpu_check.offload import difference_percent, worst_difference
from gpu_check.report import Line, Report
from gpu_check.setting import GIB, SOFT, Setting, is_real, shape_for
from tests.planner.works import LLAMA_8B, TABLE

MIB = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging" / "gpu_check.sh"
VULKAN_LIBRARY = os.environ.get("TOKENLIGHT_VULKAN_LIBRARY", "")
"""A folder of llama.cpp's libraries built with Vulkan; lavapipe has to be installed beside it."""

needs_shell = pytest.mark.skipif(os.name != "posix", reason="the check is a shell script")


def run(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folders = ("--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), "--pack", str(tmp_path / "pack"))
    return subprocess.run(
        ["sh", str(SCRIPT), *folders, *arguments],
        env={**os.environ, "PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def found(tmp_path: Path) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())}


# What is reported


def test_every_line_is_in_the_file_before_the_next_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(tmp_path, fresh=True)
    report.measured("fast", 0.95, "ratio", 0.9, "higher")
    assert [row["ok"] for row in json.loads((tmp_path / "results.json").read_text())] == [True]
    later = Report(tmp_path, fresh=False)
    later.measured("slow", 2.0, "s", 0.5)
    later.measured("seen", 3.0, "MB")
    later.left_out("absent", "there is no GPU")
    later.measured("unknown", float("inf"), "ratio", 0.9, "higher")
    assert [line.ok for line in report.lines()] == [True, False, None, None, False]
    assert not report.is_good()
    assert report.table().splitlines()[-1] == "1 of 3 bars met, 2 lines without a bar."
    assert "slow" in capsys.readouterr().out
    assert Report(tmp_path, fresh=True).lines() == []


def test_nothing_found_is_not_good(tmp_path: Path) -> None:
    report = Report(tmp_path, fresh=True)
    assert not report.is_good()
    report.add(Line("met", 1.0, bar=2.0, ok=True))
    assert report.is_good()


def test_sizes_are_compared_by_device_and_part() -> None:
    dry = (DeviceMemory("CUDA0", 100_000_000, 50_000_000, 1_000), DeviceMemory("CPU", 7, None, None))
    real = (DeviceMemory("CUDA0", 100_000_000, 49_000_000, 2_000), DeviceMemory("CPU", 7, None, None))
    value, which = worst_difference(dry, real)
    assert value == pytest.approx(100 / 49)
    assert which == "CUDA0 kv: 50000000 against 49000000 bytes"
    assert worst_difference(real, real)[0] == 0
    assert difference_percent(None, 5) == float("inf")
    assert difference_percent(None, 0) == difference_percent(None, None) == 0


# Models


def test_a_written_model_has_the_bytes_that_the_checks_reckon_with(tmp_path: Path) -> None:
    path = model_file.write(tmp_path / "model.gguf", TINY)
    tensors = {tensor.name: int(tensor.n_bytes) for tensor in gguf.GGUFReader(path).tensors}
    assert sum(tensors.values()) == TINY.total_bytes
    layer = sum(size for name, size in tensors.items() if name.startswith("blk.1."))
    assert layer == TINY.layer_bytes
    assert TINY.bytes_on_gpu(0) == 0
    assert TINY.bytes_on_gpu(1) == tensors["output.weight"] + tensors["output_norm.weight"] == TINY.output_bytes
    assert TINY.bytes_on_gpu(2) == TINY.output_bytes + layer
    assert TINY.bytes_on_gpu(99) == TINY.total_bytes - tensors["token_embd.weight"]
    assert 4.5e9 < LARGE.total_bytes < 4.6e9


def test_the_model_is_as_large_as_the_gpu_allows(tmp_path: Path) -> None:
    gpu = Device("CUDA0", "NVIDIA H200", "gpu", "CUDA", 140 << 30, 139 << 30)
    assert shape_for(gpu, tmp_path) == LARGE
    small = shape_for(replace_free(gpu, 8 << 30), tmp_path)
    assert 2 <= small.layers < LARGE.layers
    assert small == replace(LARGE, layers=small.layers)
    software = Device("Vulkan0", "llvmpipe (LLVM 15.0.6, 256 bits)", "gpu", "Vulkan", 2 << 30, 2 << 30)
    assert not is_real(software)
    assert shape_for(software, tmp_path) == shape_for(None, tmp_path) == TINY


def replace_free(device: Device, free: int) -> Device:
    return Device(device.name, device.description, device.kind, device.backend, device.total, free)


def test_prompts_of_different_seeds_share_no_beginning() -> None:
    first, second = any_prompt(50, 1, TINY), any_prompt(50, 2, TINY)
    assert first[0] != second[0]
    assert all(model_file.FIRST_WORD <= token < TINY.vocabulary for token in first + second)


def test_log_probabilities_sum_to_one_and_keep_their_distances() -> None:
    row = np.array([1000.0, 999.0, -1000.0])
    assert np.exp(log_probabilities(row)).sum() == pytest.approx(1)
    assert np.diff(log_probabilities(row))[0] == pytest.approx(-1)


def test_a_hollow_model_is_whole_for_whoever_reads_no_weights(tmp_path: Path) -> None:
    path = model_file.write_hollow(tmp_path / "hollow.gguf", WIDE)
    assert len(checked_headers(path)[0].tensors) == 9 * WIDE.layers + 3
    assert path.stat().st_blocks * 512 < 10_000_000 < WIDE.total_bytes < path.stat().st_size


# What the driver says


def test_the_driver_is_asked_about_the_gpu_at_the_engines_address(monkeypatch: pytest.MonkeyPatch) -> None:
    used = {"0000:01:00.0": 7_000, 0: 5_000}
    fake = SimpleNamespace(
        NVMLError=OSError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByPciBusId=lambda bus_id: bus_id,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=used[handle]),
    )
    monkeypatch.setattr(meters, "pynvml", fake)
    assert meters.meter_for("0000:01:00.0").sees_gpu
    assert meters.meter_for("0000:01:00.0").used(None) == 7_000
    assert meters.meter_for(None).used(None) == 5_000


def test_where_no_driver_answers_the_process_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> None:
        raise OSError

    monkeypatch.setattr(meters, "pynvml", SimpleNamespace(NVMLError=OSError, nvmlInit=no_driver))
    meter = meters.meter_for(None)
    assert not meter.sees_gpu
    assert meter.used(os.getpid()) > 1_000_000
    assert meter.used(None) == 0
    with meters.Watch(meter, os.getpid()) as watch:
        pass
    assert watch.highest > 1_000_000


def test_an_estimate_is_held_against_what_was_allocated(tmp_path: Path) -> None:
    shown = Report(tmp_path, fresh=True)
    gpu = Device("CUDA0", "NVIDIA H200", "gpu", "CUDA", 140 << 30, 139 << 30)
    setting = Setting("cuda", shown, tmp_path, 0.0, gpu, meters.ProcessMeter(), TINY, SOFT)
    nothing = Figure(0)
    plan = DevicePlan("CUDA0", True, Figure(GIB), Figure(GIB), nothing, Figure(GIB), nothing, nothing)
    planning._tell(setting, "same", plan, DeviceMemory("CUDA0", GIB, GIB, GIB - 1000, output=1000))
    planning._tell(setting, "off", plan, DeviceMemory("CUDA0", GIB - GIB // 50, GIB - 20_000, GIB + GIB // 15))
    small = replace_figures(plan, weights=Figure(MIB), compute=Figure(MIB))
    planning._tell(setting, "small", small, DeviceMemory("CUDA0", MIB // 2, GIB, MIB // 2))
    planning._tell(setting, "unknown", replace_figures(plan, kv=Figure(None)), DeviceMemory("CUDA0", GIB, GIB, GIB))
    verdicts = {line.name: line.ok for line in shown.lines()}
    parts = ("cache", "weights", "compute")
    assert [verdicts[f"same_{part}"] for part in parts] == [True, True, True]
    assert [verdicts[f"off_{part}"] for part in parts] == [False, False, False]
    assert [verdicts[f"small_{part}"] for part in parts] == [True, None, None]
    assert verdicts["unknown_cache"] is False


def test_a_prediction_is_held_against_what_came_out(tmp_path: Path) -> None:
    shown = Report(tmp_path, fresh=True)
    setting = Setting("cuda", shown, tmp_path, 0.0, None, meters.ProcessMeter(), TINY, SOFT)
    part = Part(LLAMA_8B, TABLE["l4"])
    speed, time = decode_speed([part], 1000), prefill_time([part], 1000)
    assert speed is not None and time is not None

    def tell(name: str, gpu: Gpu, share: float) -> None:
        figures = AnswerFigures(100, speed.tokens_per_s * share, 1000.0, 1000, time.seconds / share)
        predicting._tell(setting, name, 512, Part(LLAMA_8B, gpu), figures, 15.0)

    tell("same", TABLE["l4"], 1.0)
    tell("slow", TABLE["l4"], 0.8)
    tell("unknown", replace_figures(TABLE["l4"], prefill_tflops=None), 1.0)
    found = {line.name: line for line in shown.lines()}
    assert found["same_decode"].value == found["same_prefill"].value == 0.0 and found["same_decode"].ok
    assert found["slow_decode"].value == pytest.approx(25.0) and found["slow_decode"].ok is False
    assert found["slow_decode"].note.endswith("tok/s measured, outside the band")
    assert found["unknown_prefill"].value is None
    assert found["unknown_prefill"].note.startswith("nothing is known of how fast it computes")


def test_a_device_that_nobody_knows_is_left_out_of_the_prediction(tmp_path: Path) -> None:
    shown = Report(tmp_path, fresh=True)
    gpu = Device("CUDA0", "Unheard of", "gpu", "CUDA", 140 << 30, 139 << 30)
    predicting.predicting(Setting("cuda", shown, tmp_path, 0.0, gpu, meters.ProcessMeter(), TINY, SOFT))
    (line,) = shown.lines()
    assert (line.name, line.ok) == ("predict", None) and "nor has anybody measured" in line.note


# The whole


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--backend", "tpu"), "invalid choice: 'tpu'"),
        (("--minutes", "0"), "--minutes must be above 0"),
        (("--library", "nowhere"), "there is no folder nowhere"),
        (("--only", "everything"), "invalid choice: 'everything'"),
        (("--fast",), "unrecognized arguments: --fast"),
    ],
)
def test_wrong_arguments_end_with_a_sentence(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read(arguments, time.monotonic())
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def test_every_check_can_be_asked_for_by_its_name() -> None:
    assert tuple(CHECKS) == CHECK_NAMES
    assert read(["--only", "auto", "speed"], 0.0).only == ("auto", "speed")
    assert read([], 0.0).only == CHECK_NAMES


@needs_shell
def test_what_keeps_the_check_from_beginning_is_a_line_and_a_sentence(tmp_path: Path) -> None:
    ended = run(tmp_path, "--backend", "cpu", "--library", str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr.startswith("There is no llama.cpp library in")
    assert found(tmp_path)["preparation"]["ok"] is False


@needs_shell
def test_a_python_that_is_too_old_is_said_in_a_sentence(tmp_path: Path) -> None:
    for name in ("old", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    copied = tmp_path / "packaging" / "gpu_check.sh"
    copied.parent.mkdir()
    copied.write_text(SCRIPT.read_text())
    environment = {**os.environ, "PYTHON": str(tmp_path / "old"), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ended = subprocess.run(["sh", str(copied)], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("The GPU check needs Python 3.11 or newer")


@needs_shell
def test_the_check_runs_whole_on_the_cpu(tmp_path: Path) -> None:
    import llama_cpp  # noqa: PLC0415  only its place is wanted, and only here

    elsewhere = tmp_path / "lib"
    elsewhere.mkdir()
    for file in (Path(llama_cpp.__file__).parent / "lib").glob("*.so*"):
        (elsewhere / file.name).symlink_to(file)
    ended = run(tmp_path, "--backend", "cpu", "--library", str(elsewhere))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = found(tmp_path)
    assert not [name for name, line in lines.items() if line["ok"] is False]
    assert lines["library"]["value"] == str(elsewhere)
    assert {"devices", "offload_half_dry_run", "decode_ratio", "prefill_ratio", "cancel_prefill", "lanes_8"} <= set(
        lines
    )
    assert {"plan_cpu_verdict", "plan_cpu_main_cache"} <= {name for name, line in lines.items() if line["ok"]}
    assert {"plan_cpu_main_weights", "plan_cpu_main_compute", "predict_table_decode"} <= set(lines)
    predicted = [name for name in lines if name.startswith("predict_")]
    assert (
        sum(name.endswith("_decode") for name in predicted)
        == sum(name.endswith("_prefill") for name in predicted)
        == 3
    )
    assert {"score_apart", "score_mean_apart"} <= {name for name, line in lines.items() if line["ok"]}
    assert not list((tmp_path / "work").glob("*.gguf"))


@needs_shell
@pytest.mark.slow
@pytest.mark.skipif(not VULKAN_LIBRARY, reason="TOKENLIGHT_VULKAN_LIBRARY names no library built with Vulkan")
def test_the_check_runs_whole_on_lavapipe(tmp_path: Path) -> None:
    ended = run(tmp_path, "--backend", "vulkan", "--library", VULKAN_LIBRARY, GGML_VK_VISIBLE_DEVICES="0")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = found(tmp_path)
    assert "llvmpipe" in str(lines["devices"]["value"])
    judged = {name for name, line in lines.items() if line["ok"] is True}
    assert {
        f"offload_{part}_{what}" for part in ("all", "half", "none") for what in ("layers", "weights", "kv")
    } <= judged
    assert {"logits_prompt", "logits_one_token", "auto_when_free", "auto_when_full"} <= judged
