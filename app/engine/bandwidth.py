"""How much a device's memory gives at best, measured through ggml itself: with its threads, in its buffers.

Main memory is read as a decode does it, as a large matrix times one vector; a GPU's memory is copied within itself. The best
of several passes counts: other programs only ever take something away. Needs no model.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from app.core.bandwidth import MemorySpeed
from app.core.devices import Device
from app.core.words import translate
from app.engine.ggml_tensor import InitParameters
from app.engine.llama import ggml_library
from app.engine.thread_pool import USABLE

ROW = 4096
MOST_BYTES, LEAST_BYTES = 1 << 29, 1 << 26
"""Of the matrix: far more than any cache holds, as far as there is memory for it."""
SHARE_OF_FREE = 8
"""It takes one of so many parts of what is free."""
LEAST_PASSES, MOST_PASSES, SECONDS = 4, 12, 1.5
UNEVEN = 1.2
"""A usual pass that takes so many times as long as the best one was held up."""
LEAST_CPU = 0.85
"""Of the time of its cores: with less, others had them."""
_FLOAT, _F32 = 4, 0
_CONTEXT_BYTES = 1 << 20
_DONE = 0
_POINTER = ctypes.c_void_p


@cache
def _base() -> Any:
    library, pointer = ggml_library("ggml-base"), _POINTER
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "ggml_backend_dev_init": (pointer, [pointer, ctypes.c_char_p]),
        "ggml_backend_free": (None, [pointer]),
        "ggml_init": (pointer, [InitParameters]),
        "ggml_free": (None, [pointer]),
        "ggml_new_tensor_4d": (pointer, [pointer, ctypes.c_int, *[ctypes.c_int64] * 4]),
        "ggml_mul_mat": (pointer, [pointer] * 3),
        "ggml_new_graph": (pointer, [pointer]),
        "ggml_build_forward_expand": (None, [pointer] * 2),
        "ggml_backend_alloc_ctx_tensors": (pointer, [pointer] * 2),
        "ggml_backend_buffer_clear": (None, [pointer, ctypes.c_uint8]),
        "ggml_backend_buffer_free": (None, [pointer]),
        "ggml_backend_graph_compute": (ctypes.c_int, [pointer] * 2),
        "ggml_backend_tensor_copy": (None, [pointer] * 2),
        "ggml_backend_synchronize": (None, [pointer]),
        "ggml_backend_dev_backend_reg": (pointer, [pointer]),
        "ggml_backend_reg_get_proc_address": (pointer, [pointer, ctypes.c_char_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def measure(
    devices: tuple[Device, ...], threads: int, free: int | None, stopped: Callable[[], bool]
) -> tuple[MemorySpeed, ...]:
    """Return the speed of each device's memory; `devices` as the registry lists them, `free` bytes of main memory.

    Asks `stopped` between two passes; what was not measured by then is left out.
    """
    found = []
    for index, device in enumerate(devices):
        if stopped():
            break
        if device.kind == "cpu":
            found.append(_measured(device, index, "read", threads, free, stopped))
        elif device.kind in ("gpu", "integrated_gpu"):
            found.append(_measured(device, index, "copy", 0, device.free, stopped))
    return tuple(found)


def matrix_bytes(free: int | None) -> int:
    """Return how much is read at once where so much is free; None is unknown, and taken for enough."""
    wanted = MOST_BYTES if free is None else min(MOST_BYTES, free // SHARE_OF_FREE)
    return wanted // (ROW * _FLOAT) * (ROW * _FLOAT)


def _measured(
    device: Device, index: int, kind: Any, threads: int, free: int | None, stopped: Callable[[], bool]
) -> MemorySpeed:
    size, best = matrix_bytes(free), None
    is_disturbed = False
    if size >= LEAST_BYTES:
        with _everywhere():
            passes = _timed(index, kind, size, threads, stopped)
            best, is_disturbed = _best(kind, size, passes), _is_disturbed(kind, threads, passes)
    reason = None if best is not None else _NOT_ENOUGH if size < LEAST_BYTES else _FAILED
    return MemorySpeed(device.name, device.description, kind, best, threads, reason, is_disturbed)


class _Pass(NamedTuple):
    """Seconds of one pass, and of the processor that this process got in it."""

    wall: float
    cpu: float


def _best(kind: str, size: int, passes: Sequence[_Pass]) -> float | None:
    """Return the most of several passes in 10^9 bytes/s; None where there is none."""
    moved = size if kind == "read" else 2 * size
    return moved / min(each.wall for each in passes) / 1e9 if passes else None


def _is_disturbed(kind: str, threads: int, passes: Sequence[_Pass]) -> bool:
    """Return whether others were busy: the threads, which wait in a loop, got less than they asked, or passes differ much."""
    woken = passes[1:]
    if not woken:
        return False
    walls = [each.wall for each in woken]
    if statistics.median(walls) > UNEVEN * min(walls):
        return True
    asked = sum(walls) * max(1, min(threads, len(USABLE) or threads))
    return kind == "read" and sum(each.cpu for each in woken) < LEAST_CPU * asked


def _timed(index: int, kind: str, size: int, threads: int, stopped: Callable[[], bool]) -> tuple[_Pass, ...]:
    """Return several passes; none where the device takes no buffer, or fails."""
    base, registry = _base(), ggml_library("ggml")
    registry.ggml_backend_dev_get.restype = _POINTER
    registry.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    device = registry.ggml_backend_dev_get(index)
    backend = base.ggml_backend_dev_init(device, None)
    context = base.ggml_init(InitParameters(_CONTEXT_BYTES, None, True))
    buffer = None
    try:
        if not backend or not context:
            return ()
        rows = size // (ROW * _FLOAT)
        matrix = base.ggml_new_tensor_4d(context, _F32, ROW, rows, 1, 1)
        if kind == "read":
            _set_threads(base, device, backend, threads)
            one_pass = _product(base, backend, context, matrix)
        else:
            one_pass = _copy(base, backend, matrix, base.ggml_new_tensor_4d(context, _F32, ROW, rows, 1, 1))
        buffer = base.ggml_backend_alloc_ctx_tensors(context, backend)
        if not buffer:
            return ()
        base.ggml_backend_buffer_clear(buffer, 0)
        return tuple(each for each in _passes(one_pass, stopped) if each.wall)
    finally:
        if buffer:
            base.ggml_backend_buffer_free(buffer)
        if context:
            base.ggml_free(context)
        if backend:
            base.ggml_backend_free(backend)


def _product(base: Any, backend: int, context: int, matrix: int) -> Callable[[], bool]:
    """Return what multiplies the matrix with a vector, and says whether it could."""
    vector = base.ggml_new_tensor_4d(context, _F32, ROW, 1, 1, 1)
    graph = base.ggml_new_graph(context)
    base.ggml_build_forward_expand(graph, base.ggml_mul_mat(context, matrix, vector))
    return lambda: bool(base.ggml_backend_graph_compute(backend, graph) == _DONE)


def _copy(base: Any, backend: int, matrix: int, other: int) -> Callable[[], bool]:
    """Return what copies the matrix to another one of the same device."""

    def copy() -> bool:
        base.ggml_backend_tensor_copy(matrix, other)
        base.ggml_backend_synchronize(backend)
        return True

    return copy


def _passes(one_pass: Callable[[], bool], stopped: Callable[[], bool]) -> Iterator[_Pass]:
    """Yield what each pass took, in s; the first one, in which caches and clocks wake up, among them."""
    began = time.perf_counter()
    for number in range(MOST_PASSES):
        start, used = time.perf_counter(), time.process_time()
        if stopped() or (number >= LEAST_PASSES and start - began > SECONDS) or not one_pass():
            return
        yield _Pass(time.perf_counter() - start, time.process_time() - used)


def _set_threads(base: Any, device: int, backend: int, threads: int) -> None:
    """Have as many threads read as a decode has."""
    entry = base.ggml_backend_dev_backend_reg(device)
    address = base.ggml_backend_reg_get_proc_address(entry, b"ggml_backend_set_n_threads")
    if address:
        ctypes.CFUNCTYPE(None, _POINTER, ctypes.c_int)(address)(backend, max(1, threads))


@contextmanager
def _everywhere() -> Iterator[None]:
    """Let this thread, and those it starts, run on every core: a loaded model may have bound it to one."""
    if not USABLE:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, USABLE)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


_NOT_ENOUGH = translate(
    "Engine", "There is too little free memory to measure it. Close other programs and try again."
)
_FAILED = translate("Engine", "The device refused the measurement. Close other programs and try again.")
