"""What each thing that can slow a decode down cost of its time, in seconds: so that of two the one is told that costs more.

Where nobody can measure a cost, it is the least that such a fault is known to take of what was no draw.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.circumstances import Circumstances
from app.core.metrics import Metrics
from app.planner.answer_times import Times

LEAST_CPU = 0.7
"""Of its cores' time: with less the threads wait for one that other programs hold up."""
BUSY_WINDOW = 0.5
MUCH_SAMPLING = 0.25
PAGED_SHARE = 0.02
"""Of all that a decode reads, from the disk: a disk is slower than memory by more than the other 98 %."""
SLOWER_DISK, SLOWER_BUS, FASTER_GPU = 50, 20, 10
"""At least so many times as long: bytes from a disk, over a GPU's bus, and a layer on a processor instead of a GPU."""
HALF = 0.5


class Processor(NamedTuple):
    """What the engine got of the processor while it wrote, its draws left out; in seconds of one core where no share."""

    share: float
    """Of the time of the cores that its threads asked for."""
    taken: float
    """What it asked for and did not get."""


def draws_s(metrics: Metrics, times: Times) -> float:
    """Return how long the draws took of a decode; none where nobody took the time."""
    return min(times.decode, (metrics.sampling_ms or 0.0) / 1000)


def processor(metrics: Metrics, times: Times, circumstances: Circumstances) -> Processor | None:
    """Return what the engine got of the processor; None where that is unknown, or too little is left beside the draws.

    Of a processor that computes alone: its threads wait for each other in a loop, and use up all that they are given.
    One thread alone makes a draw, so that the others may rest meanwhile.
    """
    cpu, threads, cores = metrics.decode_cpu_s, circumstances.threads, circumstances.cores
    if cpu is None or not threads or not cores or circumstances.gpu_layers:
        return None
    drawing = draws_s(metrics, times)
    asked = (times.decode - drawing) * min(threads, cores)
    if asked <= 0.05 * times.decode:
        return None
    got = min(asked, max(0.0, cpu - drawing))
    return Processor(got / asked, asked - got)


class Costs:
    """Of one answer; 0 is what is not there, or too little to be told."""

    def __init__(self, metrics: Metrics, times: Times, circumstances: Circumstances) -> None:
        self._metrics, self._times, self._circumstances = metrics, times, circumstances
        self._processor = processor(metrics, times, circumstances)
        self._rest = times.decode - draws_s(metrics, times)
        """What was no draw."""

    @property
    def spilled(self) -> float:
        """Weights and cache that do not lie in the GPU's memory."""
        used, buffers = self._circumstances.gpu_used_bytes, self._circumstances.gpu_buffer_bytes
        return self._slower(1 - used / buffers, SLOWER_BUS) if used and buffers else 0.0

    @property
    def off_gpu(self) -> float:
        """Layers that the GPU could compute."""
        around = self._circumstances
        if around.leaves_gpu_idle:
            return self._slower(1.0, FASTER_GPU)
        return self._slower(1 - around.gpu_layers / around.all_layers, FASTER_GPU) if around.is_split else 0.0

    @property
    def threads(self) -> float:
        """More threads than cores: each waits for those that have none."""
        around = self._circumstances
        if not around.has_too_many_threads or not around.threads or not around.cores:
            return 0.0
        return self._rest * max(HALF, 1 - around.cores / around.threads)

    @property
    def gpu_limit(self) -> float:
        """A GPU that was held back."""
        return self._rest * HALF if self._circumstances.gpu_limits and self._circumstances.gpu_layers else 0.0

    @property
    def disk(self) -> float:
        """Weights that came from the disk."""
        pages, weights = self._metrics.page_ins, self._circumstances.weight_bytes_per_token
        if pages is None or not pages.decode_faults:
            return 0.0
        if pages.decode_bytes is None or not weights:  # every tenth token waited at least
            return self._rest * HALF if pages.decode_faults >= self._metrics.sampled_tokens / 10 else 0.0
        share = min(1.0, pages.decode_bytes / (weights * self._metrics.sampled_tokens))
        return self._slower(share, SLOWER_DISK) if share >= PAGED_SHARE else 0.0

    @property
    def draws(self) -> float:
        """Choosing tokens, a grammar among it."""
        return draws_s(self._metrics, self._times) if draws_much(self._metrics, self._times) else 0.0

    @property
    def others(self) -> float:
        """Other programs that had the cores; what a disk or the window explains is not theirs."""
        got = self._processor
        if got is None or got.taken - self._of_window < self._of_window:
            return 0.0
        lost = self._rest * (1 - got.share) - self.disk
        return lost if lost >= (1 - LEAST_CPU) * self._rest else 0.0

    @property
    def window(self) -> float:
        """Showing the answer: all threads wait for the one whose core the window has."""
        took, got = self._of_window, self._processor
        is_most = got is not None and got.share < LEAST_CPU and took >= got.taken - took > 0
        is_much = took >= BUSY_WINDOW * self._times.decode
        return min(self._rest, took) if (is_much or is_most) and not self.others else 0.0

    @property
    def cache(self) -> float:
        """Reading keys and values again for each token."""
        cache, weights = self._metrics.kv.bytes, self._circumstances.weight_bytes_per_token
        return self._rest * cache / (cache + weights) if cache is not None and weights else 0.0

    @property
    def growth(self) -> float:
        """Tokens that took longer and longer."""
        drift = self._metrics.drift
        if drift is None or drift.begin + drift.end <= 0:
            return 0.0
        return self._times.decode * (1 - 2 * drift.begin / (drift.begin + drift.end))

    @property
    def _of_window(self) -> float:
        """What the window had of a core, or of those that the engine asked for where that is known."""
        busy = self._circumstances.window_busy_s or 0.0
        return busy if self._processor is None else min(busy, self._processor.taken)

    def _slower(self, share: float, times: float) -> float:
        """Return what a share of the work costs that takes so many times as long as it could."""
        slow = max(0.0, share) * times
        return self._rest * (1 - 1 / (1 + slow - max(0.0, share))) if slow else 0.0


def is_disturbed(metrics: Metrics, times: Times, circumstances: Circumstances) -> bool:
    """Return whether something beside the answer took much of its decode: then it says little of the machine."""
    costs = Costs(metrics, times, circumstances)
    return any((costs.others, costs.window, costs.disk, circumstances.gpu_limits))


def draws_much(metrics: Metrics, times: Times) -> bool:
    """Return whether much of a decode was choosing tokens: then its speed is not that of the model."""
    return draws_s(metrics, times) >= MUCH_SAMPLING * times.decode > 0
