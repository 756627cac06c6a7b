"""A load without weights: llama.cpp builds model and context as ever and allocates neither weights nor KV cache.

Tells bytes per device in a fraction of a second. A hostile file may still end the process, as any load may; nothing
is read of the weights and hardly any memory is taken, however large model and context are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from app.core.gguf_header import Header
from app.core.metrics import DeviceMemory
from app.core.model import KV_ELEMENT_BYTES, CacheSizes, LoadOptions
from app.engine.llama import LogCapture, api
from app.engine.llama_context import LoadFailed
from app.engine.llama_parameters import ModelParameters, context_parameters, unable_to_chat
from app.engine.placement import cache_by_device, weights_by_device
from app.engine.sizes import parse_cache, parse_sizes

LOAD_NOTHING = api.LLAMA_LOAD_MODE_NONE
F16_BYTES = 2.0
MOST_CELLS = 1 << 21
"""llama.cpp keeps a list of the cells even where it allocates none of them; beyond so many, sizes are worked out."""

Parameters = Callable[[Any, LoadOptions], Any]
"""Makes the `llama_context_params` of a model."""


class Measured(NamedTuple):
    """What a load would take, in bytes."""

    memory: tuple[DeviceMemory, ...]
    cache: CacheSizes
    context: int
    layers: int
    most: dict[str, int] | None
    """Weights and KV cache by device, at most; None where it is unknown on which device they lie."""


def gpu_bytes(measured: Measured, options: LoadOptions, gpus: Container[str]) -> dict[str, int | None]:
    """Return what a configuration takes of each of these devices; None where it is unknown.

    A quantised KV cache is unpacked for attention one layer at a time: that much more is needed.
    """
    widest = max(F16_BYTES / KV_ELEMENT_BYTES[kind] for kind in (options.kv_type_k, options.kv_type_v))
    quantised = widest > 1
    sizes: dict[str, int | None] = {}
    for use in measured.memory:
        if use.device in gpus and measured.most is not None:
            unpacked = round((use.kv or 0) * widest / max(1, measured.layers)) if quantised else 0
            rest = (use.compute or 0) + (use.state or 0) + (use.output or 0)
            sizes[use.device] = measured.most.get(use.device, 0) + rest + unpacked
        elif use.device in gpus:
            sizes[use.device] = None
    return sizes


class _ModelKey(NamedTuple):
    """What has to be the same for a model to serve again: the file and the options that go into a model."""

    path: str
    changed_ns: int
    size: int
    gpu_layers: int | None
    experts_on_cpu: int
    main_gpu: int
    split: str


class DryRun:
    """Measures configurations; keeps the last model, so that another context alone is quicker still."""

    def __init__(self, log: LogCapture) -> None:
        self._log = log
        self._key: _ModelKey | None = None
        self._model: Any = None
        self._parameters: ModelParameters | None = None
        self._model_lines: tuple[str, ...] = ()

    def measure(
        self,
        path: str,
        headers: Sequence[Header],
        options: LoadOptions,
        parameters: Parameters = context_parameters,
    ) -> Measured:
        """Return what a load with these options would take; raises `LoadFailed` where llama.cpp refuses it.

        `parameters` are those of another context than a load makes.
        """
        cells = options.context or 0
        if cells <= MOST_CELLS:
            return self._measure(path, headers, options, parameters)
        half, whole = (
            self._measure(path, headers, msgspec.structs.replace(options, context=context), parameters)
            for context in (MOST_CELLS // 2, MOST_CELLS)
        )
        return beyond(half, whole, options.cells(None))

    def _measure(
        self, path: str, headers: Sequence[Header], options: LoadOptions, parameters: Parameters
    ) -> Measured:
        self._take_model(path, options)
        self._log.clear()
        context = api.llama_init_from_model(self._model, parameters(self._model, options))
        if not context:
            raise LoadFailed("context", self._log)
        try:
            lines = self._log.lines()
            weights = weights_by_device(headers, self._model_lines)
            exact = weights.sizes if weights is not None and weights.exact else None
            kv = cache_by_device(headers[0], lines)
            return Measured(
                memory=_joined(parse_sizes((*self._model_lines, *lines)), exact, kv),
                cache=parse_cache(lines),
                context=int(api.llama_n_ctx(context)),
                layers=int(api.llama_model_n_layer(self._model)),
                most=None if weights is None or kv is None else _sums(weights.sizes, kv),
            )
        finally:
            api.llama_free(context)

    def close(self) -> None:
        """Free the model that was kept; calling it twice is harmless."""
        if self._model is not None:
            api.llama_model_free(self._model)
        self._key = self._model = self._parameters = None
        self._model_lines = ()

    def _take_model(self, path: str, options: LoadOptions) -> None:
        """Make the model of these options the one that is kept."""
        about = Path(path).stat()
        key = _ModelKey(
            path,
            about.st_mtime_ns,
            about.st_size,
            options.gpu_layers,
            options.experts_on_cpu,
            options.main_gpu,
            options.split,
        )
        if key == self._key:
            return
        self.close()
        self._log.clear()
        parameters = ModelParameters(options)
        parameters.values.no_alloc, parameters.values.load_mode = True, LOAD_NOTHING
        model = api.llama_model_load_from_file(path.encode("utf-8", "surrogateescape"), parameters.values)
        if not model:
            raise LoadFailed("model", self._log)
        if reason := unable_to_chat(model):
            api.llama_model_free(model)
            raise LoadFailed(reason, self._log)
        self._key, self._model, self._parameters = key, model, parameters
        self._model_lines = self._log.lines()


def _sums(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


def _joined(
    logged: Sequence[DeviceMemory], weights: Mapping[str, int] | None, kv: Mapping[str, int] | None
) -> tuple[DeviceMemory, ...]:
    """Put what had to be worked out into what the log says: it tells zero bytes of what was not allocated."""
    known = {use.device: use for use in logged}
    return tuple(
        msgspec.structs.replace(
            known.get(name, DeviceMemory(name, None, None, None)),
            weights=weights.get(name) if weights is not None else None,
            kv=kv.get(name) if kv is not None else None,
            complete=weights is not None and kv is not None,
        )
        for name in dict.fromkeys((*known, *(weights or ()), *(kv or ())))
    )


def beyond(half: Measured, whole: Measured, cells: int) -> Measured:
    """Return the sizes of a larger context: every one of them grows by the cell, or not at all."""

    def size(small: int | None, large: int | None) -> int | None:
        if small is None or large is None:
            return None
        return large + (large - small) * (cells - whole.context) // (whole.context - half.context)

    memory = tuple(
        DeviceMemory(
            large.device,
            weights=large.weights,
            kv=size(small.kv, large.kv),
            compute=size(small.compute, large.compute),
            state=large.state,
            output=large.output,
            complete=large.complete,
        )
        for small, large in zip(half.memory, whole.memory, strict=True)
    )
    cache = msgspec.structs.replace(whole.cache, full=size(half.cache.full, whole.cache.full))
    most = None
    if half.most is not None and whole.most is not None:
        most = {name: size(half.most.get(name, 0), large) or 0 for name, large in whole.most.items()}
    return whole._replace(memory=memory, cache=cache, context=cells, most=most)
