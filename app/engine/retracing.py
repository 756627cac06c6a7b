"""An answer that is there, beside the same one as it is written once more: token by token, to the first difference.

Knows ids, rows and the record of the answer; nothing of texts, and not where a prompt came from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.core.commands import Reproduce
from app.core.errors import UserError
from app.core.replay_events import Difference
from app.core.words import translate
from app.engine.answer_ids import ids_of
from app.engine.backend import Row, Vocabulary
from app.engine.sampling import Choice, Sampler
from app.probability.draw import GENERATOR_VERSION
from app.probability.record import FORCED, NO_DRAW, RecordError, TokenRecords, join_blocks, read_records


class Retracing:
    """Takes each token that is drawn, and says when there is nothing more to compare."""

    def __init__(self, command: Reproduce, vocabulary: Vocabulary) -> None:
        """Raises `UserError` where the answer cannot be drawn again by this vocabulary and this generator."""
        ids = ids_of(command.ids, vocabulary)
        if ids is None:
            raise _refusal_of_ids()
        self._ids = ids
        self._records = _records_of(command.record)
        drawn = command.settings[0].token if command.settings else 0
        self._recorded_from = self._place_of_record((0, drawn, command.given))
        # What was sent along and never recorded was not drawn as it stands here.
        self.first = command.given if command.given and self._recorded_from == command.given else drawn
        """Index in the answer of the first token that was drawn."""
        if self._records is not None and self._records.generator != GENERATOR_VERSION:
            raise _refusal_of_generator()
        if self.first >= len(ids):
            raise _refusal_of_nothing()
        self.compared = self.first
        """How many tokens are the same, the given ones included."""
        self.difference: Difference | None = None
        self.stretches = command.stretches
        """How the prompt had come into the cache."""

    @property
    def given(self) -> Sequence[int]:
        """The first tokens of the answer, which are not drawn."""
        return self._ids[: self.first]

    @property
    def is_over(self) -> bool:
        """Whether the answer became another one, or all of it was compared."""
        return self.difference is not None or self.compared >= len(self._ids)

    def take(self, choice: Choice, row: Row, sampler: Sampler) -> Choice:
        """Compare the next token; returns what follows: the drawn one, or one that was forced then as it was then."""
        index, stored = self.compared, self._ids[self.compared]
        if choice.token == stored or self._was_forced(index):
            self.compared += 1
            return choice if choice.token == stored else Choice(stored, choice.probability, FORCED)
        is_draw = not choice.flags & NO_DRAW
        self.difference = Difference(
            token=index,
            stored=stored,
            drawn=choice.token,
            gap=abs(float(row[stored]) - float(row[choice.token])),
            stored_gap=self._gap_then(index, choice.token),
            draw_distance=sampler.distance(stored, index) if is_draw else None,
        )
        return choice

    def _was_forced(self, index: int) -> bool:
        place = self._recorded(index)
        return self._records is not None and place is not None and bool(self._records.flags[place] & FORCED)

    def _gap_then(self, index: int, other: int) -> float | None:
        """Return how far a token was from the stored one, where the record has both."""
        place, records = self._recorded(index), self._records
        if records is None or place is None:
            return None
        ids, log_probabilities = records.alternatives(place)
        found = np.flatnonzero(ids == other)
        if not len(found):
            return None
        return abs(float(records.log_probability[place]) - float(log_probabilities[found[0]]))

    def _recorded(self, index: int) -> int | None:
        """Return where a token of the answer is in the record."""
        if self._records is None or self._recorded_from is None:
            return None
        place = index - self._recorded_from
        return place if 0 <= place < len(self._records) else None

    def _place_of_record(self, places: Sequence[int]) -> int | None:
        """Return the token of the answer that the record begins with: parts of an answer may have none."""
        records = self._records
        if records is None:
            return None
        tokens = records.tokens.tolist()
        return next((place for place in places if tokens == self._ids[place : place + len(tokens)]), None)


def _records_of(blocks: Sequence[bytes]) -> TokenRecords | None:
    """Return the record; a damaged one is as good as none: it only says how likely other tokens were."""
    try:
        joined = join_blocks(blocks)
    except RecordError:
        return None
    return read_records(joined) if joined else None


def _refusal_of_ids() -> UserError:
    return UserError(
        translate("Engine", "This answer has tokens that the model does not know: load the model that wrote it.")
    )


def _refusal_of_generator() -> UserError:
    return UserError(
        translate(
            "Engine",
            "This answer was drawn by another version of Tokenlight, whose random numbers were others: "
            "only that version can write it again.",
        )
    )


def _refusal_of_nothing() -> UserError:
    return UserError(translate("Engine", "The model wrote nothing of this answer, so there is nothing to reproduce."))
