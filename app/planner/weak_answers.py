"""What answers that something held up tell of how fast a device writes: that it is at least so fast, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from app.planner.decode_fit import DecodeFit, DecodePoint, fit_decode
from app.planner.gpu import GB, HELD_UP_HERE, MICROSECOND, Gpu

WEAK_BELOW, WEAK_ABOVE = 0.3, 0.9
"""Of the band at least: how much was taken nobody knows."""


def raised(gpu: Gpu, points: Sequence[DecodePoint]) -> tuple[Gpu, float | None]:
    """Return a device as those of its answers show it that were faster than it should be, and the error that is left.

    It is nowhere slower than before; None where no answer was faster.
    """
    if not points:
        return gpu, None
    held_up = replace(gpu, is_held_up=True)
    faster = [point for point in points if point.seconds < _expected(gpu, point)]
    if not faster:
        return held_up, None
    fit = _nowhere_slower(fit_decode(faster, gpu), gpu)
    below, above = max(gpu.below, WEAK_BELOW), max(gpu.above, WEAK_ABOVE)
    return with_fit(held_up, fit, below, above, HELD_UP_HERE), fit.error


def with_fit(gpu: Gpu, fit: DecodeFit, below: float, above: float, source: str) -> Gpu:
    """Return a device with the parameters of a fit, its band, and where they come from."""
    # What is read faster than the memory was believed to give says that it gives more, be it weights or cache.
    bandwidth = max(gpu.bandwidth, fit.bytes_per_s / GB / min(1.0, fit.cache_cost))
    return replace(
        gpu,
        bandwidth=bandwidth,
        layer_us=fit.layer_s / MICROSECOND,
        efficiency=fit.bytes_per_s / GB / bandwidth,
        cache_cost=fit.cache_cost,
        below=below,
        above=above,
        sources=gpu.sources | dict.fromkeys(("layer_us", "efficiency", "below", "above"), source),
    )


def _expected(gpu: Gpu, point: DecodePoint) -> float:
    """Return the seconds of a token as a device should write it."""
    read = point.weight_bytes + point.cache_bytes * gpu.cache_cost
    return point.layers * gpu.layer_us * MICROSECOND + read / gpu.effective_bandwidth


def _nowhere_slower(fit: DecodeFit, gpu: Gpu) -> DecodeFit:
    """Return a fit in which no part of the time is longer than it was: faster in all, it may be slower in one."""
    read = max(fit.bytes_per_s, gpu.effective_bandwidth)
    cache = min(fit.cache_cost / fit.bytes_per_s, gpu.cache_cost / gpu.effective_bandwidth)
    return replace(
        fit, layer_s=min(fit.layer_s, gpu.layer_us * MICROSECOND), bytes_per_s=read, cache_cost=cache * read
    )
