"""What no test may leave behind: threads, child processes, windows, unexpected log records.

It must not know the application; it names where each leftover was started.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing.process
import subprocess
import sys
import sysconfig
import threading
import traceback
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))
ENDS_BY_ITSELF_S = 10.0


def _caller() -> str:
    """Name the innermost line that led here and is not of Python or of an installed package."""
    for frame in reversed(traceback.extract_stack()):
        path = Path(frame.filename)
        if path == Path(__file__) or any(path.is_relative_to(folder) for folder in LIBRARIES):
            continue
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        return f"{shown}:{frame.lineno} in {frame.name}"
    return "an unknown place"


class Origins:
    """Remembers where each thread and each child process of this process was started."""

    def __init__(self) -> None:
        self.threads: dict[int, str] = {}
        self.processes: dict[int, str] = {}

    def watch(self) -> None:
        """Take note from now on, for the rest of the session."""
        start_thread, start_process = threading.Thread.start, multiprocessing.process.BaseProcess.start
        open_process = subprocess.Popen.__init__

        def thread(this: threading.Thread) -> None:
            self.threads[id(this)] = _caller()
            start_thread(this)

        def process(this: multiprocessing.process.BaseProcess) -> None:
            origin = _caller()
            start_process(this)
            if this.pid is not None:
                self.processes[this.pid] = origin

        def popen(this: subprocess.Popen[Any], *arguments: Any, **options: Any) -> None:
            origin = _caller()
            open_process(this, *arguments, **options)
            self.processes[this.pid] = origin

        setattr(threading.Thread, "start", thread)  # noqa: B010  a type checker rejects assigning to a method
        setattr(multiprocessing.process.BaseProcess, "start", process)  # noqa: B010
        setattr(subprocess.Popen, "__init__", popen)  # noqa: B010


class Leaks:
    """Compares what runs after a test with what ran before it."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._threads = set(threading.enumerate())
        self._processes = set(origins.processes)
        self._windows = {id(window) for window in _windows()}

    def found(self) -> list[str]:
        """Return a line for each leftover; what is about to end gets the time to do so."""
        return [*self._left_threads(), *self._left_processes(), *self._left_windows()]

    def _left_threads(self) -> list[str]:
        lines = []
        for thread in set(threading.enumerate()) - self._threads:
            if isinstance(thread, threading._DummyThread):
                continue
            thread.join(ENDS_BY_ITSELF_S)
            if thread.is_alive():
                origin = self._origins.threads.get(id(thread), "an unknown place")
                lines.append(f"thread {thread.name!r}, started at {origin}")
        return sorted(lines)

    def _left_processes(self) -> list[str]:
        pids = set(self._origins.processes) - self._processes
        return end_processes({pid: self._origins.processes[pid] for pid in pids})

    def _left_windows(self) -> list[str]:
        def new() -> list[Any]:
            return [window for window in _windows() if id(window) not in self._windows]

        if new():
            _delete_closed_windows()
        return sorted(
            f"window {type(window).__name__} {window.objectName()!r} {window.windowTitle()!r}" for window in new()
        )


def end_processes(origins: dict[int, str]) -> list[str]:
    """Wait for these processes, end those that stay, and return a line for each of them."""
    living = []
    for pid in origins:
        try:
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE and process.ppid() == psutil.Process().pid:
                living.append(process)
        except psutil.NoSuchProcess:
            continue
    _, left = psutil.wait_procs(living, timeout=ENDS_BY_ITSELF_S)
    lines = []
    for process in left:
        lines.append(f"process {process.pid}, started at {origins[process.pid]}")
        process.kill()
    return sorted(lines)


def _application() -> Any:
    widgets = sys.modules.get("PySide6.QtWidgets")
    return widgets.QApplication.instance() if widgets is not None else None


def _windows() -> list[Any]:
    application = _application()
    if application is None or not hasattr(application, "topLevelWidgets"):
        return []
    return list(application.topLevelWidgets())


def _delete_closed_windows() -> None:
    core = sys.modules["PySide6.QtCore"]
    gc.collect()
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)


class UnexpectedLogs(logging.Handler):
    """Collects the warnings and errors that are logged while a test runs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record as a line."""
        self.lines.append(
            f"{record.levelname} {record.name}: {record.getMessage()} ({record.pathname}:{record.lineno})"
        )
