"""When what happened of one answer, as the engine tells it while it is written.

Moments are the engine's (`perf_counter_ns`), without the time for which the answer was held. Knows no view and no store.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise

import msgspec

from app.core.events import Failed, Finished, Held, PrefillProgress, PromptReady, Tokens
from app.services.questions import AnswerEvent

_MICROSECOND_NS = 1_000
_MILLISECOND_NS = 1e6
_GAP_BYTES = 4
_ID_BYTES = 4


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the prompt that was read at once: its tokens, counted from 0, and when it was done."""

    first: int
    end: int
    done_ns: int


class Hold(msgspec.Struct, frozen=True, gc=False):
    """The answer waited for somebody before a token, counted from 0 among those that were drawn, or behind the last one."""

    token: int
    ns: int | None
    """None where nobody knows how long."""


class AnswerTimes:
    """Takes in what is said of one question; costs a few bytes a token."""

    def __init__(self, sent_ns: int) -> None:
        self.sent_ns = sent_ns
        self.ready_ns: int | None = None
        """When the prompt was tokenised."""
        self.prompt_tokens = 0
        """So many it then had."""
        self.is_held = False
        """Whether the answer waits for somebody now: that time is in no figure."""
        self.chunks: list[Chunk] = []
        self.drawn_ns = array("q")
        """When each token was drawn."""
        self.since_sent_ns = array("q")
        """The same, counted from when it was sent."""
        self.holds: list[Hold] = []
        self._gaps_ms = array("d")
        self._new_gaps_ms: list[float] = []
        """Gaps that nobody asked for yet."""
        self._held_ns = 0
        self._from_cache = 0

    @property
    def ordered_gaps_ms(self) -> array[float]:
        """The gaps between neighbouring tokens, the shortest first, as somebody may keep them.

        Only those that came since the last time are put in their places.
        """
        if self._new_gaps_ms:
            ordered = self._gaps_ms.tolist() + sorted(self._new_gaps_ms)
            ordered.sort()  # two runs in order: they are merged
            self._gaps_ms, self._new_gaps_ms = array("d", ordered), []
        return self._gaps_ms

    def take(self, event: AnswerEvent) -> None:
        """Take in what the engine says."""
        match event:
            case PromptReady():
                self.ready_ns, self._from_cache = event.at_ns, event.from_cache
                self.prompt_tokens = len(event.ids) // _ID_BYTES
            case PrefillProgress():
                for done, at_ns in (*event.unheard, (event.done, event.at_ns)):
                    first = self.chunks[-1].end if self.chunks else self._from_cache
                    self.chunks.append(Chunk(first, done, at_ns))
            case Held():
                self.is_held = True
            case Tokens() if event.count:
                self._take_tokens(event)
            case Finished():
                held_ms = event.metrics.held_ms
                self._end(round(held_ms * _MILLISECOND_NS) if held_ms is not None else None)
            case Failed():
                self._end(None)
            case _:
                pass

    def _end(self, held_ns: int | None) -> None:
        """Take in for how long it was held in all: a hold that no token ended is over now, too."""
        rest = held_ns - self._held_ns if held_ns is not None else None
        if self.is_held or (rest is not None and rest > 0):
            self.holds.append(Hold(len(self.drawn_ns), rest if rest is None or rest > 0 else None))
        self.is_held = False

    def _take_tokens(self, event: Tokens) -> None:
        self.is_held = False
        if event.held_ns > self._held_ns:
            self.holds.append(Hold(event.first, event.held_ns - self._held_ns))
            self._held_ns = event.held_ns
        moments = _moments(event)
        known = [*self.drawn_ns[-1:], *moments]
        self._new_gaps_ms += [(after - before) / _MILLISECOND_NS for before, after in pairwise(known)]
        self.drawn_ns.extend(moments)
        self.since_sent_ns.extend([moment - self.sent_ns for moment in moments])


def _moments(event: Tokens) -> list[int]:
    """Return when each token was drawn: the first and the last exactly, those between them to the microsecond.

    Where the engine does not tell each they lie evenly between the two.
    """
    count = event.count
    if count == 1:
        return [event.last_ns]
    if len(event.gaps) == (count - 1) * _GAP_BYTES:
        gaps = (gap * _MICROSECOND_NS for gap in memoryview(event.gaps).cast("I"))
        return [*list(accumulate(gaps, initial=event.first_ns))[:-1], event.last_ns]
    step = (event.last_ns - event.first_ns) / (count - 1)
    return [event.first_ns + round(step * number) for number in range(count)]
