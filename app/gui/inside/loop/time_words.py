"""What the ruler at the bottom of the loop shows of an answer's time: its stretches, and one sentence. Pure; no painting."""

from __future__ import annotations

import math
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.gui.inside.loop.faces import State, state_words
from app.gui.inside.timing.bar_words import kind_words, row_words, time_words, unknown_words
from app.gui.inside.timing.bars import BarKind, Row, row_of
from app.services.loop_values import Phase, StageName
from app.services.timeline_values import AnswerTimeline
from app.services.units import count

translate = QCoreApplication.translate
_BESIDE = ("held_back", "paint")
"""They lie beside the decode, which goes on meanwhile."""
_NAMED = ("before", "first_sample")
"""They are not all of their row, or more than it."""
_SPANS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
_RUNNING: dict[Phase, Row] = {"reading": "prefill", "writing": "decode", "held": "decode"}
_BOTH: tuple[Row, ...] = ("prefill", "decode")
_ROWS: dict[StageName, tuple[Row, ...]] = {
    "prompt": ("tokens",),
    "tokens": ("tokens",),
    "embedding": _BOTH,
    "prefill": ("prefill",),
    "transformer": _BOTH,
    "kv": _BOTH,
    "logits": ("sampling", "decode"),
    "probabilities": ("sampling", "decode"),
    "sampling": ("sampling", "decode"),
    "token": ("sampling", "decode"),
    "stop": ("decode",),
    "answer": ("decode",),
}


class Stretch(NamedTuple):
    """Time that went to one thing."""

    row: Row
    start_ns: int
    end_ns: int
    state: State = ""
    kind: BarKind | None = None
    """What it is where that is not all of the row."""

    def words(self) -> str:
        """Return what it is called with its length, and whether it goes on."""
        name = kind_words(self.kind) if self.kind is not None else row_words(self.row)
        said = f"{name} {time_words(self.end_ns - self.start_ns)}"
        return f"{said}, {state_words(self.state)}" if self.state else said


class TimeFace(NamedTuple):
    """All that the ruler shows; two that are alike are painted alike."""

    said: str
    stretches: tuple[Stretch, ...] = ()
    span_ns: int = 0
    """The time from edge to edge."""
    marked: tuple[Row, ...] = ()
    """What the stage that is explained has of it."""


def time_face(line: AnswerTimeline | None, stage: StageName, phase: Phase, written: int | None = None) -> TimeFace:
    """Return what is shown of a timeline while a stage is explained; `written` counts the tokens of an answer that grows."""
    if line is None:
        return TimeFace(translate("LoopTime", "Here you will see what the time of an answer goes to."))
    stretches = _stretches(line, phase)
    end_ns = max((each.end_ns for each in stretches), default=0)
    span_ns = round_span(end_ns) if line.is_open else end_ns
    return TimeFace(sentence(line, written), stretches, span_ns, _ROWS[stage])


def round_span(ns: int) -> int:
    """Return a round length that has room for so much, so that the ruler of an answer that grows seldom changes."""
    if ns <= 0:
        return 0
    power = 10.0 ** math.floor(math.log10(ns))
    return round(next(each * power for each in _SPANS if each * power >= ns * (1 - 1e-9)))


def sentence(line: AnswerTimeline, written: int | None = None) -> str:
    """Return in words how long the first token took and why, and each one after it."""
    read_ns = sum(part.ns for part in line.parts if part.kind == "prefill")
    first_ns = _first_ns(line)
    if not line.parts:
        why = next((each for each in line.unknown if each in ("parts", "beginning", "waits")), None)
        said = unknown_words(why) if why is not None else translate("LoopTime", "The prompt is being made.")
    elif first_ns is None:
        words = translate("LoopTime", "No token yet: {length} so far.")
        if read_ns:
            words = translate("LoopTime", "No token yet: {length} so far, of which prefill {prefill}.")
        said = words.format(length=time_words(line.end_ns), prefill=time_words(read_ns))
    else:
        said = _until_first(line, first_ns, read_ns)
    return f"{said} {_those_after(line, written)}".rstrip()


def _those_after(line: AnswerTimeline, written: int | None) -> str:
    """Return how long a token after the first one took; of those whose time nobody knows, that there are such.

    The times of an answer that goes on come with its record, later than its tokens.
    """
    mean_ms, timed = line.mean_gap_ms, line.timed_steps
    after = max(line.steps, (written or 0) - line.first - 1)
    if mean_ms is None:
        return ""
    words = translate("LoopTime", "Each of the {count} after it: {length} on average.")
    if timed < after:
        words = translate("LoopTime", "Of the {all} after it {count} have a known time: {length} on average.")
        if timed == 1:
            words = translate("LoopTime", "Of the {all} after it 1 has a known time: {length}.")
    elif timed == 1:
        words = translate("LoopTime", "The one after it: {length}.")
    return words.format(count=count(timed), all=count(after), length=time_words(mean_ms * 1e6))


def _until_first(line: AnswerTimeline, first_ns: int, read_ns: int) -> str:
    """Return how long the first token took, and when it was seen: the time to the first token that all else says."""
    shown_ns = max((part.end_ns for part in line.parts if part.kind in _BESIDE), default=line.shown_ns or 0)
    is_later = shown_ns > first_ns and time_words(shown_ns) != time_words(first_ns)
    words = translate("LoopTime", "Until the first token: {length}.")
    if read_ns and is_later:
        words = translate(
            "LoopTime", "Until the first token: {length}, of which prefill {prefill}; seen after {shown}."
        )
    elif read_ns:
        words = translate("LoopTime", "Until the first token: {length}, of which prefill {prefill}.")
    elif is_later:
        words = translate("LoopTime", "Until the first token: {length}; seen after {shown}.")
    return words.format(length=time_words(first_ns), prefill=time_words(read_ns), shown=time_words(shown_ns))


def _first_ns(line: AnswerTimeline) -> int | None:
    """Return when the first token was drawn; None where it was not, or nobody knows."""
    if line.drawn_ns or line.is_open:
        return line.drawn_ns[0] if line.drawn_ns else None
    return next((part.end_ns for part in line.parts if part.kind == "first_sample"), None)


def _stretches(line: AnswerTimeline, phase: Phase) -> tuple[Stretch, ...]:
    """Return the parts, neighbours of one row as one, and all decode steps as one."""
    made: list[Stretch] = []
    for part in line.parts:
        row = row_of(part.kind)
        if part.kind in _BESIDE or part.ns <= 0:
            continue
        if made and made[-1].row == row:
            made[-1] = made[-1]._replace(end_ns=part.end_ns)
        else:
            kind = part.kind if part.kind in _NAMED else None
            made.append(Stretch(row, part.start_ns, part.end_ns, kind=kind))
    if line.steps:
        made.append(Stretch("decode", line.drawn_ns[0], line.drawn_ns[-1]))
    if line.is_open and made and made[-1].row == _RUNNING.get(phase):
        made[-1] = made[-1]._replace(state="waits" if phase == "held" else "running")
    return tuple(made)
