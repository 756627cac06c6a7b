"""The threads that evaluate: each keeps to a core of its own where there are as many threads as cores.

Free ones are pulled onto one core whenever another process wakes, and wait for each other there: beside a window that
draws, and more so beside a busy program, that takes speed. Knows nothing of models.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection
from typing import Any

from app.engine.llama import ggml_library

MOST_CORES = 512
"""`GGML_MAX_N_THREADS`."""
USUAL_POLL = 50
CPU_DEVICE = 0
PLACES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY")
"""Who sets one of these has decided where threads run."""
USABLE = frozenset(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ())
"""The cores that this process was given, read before a thread was bound; empty where the system does not tell."""


class PoolParameters(ctypes.Structure):
    """`ggml_threadpool_params`, with room behind it for what a later library may add."""

    _fields_ = [
        ("cores", ctypes.c_bool * MOST_CORES),
        ("threads", ctypes.c_int),
        ("priority", ctypes.c_int),
        ("poll", ctypes.c_uint32),
        ("strict", ctypes.c_bool),
        ("paused", ctypes.c_bool),
        ("_room", ctypes.c_uint8 * MOST_CORES),
    ]


class ThreadPool:
    """The threads of one context, attached before its first token and freed after it."""

    def __init__(self, context: Any, threads: int) -> None:
        """Attach a pool; where cores cannot be chosen, llama.cpp goes on with a pool of its own."""
        self._pool: int | None = None
        parameters = pool_parameters(threads, USABLE) if may_choose(USABLE) else None
        make = _function_of_cpu("ggml_threadpool_new", ctypes.c_void_p)
        self._free_pool = _function_of_cpu("ggml_threadpool_free", None)
        if parameters is None or make is None or self._free_pool is None:
            return
        self._pool = make(ctypes.byref(parameters))
        self.attach(context)

    def attach(self, context: Any) -> None:
        """Have a context use these threads; of several, one at a time evaluates."""
        if self._pool:
            attach = ggml_library("llama").llama_attach_threadpool
            attach.argtypes, attach.restype = [ctypes.c_void_p] * 3, None
            attach(ctypes.cast(context, ctypes.c_void_p), self._pool, self._pool)

    def free(self) -> None:
        """Free the pool, after its context, and let the calling thread run anywhere again; twice is harmless."""
        if self._pool and self._free_pool is not None:
            self._free_pool(self._pool)
            os.sched_setaffinity(0, USABLE)
        self._pool = None


def may_choose(cores: Collection[int]) -> bool:
    """Return whether threads can be told their cores, and nobody else has done so."""
    return bool(cores) and max(cores) < MOST_CORES and not any(os.environ.get(name) for name in PLACES)


def pool_parameters(threads: int, cores: Collection[int]) -> PoolParameters | None:
    """Return what a pool is made of; None where this library's structure is another one."""
    parameters = PoolParameters()
    initialise = ggml_library("ggml-base").ggml_threadpool_params_init
    initialise.argtypes, initialise.restype = [ctypes.c_void_p, ctypes.c_int], None
    initialise(ctypes.byref(parameters), threads)
    if (parameters.threads, parameters.poll, parameters.paused) != (threads, USUAL_POLL, False):
        return None
    for core in cores:
        parameters.cores[core] = True
    parameters.strict = threads == len(cores)
    return parameters


def _function_of_cpu(name: str, result: Any) -> Any:
    """Return a function of the processor's backend, which may lie in any file; None where it has none."""
    devices, base = ggml_library("ggml"), ggml_library("ggml-base")
    devices.ggml_backend_dev_by_type.restype = ctypes.c_void_p
    base.ggml_backend_dev_backend_reg.argtypes = [ctypes.c_void_p]
    base.ggml_backend_dev_backend_reg.restype = ctypes.c_void_p
    base.ggml_backend_reg_get_proc_address.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    base.ggml_backend_reg_get_proc_address.restype = ctypes.c_void_p
    device = devices.ggml_backend_dev_by_type(CPU_DEVICE)
    if not device:
        return None
    address = base.ggml_backend_reg_get_proc_address(base.ggml_backend_dev_backend_reg(device), name.encode())
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p)(address) if address else None
