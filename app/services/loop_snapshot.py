"""All that the page of the loop shows at one moment of an answer: its figures and its time, both up to the same token. Pure."""

from __future__ import annotations

import msgspec

from app.services.loop_values import LoopValues
from app.services.timeline_values import AnswerTimeline

_S = 1e3


class LoopSnapshot(msgspec.Struct, frozen=True):
    """What every card of the page is painted from."""

    values: LoopValues
    line: AnswerTimeline | None = None
    token: int | None = None
    """The token of the answer that is on its way through the loop, counted from 0; None for none."""


def snapshot_of(values: LoopValues, line: AnswerTimeline | None, token: int | None = None) -> LoopSnapshot:
    """Return the figures of an answer with the time of as many tokens as they count, and the rate of just these."""
    if line is None or values.phase not in ("writing", "held"):
        return LoopSnapshot(values, line, token)
    line = _up_to(line, values.written)
    mean_ms = line.mean_gap_ms
    if mean_ms or line.first + len(line.drawn_ns) == values.written <= line.first + 1:
        values = msgspec.structs.replace(values, tokens_per_s=_S / mean_ms if mean_ms else None)
    return LoopSnapshot(values, line, token)


def _up_to(line: AnswerTimeline, written: int) -> AnswerTimeline:
    """Return the time of the first so many tokens: those that came since belong to the next picture."""
    drawn = max(written - line.first, 0)
    if drawn >= len(line.drawn_ns):
        return line
    return msgspec.structs.replace(
        line,
        drawn_ns=line.drawn_ns[:drawn],
        pauses=tuple(pause for pause in line.pauses if pause.token < written),
        ordered_ms=(),
    )
