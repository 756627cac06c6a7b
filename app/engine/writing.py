"""Stages 7 and 8 of one answer, as it grows: a drawn token becomes text, a line of the record, and part of an event.

Knows nothing of the cells, of how a token was drawn, or of other answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from app.core.chat import Prompt
from app.core.commands import RecordKind
from app.core.events import Tokens
from app.core.metrics import StopReason
from app.engine.answer_ids import ids_of, open_answer
from app.engine.backend import Row, Vocabulary
from app.engine.clock import AnswerClock
from app.engine.detokenizer import Detokenizer
from app.engine.joiner import TokenJoiner
from app.engine.sampling import Choice
from app.engine.stops import StopWatch, control_stops, usable_stops
from app.engine.window_cells import CellsTold
from app.probability.record import RESUMED, RecordWriter
from app.probability.row import RowFacts

RECORD_TOKENS = 8
"""The record of at least so many tokens goes together: a block has a head of 29 bytes."""


class Asked(NamedTuple):
    """What an answer is written for."""

    request: int
    prompt: Prompt
    stop: tuple[str, ...]
    record: RecordKind


class Writing:
    """One answer on its way to whoever reads it."""

    def __init__(
        self, asked: Asked, vocabulary: Vocabulary, clock: AnswerClock, given: Iterable[int] | None = None
    ) -> None:
        """`given` are its first tokens where they are not drawn; None leaves it to the prompt, which may be open."""
        self._vocabulary = vocabulary
        self._clock = clock
        self._recording = asked.record != "off"
        self._goes_on = False
        """Whether there are earlier tokens of this answer, of another clock."""
        stops, self.notes = usable_stops(asked.stop)
        self._stops = StopWatch(stops)
        self._stop_tokens = control_stops(stops, vocabulary)
        self._detokenizer = Detokenizer(vocabulary)
        if (answer := open_answer(asked.prompt)) is not None:
            self._goes_on = True
            ids = ids_of(answer.ids, vocabulary) or []
            self._stops.resume(self._detokenizer.resume(answer.text, ids))
        elif given is not None:
            self._stops.resume("".join(map(self._detokenizer.step, given)))
        self._joiner = TokenJoiner(asked.request)
        self._record = RecordWriter(vocabulary.size, alternatives=asked.record == "all")
        self.ids: list[int] = []
        """The tokens that were drawn."""
        self._text: list[str] = []

    @property
    def text(self) -> str:
        """What became visible."""
        return "".join(self._text)

    @property
    def id_bytes(self) -> bytes:
        """The tokens that were drawn, int32, little endian."""
        return np.asarray(self.ids, np.int32).tobytes()

    def add(
        self, choice: Choice, row: Row, facts: RowFacts, at_ns: int, reason: StopReason | None
    ) -> StopReason | None:
        """Append the token drawn from a row at a moment; returns why the answer ends with it, if it does.

        `reason` is why it would end here whatever the token says.
        """
        token, probability, flags = choice
        if self._recording:
            if self._goes_on and not self.ids:
                flags |= RESUMED
            self._record.add(token, float(row[token]), facts, facts.rank(token), probability, at_ns, flags)
        return self.append(token, at_ns, reason)

    def append(self, token: int, at_ns: int, reason: StopReason | None = None) -> StopReason | None:
        """Append a token that is not recorded; otherwise as `add`."""
        self.ids.append(token)
        text = ""
        if self._vocabulary.is_end(token):
            reason = "end"
        elif token in self._stop_tokens:
            reason = "stop_string"
        else:
            text, _ = self._stops.step(self._detokenizer.step(token))
        if reason is not None:
            text += self._rest()
        self._show(text)
        self._joiner.add(token, text, at_ns)
        return "stop_string" if self._stops.stopped else reason

    @property
    def is_waiting(self) -> bool:
        """Whether there are tokens that were not sent yet."""
        return bool(self._joiner)

    @property
    def has_unsent(self) -> bool:
        """Whether there are tokens, text or lines of the record that were not sent yet."""
        return bool(self._joiner) or len(self._record) > 0

    def due(self) -> bool:
        """Return whether it is time to send."""
        return self._joiner.due()

    def take(self, cells: CellsTold, *, last: bool) -> Tokens:
        """Return the tokens since the last time; their record comes along in blocks of a few, which are smaller.

        With `last` all of it comes: nothing follows, or not before somebody has looked at what there is.
        """
        record = self._record.take() if last or len(self._record) >= RECORD_TOKENS else b""
        return self._joiner.take(record, cells.used, self._clock.held_ns, cells.window_from)

    def flush(self, cells: CellsTold) -> Tokens | None:
        """Let go of what is held back when the answer ends outside of a step; None where there is nothing."""
        self.let_go()
        return self.take(cells, last=True) if self.has_unsent else None

    def let_go(self) -> None:
        """Show what is held back, to be taken with the last tokens."""
        text = self._rest()
        self._show(text)
        self._joiner.add_text(text)

    def _rest(self) -> str:
        """Return the text that is still held back, at the end of the answer."""
        return self._stops.step(self._detokenizer.flush())[0] + self._stops.flush()

    def _show(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._clock.mark_visible()
