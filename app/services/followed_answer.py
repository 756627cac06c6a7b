"""One answer as the engine writes it: what is known of it so far, and in the end.

Counts and clocks are the engine's; only the moment of the first painted character comes from the window.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.events import Failed, Finished, Held, PrefillProgress, PromptReady, Step, Tokens
from app.core.metrics import MIN_PREFILL_TOKENS
from app.planner.circumstances import kept_circumstances
from app.services.figures import Figures, figures_at_end, figures_of_turn
from app.services.open_conversation import Run
from app.services.pace import Pace
from app.services.questions import AnswerEvent
from app.services.ttft import TtftPart, parts_so_far
from app.services.turns import Turn

_MS = 1e6


class Place(NamedTuple):
    """Whose an answer is."""

    turn: Turn | None = None
    conversation: int | None = None
    goes_on: bool = False
    """Whether it was begun before: its first token was shown long ago."""
    came_to_nothing: bool = False
    """Whether its turn went back to the answer that was there before."""

    @classmethod
    def of(cls, run: Run) -> Place:
        """Return whose the answer of a run is."""
        return cls(run.turn, run.conversation.head.id, run.beginning.continues, run.came_to_nothing)


class FollowedAnswer:
    """Takes in what is said of one question."""

    def __init__(self, request: int, sent_ns: int, run: Run | None = None, ceiling: float | None = None) -> None:
        """`run` is the answer's place in a conversation; None for a question that belongs to none.

        `ceiling` is the most that the memory of the weights gives, in 10^9 bytes/s, where it was measured.
        """
        self.request = request
        self.run = run
        """Until it has ended: a run holds its whole chat. None also where it is the answer of no conversation."""
        self.is_alone = run is None
        """Whether it belongs to no conversation."""
        self._place = Place()
        self.is_open = True
        """Whether neither its end nor its failure was told."""
        self.figures = Figures(is_writing=True, traffic_ceiling=ceiling)
        if run is not None and self.place.goes_on:
            before = figures_of_turn(run.turn)  # the first token was that of the beginning
            self._set(ttft_ms=before.ttft_ms, ttft_parts=before.ttft_parts, ttft_is_lost=before.ttft_is_lost)
        self.prompt: PromptReady | None = None
        self._sent_ns = sent_ns
        self._pace = Pace()
        self._read_ns: int | None = None
        self._painted_ns: int | None = None
        self._held_ns = 0
        """For how long the answer was held before its first text: the engine's times leave that out."""
        self._has_text = False
        self._end: Finished | None = None

    @property
    def place(self) -> Place:
        """Whose answer it is, also once its run is let go of."""
        return Place.of(self.run) if self.run is not None else self._place

    def let_go(self) -> None:
        """Keep whose answer it was, which has ended, and not its run."""
        self._place, self.run = self.place, None

    @property
    def gaps_ms(self) -> tuple[float, ...]:
        """The last gaps between neighbouring tokens, oldest first."""
        return self._pace.gaps_ms

    @property
    def can_be_painted(self) -> bool:
        """Whether there is a text of whose painting nobody knows when it was."""
        return self._painted_ns is None and self._has_text and not self.place.goes_on

    def paint(self, now_ns: int) -> bool:
        """Note when the first text was painted; False where there was none yet, or its time is known already."""
        if not self.can_be_painted:
            return False
        self._painted_ns = now_ns - self._held_ns
        if self._end is not None:
            self.figures = self._at_end(self._end)
        else:
            self._set(ttft_ms=self._painted_ms, ttft_parts=self._parts_until(self._painted_ns))
        return True

    def take(self, event: AnswerEvent, read_bytes: int | None) -> None:
        """Take in what the engine says before the end; `read_bytes` is what a token reads, weights and cache together."""
        match event:
            case PromptReady():
                self.prompt = event
                self._set(prompt_tokens=len(event.ids) // 4, prompt_tokens_from_cache=event.from_cache)
            case PrefillProgress():
                self._read_ns = event.at_ns
                self._set(prefill_tokens_per_s=self._prefill_rate(event))
            case Tokens():
                self._take_tokens(event, read_bytes)
            case Failed():
                self.is_open = False
                self._set(is_writing=False, is_cut_off=True)
            case Finished() | Step() | Held():
                pass

    def end(self, event: Finished) -> None:
        """Take in the end, with what was around it."""
        self.is_open = False
        self._has_text = self._has_text or bool(event.text)
        if self.prompt is None:
            self.prompt = PromptReady(event.request, bytes(4 * event.metrics.prompt_tokens), (), 0, 0)
        self._end = self._whole(event)
        self.figures = self._at_end(self._end)

    def know_ceiling(self, ceiling: float | None) -> Finished | None:
        """The memory of the weights was measured, if only now; return the end with that, where there is one."""
        if self._end is None:
            self._set(traffic_ceiling=ceiling)
            return None
        around = msgspec.structs.replace(kept_circumstances(self._end.metrics), memory_gb_per_s=ceiling)
        metrics = msgspec.structs.replace(self._end.metrics, circumstances=around)
        self._end = msgspec.structs.replace(self._end, metrics=metrics)
        self.figures = self._at_end(self._end)
        return self._end

    def _whole(self, event: Finished) -> Finished:
        """Return the end of the whole answer: the beginning of one that went on is known to its turn."""
        turn = self.place.turn
        return turn.finished if turn is not None and turn.finished is not None else event

    def _at_end(self, whole: Finished) -> Figures:
        of = self.place
        first_ms = of.turn.ttft_ms if of.turn is not None and of.goes_on else self._painted_ms
        figures = figures_at_end(whole, first_ms)
        return msgspec.structs.replace(figures, gap_count=self.figures.gap_count)

    def _prefill_rate(self, event: PrefillProgress) -> float | None:
        if self.prompt is None:
            return None
        tokens = event.done - event.from_cache
        took_ns = event.at_ns - self.prompt.at_ns
        return tokens * 1e9 / took_ns if tokens >= MIN_PREFILL_TOKENS and took_ns > 0 else None

    def _take_tokens(self, event: Tokens, read_bytes: int | None) -> None:
        self._pace.add(event)
        if event.text and not self._has_text:
            self._has_text = True
            self._held_ns = event.held_ns
            self._show_first_text(event.first_ns)
        rate = self._pace.rate_now()
        self._set(
            decode_tokens_per_s=rate,
            decode_mean_tokens_per_s=self._pace.mean_rate(),
            sampled_tokens=event.first + event.count,
            gap_count=self._pace.gap_count,
            itl_ms=self._pace.quantiles(),
            traffic_gb_per_s=rate * read_bytes / 1e9 if rate is not None and read_bytes is not None else None,
        )

    @property
    def _painted_ms(self) -> float | None:
        return None if self._painted_ns is None else (self._painted_ns - self._sent_ns) / _MS

    def _show_first_text(self, at_ns: int) -> None:
        """Show the engine's time to the first text until it is painted: nobody may be looking at this conversation."""
        if not self.place.goes_on and at_ns >= self._sent_ns:
            self._set(ttft_ms=(at_ns - self._sent_ns) / _MS, ttft_parts=self._parts_until(at_ns))

    def _parts_until(self, shown_ns: int) -> tuple[TtftPart, ...]:
        """Return the parts up to a moment; nothing lies between the first token and a text that came with it."""
        ready_ns = self.prompt.at_ns if self.prompt is not None else None
        moments = (self._sent_ns, ready_ns, self._read_ns, self._pace.first_ns)
        return parts_so_far(moments if shown_ns == self._pace.first_ns else (*moments, shown_ns))

    def _set(self, **changes: object) -> None:
        self.figures = msgspec.structs.replace(self.figures, **changes)
