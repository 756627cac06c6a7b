"""What the GPU check found: lines of name, value, bar and verdict, kept at once, and a log of every step.

A run that is ended from outside leaves all lines so far. It must not know what is measured.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

LOG, RESULTS = "gpu_check.log", "results.json"
DIGITS = 6

Better = Literal["higher", "lower"]
VERDICTS = {True: "ok", False: "MISSED", None: "-"}


@dataclass(frozen=True)
class Line:
    """One finding; `ok` is None where there is no bar or where it could not be looked at here."""

    name: str
    value: float | str | None
    unit: str = ""
    bar: float | None = None
    better: Better = "lower"
    ok: bool | None = None
    note: str = ""

    def text(self) -> str:
        """Return the line for people."""
        value = f"{self.value:,.4g}" if isinstance(self.value, float) else "-" if self.value is None else self.value
        sign = ">=" if self.better == "higher" else "<="
        bar = "" if self.bar is None else f"{sign} {self.bar:g}"
        shown = f"{value} {self.unit}".strip()
        return f"{self.name:<34}{shown:<24}{bar:<12}{VERDICTS[self.ok]:<8}{self.note}".rstrip()


class Report:
    """Collects lines; each is in the results file before the next step begins."""

    def __init__(self, folder: Path, *, fresh: bool) -> None:
        """Go on with the folder's lines, or throw earlier ones away."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log_path, self._results = folder / LOG, folder / RESULTS
        self._began = time.monotonic()
        if fresh:
            self.log_path.unlink(missing_ok=True)
            self._results.unlink(missing_ok=True)

    def lines(self) -> list[Line]:
        """Return the lines so far, also those of an earlier process of this run."""
        if not self._results.exists():
            return []
        return [Line(**row) for row in json.loads(self._results.read_text(encoding="utf-8"))]

    def say(self, text: str) -> None:
        """Tell people one line, and keep it in the log."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self.keep(f"[{time.monotonic() - self._began:7.1f} s] {text}")

    def keep(self, text: str) -> None:
        """Keep lines in the log alone."""
        with self.log_path.open("a", encoding="utf-8", errors="replace") as log:
            log.write(text.rstrip("\n") + "\n")

    def add(self, line: Line) -> None:
        """Keep a line at once and say it."""
        rows = [asdict(each) for each in (*self.lines(), line)]
        partial = self._results.with_suffix(".partial")
        partial.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        partial.replace(self._results)
        self.say(line.text())

    def measured(
        self, name: str, value: float, unit: str, bar: float | None = None, better: Better = "lower", note: str = ""
    ) -> None:
        """Add a figure; with a bar it is judged, and what is no number misses it."""
        ok = None if bar is None else math.isfinite(value) and (value >= bar if better == "higher" else value <= bar)
        shown = round(value, DIGITS) if math.isfinite(value) else str(value)
        self.add(Line(name, shown, unit, bar, better, ok, note))

    def fact(self, name: str, value: str, ok: bool | None = None, note: str = "") -> None:
        """Add something that is no number."""
        self.add(Line(name, value, ok=ok, note=note))

    def missed(self, name: str, why: str) -> None:
        """Add a line for what should have worked and did not."""
        self.add(Line(name, None, ok=False, note=why))

    def left_out(self, name: str, why: str) -> None:
        """Add a line for what cannot be looked at here."""
        self.add(Line(name, None, note=why))

    def table(self) -> str:
        """Return all lines with what came of them."""
        lines = self.lines()
        missed = sum(line.ok is False for line in lines)
        met = sum(line.ok is True for line in lines)
        end = f"{met} of {met + missed} bars met, {len(lines) - met - missed} lines without a bar."
        return "\n".join((*(line.text() for line in lines), end))

    def is_good(self) -> bool:
        """Return whether there are lines with a bar and none was missed."""
        verdicts = [line.ok for line in self.lines()]
        return True in verdicts and False not in verdicts
