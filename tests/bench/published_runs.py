"""Published runs of llama.cpp against what the planner says of them: nothing is measured here, only predicted.

Bytes are what a token reads of the weights: the file without its token embedding, unless that is the output, too.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import msgspec

from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import GB, Gpu
from app.planner.gpu_table import read_gpu_table
from app.planner.model_work import ModelWork
from app.system.resources import find_resources
from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.setting import Setting


@dataclass(frozen=True)
class Run:
    """One published run: of a GPU, by its id in the table, and of a model."""

    name: str
    gpu: str
    layers: int
    weights_gb: float
    tokens_per_s: float

    @property
    def work(self) -> ModelWork:
        """What each token of it reads."""
        return ModelWork(self.layers, round(self.weights_gb * GB))


RUNS = (
    Run("RTX 5090 Qwen3-8B Q4_K_M", "rtx-5090", 36, 4.68, 227),
    Run("RTX 5080 8B Q4_0", "rtx-5080", 32, 4.37, 148.35),
    Run("RTX PRO 6000 7B Q4_0", "rtx-pro-6000", 32, 3.76, 278.95),
    Run("RTX 3090 8B Q4_0", "rtx-3090", 32, 4.37, 156.6),
    Run("RTX 3090 granite-4.1-8B Q4_K_M", "rtx-3090", 40, 5.05, 127),
    Run("RTX 3090 gemma3-4B Q4_K_M", "rtx-3090", 34, 2.49, 189),
    Run("RTX 3080 8B Q4_K_M", "rtx-3080", 32, 4.69, 111.95),
    Run("RTX 3070 8B Q4_K_M", "rtx-3070", 32, 4.69, 70.94),
    Run("RTX 4090 8B Q4_0", "rtx-4090", 32, 4.37, 146),
    Run("RTX 4090 8B Q4_K_M", "rtx-4090", 32, 4.69, 127.74),
    Run("RTX 4090 8B F16", "rtx-4090", 32, 15.08, 54.34),
    Run("L40S 8B Q4_K_M", "l40s", 32, 4.69, 113.6),
    Run("L40S 8B F16", "l40s", 32, 15.08, 43.42),
    Run("L40S 70B Q4_K_M", "l40s", 80, 42.0, 15.31),
    Run("A6000 8B Q4_K_M", "rtx-a6000", 32, 4.69, 102.22),
    Run("A6000 70B Q4_K_M", "rtx-a6000", 80, 42.0, 14.58),
    Run("RX 7900 XTX 8B Q4_K_M", "rx-7900-xtx", 32, 4.69, 105.7),
    Run("T4 7B F16", "t4", 32, 13.2, 16),
)
HELD_OUT = {"layer_us": 32.0, "efficiency": 0.76}
"""One pair for all of them, from two cards of which other runs are known: then none of these had a part in it."""
HBM_RUNS = (
    Run("A100 80 PCIe 8B Q4_K_M", "a100-80-pcie", 32, 4.69, 138.31),
    Run("A100 80 PCIe 8B F16", "a100-80-pcie", 32, 15.08, 54.56),
    Run("A100 80 PCIe 70B Q4_K_M", "a100-80-pcie", 80, 42.0, 22.11),
    Run("A100 80 SXM 70B Q4_K_M", "a100-80-sxm", 80, 42.0, 24.33),
    Run("H100 PCIe 8B Q4_K_M", "h100-pcie", 32, 4.69, 144.49),
    Run("H100 PCIe 8B F16", "h100-pcie", 32, 15.08, 67.79),
    Run("H100 PCIe 70B Q4_K_M", "h100-pcie", 80, 42.0, 25.01),
)
DEPTH_BYTES_PER_TOKEN = 131072
"""Cache of an 8B with 32 layers, 8 heads of 128 and 16-bit numbers."""
DEPTH_GB_PER_S = 934.0
"""What the first of the series shows of its GPUs, which are not named; the others follow from it."""
DEPTH_PERCENT = 1.0
DEPTH_RUNS = ((0, 175.43), (32768, 96.78), (65536, 67.11))
"""Tokens in the cache and tokens/s of an 8B Q4_0, of llama.cpp's pull request 19378."""


def table() -> dict[str, Gpu]:
    """Return the GPUs that ship, by id."""
    read = read_gpu_table(find_resources().gpu_table())
    if read.problem is not None:
        raise BenchError(read.problem.english())
    return {gpu.id: gpu for gpu in read.gpus}


def predicted(run: Run, gpus: dict[str, Gpu], **changed: float) -> float:
    """Return what the planner says of a run, with other parameters where they are given."""
    speed = decode_speed([Part(run.work, msgspec.structs.replace(gpus[run.gpu], **changed))], 0)
    if speed is None:
        raise BenchError(f"Nothing is known of “{run.name}”.")
    return speed.tokens_per_s


def depth_errors(gpus: dict[str, Gpu]) -> list[float]:
    """Return the error of each depth in percent."""
    gpu = msgspec.structs.replace(gpus["rtx-4090"], bandwidth=DEPTH_GB_PER_S, efficiency=1.0)
    work = ModelWork(32, round(4.37 * GB), full_bytes=DEPTH_BYTES_PER_TOKEN)
    errors = []
    for depth, measured in DEPTH_RUNS:
        speed = decode_speed([Part(work, gpu)], depth)
        if speed is None:
            raise BenchError("Nothing is known of the depth series.")
        errors.append(abs(speed.tokens_per_s / measured - 1) * 100)
    return errors


def published_runs_error(_setting: Setting) -> Measurement:
    """Compare decode on the 18 runs: the larger median of the errors, of the table as it ships and with held-out parameters.

    In the latter none of the runs had a part. It holds only where the series of depths does as well.
    """
    gpus = table()
    held_out = [abs(predicted(run, gpus, **HELD_OUT) / run.tokens_per_s - 1) * 100 for run in RUNS]
    shipped = [abs(predicted(run, gpus) / run.tokens_per_s - 1) * 100 for run in RUNS]
    worst = max(zip(shipped, RUNS, strict=True), key=lambda each: each[0])
    judged = max(held_out, shipped, key=statistics.median)
    depth = max(depth_errors(gpus))
    return Measurement(
        statistics.median(judged),
        judged,
        holds=depth <= DEPTH_PERCENT,
        more={
            "median_percent": round(statistics.median(judged), 2),
            "depth_percent": round(depth, 2),
            "held_out_median_percent": round(statistics.median(held_out), 2),
            "shipped_median_percent": round(statistics.median(shipped), 2),
            "shipped_worst_percent": round(worst[0], 1),
            "shipped_worst_run": worst[1].name,
        },
    )
