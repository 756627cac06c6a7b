"""A GGUF model and its context in llama.cpp: the backend that evaluates tokens.

Knows nothing of prompts, chats or the loop; it evaluates what it is told and remembers nothing.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from app.core.model import LoadOptions, ModelInfo
from app.core.sampling import SamplingSettings
from app.engine.backend import DecodeResult, Row, TokenIds
from app.engine.llama import LlamaCandidates, LlamaChain, LlamaVocabulary, LogCapture, api
from app.engine.llama_parameters import ModelParameters, NoChat, context_parameters, memory_kind, unable_to_chat
from app.engine.sizes import parse_cache, parse_sizes
from app.engine.thread_pool import ThreadPool

DECODE_RESULTS: tuple[DecodeResult, ...] = ("done", "no_room", "aborted")
WARNING_LEVEL, ERROR_LEVEL = 3, 4
PARTIAL = api.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY


FailedStep = Literal["model", "context", "cancelled"] | NoChat


class LoadFailed(Exception):
    """llama.cpp refused a model or a context; the log says why."""

    def __init__(self, step: FailedStep, log: LogCapture) -> None:
        super().__init__(step)
        self.step = step
        self.log = log.lines(WARNING_LEVEL)
        self.reason = next(iter(log.lines(ERROR_LEVEL)), "")
        """The first error that llama.cpp logged, with the name of its function."""


class LlamaBackend:
    """A GGUF model in llama.cpp with one context whose sequence 0 is the chat."""

    def __init__(
        self,
        path: str,
        options: LoadOptions,
        log: LogCapture,
        progress: Callable[[float], bool],
        weight_bytes_per_token: int | None = None,
    ) -> None:
        """Load; `progress` gets per cent and returns False to cancel. Raises `LoadFailed`."""
        began = time.perf_counter()
        self._log = log
        self._batch: Any = None
        self._context: Any = None
        self._threads: ThreadPool | None = None
        log.clear()
        self._model = self._load_model(path, options, progress)
        try:
            self._context = self._make_context(options)
        except LoadFailed:
            self.close()
            raise
        self._threads = ThreadPool(self._context, int(api.llama_n_threads(self._context)))
        self._memory = api.llama_get_memory(self._context)
        self.vocabulary = LlamaVocabulary(self._model)
        self.vocabulary.special_texts()  # looked up here once: no prompt has to wait for it
        self.cells = int(api.llama_n_ctx(self._context))
        self.micro_batch = int(api.llama_n_ubatch(self._context))
        self.memory_kind = memory_kind(self._model)
        self.window = int(api.llama_model_n_swa(self._model))
        self.memory = parse_sizes(log.lines())
        self._make_batch(int(api.llama_n_batch(self._context)))
        self._abort_callback: Any = None
        self._row: Row = np.empty(0, np.float32)
        self._row_address = 0
        load_ms = (time.perf_counter() - began) * 1000
        self.info = self._describe(path, options, weight_bytes_per_token, load_ms)

    def _load_model(self, path: str, options: LoadOptions, progress: Callable[[float], bool]) -> Any:
        self._parameters = ModelParameters(options)
        params = self._parameters.values
        cancelled = False

        def on_progress(fraction: float, _user: object) -> bool:
            nonlocal cancelled
            cancelled = not progress(fraction * 100)
            return not cancelled

        callback = api.llama_progress_callback(on_progress)
        params.progress_callback = callback
        model = api.llama_model_load_from_file(path.encode("utf-8", "surrogateescape"), params)
        if not model:
            raise LoadFailed("cancelled" if cancelled else "model", self._log)
        if reason := unable_to_chat(model):
            api.llama_model_free(model)
            raise LoadFailed(reason, self._log)
        return model

    def _make_context(self, options: LoadOptions) -> Any:
        context = api.llama_init_from_model(self._model, context_parameters(self._model, options))
        if not context:
            raise LoadFailed("context", self._log)
        if not api.llama_get_memory(context):  # embedding models keep nothing of their past
            api.llama_free(context)
            raise LoadFailed("encoder", self._log)
        return context

    def _make_batch(self, capacity: int) -> None:
        self._batch = api.llama_batch_init(capacity, 0, 1)
        self._tokens = np.ctypeslib.as_array(self._batch.token, (capacity,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (capacity,))
        self._outputs = np.ctypeslib.as_array(self._batch.logits, (capacity,))
        np.ctypeslib.as_array(self._batch.n_seq_id, (capacity,))[:] = 1
        self._capacity = capacity
        self._sequence = -1

    def decode(self, ids: TokenIds, position: int, *, sequence: int, logits: bool) -> DecodeResult:
        """Evaluate up to a batch of tokens; raises RuntimeError when llama.cpp refuses the batch."""
        count = len(ids)
        if not 0 < count <= self._capacity:
            raise ValueError(f"a batch holds 1 to {self._capacity} tokens, not {count}")
        if sequence != self._sequence:
            for index in range(self._capacity):
                self._batch.seq_id[index][0] = sequence
            self._sequence = sequence
        self._batch.n_tokens = count
        self._tokens[:count] = ids
        self._positions[:count] = np.arange(position, position + count, dtype=np.int32)
        self._outputs[:count] = 0
        self._outputs[count - 1] = logits
        code = int(api.llama_decode(self._context, self._batch))
        if not 0 <= code < len(DECODE_RESULTS):
            raise RuntimeError(f"llama_decode returned {code}")
        return DECODE_RESULTS[code]

    def logits(self) -> Row:
        """Return the last row asked for, shape (vocabulary,); valid until the next decode."""
        pointer = api.llama_get_logits_ith(self._context, -1)
        if not pointer:
            raise RuntimeError("llama.cpp has no logits: nothing was evaluated")
        address = ctypes.addressof(pointer.contents)
        if address != self._row_address:  # making a view costs as much as a quarter of the sampling
            self._row = np.ctypeslib.as_array(pointer, (self.vocabulary.size,))
            self._row_address = address
        return self._row

    def synchronize(self) -> None:
        """Wait until the device has finished."""
        api.llama_synchronize(self._context)

    def remove(self, sequence: int, start: int) -> bool:
        """Remove the cells of a sequence from a position on."""
        return bool(api.llama_memory_seq_rm(self._memory, sequence, start, -1))

    def min_position(self, sequence: int) -> int:
        """Return the smallest position that is still in the cache, or -1."""
        return int(api.llama_memory_seq_pos_min(self._memory, sequence))

    def state_bytes(self, sequence: int) -> int:
        """Return the bytes of what a sequence cannot rewind."""
        return int(api.llama_state_seq_get_size_ext(self._context, sequence, PARTIAL))

    def save_state(self, sequence: int) -> npt.NDArray[np.uint8]:
        """Return what a sequence cannot rewind, shape (bytes,)."""
        state = np.empty(self.state_bytes(sequence), np.uint8)
        written = int(
            api.llama_state_seq_get_data_ext(self._context, _bytes_of(state), state.nbytes, sequence, PARTIAL)
        )
        if written != state.nbytes:
            raise RuntimeError(f"llama.cpp saved {written} of {state.nbytes} bytes of a state")
        return state

    def restore_state(self, sequence: int, state: npt.NDArray[np.uint8]) -> bool:
        """Put a saved state back."""
        read = api.llama_state_seq_set_data_ext(self._context, _bytes_of(state), state.nbytes, sequence, PARTIAL)
        return int(read) == state.nbytes

    def set_abort(self, stop: Callable[[], bool] | None) -> None:
        """Ask `stop` after every node of the graph (CPU only); None turns it off."""
        callback = api.ggml_abort_callback(lambda _: stop()) if stop is not None else api.ggml_abort_callback()
        api.llama_set_abort_callback(self._context, callback, ctypes.c_void_p(0))
        self._abort_callback = callback

    def candidates(self) -> LlamaCandidates:
        """Return the array for the native stages."""
        return LlamaCandidates(self.vocabulary.size)

    def chain(self, settings: SamplingSettings) -> LlamaChain:
        """Build the native stages that these settings turn on."""
        return LlamaChain(settings, self.vocabulary, self.cells)

    def _metadata(self, key: str) -> str | None:
        buffer = ctypes.create_string_buffer(512)
        length = api.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if length >= 0 else None

    def _describe(self, path: str, options: LoadOptions, read_bytes: int | None, load_ms: float) -> ModelInfo:
        buffer = ctypes.create_string_buffer(256)
        api.llama_model_desc(self._model, buffer, len(buffer))
        layers = int(api.llama_model_n_layer(self._model))
        offload = bool(api.llama_supports_gpu_offload())
        wanted = layers + 1 if options.gpu_layers is None or options.gpu_layers < 0 else options.gpu_layers
        quantisation = api.llama_ftype_name(api.llama_model_ftype(self._model)) or b""
        kv = [size for use in self.memory for size in (use.kv, use.state) if size is not None]
        return ModelInfo(
            path=path,
            name=self._metadata("general.name") or Path(path).stem,
            architecture=self._metadata("general.architecture") or "",
            description=buffer.value.decode("utf-8", "replace"),
            parameters=int(api.llama_model_n_params(self._model)),
            weight_bytes=int(api.llama_model_size(self._model)),
            weight_bytes_per_token=read_bytes,
            quantisation=quantisation.decode(),
            trained_context=int(api.llama_model_n_ctx_train(self._model)),
            context=self.cells,
            layers=layers,
            vocabulary=self.vocabulary.size,
            chat_template=self.vocabulary.chat_template(),
            license=self._metadata("general.license"),
            kv_bytes=sum(kv) if kv else None,
            threads=int(api.llama_n_threads(self._context)),
            gpu_layers=min(wanted, layers + 1) if offload else 0,
            devices=tuple(use.device for use in self.memory),
            system_info=api.llama_print_system_info().decode("utf-8", "replace").strip(),
            load_ms=load_ms,
            memory_kind=self.memory_kind,
            window=self.window,
            cache=parse_cache(self._log.lines()),
            notes=self._log.lines(WARNING_LEVEL),
        )

    def close(self) -> None:
        """Free the batch, the context and the model; calling it twice is harmless."""
        if self._batch is not None:
            api.llama_batch_free(self._batch)
        if self._context is not None:
            api.llama_free(self._context)
        if self._threads is not None:
            self._threads.free()
        if self._model is not None:
            api.llama_model_free(self._model)
        self._batch = self._context = self._model = None


def _bytes_of(state: npt.NDArray[np.uint8]) -> Any:
    """Return a saved state as llama.cpp takes it."""
    return ctypes.cast(state.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
