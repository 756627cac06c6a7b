"""Figures of one lane, from its tokens and their record: how likely, how uncertain, how repetitive, how long.

None where nothing is known, never NaN. Must not know other lanes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.probability.candidates import Ids
from app.probability.known_rows import Floats
from app.probability.lane import Lane

REPEATED_LENGTH = 4
"""Tokens of the sequences that are looked for again."""


@dataclass(frozen=True, slots=True)
class LaneScores:
    """Figures of one lane; logarithms are natural, entropy and surprise in nats, of the raw model before any stage."""

    length: int
    """Tokens, the one that ends the answer included."""
    recorded: int
    """Tokens of which there is a record: the probabilities and entropies are of these."""
    mean_log_probability: float | None
    perplexity: float | None
    """e^-mean: among so many equally likely tokens the model would have had to choose, on average."""
    mean_entropy: float | None
    repetition: float | None
    """Share of the sequences of four tokens that came up before in the answer: 1 - different ones / all. It is seq-rep-4
    of Welleck et al., "Neural Text Generation with Unlikelihood Training", arXiv:1908.04319. None below four tokens."""
    distinct_1: float | None
    distinct_2: float | None
    """Different tokens, and pairs of tokens, by all of them: Li et al., "A Diversity-Promoting Objective Function for
    Neural Conversation Models", arXiv:1510.03055."""
    surprise: tuple[float | None, ...]
    """-log-probability of each recorded token."""
    entropies: tuple[float | None, ...]
    """Of the distribution that each recorded token came from."""


def scores(lane: Lane) -> LaneScores:
    """Return the figures of a lane."""
    count = lane.recorded
    empty = np.empty(0)
    log_probability = empty if lane.records is None else lane.records.log_probability[:count].astype(np.float64)
    entropy = empty if lane.records is None else lane.records.entropy[:count].astype(np.float64)
    mean = _mean(log_probability)
    repeated = distinct(lane.tokens, REPEATED_LENGTH)
    return LaneScores(
        length=lane.tokens.size,
        recorded=count,
        mean_log_probability=mean,
        perplexity=None if mean is None else _exp(-mean),
        mean_entropy=_mean(entropy),
        repetition=None if repeated is None else 1.0 - repeated,
        distinct_1=distinct(lane.tokens, 1),
        distinct_2=distinct(lane.tokens, 2),
        surprise=_listed(-log_probability),
        entropies=_listed(entropy),
    )


def distinct(tokens: Ids, length: int) -> float | None:
    """Return the share of different sequences among all of so many tokens; None where there is no such sequence."""
    count = tokens.size - length + 1
    if count <= 0:
        return None
    listed = tokens.tolist()
    sequences = zip(*(listed[place : place + count] for place in range(length)), strict=True)
    return len(set(sequences)) / count


def _mean(values: Floats) -> float | None:
    usable = values[np.isfinite(values)]
    return float(usable.mean()) if usable.size else None


def _listed(values: Floats) -> tuple[float | None, ...]:
    listed: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        listed[place] = None
    return tuple(listed)


def _exp(logarithm: float) -> float | None:
    return math.exp(logarithm) if logarithm < 700.0 else None
