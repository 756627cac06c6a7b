"""Runs the benchmarks: `python -m app bench [--json] [--only NAME ...]`, or `python -m tests.bench` with `--seconds`.

Ends with 0 whether bars are met or not, with 1 when a figure could not be measured, with 2 on wrong use.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from tests.bench.arithmetic import SECONDS, BenchError
from tests.bench.children import ROOT
from tests.bench.figures import FIGURES
from tests.bench.setting import Setting

MODEL = ROOT / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
DONE, NOT_MEASURED, WRONG_USE = 0, 1, 2


def main(words: Sequence[str]) -> int:
    """Measure the chosen figures, print them and return the exit code."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure this machine with the starter model.")
    parser.add_argument("--json", action="store_true", help="print one JSON list, a row a figure")
    parser.add_argument("--only", action="extend", nargs="+", metavar="NAME", help="measure only these")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time for a figure's runs")
    chosen = parser.parse_args(list(words))
    names = [figure.bar.name for figure in FIGURES]
    unknown = [name for name in chosen.only or () if name not in names]
    if unknown:
        return _complain(f"There is no benchmark called {unknown[0]}: choose among {', '.join(names)}.")
    if not MODEL.is_file():
        return _complain("The starter model is missing: run `python3 packaging/dev.py setup`.")
    rows = _measure(chosen.only or names, Setting(MODEL, chosen.seconds), as_lines=not chosen.json)
    if chosen.json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    return NOT_MEASURED if any(row["value"] is None for row in rows) else DONE


def _measure(names: Sequence[str], setting: Setting, *, as_lines: bool) -> list[dict[str, object]]:
    """Measure one figure after another; one that cannot be measured costs only itself."""
    rows = []
    for figure in FIGURES:
        bar = figure.bar
        if bar.name not in names:
            continue
        _tell_progress(bar.name)
        try:
            measured = figure.measure(setting)
        except BenchError as error:
            row, line = bar.failed_row(str(error)), f"{bar.name:<22}not measured: {error}"
        else:
            row, line = bar.row(measured), bar.line(measured)
        rows.append(row)
        _tell_progress("")
        if as_lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return rows


def _tell_progress(name: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{name + ' ...' if name else '':<30}" + ("" if name else "\r"))
        sys.stderr.flush()


def _complain(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return WRONG_USE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
