"""The time of one answer as plain values: its parts, when each token was drawn, what was left out, what nobody knows.

All moments count in ns from the one at which the question was sent. Pure: knows no session and no view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from app.core.diagnosis import Diagnosis
from app.core.metrics import ItlQuantiles, Metrics
from app.services.answer_times import AnswerTimes

PartKind = Literal[
    "save",
    "queue",
    "before",
    "template",
    "tokenise",
    "tokens",
    "prefill",
    "first_sample",
    "decode",
    "held_back",
    "paint",
]
"""“before” is all before the prefill and “tokens” template and tokenise together, where nobody tells them apart; “decode”
is all steps together, where the single ones are not known."""
Unknown = Literal["parts", "beginning", "waits", "chunks", "template", "steps", "reading", "sampling", "paint"]
"""What is not known: the parts before the first token (of an answer that was interrupted, that begins with another one, or
that the engine does not have yet), single chunks of the prefill, the template apart, single steps, single steps until the record is read, the draws, when it was painted."""
_MS = 1e6
_ENOUGH_NS = 1_000_000


class TimePart(msgspec.Struct, frozen=True, gc=False):
    """One stretch of time; of the prefill with the tokens of the prompt that were read in it."""

    kind: PartKind
    start_ns: int
    end_ns: int
    first: int | None = None
    end: int | None = None

    @property
    def ns(self) -> int:
        """How long it took."""
        return self.end_ns - self.start_ns


class Pause(msgspec.Struct, frozen=True, gc=False):
    """Time before a token (an index in the answer), or behind its last one, that is in no figure; None where nobody knows
    how much."""

    token: int
    ns: int | None


class AnswerTimeline(msgspec.Struct, frozen=True):
    """The time of one answer."""

    message: int
    parts: tuple[TimePart, ...] = ()
    """In the order of the loop; what lies beside the decode comes last."""
    first: int = 0
    """Index in the answer of the first token that was drawn: those before it were given."""
    drawn_ns: Sequence[int] = ()
    """When each token was drawn; none where only all steps together are known."""
    pauses: tuple[Pause, ...] = ()
    sampling_ns: float | None = None
    """The mean of a draw."""
    unknown: tuple[Unknown, ...] = ()
    is_open: bool = False
    """Whether it is being written."""
    is_cut_off: bool = False
    """Whether it was interrupted: nobody knows how its time ended."""
    itl_ms: ItlQuantiles | None = None
    """As the engine measured it."""
    diagnosis: Diagnosis | None = None
    ordered_ms: Sequence[float] = ()
    """The known gaps between neighbouring tokens, the shortest first."""
    sent_ns: int | None = None
    """When it was sent, on the engine's clock; None where no time of it goes by that belongs to it."""
    shown_ns: int | None = None
    """When its first text was on the screen, while its parts do not tell; None where nobody knows."""
    lost_holds_ns: int = 0
    """For how long it was held before tokens that nobody knows any more."""
    is_held: bool = False
    """Whether it waits for somebody before its next token."""
    prompt_tokens: int = 0
    """So many of them are to be read before the first token is drawn."""

    @property
    def awaits_first(self) -> bool:
        """Whether the prompt is being read or the first token drawn: time passes that no event tells of."""
        return self.is_open and bool(self.parts) and not self.drawn_ns and self.sent_ns is not None

    @property
    def end_ns(self) -> int:
        """When the last of it was over."""
        last = self.drawn_ns[-1] if self.drawn_ns else 0
        return max((part.end_ns for part in self.parts), default=0) if not last else self._end_with(last)

    @property
    def steps(self) -> int:
        """How many decode steps are known one by one."""
        return max(len(self.drawn_ns) - 1, 0)

    @property
    def timed_steps(self) -> int:
        """How many of them nobody paused before for an unknown time."""
        end = self.first + len(self.drawn_ns)
        return self.steps - sum(1 for token in self.paused_before if self.first < token < end)

    def is_behind(self, pause: Pause) -> bool:
        """Whether time was left out behind the last token."""
        return pause.token >= self.first + len(self.drawn_ns)

    @property
    def paused_before(self) -> frozenset[int]:
        """The tokens before which nobody knows the time."""
        return frozenset(pause.token for pause in self.pauses if pause.ns is None)

    @property
    def gaps_ms(self) -> list[float]:
        """The known gaps between neighbouring tokens, oldest first."""
        skipped, drawn = self.paused_before, self.drawn_ns
        return [
            (drawn[step] - drawn[step - 1]) / _MS for step in range(1, len(drawn)) if self.first + step not in skipped
        ]

    @property
    def mean_gap_ms(self) -> float | None:
        """What a step whose time is known took on average; None where there is none."""
        if not self.timed_steps:
            return None
        if self.timed_steps == self.steps:  # of thousands, five times a second
            return (self.drawn_ns[-1] - self.drawn_ns[0]) / self.steps / _MS
        known = self.ordered_ms or self.gaps_ms
        return sum(known) / len(known) if known else None

    def _end_with(self, last: int) -> int:
        return max(last, *(part.end_ns for part in self.parts)) if self.parts else last


def parts_at_end(
    metrics: Metrics, times: AnswerTimes | None, painted_ms: float | None
) -> tuple[tuple[TimePart, ...], int]:
    """Return the parts of an answer that has ended, and when its first token was drawn, or would have been.

    They are those of the metrics, and add up to the time to the first token; `times` knows the chunks of its prefill,
    `painted_ms` is the time to the first text on the screen.
    """
    ttft, made, at_ms = metrics.ttft_parts_ms, _Made(), 0.0
    tokenise = ttft.tokens - (ttft.template or 0.0)
    named: list[tuple[PartKind, float | None]] = [("save", ttft.save), ("queue", ttft.queue)]
    if ttft.template is None:
        named.append(("tokens", ttft.tokens))
    else:
        named += [("template", ttft.template), ("tokenise", tokenise)]
    for kind, ms in named:
        at_ms = made.add(kind, at_ms, ms)
    ends_ms = at_ms + ttft.prefill
    made.parts += _chunks(times, round(at_ms * _MS), round(ends_ms * _MS), metrics)
    drawn_ms = made.add("first_sample", ends_ms, ttft.first_sample)
    shown_ms = made.add("held_back", drawn_ms, ttft.held_back)
    if painted_ms is not None and metrics.ttft_ms is not None:
        made.add("paint", shown_ms, max(painted_ms - metrics.ttft_ms, 0.0))
    return tuple(made.parts), round(drawn_ms * _MS)


def until_now(line: AnswerTimeline, now_ns: int) -> AnswerTimeline:
    """Return a timeline with the part that goes on, as long as it is at a moment of the engine's clock.

    The engine tells of a chunk of the prefill once it is read, which can take many seconds.
    """
    if not line.awaits_first or line.sent_ns is None:
        return line
    last, end_ns = line.parts[-1], now_ns - line.sent_ns
    kind: PartKind = "first_sample" if (last.end or 0) >= line.prompt_tokens else "prefill"
    if end_ns <= last.end_ns:
        return line
    return msgspec.structs.replace(line, parts=(*line.parts, TimePart(kind, last.end_ns, end_ns)))


class _Made:
    """Parts, one behind the other."""

    def __init__(self) -> None:
        self.parts: list[TimePart] = []

    def add(self, kind: PartKind, at_ms: float, ms: float | None) -> float:
        """Add a part that is there, and return where it ends."""
        if not ms:
            return at_ms
        self.parts.append(TimePart(kind, round(at_ms * _MS), round((at_ms + ms) * _MS)))
        return at_ms + ms


def _chunks(times: AnswerTimes | None, start_ns: int, end_ns: int, metrics: Metrics) -> list[TimePart]:
    """Return the chunks of a prefill that is over; the last one ends with it."""
    if times is None or not times.chunks:
        read = metrics.prompt_tokens > metrics.prompt_tokens_from_cache
        whole = TimePart("prefill", start_ns, end_ns, metrics.prompt_tokens_from_cache, metrics.prompt_tokens)
        return [whole] if end_ns > start_ns and read else []
    made, at_ns, last = [], start_ns, len(times.chunks) - 1
    for number, chunk in enumerate(times.chunks):
        done_ns = end_ns if number == last else min(max(chunk.done_ns - times.sent_ns, at_ns), end_ns)
        made.append(TimePart("prefill", at_ns, done_ns, chunk.first, chunk.end))
        at_ns = done_ns
    return made


def parts_so_far(times: AnswerTimes) -> tuple[TimePart, ...]:
    """Return the parts of an answer that is written, as far as it has come."""
    ready_ns, sent_ns = times.ready_ns, times.sent_ns
    if ready_ns is None or ready_ns < sent_ns:
        return ()
    made, at_ns = [TimePart("before", 0, ready_ns - sent_ns)], ready_ns - sent_ns
    for chunk in times.chunks:
        done_ns = max(chunk.done_ns - sent_ns, at_ns)
        made.append(TimePart("prefill", at_ns, done_ns, chunk.first, chunk.end))
        at_ns = done_ns
    if times.drawn_ns and times.drawn_ns[0] - sent_ns > at_ns:
        made.append(TimePart("first_sample", at_ns, times.drawn_ns[0] - sent_ns))
    return tuple(made)


def join_of(gaps_ms: Sequence[float | None], metrics: Metrics) -> int | None:
    """Return before which token a later part of an answer begins; None where it is one part, or nobody can tell.

    The record of two parts joined has the time between them as a gap, which the metrics leave out: their seconds are
    those of two tokens fewer. `gaps_ms` are those of all tokens, each before its token.
    """
    known = [gap for gap in gaps_ms if gap is not None]
    rate, count = metrics.decode_tokens_per_s, len(gaps_ms)
    if metrics.itl_ms is not None or rate is None or len(known) != count - 1 or count < 3:
        return None
    excess_ms = sum(known) - (count - 2) / rate * 1e3
    nearest = min(range(1, count), key=lambda place: abs((gaps_ms[place] or 0.0) - excess_ms))
    is_it = abs((gaps_ms[nearest] or 0.0) - excess_ms) * _MS <= _ENOUGH_NS
    return nearest if is_it else None


def moments_of(gaps_ms: Sequence[float | None], start_ns: int, joins: frozenset[int]) -> tuple[list[int], list[int]]:
    """Return when tokens were drawn, the first at `start_ns`, and before which of them nobody knows the time.

    `gaps_ms` are the times before each; before those of `joins` time passed that belongs to nobody.
    """
    drawn, at_ns, lost = [start_ns], float(start_ns), []
    for place, gap in enumerate(gaps_ms[1:], 1):
        if gap is None or place in joins:
            lost.append(place)
        else:
            at_ns += gap * _MS
        drawn.append(round(at_ns))
    return drawn, lost
