"""A second, short-lived context beside the chat's, for what would spoil that one: rows of every token at once.

One sequence and small batches, the chat's attention unless somebody watches the computation; made on request, and its
memory is given back.
Knows nothing of chats, and nothing of what is looked for in the rows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.core.devices import GPU_KINDS, MAIN_MEMORY, MainMemory
from app.core.lane_memory import MARGIN, ROW_BYTES
from app.core.metrics import DeviceMemory
from app.core.model import INSPECTION_BATCH, LoadOptions
from app.core.words import Sentence, translate
from app.engine.backend import NoInspection, Rows, TokenIds, Watcher
from app.engine.devices import list_devices
from app.engine.ggml_tensor import layout_is_known
from app.engine.graph_watch import GraphWatch
from app.engine.llama import api
from app.engine.llama_context import DECODE_RESULTS, LlamaContext
from app.engine.llama_parameters import inspection_options, inspection_parameters, least_inspection_cells

MIB = 1 << 20
GPU_MARGIN = 256 * MIB
"""Left free on a GPU: its kernels take working memory of their own, and llama.cpp ends the process without it."""

NeededMemory = Callable[[int, bool], tuple[DeviceMemory, ...] | None]
"""Works out the buffers of an inspection context with so many cells, watched or not; None where that cannot be known."""


class LlamaInspection:
    """A context of its own for a loaded model; freed with `close`, and it has to be before the model is."""

    batch = INSPECTION_BATCH

    def __init__(
        self, model: Any, chat: LlamaContext, options: LoadOptions, cells: int, watcher: Watcher | None = None
    ) -> None:
        """Make it, with the threads of the chat's context.

        Raises `NoInspection` where llama.cpp refuses it, or where its tensors cannot be watched.
        """
        if watcher is not None and not layout_is_known():
            raise NoInspection(_OTHER_LAYOUT)
        params = inspection_parameters(model, inspection_options(options, cells, watched=watcher is not None))
        self._watch = GraphWatch(watcher) if watcher is not None else None
        if self._watch is not None:
            self._watch.attach(params)
        self._vocabulary = int(api.llama_vocab_n_tokens(api.llama_model_get_vocab(model)))
        self._batch: Any = None
        self._stop: Any = None
        self._handle = api.llama_init_from_model(model, params)
        if not self._handle:
            self._handle = None
            raise NoInspection(refused_by_library(cells))
        chat.share_threads(self._handle)
        self._batch = api.llama_batch_init(self.batch, 0, 1)
        self._tokens = np.ctypeslib.as_array(self._batch.token, (self.batch,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (self.batch,))
        self._outputs = np.ctypeslib.as_array(self._batch.logits, (self.batch,))
        np.ctypeslib.as_array(self._batch.n_seq_id, (self.batch,))[:] = 1
        for place in range(self.batch):
            self._batch.seq_id[place][0] = 0

    def rows(self, ids: TokenIds, position: int) -> Rows | None:
        """Evaluate up to `batch` tokens and return the row behind each, shape (tokens, vocabulary).

        A view, valid until the next call. None where `stop` said so in the middle. Raises `NoInspection` where llama.cpp
        cannot go on, which with valid tokens is a want of memory.
        """
        self._outputs[: len(ids)] = 1
        if not self._evaluate(ids, position):
            return None
        pointer = api.llama_get_logits(self._handle)  # waits for the device
        return np.ctypeslib.as_array(pointer, (len(ids), self._vocabulary))

    def read(self, ids: TokenIds, position: int, *, watched: bool = False, row: bool = False) -> bool:
        """Evaluate up to `batch` tokens and keep no row; False where `stop` said so in the middle.

        The row behind the last of them is worked out where that is watched, or with `row`. Raises what the watcher raised, and
        `NoInspection` like `rows`.
        """
        self._outputs[: len(ids)] = 0
        self._outputs[len(ids) - 1] = watched or row
        done = self._evaluate(ids, position, watched=watched)
        api.llama_synchronize(self._handle)
        return done

    def _evaluate(self, ids: TokenIds, position: int, *, watched: bool = False) -> bool:
        count = len(ids)
        if not 0 < count <= self.batch:
            raise ValueError(f"a batch holds 1 to {self.batch} tokens, not {count}")
        self._batch.n_tokens = count
        self._tokens[:count] = ids
        self._positions[:count] = np.arange(position, position + count, dtype=np.int32)
        if self._watch is not None:
            self._watch.is_on = watched
        code = int(api.llama_decode(self._handle, self._batch))
        if self._watch is not None:
            self._watch.raise_error()
        if code not in (DECODE_RESULTS.index("done"), DECODE_RESULTS.index("aborted")):
            raise NoInspection(refused_by_library(position + count))
        return code == DECODE_RESULTS.index("done")

    def set_abort(self, stop: Callable[[], bool]) -> None:
        """Ask `stop` after every node of the graph (CPU only)."""
        watch = self._watch
        self._stop = api.ggml_abort_callback(lambda _: stop() or (watch is not None and watch.has_failed))
        api.llama_set_abort_callback(self._handle, self._stop, ctypes.c_void_p(0))

    def close(self) -> None:
        """Give the memory back; calling it twice is harmless."""
        if self._batch is not None:
            api.llama_batch_free(self._batch)
        if self._handle is not None:
            api.llama_free(self._handle)
        self._batch = self._handle = None


def inspect(
    model: Any,
    chat: LlamaContext,
    options: LoadOptions,
    cells: int,
    needed: NeededMemory | None,
    main_memory: MainMemory | None,
    watcher: Watcher | None = None,
) -> LlamaInspection:
    """Make an inspection context where there is memory for it; raises `NoInspection` with the numbers otherwise.

    Memory is looked at first: a system that promises more than it has does not refuse a context, it ends the process.
    """
    cells = max(cells, least_inspection_cells(model, chat.handle))
    buffers = needed(cells, watcher is not None) if needed is not None else None
    if buffers is not None:
        vocabulary = int(api.llama_vocab_n_tokens(api.llama_model_get_vocab(model)))
        gpus = {device.name: device.free for device in list_devices() if device.kind in GPU_KINDS}
        lack = lacking(bytes_by_device(buffers, vocabulary), main_memory, gpus)
        if lack is not None:
            raise NoInspection(too_little(cells, *lack))
    return LlamaInspection(model, chat, options, cells, watcher)


def bytes_by_device(buffers: Sequence[DeviceMemory], vocabulary: int) -> dict[str, int] | None:
    """Return what a context takes of each device, without weights; None where a part of it is unknown.

    The rows of a whole batch are copied to main memory; the buffer that the log tells has room for one of them.
    """
    if not all(use.complete for use in buffers):
        return None
    needed = {use.device: sum(size or 0 for size in (use.kv, use.compute, use.state, use.output)) for use in buffers}
    needed[MAIN_MEMORY] = needed.get(MAIN_MEMORY, 0) + (INSPECTION_BATCH - 1) * vocabulary * ROW_BYTES
    return needed


def lacking(
    needed: Mapping[str, int] | None, main: MainMemory | None, gpus: Mapping[str, int | None]
) -> tuple[str, int, int] | None:
    """Return a device that has too little, the bytes needed there and those that may be used; None where all fits."""
    room = {name: None if free is None else free - GPU_MARGIN for name, free in gpus.items()}
    room[MAIN_MEMORY] = None if main is None else main.available - min(MARGIN, main.available // 2)
    for device, size in (needed or {}).items():
        free = room.get(device)
        if free is not None and size > max(0, free):
            return device, size, max(0, free)
    return None


def too_little(cells: int, device: str, needed: int, free: int) -> Sentence:
    """Return the refusal with the numbers."""
    values = {"tokens": cells, "needed": -(-needed // MIB), "free": free // MIB}
    if device == MAIN_MEMORY:
        return translate(
            "Engine",
            "A second context for {tokens:,} tokens needs {needed:,} MiB of memory, and {free:,} MiB can be used. "
            "Close other programs or load the model with a smaller context, then try again.",
            **values,
        )
    return translate(
        "Engine",
        "A second context for {tokens:,} tokens needs {needed:,} MiB on {device}, and {free:,} MiB can be used. "
        "Load the model with a smaller context or fewer GPU layers, then try again.",
        device=device,
        **values,
    )


def refused_by_library(cells: int) -> Sentence:
    """Return what is said where llama.cpp makes no second context, or cannot go on in it."""
    return translate(
        "Engine",
        "llama.cpp had no memory for a second context of {tokens:,} tokens. Load the model with a smaller context or "
        "fewer GPU layers, then try again.",
        tokens=cells,
    )


_OTHER_LAYOUT = translate(
    "Engine",
    "This build of llama.cpp keeps its tensors in another way than this version of Tokenlight knows, so nothing can be "
    "read of the computation. Use the build that Tokenlight was installed with.",
)
