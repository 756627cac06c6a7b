"""The arithmetic of the benchmarks: medians, spreads, how many runs fit, and the rows that are printed.

Pure: it must not know processes, models or how anything is measured.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

SECONDS = 50.0
"""Runs of one figure are repeated as long as one more fits into this time."""
SHORT_RUN_S = 8.0
"""Runs shorter than this are made at least five times."""
SHORT_RUNS = 5
SHORT_RUNS_S = SHORT_RUNS * SHORT_RUN_S
LONGEST = 3
"""After so many times the seconds no minimum of runs counts any more: the machine is busy with something else."""
DIGITS = 6

Better = Literal["higher", "lower"]


class BenchError(Exception):
    """A figure that could not be measured; one plain sentence."""


def spread(values: Sequence[float]) -> float:
    """Return the distance between the quartiles; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low


def runs(
    seconds: float = SECONDS,
    least: int = 1,
    now: Callable[[], float] = time.perf_counter,
) -> Iterator[int]:
    """Yield the numbers of the runs: as many as fit into the time, but at least `least`, and five short ones.

    Whether one more fits is judged by the mean of those so far, the time that the caller spends between two numbers.
    """
    began = now()
    count = 0
    while True:
        if count:
            elapsed = now() - began
            mean = elapsed / count
            needed = max(least, SHORT_RUNS if mean < SHORT_RUN_S else 1)
            is_full = count >= needed and elapsed + mean > seconds
            if is_full or elapsed > max(LONGEST * seconds, SHORT_RUNS_S):
                return
        yield count
        count += 1


@dataclass(frozen=True)
class Measurement:
    """What was measured of one figure."""

    value: float
    runs: Sequence[float]
    control: float | None = None
    control_spread: float | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the row."""
    holds: bool = True
    """Whether a second bar that belongs to the figure is met, where it has one."""


def ratio_to_control(ratios: Sequence[float], control: Sequence[float]) -> Measurement:
    """Return the median ratio divided by the control's median ratio; `runs` stay as they were measured.

    Each round measures three neighbouring slices: A, ours, B, where A and B are the same program. `ratios` are
    ours / A, `control` is B / A. What A's place in the round and its process add to every ratio is in both medians and
    goes away; what remains of the noise is what the control's spread shows. (A single round's ours / A over B / A would
    be ours / B, and A's slices would be lost.)
    """
    middle = statistics.median(control)
    return Measurement(
        value=statistics.median(ratios) / middle,
        runs=ratios,
        control=middle,
        control_spread=spread(control),
        more={"control_runs": [round(value, DIGITS) for value in control]},
    )


def ratio_to_neighbours(references: Sequence[float], ours: Sequence[float]) -> Measurement:
    """Return the median of ours / the mean of the two reference speeds before and after it.

    `references` has one more than `ours`. The control is each reference / the one before: no division by it, since the
    same process is on both sides.
    """
    if len(references) != len(ours) + 1:
        raise ValueError(f"{len(ours)} runs need {len(ours) + 1} references, not {len(references)}")
    around = list(itertools.pairwise(references))
    ratios = [ours[i] / statistics.mean(around[i]) for i in range(len(ours))]
    control = [after / before for before, after in around]
    return Measurement(statistics.median(ratios), ratios, statistics.median(control), spread(control))


@dataclass(frozen=True)
class Bar:
    """What a figure is called, and what it should reach."""

    name: str
    unit: str
    bar: float
    better: Better

    def is_met(self, value: float) -> bool:
        """Return whether a value reaches the bar."""
        return value >= self.bar if self.better == "higher" else value <= self.bar

    def row(self, measured: Measurement) -> dict[str, object]:
        """Return the row of a figure that was measured."""
        row: dict[str, object] = {
            "name": self.name,
            "value": round(measured.value, DIGITS),
            "unit": self.unit,
            "bar": self.bar,
            "better": self.better,
            "runs": [round(value, DIGITS) for value in measured.runs],
            "met": self.is_met(measured.value) and measured.holds,
        }
        if measured.control is not None and measured.control_spread is not None:
            row["control"] = round(measured.control, DIGITS)
            row["control_spread"] = round(measured.control_spread, DIGITS)
        return row | dict(measured.more)

    def failed_row(self, problem: str) -> dict[str, object]:
        """Return the row of a figure that could not be measured."""
        return {
            "name": self.name,
            "value": None,
            "unit": self.unit,
            "bar": self.bar,
            "better": self.better,
            "runs": [],
            "met": False,
            "problem": problem,
        }

    def line(self, measured: Measurement) -> str:
        """Return the row as a line for people."""
        sign = ">=" if self.better == "higher" else "<="
        control = ""
        if measured.control is not None and measured.control_spread is not None:
            control = f"   control {measured.control:.3f}, spread {measured.control_spread:.3f}"
        value = f"{measured.value:.3f} {self.unit}"
        judged = f"{sign} {self.bar:<6}{self._verdict(measured):<22}"
        return f"{self.name:<22}{value:>12}   {judged}{len(measured.runs):>4} runs{control}"

    def _verdict(self, measured: Measurement) -> str:
        if self.is_met(measured.value):
            return "met" if measured.holds else "missed by its worst"
        noise = measured.control_spread
        within = noise is not None and abs(measured.value - self.bar) <= noise
        return "missed, within noise" if within else "missed"
