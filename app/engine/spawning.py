"""How the engine process is started: without secrets in its environment and deaf to Ctrl+C from its first instant.

Knows nothing of what the process does.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN")
"""Environment variables that a process which parses untrusted files does not get."""

_starting = threading.Lock()
"""The environment and Windows' ear for Ctrl+C belong to the whole program: one process starts at a time."""


@contextmanager
def guarded_start() -> Iterator[None]:
    """Start a process in this block, and it inherits neither the secrets nor an ear for Ctrl+C.

    Safe to use from any thread; a second one waits until the first has left its block.
    """
    with _starting:
        held = {name: os.environ.pop(name) for name in SECRETS if name in os.environ}
        try:
            with _deaf_to_interrupts():
                yield
        finally:
            os.environ.update(held)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl+C reaches the whole process group, also a process whose interpreter is just starting."""
    if sys.platform == "win32":
        ctypes.windll.kernel32.SetConsoleCtrlHandler(None, True)
        try:
            yield
        finally:
            ctypes.windll.kernel32.SetConsoleCtrlHandler(None, False)
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)
