"""A context of llama.cpp: made for a model, made anew with other sequences, and freed with its threads.

Knows nothing of tokens; what is evaluated in it is the backend's.
"""

from __future__ import annotations

import ctypes
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from app.core.lane_memory import ContextSizes
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, LoadOptions
from app.engine.backend import ContextLost, DecodeResult
from app.engine.devices import library_facts
from app.engine.llama import LogCapture, api
from app.engine.llama_parameters import (
    ROPE_PARAMETERS,
    NoChat,
    context_parameters,
    memory_kind,
    sequences_at_load,
    takes_long_factors,
)
from app.engine.sizes import Flash, parse_cache, parse_flash, parse_sizes
from app.engine.state_file import Maker
from app.engine.thread_pool import ThreadPool

DECODE_RESULTS: tuple[DecodeResult, ...] = ("done", "no_room", "aborted")
WARNING_LEVEL, ERROR_LEVEL = 3, 4
CHAT = 0

FailedStep = Literal["model", "context", "cancelled"] | NoChat
State = npt.NDArray[np.uint8]
"""What a sequence holds, shape (bytes,)."""


class LoadFailed(Exception):
    """llama.cpp refused a model or a context; the log says why."""

    def __init__(self, step: FailedStep, log: LogCapture) -> None:
        super().__init__(step)
        self.step = step
        self.log = log.lines(WARNING_LEVEL)
        self.reason = next(iter(log.lines(ERROR_LEVEL)), "")
        """The first error that llama.cpp logged, with the name of its function."""


class LlamaContext:
    """The one context of a model; `handle` and `memory` change when it is made anew."""

    def __init__(self, model: Any, options: LoadOptions, log: LogCapture) -> None:
        """Make it; raises `LoadFailed`."""
        self._model = model
        self._options = options
        self._log = log
        self._usual = sequences_at_load(model)
        self.sequences = 0
        """How many it has, the chat's included."""
        self.handle: Any = None
        self.memory: Any = None
        self._threads: ThreadPool | None = None
        self._flash: Flash = "auto"
        self._buffers: tuple[DeviceMemory, ...] = ()
        self.cache = CacheSizes()
        """What it keeps of the past, as it is now."""
        if not self._make(self._usual):
            raise LoadFailed("context", log)
        if not self.memory:  # embedding models keep nothing of their past
            self.free()
            raise LoadFailed("encoder", log)
        self.sizes: ContextSizes = self._sizes()
        """What the load took, weights included."""
        self.cache = self.sizes.cache

    def _make(self, sequences: int) -> bool:
        self.handle = api.llama_init_from_model(
            self._model, context_parameters(self._model, self._options, sequences)
        )
        if not self.handle:
            self.handle = None
            return False
        self.memory = api.llama_get_memory(self.handle)
        if self.memory:
            self._threads = ThreadPool(self.handle, int(api.llama_n_threads(self.handle)))
        self.sequences = sequences
        self._flash = parse_flash(self._log.lines())
        return True

    def remake(self, sequences: int) -> bool:
        """Make it anew with at least as many sequences, and with what the chat's holds.

        False where llama.cpp does not make it: then the one before is there again. Raises `ContextLost` if it is not.
        """
        before = self.sequences
        try:
            state = self.save()
        except MemoryError:
            return False
        self.free()
        for tried in (sequences, before):
            self._log.clear()
            if self._make(tried) and self.restore(state):
                self._buffers, self.cache = parse_sizes(self._log.lines()), parse_cache(self._log.lines())
                return tried == sequences
            self.free()
        raise ContextLost

    def give_back(self) -> bool:
        """Have as many sequences as at the load; False where the larger context stays. Raises `ContextLost`."""
        return self.sequences <= self._usual or self.remake(self._usual)

    @property
    def is_usual(self) -> bool:
        """Whether it is as it was made at the load."""
        return self.sequences == self._usual

    def buffers(self) -> tuple[DeviceMemory, ...]:
        """Return the buffers of one that was made anew, without weights, by device."""
        return self._buffers

    def share_threads(self, other: Any) -> None:
        """Let another context of the model evaluate with these threads, while this one does not."""
        if self._threads is not None:
            self._threads.attach(other)

    def state_bytes(self) -> int:
        """Return the size of all that the chat's sequence holds."""
        return int(api.llama_state_seq_get_size(self.handle, CHAT))

    def maker(self, model: str) -> Maker:
        """Return what the numbers of a saved state depend on; `model` is the identity of the model's file."""
        params = context_parameters(self._model, self._options)
        rope = [float(getattr(params, name)) for name in ROPE_PARAMETERS]
        rope.append(float(api.llama_model_rope_freq_scale_train(self._model)))
        rope.append(float(takes_long_factors(self._model, self.handle)))
        return Maker(
            model=model,
            llama_cpp=f"{library_facts().version} {(api.llama_version() or b'').decode('utf-8', 'replace')}",
            kv_types=(self._options.kv_type_k, self._options.kv_type_v),
            flash_attention=self._flash,
            rope=tuple(rope),
            memory_kind=memory_kind(self._model),
        )

    def _sizes(self) -> ContextSizes:
        lines, model = self._log.lines(), self._model
        return ContextSizes(
            memory=parse_sizes(lines),
            cache=parse_cache(lines),
            sequences=self._usual,
            cells=int(api.llama_n_ctx(self.handle)),
            window=int(api.llama_model_n_swa(model)),
            micro_batch=int(api.llama_n_ubatch(self.handle)),
            row_bytes=4 * int(api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))),
        )

    def evaluate(self, batch: Any) -> DecodeResult:
        """Evaluate a batch; raises RuntimeError when llama.cpp refuses it."""
        code = int(api.llama_decode(self.handle, batch))
        if not 0 <= code < len(DECODE_RESULTS):
            raise RuntimeError(f"llama_decode returned {code}")
        return DECODE_RESULTS[code]

    def save(self) -> State:
        """Return all that the chat's sequence holds."""
        state = np.empty(self.state_bytes(), np.uint8)
        written = int(api.llama_state_seq_get_data(self.handle, bytes_of(state), state.nbytes, CHAT))
        if written != state.nbytes:
            raise RuntimeError(f"llama.cpp saved {written} of {state.nbytes} bytes of a sequence")
        return state

    def restore(self, state: State) -> bool:
        """Let the chat's sequence hold what was saved; False, and it holds nothing, when llama.cpp does not take it."""
        taken = int(api.llama_state_seq_set_data(self.handle, bytes_of(state), state.nbytes, CHAT)) == state.nbytes
        if not taken:
            api.llama_memory_seq_rm(self.memory, CHAT, 0, -1)
        return taken

    def free(self) -> None:
        """Free the context, then its threads; calling it twice is harmless."""
        if self.handle is not None:
            api.llama_free(self.handle)
        if self._threads is not None:
            self._threads.free()
        self.handle = self.memory = self._threads = None
        self.sequences = 0


def bytes_of(state: State) -> Any:
    """Return a saved state as llama.cpp takes it."""
    return ctypes.cast(state.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
