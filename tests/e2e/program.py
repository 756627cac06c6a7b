"""The program as people start it: a process of its own with a home of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
GUARD_SECONDS = 120.0


class Program:
    """Starts `python -m app` in a home folder and reads what it says."""

    def __init__(self, home: Path) -> None:
        self.environment = {
            **os.environ,
            "TOKENLIGHT_HOME": str(home),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": str(ROOT),
        }

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start the program; standard output and error come as text."""
        return subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**self.environment, **environment},
            start_new_session=os.name != "nt",
        )

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        with self.start(*words, **environment) as process:
            output, errors = process.communicate(timeout=GUARD_SECONDS)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)


def events(output: str) -> list[dict[str, Any]]:
    """Return the JSON objects of an output, one a line."""
    return [json.loads(line) for line in output.splitlines()]


def wait_for_engine(process: subprocess.Popen[str]) -> psutil.Process:
    """Return the engine process in the first instants of its life."""
    parent, waited = psutil.Process(process.pid), threading.Event()
    for _ in range(int(GUARD_SECONDS * 1000)):
        for child in parent.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "spawn_main" in " ".join(child.cmdline()):
                    return child
        waited.wait(0.001)
    raise AssertionError("no engine process was started")


def engine_of(process: subprocess.Popen[str]) -> psutil.Process:
    """Return the engine process of a running program."""
    children = psutil.Process(process.pid).children(recursive=True)
    return next(child for child in children if "spawn_main" in " ".join(child.cmdline()))


def is_one_plain_sentence(errors: str) -> bool:
    """Return whether an error is a line or two for people, without a traceback."""
    return 0 < len(errors.strip().splitlines()) <= 2 and "Traceback" not in errors
