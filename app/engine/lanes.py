"""One lane of a comparison: an answer with settings, draws, stops, record and clock of its own.

Knows its row of logits and nothing of the other lanes; what is told of the cells is handed to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.core.commands import Compare, SettingsChange
from app.core.events import Finished, LaneFinished, LaneTokens, Tokens
from app.core.metrics import KVUse, Metrics, StopReason
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.engine.backend import Backend, Row
from app.engine.clock import AnswerClock
from app.engine.control import Control
from app.engine.grammar import ENDED_BY_GRAMMAR, TOO_SLOW, NothingFits, StoppedAsking, TooSlow
from app.engine.sampling import Sampler
from app.engine.window_cells import CellsTold
from app.engine.writing import Asked, Writing
from app.probability.row import RowFacts


@dataclass(frozen=True)
class Terms:
    """What one lane is to do."""

    number: int
    settings: SamplingSettings
    seed: int
    limit: int
    """The most tokens that it may have."""
    first: int
    """Index in the answer of its first token: above 0 for an answer that goes on where it stopped."""


@dataclass(frozen=True)
class Prompted:
    """What all lanes of a comparison share."""

    backend: Backend
    command: Compare
    control: Control
    ids: list[int]
    """The prompt."""
    reused: int
    evaluated: int

    def metrics(self, clock: AnswerClock, kv: KVUse) -> Metrics:
        """Return the figures of one lane by its clock."""
        return clock.metrics(self.backend, len(self.ids), self.reused, self.evaluated, kv)


class Lane:
    """A lane that runs; its native stages are freed with `close`."""

    def __init__(self, terms: Terms, place: int, prompted: Prompted, clock: AnswerClock) -> None:
        """`place` is where it stands in its wave; its clock begins with the shared prefill."""
        self.place = place
        self.clock = clock
        self._terms = terms
        self._prompted = prompted
        command, backend = prompted.command, prompted.backend
        asked = Asked(command.request, command.prompt, terms.settings.stop, command.record)
        self._writing = Writing(asked, backend.vocabulary, clock)
        self._sampler = Sampler(
            backend, terms.settings, terms.seed, prompted.ids, terms.first, stopped=self._is_stopped
        )
        self.token = -1
        """The last one that was drawn."""
        self.reason: StopReason | None = None
        """Why it ended; None while it runs."""
        self._notes: tuple[Sentence, ...] = ()

    def draw(self, row: Row, facts: RowFacts) -> bool:
        """Draw the next token from its row and append it; returns whether it is time to send."""
        writing = self._writing
        try:
            choice = self._sampler.draw(row, facts, self._terms.first + len(writing.ids))
            self.token = choice.token
            self.reason = writing.add(choice, row, facts, self.clock.mark_token(), self._limit())
            if self.reason is None:
                self._sampler.accept(choice.token)
        except (NothingFits, TooSlow) as error:
            writing.let_go()
            self._notes = (TOO_SLOW if isinstance(error, TooSlow) else ENDED_BY_GRAMMAR,)
            self.reason = "end"
            return writing.has_unsent
        except StoppedAsking:
            writing.let_go()
            self.reason = "cancelled"
            return writing.has_unsent
        return self.reason is not None or writing.due()

    def _limit(self) -> StopReason | None:
        """Return why the lane ends with the next token, whatever that one says."""
        terms, sampled = self._terms, len(self._writing.ids) + 1
        if sampled >= terms.limit:
            return "length" if terms.limit == terms.settings.max_tokens else "context_full"
        return "cancelled" if self._is_stopped() else None

    def _is_stopped(self) -> bool:
        return self._prompted.control.is_stopped(self._terms.number)

    def tokens(self, cells: CellsTold) -> LaneTokens:
        """Return the tokens since the last time."""
        return self._told(self._writing.take(cells, last=self.reason is not None), cells)

    def flush(self, cells: CellsTold) -> LaneTokens | None:
        """Let go of what is held back when the lane ends outside of a step; None where there is nothing."""
        tokens = self._writing.flush(cells)
        return None if tokens is None else self._told(tokens, cells)

    def _told(self, tokens: Tokens, cells: CellsTold) -> LaneTokens:
        request, lane = self._prompted.command.request, self._terms.number
        return LaneTokens(request, lane, tokens, cells.prompt_from, cells.window_used)

    def finished(self, kv: KVUse, cells: CellsTold) -> LaneFinished:
        """Return its end; `cells` are those behind it."""
        assert self.reason is not None
        command, metrics = self._prompted.command, self._prompted.metrics(self.clock, kv)
        return lane_finished(
            self._terms,
            command,
            metrics,
            self.reason,
            self._writing,
            notes=self._notes,
            cells=cells,
        )

    def close(self) -> None:
        """Free the native stages; calling it twice is harmless."""
        self._sampler.close()


def lane_finished(
    terms: Terms,
    command: Compare,
    metrics: Metrics,
    reason: StopReason,
    writing: Writing | None = None,
    *,
    notes: tuple[Sentence, ...] = (),
    cells: CellsTold,
) -> LaneFinished:
    """Return the end of a lane; without a writing it never began."""
    finished = Finished(
        request=command.request,
        text="" if writing is None else writing.text,
        ids=b"" if writing is None else writing.id_bytes,
        stop_reason=reason,
        metrics=metrics,
        seed=terms.seed,
        settings=(SettingsChange(terms.first, terms.settings),),
        notes=notes,
    )
    told = (cells.prompt_from, cells.used, cells.window_used)
    return LaneFinished(command.request, terms.number, finished, *told)
