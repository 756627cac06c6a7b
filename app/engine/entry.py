"""The spawn target of the engine process: prepares the process, then loads the worker.

Imports nothing of ours, so that the parent, which imports this file to spawn it, never loads llama.cpp.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection

NICENESS = 5
BACKGROUND_NICENESS = 10
SPINS = 200_000
FEWEST_SPINS = 3_000
"""How long an OpenMP thread spins at a barrier before it sleeps, for all cores together and at least for one. Waking a
sleeper is slow, above all in a virtual machine; but the more of them spin for one that another program keeps waiting,
the longer it waits."""
LIBRARY_MISSING = 70
"""Exit code when llama.cpp cannot be loaded."""
BELOW_NORMAL_PRIORITY, IDLE_PRIORITY = 0x4000, 0x40


def run(
    connection: Connection,
    log_path: str,
    backend: str,
    plain_folder: str = "",
    unfit: bool = False,
    background: bool = False,
) -> None:
    """Run the engine until the parent says so or is gone; `backend` is "llama" or "scripted".

    `plain_folder` holds libraries for the processor alone, for when the usual ones cannot be loaded; `unfit` says that
    these were tried and use instructions which this processor lacks. A process in the `background` gives way to other
    engines.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # it was started with this one blocked
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "OMP_WAIT_POLICY" not in os.environ:  # which the count would overrule
        os.environ.setdefault("GOMP_SPINCOUNT", str(spins(_cores())))
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # a debugger's pages would bury the assertion that failed
    _send_output_to(log_path)
    _lower_priority(background)
    try:
        library = importlib.import_module("app.engine.library")
        fault = library.choose(plain_folder, unfit=unfit)
        if fault is not None:
            library.say_goodbye(connection, LIBRARY_MISSING, fault)
            sys.exit(LIBRARY_MISSING)
        worker = importlib.import_module("app.engine.worker")
    except (ImportError, OSError, RuntimeError):
        traceback.print_exc()
        sys.exit(LIBRARY_MISSING)
    worker.run(connection, backend)


def spins(cores: int) -> int:
    """Return how often an OpenMP thread looks whether the others are done before it sleeps."""
    return max(SPINS // cores, FEWEST_SPINS)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _send_output_to(log_path: str) -> None:
    """Point standard output and error at the log: an assertion of llama.cpp ends up where it can be read."""
    target = os.open(log_path or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.close(target)
    sys.stdout = sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    faulthandler.enable(sys.stderr)


def _lower_priority(background: bool = False) -> None:
    """Let the window stay smooth while every core evaluates, and the engine fast while another process looks."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), IDLE_PRIORITY if background else BELOW_NORMAL_PRIORITY)
    else:
        os.nice(BACKGROUND_NICENESS if background else NICENESS)
