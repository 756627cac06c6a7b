"""Holds the planner's formulae against llama.cpp's own dry run, one sparse file of a real model's size after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.core.gguf_header import Header, read_header
from app.core.model import FlashAttention, KVType, LoadOptions
from app.engine.dry_run import DryRun
from app.engine.llama import LogCapture, api
from app.engine.llama_model import LlamaBackend
from app.engine.llama_parameters import context_parameters
from app.engine.placement import weights_by_device
from app.planner.buffer_formula import buffers
from app.planner.cache_formula import cache_by_layer
from app.planner.layout import all_layers
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions, plan_options
from app.planner.planned_model import planned_model
from app.planner.planning import plan_memory
from tests.planner.cells import cell_bytes
from tests.sparse_ggufs import Sparse

MIB = 1024 * 1024
PLENTY = PlannedDevice("CPU", is_gpu=False, total=1 << 50, free=1 << 50)
GPU = PlannedDevice("CUDA0", is_gpu=True, total=1 << 50, free=1 << 50)
_LAYER = re.compile(r"load_tensors: layer\s+(\d+) assigned to device CPU")
CELL_NOTE_BYTES = 12
"""What a saved state has beside the keys and values of a cell: its position, how many sequences it is of, and which."""
GROWTH = 256
"""Tokens by which a cache grows: all of them beyond the windows of the small models of the tests."""
CELL_TYPES: tuple[tuple[KVType, FlashAttention], ...] = (
    ("f16", "on"),
    ("q8_0", "on"),
    ("q4_0", "on"),
    ("f16", "off"),
)


class Configuration(NamedTuple):
    """One way to make a context."""

    context: int = 8192
    kv_type: KVType = "f16"
    flash_attention: bool = True
    micro_batch: int = 512
    sequences: int | None = None
    """None are those of a load."""
    unified: bool = True


CONFIGURATIONS = (
    Configuration(),
    Configuration(context=1000, micro_batch=128, sequences=1),
    Configuration(context=32768, sequences=4),
    Configuration(context=32768, sequences=4, unified=False),
    Configuration(context=32768, flash_attention=False, sequences=1),
    Configuration(context=131072, micro_batch=2048, sequences=1),
    Configuration(kv_type="q8_0", sequences=1),
)
"""A few of each thing that changes a size."""


class Difference(NamedTuple):
    """What the formula says beyond the dry run."""

    configuration: Configuration
    kv_mib: float
    state_mib: float
    output_mib: float
    weights_percent: float
    compute_percent: float


def header_of(path: Path) -> Header:
    """Return the header of a file, whatever it is good for."""
    with path.open("rb") as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        return read_header(read, path.stat().st_size)


def differences(
    run: DryRun, model: Sparse, path: Path, configurations: tuple[Configuration, ...] = CONFIGURATIONS
) -> Iterator[Difference]:
    """Write a model and compare it in each of the configurations."""
    header = header_of(model.write(path))
    planned = planned_model([header], path.stat().st_size)
    for wanted in configurations:
        if wanted.kv_type != "f16" and any(layer.key_width % 32 or layer.value_width % 32 for layer in planned.cache):
            continue
        options = LoadOptions(
            context=wanted.context,
            kv_type_k=wanted.kv_type,
            kv_type_v=wanted.kv_type,
            flash_attention="on" if wanted.flash_attention else "off",
            micro_batch=wanted.micro_batch,
        )

        def parameters(loaded: Any, load: LoadOptions, wanted: Configuration = wanted) -> Any:
            made = context_parameters(loaded, load, wanted.sequences)
            made.kv_unified = wanted.unified
            return made

        measured = run.measure(str(path), [header], options, parameters).memory
        asked = PlanOptions(
            context=wanted.context,
            kv_type_k=wanted.kv_type,
            kv_type_v=wanted.kv_type,
            sequences=wanted.sequences or 1,
            unified=wanted.unified,
            micro_batch=wanted.micro_batch,
            flash_attention=wanted.flash_attention,
        )
        layers, sizes = cache_by_layer(planned, asked), buffers(planned, asked, wanted.sequences)
        assert layers is not None and sizes is not None, planned.unknown_reason
        (row,) = plan_memory(planned, asked, [PLENTY]).devices
        weights, compute = int(api.llama_model_size(run._model)), sum(use.compute or 0 for use in measured)
        yield Difference(
            wanted,
            kv_mib=(sum(layer.kv for layer in layers) - sum(use.kv or 0 for use in measured)) / MIB,
            state_mib=(sum(layer.state for layer in layers) - sum(use.state or 0 for use in measured)) / MIB,
            output_mib=(sizes.output - sum(use.output or 0 for use in measured)) / MIB,
            weights_percent=100 * ((row.weights.bytes or 0) / weights - 1),
            compute_percent=100 * (sizes.device / compute - 1),
        )


def weights_on_each(run: DryRun, model: Sparse, path: Path) -> dict[str, float]:
    """Return by device how far the weights that lie there are off, in per cent: the worst of all layers on a GPU, half and none.

    llama.cpp says where each layer lies; the GPU that may not be here stands in its log in place of the processor.
    """
    header = header_of(model.write(path))
    planned = planned_model([header], path.stat().st_size)
    run.measure(str(path), [header], LoadOptions(context=1024, gpu_layers=0))
    everything = all_layers(planned)
    assert everything is not None, planned.unknown_reason
    worst: dict[str, float] = {}
    for count in (everything, everything // 2, 0):
        lines = [_moved_line(line, everything - count) for line in run._model_lines]
        found = weights_by_device([header], lines)
        assert found is not None
        plan = plan_memory(planned, PlanOptions(context=1024, gpu_layers=count), [GPU, PLENTY])
        for row in plan.devices:
            there, expected = found.sizes.get(row.name, 0), row.weights.bytes or 0
            off = 100 * (expected / there - 1) if there else 100.0 * bool(expected)
            worst[row.name] = max(worst.get(row.name, 0.0), abs(off))
    return worst


def _moved_line(line: str, first: int) -> str:
    """Return a line of the log as it would be with all layers from one on on a GPU."""
    layer = _LAYER.match(line)
    if layer is None or int(layer[1]) < first:
        return line
    return line.replace("assigned to device CPU", f"assigned to device {GPU.name}")


def cell_growth(path: Path, options: LoadOptions, log: LogCapture) -> tuple[float, int]:
    """Return by how many bytes a cell of a model that really runs grows, and what the formula says of it."""
    backend = LlamaBackend(str(path), options, log, lambda percent: True)
    try:
        sizes = []
        for position in (0, GROWTH):
            ids = np.arange(GROWTH, dtype=np.int32) % 100
            assert backend.decode(ids, position, sequence=0, logits=False) == "done"
            backend.synchronize()
            sizes.append(backend._context.state_bytes())
        planned = planned_model([header_of(path)])
        expected = cell_bytes(planned, plan_options(options, planned.trained_context))
    finally:
        backend.close()
    assert expected is not None
    notes = CELL_NOTE_BYTES if any(layer.attends for layer in planned.cache) else 0
    return (sizes[1] - sizes[0]) / GROWTH - notes, expected
