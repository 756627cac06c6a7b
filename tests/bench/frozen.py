"""How long the frozen program takes to start and end; beside it what the same takes from source."""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from app.core.version import VERSION
from tests.bench.arithmetic import DIGITS, BenchError, Measurement, runs
from tests.bench.children import ROOT
from tests.bench.setting import Setting

STARTS = 10


def frozen_start(setting: Setting) -> Measurement:
    """Measure the process `--version` from its start to its end, in turn with the one that runs from source."""
    frozen, source = [str(_program())], [sys.executable, "-m", "app"]
    for command in (frozen, source):
        _start(command)  # what lies on the disk is read once before anything counts
    ours: list[float] = []
    theirs: list[float] = []
    for _ in runs(setting.seconds, least=STARTS):
        ours.append(_start(frozen))
        theirs.append(_start(source))
    more = {"from_source_s": round(statistics.median(theirs), DIGITS)}
    return Measurement(statistics.median(ours), ours, more=more)


def _start(command: Sequence[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run([*command, "--version"], cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if (done.returncode, done.stdout) != (0, f"Tokenlight {VERSION}\n"):
        raise BenchError(f"The program {command[0]} does not tell its version: {done.stderr.strip() or done.stdout}")
    return seconds


def _program() -> Path:
    """Return the frozen program, if it was made from just this source."""
    tools = str(ROOT / "packaging")
    if tools not in sys.path:
        sys.path.append(tools)
    freeze, layout = importlib.import_module("devtools.freeze"), importlib.import_module("devtools.layout")
    here = layout.this_layout()
    wish = freeze.Wish(freeze.usual_output(here))
    if not freeze.is_current(here, wish):
        raise BenchError("There is no frozen folder of this source: run `python3 packaging/dev.py freeze` first.")
    return Path(wish.folder / freeze.program_file(freeze.NAME))
