"""What a context with more sequences takes beyond the one of the load, and how many of them fit.

Pure: the engine asks before it makes one, and whoever sets up a comparison before that. Main memory is the point of it:
a system that promises more than it has does not refuse a context, it ends the process later. Where a figure is unknown
nothing stands in the way, and llama.cpp may still refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.core.comparison import MOST_AT_ONCE
from app.core.devices import MAIN_MEMORY, MainMemory
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, ModelInfo

MARGIN = 1 << 30
"""Left of main memory, or half of what is available where that is less: buffers for computing grow a little, too."""
PADDING = 256
"""llama.cpp rounds the cells of a sliding window up to these (llama-cpp-python 0.3.36)."""
PLAIN_SEQUENCES = MOST_AT_ONCE + 1
"""Of a plain cache at the load: the chat and all lanes, which cost output rows only."""
ROW_BYTES = 4
"""Of each logit."""


class ContextSizes(NamedTuple):
    """The context of the load."""

    memory: tuple[DeviceMemory, ...]
    cache: CacheSizes
    sequences: int
    cells: int
    window: int
    """Tokens of the sliding window, 0 for none."""
    micro_batch: int
    row_bytes: int
    """Of the logits of one token."""


def sizes_of(model: ModelInfo) -> ContextSizes:
    """Return the sizes of a model's context by what the engine told of its load."""
    return ContextSizes(
        memory=model.memory,
        cache=model.cache,
        sequences=PLAIN_SEQUENCES if model.memory_kind == "plain" else 1,
        cells=model.context,
        window=model.window,
        micro_batch=min(model.options.micro_batch, model.context),
        row_bytes=ROW_BYTES * model.vocabulary,
    )


def growth(sizes: ContextSizes, sequences: int) -> dict[str, int] | None:
    """Return by how many bytes so many sequences take more than those of the load, by device; None where unknown.

    A recurrent state is there once for each sequence, a sliding window has room for that of each, and every sequence
    has its row of logits; the cells of other layers are shared.
    """
    more = sequences - sizes.sequences
    window = _window_growth(sizes, sequences)
    if window is None or (sizes.cache.full is None and sizes.cache.state is None):
        return None
    kv = sum(use.kv or 0 for use in sizes.memory)
    grown = {
        use.device: (use.state or 0) * more // sizes.sequences + window * (use.kv or 0) // max(1, kv)
        for use in sizes.memory
    }
    grown[MAIN_MEMORY] = grown.get(MAIN_MEMORY, 0) + sizes.row_bytes * more
    return grown


def most_sequences(
    sizes: ContextSizes,
    present: int,
    wanted: int,
    state: int,
    main: MainMemory | None,
    gpus: Mapping[str, int | None],
) -> int:
    """Return how many of the wanted sequences fit in place of those that are present, and at least as many as these.

    `state` are the bytes that carry over what the chat holds, in main memory, while the context is made; `gpus` is
    what is free on each GPU, which refuses by itself what it does not have.
    """
    before = growth(sizes, present)
    limits = {**gpus, MAIN_MEMORY: None if main is None else main.available - min(MARGIN, main.available // 2)}
    for count in range(wanted, present, -1):
        after = growth(sizes, count)
        if before is None or after is None:
            return count
        needed = {device: size - before[device] for device, size in after.items()}
        needed[MAIN_MEMORY] += state
        if all(_fits(size, limits.get(device)) for device, size in needed.items()):
            return count
    return present


def _fits(size: int, limit: int | None) -> bool:
    return limit is None or size <= max(0, limit)


def _window_growth(sizes: ContextSizes, sequences: int) -> int | None:
    cache = sizes.cache
    if cache.window is None:
        return 0
    if not cache.window_cells:
        return None
    wanted = sizes.window * sequences + sizes.micro_batch
    cells = min(sizes.cells, -(-wanted // PADDING) * PADDING)
    return cache.window * (cells - cache.window_cells) // cache.window_cells
