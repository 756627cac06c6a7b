"""The bars of a timeline, one after the other as the arrow keys go: parts of an answer, and its decode steps.

Steps are found in the moments of the tokens when they are wanted: an answer may have thousands. Pure; no widget.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Literal

import msgspec

from app.services.timeline_values import AnswerTimeline, PartKind, TimePart

Row = Literal["waiting", "tokens", "prefill", "decode", "sampling"]
ROWS: tuple[Row, ...] = ("waiting", "tokens", "prefill", "decode", "sampling")
BarKind = PartKind | Literal["step"]
_ROW_OF: dict[PartKind, Row] = {
    "save": "waiting",
    "queue": "waiting",
    "before": "tokens",
    "template": "tokens",
    "tokenise": "tokens",
    "tokens": "tokens",
    "prefill": "prefill",
    "first_sample": "sampling",
    "decode": "decode",
    "held_back": "waiting",
    "paint": "waiting",
}
_LATE = ("decode", "held_back", "paint")


def row_of(kind: PartKind) -> Row:
    """Return the row that a part belongs to."""
    return _ROW_OF[kind]


class Bar(msgspec.Struct, frozen=True, gc=False):
    """One bar."""

    kind: BarKind
    row: Row
    start_ns: int
    end_ns: int
    token: int | None = None
    """Of a decode step: the token that it came to, an index in the answer."""
    first: int | None = None
    end: int | None = None
    """Of the prefill: the tokens of the prompt that were read, from the first up to the end."""

    @property
    def ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.start_ns


class Bars:
    """All bars of a timeline, counted in the order of the loop."""

    def __init__(self, timeline: AnswerTimeline | None) -> None:
        parts = timeline.parts if timeline is not None else ()
        self._line = timeline
        self._before = [part for part in parts if part.kind not in _LATE]
        self._behind = [part for part in parts if part.kind in _LATE]
        self._steps = timeline.steps if timeline is not None else 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._before) + self._steps + len(self._behind)

    def __getitem__(self, place: int) -> Bar:
        """Return one of them."""
        before = len(self._before)
        if place < before:
            return _bar(self._before[place])
        if place < before + self._steps:
            return self._step(place - before + 1)
        return _bar(self._behind[place - before - self._steps])

    @property
    def parts(self) -> list[int]:
        """The places of all bars but the single steps."""
        behind = len(self._before) + self._steps
        return [*range(len(self._before)), *range(behind, behind + len(self._behind))]

    def in_row(self, row: Row) -> list[int]:
        """Return the places of the parts in a row; single steps, of which there may be many, are not among them."""
        return [place for place in self.parts if self[place].row == row]

    def steps_in(self, start_ns: float, end_ns: float) -> range:
        """Return the places of the decode steps that lie in a stretch of time, at least with a part of them."""
        if self._line is None or not self._steps:
            return range(0)
        drawn, before = self._line.drawn_ns, len(self._before)
        first = max(bisect_right(drawn, start_ns), 1)
        last = min(bisect_left(drawn, end_ns), self._steps)
        return range(before + first - 1, before + last) if last >= first else range(0)

    def at(self, row: Row, ns: float, slack_ns: float) -> int | None:
        """Return the bar of a row at a moment; of several that are so near, the shortest one."""
        found = [
            place
            for place in self.in_row(row)
            if self[place].start_ns - slack_ns <= ns <= max(self[place].end_ns, self[place].start_ns) + slack_ns
        ]
        if row == "decode":
            found += list(self.steps_in(ns, ns + 1))[:1] or list(self.steps_in(ns - slack_ns, ns + slack_ns))[:1]
        return min(found, key=lambda place: self[place].ns, default=None)

    def step_of(self, token: int) -> int | None:
        """Return the place of the step that came to a token; None for the first token and for one that has none."""
        step = token - self._line.first if self._line is not None else 0
        return len(self._before) + step - 1 if 1 <= step <= self._steps else None

    def nearest_in(self, row: Row, ns: float) -> int | None:
        """Return the bar of a row that is nearest to a moment."""
        places = self.in_row(row)
        if row == "decode" and self._steps and self._line is not None:
            step = min(max(bisect_left(self._line.drawn_ns, ns), 1), self._steps)
            places.append(len(self._before) + step - 1)
        return min(places, key=lambda place: _distance(self[place], ns), default=None)

    def __iter__(self) -> Iterator[Bar]:
        """Go through all of them."""
        return (self[place] for place in range(len(self)))

    def _step(self, step: int) -> Bar:
        line = self._line
        if line is None:
            raise IndexError(step)
        return Bar("step", "decode", line.drawn_ns[step - 1], line.drawn_ns[step], token=line.first + step)


def _bar(part: TimePart) -> Bar:
    return Bar(part.kind, _ROW_OF[part.kind], part.start_ns, part.end_ns, first=part.first, end=part.end)


def _distance(bar: Bar, ns: float) -> float:
    return max(bar.start_ns - ns, ns - bar.end_ns, 0.0)
