"""A GGUF model and its context in llama.cpp: the backend that evaluates tokens.

Knows nothing of prompts, chats or the loop; it evaluates what it is told and remembers nothing.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.core.devices import MainMemory
from app.core.gguf_types import file_type_name
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions, ModelInfo
from app.core.sampling import SamplingSettings
from app.engine.backend import DecodeResult, Inspect, Row, TokenIds, Watcher, WholeState
from app.engine.inspection import LlamaInspection, NeededMemory, inspect
from app.engine.llama import LlamaCandidates, LlamaChain, LlamaVocabulary, LogCapture, api
from app.engine.llama_context import WARNING_LEVEL, LlamaContext, LoadFailed, bytes_of
from app.engine.llama_grammar import LlamaGrammar
from app.engine.llama_parameters import ModelParameters, memory_kind, metadata, unable_to_chat
from app.engine.llama_sequences import LlamaSequences
from app.engine.sizes import with_context

PARTIAL = api.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY


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
        self._options = options
        self._batch: Any = None
        self.inspect: Inspect = self._inspect
        self.needed_to_inspect: NeededMemory | None = None
        """Works out the memory of an inspection context; None leaves it to llama.cpp to refuse one."""
        log.clear()
        self._model = self._load_model(path, options, progress)
        try:
            self._context = LlamaContext(self._model, options, log)
        except LoadFailed:
            api.llama_model_free(self._model)
            raise
        context = self._context.handle
        self.whole: WholeState = self._context
        self.sequences = LlamaSequences(self._context)
        self.vocabulary = LlamaVocabulary(self._model)
        self.vocabulary.special_texts()  # looked up here once: no prompt has to wait for it
        self.cells = int(api.llama_n_ctx(context))
        self.micro_batch = int(api.llama_n_ubatch(context))
        self.memory_kind = memory_kind(self._model)
        self.window = int(api.llama_model_n_swa(self._model))
        self._memory = self._context.sizes.memory
        self._make_batch(int(api.llama_n_batch(context)))
        self._abort_callback: Any = None
        self._rows: dict[int, Row] = {}
        """Views of llama.cpp's rows by their addresses, of which there are as many as sequences."""
        load_ms = (time.perf_counter() - began) * 1000
        self.info = self._describe(path, options, weight_bytes_per_token, load_ms)

    @property
    def memory(self) -> tuple[DeviceMemory, ...]:
        """Its buffers by device: the weights of the load, and those of the context as it is now."""
        return self._memory if self._context.is_usual else with_context(self._memory, self._context.buffers())

    @memory.setter
    def memory(self, at_load: tuple[DeviceMemory, ...]) -> None:
        self._memory = at_load

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
        return self._context.evaluate(self._batch)

    def logits(self, place: int = -1) -> Row:
        """Return a row of the last decode, shape (vocabulary,); valid until the next decode."""
        pointer = api.llama_get_logits_ith(self._context.handle, place)
        if not pointer:
            raise RuntimeError("llama.cpp has no logits: nothing was evaluated")
        address = ctypes.addressof(pointer.contents)
        row = self._rows.get(address)
        if row is None:  # making a view costs as much as a quarter of the sampling
            row = self._rows[address] = np.ctypeslib.as_array(pointer, (self.vocabulary.size,))
        return row

    def synchronize(self) -> None:
        """Wait until the device has finished."""
        api.llama_synchronize(self._context.handle)

    def remove(self, sequence: int, start: int) -> bool:
        """Remove the cells of a sequence from a position on."""
        return bool(api.llama_memory_seq_rm(self._context.memory, sequence, start, -1))

    def min_position(self, sequence: int) -> int:
        """Return the smallest position that is still in the cache, or -1."""
        return int(api.llama_memory_seq_pos_min(self._context.memory, sequence))

    def state_bytes(self, sequence: int) -> int:
        """Return the bytes of what a sequence cannot rewind."""
        return int(api.llama_state_seq_get_size_ext(self._context.handle, sequence, PARTIAL))

    def save_state(self, sequence: int) -> npt.NDArray[np.uint8]:
        """Return what a sequence cannot rewind, shape (bytes,)."""
        state = np.empty(self.state_bytes(sequence), np.uint8)
        handle = self._context.handle
        written = int(api.llama_state_seq_get_data_ext(handle, bytes_of(state), state.nbytes, sequence, PARTIAL))
        if written != state.nbytes:
            raise RuntimeError(f"llama.cpp saved {written} of {state.nbytes} bytes of a state")
        return state

    def restore_state(self, sequence: int, state: npt.NDArray[np.uint8]) -> bool:
        """Put a saved state back."""
        handle = self._context.handle
        read = api.llama_state_seq_set_data_ext(handle, bytes_of(state), state.nbytes, sequence, PARTIAL)
        return int(read) == state.nbytes

    def set_abort(self, stop: Callable[[], bool] | None) -> None:
        """Ask `stop` after every node of the graph (CPU only); None turns it off."""
        callback = api.ggml_abort_callback(lambda _: stop()) if stop is not None else api.ggml_abort_callback()
        api.llama_set_abort_callback(self._context.handle, callback, ctypes.c_void_p(0))
        self._abort_callback = callback

    def candidates(self) -> LlamaCandidates:
        """Return the array for the native stages."""
        return LlamaCandidates(self.vocabulary.size)

    def chain(self, settings: SamplingSettings) -> LlamaChain:
        """Build the native stages that these settings turn on."""
        return LlamaChain(settings, self.vocabulary, self.cells)

    def _inspect(self, cells: int, main_memory: MainMemory | None, watcher: Watcher | None = None) -> LlamaInspection:
        needed = self.needed_to_inspect
        return inspect(self._model, self._context, self._options, cells, needed, main_memory, watcher)

    def grammar(self, gbnf: str) -> LlamaGrammar:
        """Build the stage of a grammar. Raises ValueError where llama.cpp does not take it."""
        return LlamaGrammar(self.vocabulary, gbnf)

    def _describe(self, path: str, options: LoadOptions, read_bytes: int | None, load_ms: float) -> ModelInfo:
        buffer = ctypes.create_string_buffer(256)
        api.llama_model_desc(self._model, buffer, len(buffer))
        layers = int(api.llama_model_n_layer(self._model))
        offload = bool(api.llama_supports_gpu_offload())
        wanted = layers + 1 if options.gpu_layers is None or options.gpu_layers < 0 else options.gpu_layers
        file_type = int(api.llama_model_ftype(self._model))
        untold = api.llama_ftype_name(file_type) or b""  # of a type that is newer than our names
        kv = [size for use in self.memory for size in (use.kv, use.state) if size is not None]
        return ModelInfo(
            path=path,
            name=metadata(self._model, "general.name") or Path(path).stem,
            architecture=metadata(self._model, "general.architecture") or "",
            description=buffer.value.decode("utf-8", "replace"),
            parameters=int(api.llama_model_n_params(self._model)),
            weight_bytes=int(api.llama_model_size(self._model)),
            weight_bytes_per_token=read_bytes,
            quantisation=file_type_name(file_type) or untold.decode(),
            trained_context=int(api.llama_model_n_ctx_train(self._model)),
            context=self.cells,
            layers=layers,
            vocabulary=self.vocabulary.size,
            chat_template=self.vocabulary.chat_template(),
            license=metadata(self._model, "general.license"),
            kv_bytes=sum(kv) if kv else None,
            threads=int(api.llama_n_threads(self._context.handle)),
            gpu_layers=min(wanted, layers + 1) if offload else 0,
            devices=tuple(use.device for use in self.memory),
            system_info=api.llama_print_system_info().decode("utf-8", "replace").strip(),
            load_ms=load_ms,
            memory_kind=self.memory_kind,
            window=self.window,
            cache=self._context.sizes.cache,
            notes=self._log.lines(WARNING_LEVEL),
        )

    def close(self) -> None:
        """Free the batches, the context and the model; calling it twice is harmless."""
        if self._batch is not None:
            api.llama_batch_free(self._batch)
        self.sequences.free()
        self._context.free()
        if self._model is not None:
            api.llama_model_free(self._model)
        self._batch = self._model = None
