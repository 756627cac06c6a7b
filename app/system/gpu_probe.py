"""Asks NVIDIA's library from a process of its own: a broken driver may block a question for ever, or end who asks.

Knows nothing of who wants the figures. No process is started where the library is not installed.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from app.core.devices import GpuReport
from app.system.child import Child, ChildFault
from app.system.gpus import MODULE, GpuReader, fault_report, load_nvml

START_SECONDS = 60.0
"""How long an interpreter may take to start on a machine that is busy with other things."""
FIRST_SECONDS = 15.0
"""A driver that nothing uses is started by the first question, which takes seconds on a machine with many GPUs."""
QUERY_SECONDS = 3.0

_READY = b"ready"
_log = logging.getLogger(__name__)


def library_is_there() -> bool:
    """Return whether NVIDIA's management library is installed; asks the loader, not the driver."""
    if sys.platform == "darwin":
        return False
    names = ["libnvidia-ml.so.1"]
    if sys.platform == "win32":
        folders = (Path(os.environ.get("WINDIR", "C:/Windows"), "System32"),)
        programs = Path(os.environ.get("ProgramFiles", "C:/Program Files"), "NVIDIA Corporation", "NVSMI")  # noqa: SIM112
        names = [str(folder / "nvml.dll") for folder in (*folders, programs)]
    return any(_loads(name) for name in names)


class GpuProbe:
    """A process that answers one question after another; a new one follows one that blocked or died."""

    def __init__(
        self,
        module: str = MODULE,
        is_there: Callable[[], bool] = library_is_there,
        first_seconds: float = FIRST_SECONDS,
        seconds: float = QUERY_SECONDS,
    ) -> None:
        self._module = module
        self._is_there = is_there
        self._first_seconds = first_seconds
        self._seconds = seconds
        self._child: Child | None = None
        self._killed = False

    def read(self, process: int | None = None) -> GpuReport:
        """Return what the driver says now, or why it says nothing; never raises, takes no longer than its limits."""
        if self._killed:
            return fault_report("blocked")
        if self._child is None and not self._is_there():
            return fault_report("no_library")
        is_new = self._child is None
        try:
            child = self._child = self._child or Child(serve, self._module)
        except OSError:
            _log.exception("No process could be started to ask the driver.")
            return fault_report("no_process")
        try:
            return self._ask(child, process, is_new=is_new)
        except TimeoutError:
            report = fault_report("blocked")
        except EOFError:
            report = fault_report("died")
        except ChildFault:
            report = fault_report("own_fault")
        except msgspec.DecodeError:
            _log.exception("The process that asks the driver sent something unreadable.")
            report = fault_report("own_fault")
        self.close()
        return report

    def kill(self) -> None:
        """End a question that is under way, and ask no more; may be called from any thread."""
        self._killed = True
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _ask(self, child: Child, process: int | None, *, is_new: bool) -> GpuReport:
        if is_new:
            if self._killed:
                raise EOFError
            child.receive(START_SECONDS)
        child.send(msgspec.msgpack.encode(process))
        seconds = self._first_seconds if is_new else self._seconds
        return msgspec.msgpack.decode(child.receive(seconds), type=GpuReport)


def serve(connection: Connection, module: str) -> None:
    """Answer questions until the other end is closed: the process's own side."""
    reader = GpuReader(lambda: load_nvml(module))
    connection.send_bytes(_READY)
    while True:
        try:
            process = msgspec.msgpack.decode(connection.recv_bytes(), type=int | None)
        except EOFError:
            reader.close()
            return
        connection.send_bytes(msgspec.msgpack.encode(reader.read(process)))


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
