"""One lane of a comparison as probability sees it: the tokens, what was recorded of them, and how they were drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids
from app.probability.draw import XTC_STREAM, uniform
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.record import TokenRecords


@dataclass(frozen=True, slots=True)
class Lane:
    """An answer whose tokens were all drawn with one set of settings."""

    tokens: Ids
    """The token that ends the answer included, where one did."""
    records: TokenRecords | None
    """Of the first of the tokens, in their order; None where nothing was recorded."""
    settings: SamplingSettings
    seed: int | None = None
    """The seed that was used, also where the settings leave it open; None where nobody knows."""
    prompt: Ids = field(default_factory=lambda: np.empty(0, np.int32))
    """What penalties and DRY saw before the answer."""
    first: int = 0
    """Position of the first token: an answer that goes on does not begin at 0."""
    breakers: Breakers = NO_BREAKERS

    @property
    def recorded(self) -> int:
        """How many tokens have a record."""
        return 0 if self.records is None else min(len(self.records), self.tokens.size)

    def record_of(self, index: int) -> TokenRecords | None:
        """Return the records where there is one of the token at this index."""
        return self.records if index < self.recorded else None

    def draw_number(self, index: int) -> float | None:
        """Return the number in [0, 1) that drew the token at an index."""
        return None if self.seed is None else uniform(self.seed, self.first + index)


def xtc_decisions(settings: SamplingSettings, seed: int | None, positions: range) -> bool | list[bool] | None:
    """Return where XTC takes effect: at all positions or at none, at each, or None where the seed is not known."""
    chance = settings.xtc_probability
    if chance <= 0.0 or chance >= 1.0:
        return chance >= 1.0
    if seed is None:
        return None
    return [uniform(seed, position, XTC_STREAM) < chance for position in positions]
