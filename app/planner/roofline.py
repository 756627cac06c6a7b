"""The roofline: what a GPU gets done by how many operations each byte read is used for, with a dot for each of the two.

Prefill uses a weight for every token of a micro-batch, decode for every sequence: that is why one is limited by
arithmetic and the other by memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import GB, TERA
from app.planner.prefill_speed import prefill_time


class Dot(msgspec.Struct, frozen=True):
    """One kind of work in the picture."""

    intensity: float
    """Operations for each byte read."""
    tflops: float
    """What gets done, in 10^12 operations/s."""
    roof: float
    """The most that could be, at this intensity."""


class Roofline(msgspec.Struct, frozen=True):
    """A GPU's roof and the two dots under it; None is unknown."""

    bandwidth: float
    """In 10^9 bytes/s: the slope on the left."""
    peak_tflops: float
    """The level on the right: dense FP16."""
    ridge: float
    """Operations for each byte where the one becomes the other."""
    prefill: Dot | None
    decode: Dot | None

    def roof(self, intensity: float) -> float:
        """Return the most that can be got done with so many operations for each byte, in 10^12 operations/s."""
        return min(self.peak_tflops, intensity * self.bandwidth * GB / TERA)


def roofline(
    parts: Sequence[Part], context: int, prompt: int, sequences: int = 1, micro_batch: int = 512
) -> Roofline | None:
    """Return the picture of a model that one GPU holds as a whole; None where its arithmetic is not known."""
    busy = [part for part in parts if not part.work.is_empty]
    if len(busy) != 1 or not busy[0].gpu.tflops or busy[0].gpu.bandwidth <= 0:
        return None
    part = busy[0]
    gpu = part.gpu
    peak = gpu.tflops or 0.0
    empty = Roofline(gpu.bandwidth, peak, peak * TERA / (gpu.bandwidth * GB), None, None)
    return msgspec.structs.replace(
        empty,
        prefill=_prefill(part, empty, max(1, prompt), max(1, micro_batch)),
        decode=_decode(part, empty, max(0, context), max(1, sequences)),
    )


def _prefill(part: Part, line: Roofline, prompt: int, micro_batch: int) -> Dot | None:
    time = prefill_time([part], prompt, 0, micro_batch)
    if time is None or time.seconds <= 0:
        return None
    rounds = -(-prompt // micro_batch)
    read = rounds * (part.work.weight_bytes(min(prompt, micro_batch)) + part.work.cache_bytes(prompt) / 2)
    return _dot(line, part.work.operations(prompt, 0), read, time.seconds)


def _decode(part: Part, line: Roofline, context: int, sequences: int) -> Dot | None:
    speed = decode_speed([part], context, sequences)
    if speed is None:
        return None
    read = part.work.weight_bytes(sequences) + sequences * part.work.cache_bytes(context)
    return _dot(line, sequences * part.work.operations(1, context), read, 1 / speed.tokens_per_s)


def _dot(line: Roofline, operations: float, read: float, seconds: float) -> Dot | None:
    if read <= 0 or operations <= 0:
        return None
    intensity = operations / read
    roof = line.roof(intensity)
    return Dot(intensity, min(roof, operations / seconds / TERA), roof)
