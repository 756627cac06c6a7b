"""A GPU that people add to the planner's table, as it is kept in the settings."""

from __future__ import annotations

from typing import Annotated

import msgspec

MOST_GIB, MOST_GB_PER_S, MOST_TFLOPS = 4096, 100_000, 100_000
LEAST = 0.1
MOST_OWN = 64
"""More than anybody adds by hand."""


class OwnGpu(msgspec.Struct, frozen=True):
    """What a data sheet says of a GPU; its name is the key that it is kept under."""

    memory_gib: Annotated[float, msgspec.Meta(ge=LEAST, le=MOST_GIB)]
    bandwidth: Annotated[float, msgspec.Meta(ge=LEAST, le=MOST_GB_PER_S)]
    """In 10^9 bytes/s."""
    tflops: Annotated[float, msgspec.Meta(ge=LEAST, le=MOST_TFLOPS)] | None = None
    """Dense FP16 in 10^12 operations/s; None is unknown, and then nothing is said of the time to the first token."""
    like: str = ""
    """Id of the GPU in the table that it behaves like; empty has it judged with more caution."""
    shares_memory: bool = False
    """Whether its memory is the machine's own."""
