"""The time of the answer that people look at: while it is written as the engine tells it, afterwards as it is kept.

Follows every answer, so that one that is looked at later has the chunks of its prefill and the times of its tokens; what
was not seen since the start is read from its figures and its record.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.events import Failed, Finished, PromptReady
from app.core.metrics import Metrics
from app.core.signal import Signal
from app.services.answer_times import AnswerTimes
from app.services.answers import Answers
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.inspection import InspectedAnswer
from app.services.live import Live
from app.services.loop_wait import run_of
from app.services.open_conversation import Run
from app.services.questions import AnswerEvent
from app.services.timeline_values import (
    AnswerTimeline,
    Pause,
    TimePart,
    Unknown,
    join_of,
    moments_of,
    parts_at_end,
    parts_so_far,
)
from app.services.turns import Turn

MOST_KEPT = 64
"""So many answers are remembered with the times of their tokens."""
_MS = 1e6
_LEAST_LOST_NS = 1_000_000
"""Less is rounding."""


class _Followed:
    """One answer with its times."""

    def __init__(self, times: AnswerTimes, run: Run) -> None:
        self.times = times
        self.run: Run | None = run
        """Until it has ended: a run holds its whole chat."""
        self.begun = 0
        """So many of its tokens were there before."""
        self.is_whole = True
        """Whether the times are those of the whole answer: they are not where its beginning was drawn before."""
        self.take_beginning(run)
        self._moved: tuple[int, Sequence[int]] = (0, ())
        self.joins: frozenset[int] = frozenset()
        """The tokens before which a later part of the answer begins."""

    def take_beginning(self, run: Run) -> None:
        """Take down what the answer begins with, which is known for certain once its prompt is ready."""
        self.begun, self.is_whole = run.beginning.tokens, not run.beginning.continues

    def moved_by(self, later_ns: int) -> Sequence[int]:
        """Return the moments of an answer that has ended, since it was sent, this much later; worked out once."""
        if self._moved[0] != later_ns or not self._moved[1]:
            self._moved = later_ns, [moment + later_ns for moment in self.times.since_sent_ns]
        return self._moved[1]

    @property
    def turn(self) -> Turn | None:
        """The answer, while it is written."""
        return self.run.turn if self.run is not None else None


class Timeline:
    """What is known of the time of one answer; works it out when somebody asks for it."""

    def __init__(
        self,
        session: EngineSession,
        answers: Answers,
        inspecting: Inspecting,
        live: Live,
    ) -> None:
        """`live` tells what is known of an answer that has ended, its diagnosis among it, and when that is more."""
        self.changed: Signal[()] = Signal()
        """More is known, or another answer is looked at."""
        self._answers = answers
        self._inspecting = inspecting
        self._figures_of = live.figures_of
        self._open: dict[int, _Followed] = {}
        self._kept: dict[int, _Followed] = {}
        """By message, oldest first."""
        self._recorded: tuple[InspectedAnswer, tuple[object, ...], AnswerTimeline] | None = None
        """The steps that were read from a record last, and what they were read from."""
        self._made: AnswerTimeline | None = None
        self._is_old = True
        session.sent.connect(self._take_sent)
        session.answer_told.connect(self._take)
        inspecting.opened.connect(self._look)
        inspecting.changed.connect(self._look)
        answers.changed.connect(lambda _conversation, _turn: self._look())
        live.last.changed.connect(self._look)

    @property
    def timeline(self) -> AnswerTimeline | None:
        """The time of the answer that is looked at; None while there is none."""
        if self._is_old:
            turn = self._inspecting.turn
            self._made = None if turn is None else self._timeline_of(turn)
            self._is_old = False
        return self._made

    @property
    def answer(self) -> InspectedAnswer | None:
        """The tokens of the answer, as far as they are read."""
        return self._inspecting.answer

    @property
    def inspecting(self) -> Inspecting:
        """Which answer and which token of it is looked at."""
        return self._inspecting

    def _take_sent(self, request: int, sent_ns: int) -> None:
        run = next((run for run in self._answers.runs if run.request == request), None)
        if run is not None:
            self._open[request] = _Followed(AnswerTimes(sent_ns), run)
            self._look()

    def _take(self, event: AnswerEvent) -> None:
        followed = self._open.get(event.request)
        if followed is None:
            return
        followed.times.take(event)
        if isinstance(event, PromptReady) and followed.run is not None:
            followed.take_beginning(followed.run)
        turn = followed.turn
        if isinstance(event, (Finished, Failed)):
            del self._open[event.request]
            self._keep(followed)
        if turn is self._inspecting.turn:
            self._look()

    def _keep(self, followed: _Followed) -> None:
        run, followed.run = followed.run, None
        if run is None or run.came_to_nothing:
            return
        before = self._kept.pop(run.message, None)
        if not followed.is_whole:
            earlier = before.joins if before is not None else frozenset()
            followed.joins = earlier | {run.beginning.tokens}
        self._kept[run.message] = followed
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def _look(self) -> None:
        self._is_old = True
        self.changed.emit()

    def _timeline_of(self, turn: Turn) -> AnswerTimeline:
        followed = self._followed(turn)
        if followed is not None and followed.is_whole and turn.finished is None:
            return _so_far(turn, followed, is_open=turn.state in ("waiting", "writing"))
        if turn.finished is None and self._waits(turn):
            return AnswerTimeline(turn.message, unknown=("waits",), is_open=True)
        if turn.finished is None:
            return self._interrupted(turn)
        return self._at_end(turn, followed, turn.finished.metrics)

    def _waits(self, turn: Turn) -> bool:
        """Whether an answer waits that begins with nothing that was written before."""
        run = run_of(self._answers, turn)
        return turn.state == "waiting" and (run is None or not run.beginning.continues)

    def _followed(self, turn: Turn) -> _Followed | None:
        is_open = next((each for each in self._open.values() if each.turn is turn), None)
        return is_open or self._kept.get(turn.message)

    def _gaps(self, turn: Turn) -> tuple[int, Sequence[float | None]]:
        """Return the first token of an answer that is recorded, and the gaps before each of those that are."""
        answer = self._inspecting.answer
        if answer is None or answer.message != turn.message or not answer.recorded:
            return 0, ()
        first = next((place for place, rank in enumerate(answer.ranks) if rank is not None), 0)
        return first, answer.gaps_ms[first : first + answer.recorded]

    def _interrupted(self, turn: Turn) -> AnswerTimeline:
        """Return the time of an answer whose figures nobody kept, or that goes on just now."""
        found = self._recorded_steps(turn, None, 0)
        is_open = turn.state in ("waiting", "writing")
        followed = self._followed(turn) if is_open else None
        holds, lost_ns = _holds_so_far(followed)
        return msgspec.structs.replace(
            found,
            pauses=(*found.pauses, *holds),
            lost_holds_ns=lost_ns,
            is_held=followed is not None and followed.times.is_held,
            unknown=("beginning" if is_open else "parts", *found.unknown, "sampling"),
            is_open=is_open,
            is_cut_off=turn.state == "interrupted",
        )

    def _at_end(self, turn: Turn, followed: _Followed | None, metrics: Metrics) -> AnswerTimeline:
        figures = self._figures_of(turn)
        times = followed.times if followed is not None and followed.is_whole else None
        parts: tuple[TimePart, ...] = ()
        first_ns, unknown = 0, list[Unknown]()
        if figures.ttft_is_lost:
            unknown.append("beginning")
        else:
            parts, first_ns = parts_at_end(metrics, times, turn.ttft_ms)
            unknown = _unknown_parts(parts, times, turn)
        found = self._steps(turn, followed, times, first_ns)
        if metrics.sampled_tokens > 1 and not found.drawn_ns:
            unknown += found.unknown
            if metrics.decode_s is not None:
                end_ns = first_ns + round(metrics.decode_s * 1e9)
                parts = (*parts, TimePart("decode", first_ns, end_ns))
        sampling = metrics.sampling_ms
        if sampling is None and metrics.sampled_tokens:
            unknown.append("sampling")
        return AnswerTimeline(
            turn.message,
            parts,
            found.first,
            found.drawn_ns,
            found.pauses,
            sampling / metrics.sampled_tokens * _MS if sampling and metrics.sampled_tokens else None,
            tuple(unknown),
            itl_ms=metrics.itl_ms,
            diagnosis=figures.diagnosis,
            ordered_ms=found.ordered_ms,
            lost_holds_ns=_lost_holds(metrics, found.pauses),
            is_held=followed is not None and followed.times.is_held,
        )

    def _steps(
        self, turn: Turn, followed: _Followed | None, times: AnswerTimes | None, first_ns: int
    ) -> AnswerTimeline:
        """Return the steps alone, as exactly as somebody knows them."""
        if followed is not None and times is not None and times.drawn_ns:
            return _exact_steps(turn, followed, times, first_ns - times.since_sent_ns[0])
        return self._recorded_steps(turn, followed, first_ns)

    def _recorded_steps(self, turn: Turn, followed: _Followed | None, first_ns: int) -> AnswerTimeline:
        """Return the steps alone as the record has them, worked out once for what is known of it."""
        key = (turn.message, first_ns, id(turn.finished), followed.joins if followed is not None else frozenset())
        answer = self._inspecting.answer
        if self._recorded is not None and self._recorded[0] is answer and self._recorded[1] == key:
            return self._recorded[2]
        made = self._read_steps(turn, followed, first_ns)
        self._recorded = (answer, key, made) if answer is not None else None
        return made

    def _read_steps(self, turn: Turn, followed: _Followed | None, first_ns: int) -> AnswerTimeline:
        first, gaps = self._gaps(turn)
        if not gaps:
            reads = self._inspecting.answer is None and self._inspecting.problems.answer is None
            return AnswerTimeline(turn.message, first=_given(turn), unknown=("reading" if reads else "steps",))
        joins = frozenset(join - first for join in followed.joins) if followed is not None else frozenset()
        if not joins and turn.finished is not None:
            join = join_of(gaps, turn.finished.metrics)
            joins = frozenset() if join is None else frozenset((join,))
        drawn, lost = moments_of(gaps, first_ns, joins)
        made = AnswerTimeline(
            turn.message,
            first=first,
            drawn_ns=drawn,
            pauses=tuple(Pause(first + place, None) for place in lost),
        )
        return msgspec.structs.replace(made, ordered_ms=sorted(made.gaps_ms))


def _given(turn: Turn) -> int:
    """Return how many tokens of an answer were given, as its figures have it."""
    drawn = turn.finished.metrics.sampled_tokens if turn.finished is not None else 0
    return max(len(turn.ids) // 4 - drawn, 0) if drawn else 0


def _exact_steps(turn: Turn, followed: _Followed, times: AnswerTimes, later_ns: int) -> AnswerTimeline:
    """Return the steps as the engine told them; `later_ns` moves them, where figures and events differ by rounding."""
    first = max(len(turn.ids) // 4 - len(times.drawn_ns), 0)
    return AnswerTimeline(
        turn.message,
        first=first,
        drawn_ns=followed.moved_by(later_ns),
        pauses=_pauses(first, times),
        ordered_ms=times.ordered_gaps_ms,
    )


def _so_far(turn: Turn, followed: _Followed, *, is_open: bool) -> AnswerTimeline:
    """Return the time of an answer that is written, or that ended without its figures."""
    times, first = followed.times, followed.begun
    return AnswerTimeline(
        turn.message,
        parts_so_far(times),
        first,
        times.since_sent_ns[:],  # thousands, five times a second: they are copied as they are
        _pauses(first, times),
        unknown=("template", "sampling"),
        is_open=is_open,
        is_held=is_open and times.is_held,
        is_cut_off=not is_open,
        ordered_ms=times.ordered_gaps_ms,
        sent_ns=None if times.is_held else times.sent_ns,
        shown_ns=round(turn.ttft_ms * _MS) if turn.ttft_ms is not None else None,
        prompt_tokens=times.prompt_tokens,
    )


def _holds_so_far(followed: _Followed | None) -> tuple[tuple[Pause, ...], int]:
    """Return the holds of the part that is written now, and for how long its beginning was held."""
    if followed is None or followed.run is None:
        return (), 0
    before = followed.run.beginning.finished
    held_ms = before.metrics.held_ms if before is not None else None
    return _pauses(followed.begun, followed.times), round((held_ms or 0.0) * _MS)


def _lost_holds(metrics: Metrics, known: Sequence[Pause]) -> int:
    """Return for how long an answer was held before tokens that nobody knows any more."""
    lost_ns = round((metrics.held_ms or 0.0) * _MS) - sum(pause.ns or 0 for pause in known)
    return lost_ns if lost_ns >= _LEAST_LOST_NS else 0


def _pauses(first: int, times: AnswerTimes) -> tuple[Pause, ...]:
    return tuple(Pause(first + hold.token, hold.ns) for hold in times.holds)


def _unknown_parts(parts: tuple[TimePart, ...], times: AnswerTimes | None, turn: Turn) -> list[Unknown]:
    kinds = {part.kind for part in parts}
    found: list[Unknown] = []
    if "tokens" in kinds:
        found.append("template")
    if "prefill" in kinds and times is None:
        found.append("chunks")
    if turn.ttft_ms is None and bool(turn.text):
        found.append("paint")
    return found
