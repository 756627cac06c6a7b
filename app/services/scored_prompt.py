"""How surprising the tokens of one prompt were to the model, as plain values for whoever shows them.

Logarithms are natural and of the raw model, before any stage of the chain; entropies are in nats. Works on the bytes as
they come: a prompt may have a hundred thousand tokens, and no numbers library is there.
"""

from __future__ import annotations

import heapq
import math
from functools import cached_property

import msgspec

from app.core.prompt_scores import PromptScored
from app.services.inspection import InspectedAnswer, InspectedPrompt


class TokenScore(msgspec.Struct, frozen=True):
    """One token behind those before it."""

    log_probability: float
    rank: int
    """Place by falling logit, 1 for the most likely."""
    entropy: float
    """How open it was what would come there."""


class ScoredPrompt:
    """The scores of a prompt of n tokens; its first token has none, because nothing is before it."""

    def __init__(self, event: PromptScored) -> None:
        self._log_probabilities = memoryview(event.log_probabilities).cast("f")
        self._ranks = memoryview(event.ranks).cast("I")
        self._entropies = memoryview(event.entropies).cast("f")

    def __len__(self) -> int:
        """Return how many tokens the prompt has, the first one included."""
        return len(self._ranks) + 1

    def of(self, token: int) -> TokenScore | None:
        """Return the score of a token, counted from 0; None for the first one, and where there is no such token."""
        place = token - 1
        if not 0 <= place < len(self._ranks):
            return None
        return TokenScore(self._log_probabilities[place], self._ranks[place], self._entropies[place])

    @cached_property
    def log_probabilities(self) -> tuple[float | None, ...]:
        """The logarithms of the probabilities, one a token."""
        return (None, *self._log_probabilities)

    @cached_property
    def ranks(self) -> tuple[int | None, ...]:
        """The ranks, one a token."""
        return (None, *self._ranks)

    @cached_property
    def entropies(self) -> tuple[float | None, ...]:
        """The entropies, one a token."""
        return (None, *self._entropies)

    @cached_property
    def mean_surprise(self) -> float | None:
        """The mean of -ln p in nats; None where no token has a score."""
        return -math.fsum(self._log_probabilities) / len(self._ranks) if self._ranks else None

    @property
    def perplexity(self) -> float | None:
        """e to the mean surprise: between as many equally likely tokens the model had to choose on average.

        As in Jelinek, Mercer, Bahl and Baker (1977). Infinite where that is beyond what a float holds.
        """
        if self.mean_surprise is None:
            return None
        try:
            return math.exp(self.mean_surprise)
        except OverflowError:
            return math.inf

    def most_surprising(self, count: int) -> tuple[int, ...]:
        """Return the tokens with the smallest probabilities, the most surprising first, earlier ones first of equals."""
        values = self._log_probabilities
        return tuple(place + 1 for place in heapq.nsmallest(count, range(len(values)), key=values.__getitem__))


def columns_of(prompt: InspectedPrompt, scores: ScoredPrompt | None) -> InspectedAnswer:
    """Return a prompt as the columns of an answer, to be coloured and told like one; unknown without scores."""
    unknown: tuple[None, ...] = (None,) * len(prompt.ids)
    is_known = scores is not None and len(scores) == len(prompt.ids)
    return InspectedAnswer(
        message=prompt.message,
        ids=prompt.ids,
        texts=prompt.texts,
        log_probabilities=scores.log_probabilities if scores is not None and is_known else unknown,
        after=unknown,
        ranks=scores.ranks if scores is not None and is_known else unknown,
        entropies=scores.entropies if scores is not None and is_known else unknown,
        gaps_ms=unknown,
        flags=(0,) * len(prompt.ids),
        recorded=len(prompt.ids) - 1 if is_known else 0,
    )
