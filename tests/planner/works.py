"""Models and what they give a machine to do, as planning speaks of them."""

from __future__ import annotations

import msgspec

from app.planner.gpu import Gpu
from app.planner.gpu_table import read_gpu_table
from app.planner.model_parts import LayerCache, LayerWeights, PlannedWeights
from app.planner.model_work import ModelWork
from app.planner.planned_model import PlannedModel
from app.system.resources import find_resources

GIB = 1 << 30
TABLE = {gpu.id: gpu for gpu in read_gpu_table(find_resources().gpu_table()).gpus}
LLAMA_8B = ModelWork(
    layers=32,
    dense_bytes=4_690_000_000,
    full_bytes=131_072,
    parameters=6.98e9,
    head_parameters=0.525e9,
    full_width=32 * 32 * 128,
)
"""Llama-3.1-8B Q4_K_M with a cache of 16-bit numbers."""
PROCESSOR = Gpu(
    id="this-processor",
    name="A processor",
    memory=32 * GIB,
    usable=30 * GIB,
    bandwidth=50.0,
    tflops=None,
    layer_us=20.0,
    efficiency=0.7,
    prefill_tflops=0.5,
    below=0.35,
    above=0.35,
    prefill_band=0.35,
    memory_kind="shared",
    is_processor=True,
    is_this_machine=True,
)


def planned_8b(name: str = "8B", quantisation: str = "Q4_K_M", scale: float = 1.0) -> PlannedModel:
    """Return Llama-3.1-8B as a header tells it, its weights so many times as large as those of Q4_K_M."""
    layer = round(4_259_000_000 / 32 * scale)
    output, embedding = round(431_000_000 * scale), round(295_000_000 * scale)
    weights = PlannedWeights(
        embedding=embedding, output=output, layers=tuple(LayerWeights(dense=layer) for _ in range(32))
    )
    return PlannedModel(
        name=name,
        architecture="llama",
        kind="dense",
        quantisation=quantisation,
        layers=32,
        trained_context=131_072,
        embedding=4096,
        vocabulary=128_256,
        heads=32,
        feed_forward=14_336,
        parameters=8_030_261_248,
        active_parameters=8_030_261_248,
        file_bytes=weights.total,
        weights=weights,
        cache=tuple(LayerCache(8, 128, 128) for _ in range(32)),
    )


def mixture() -> PlannedModel:
    """Return a mixture with 32 experts of which 4 work on a token, like gpt-oss-20b."""
    weights = PlannedWeights(
        embedding=600_000_000,
        output=600_000_000,
        layers=tuple(LayerWeights(dense=30_000_000, experts=424_000_000) for _ in range(24)),
        experts=32,
        experts_used=4,
    )
    return PlannedModel(
        name="mixture",
        architecture="gpt-oss",
        kind="window",
        layers=24,
        trained_context=131_072,
        embedding=2880,
        vocabulary=201_088,
        heads=64,
        parameters=20_900_000_000,
        active_parameters=3_600_000_000,
        file_bytes=weights.total,
        weights=weights,
        cache=tuple(LayerCache(8, 64, 64, is_window=block % 2 == 0) for block in range(24)),
        window=128,
    )


def plain(**changed: object) -> Gpu:
    """Return an RTX 4090 with other figures."""
    return msgspec.structs.replace(TABLE["rtx-4090"], **changed)
