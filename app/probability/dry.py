"""DRY: lowers the logit of each token that would continue a sequence which occurred before.

Must not know a vocabulary: sequence breakers come in as tokens, made once for a model by `find_breakers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.probability.candidates import Candidates

_LOG_OF_LARGEST = np.float32(88.7228391)
_LEAST_LIMITED_BASE = np.float32(1.000001)
_MOST_BREAKER_BYTES = 40
_MOST_TAIL_TOKENS = 20


@dataclass(frozen=True, slots=True)
class Breakers:
    """Token sequences over which DRY does not match: by first token, what must follow (often nothing)."""

    tails: Mapping[int, Sequence[tuple[int, ...]]] = field(default_factory=dict)


NO_BREAKERS = Breakers()


@dataclass(frozen=True, slots=True)
class DryRule:
    """The settings of DRY."""

    multiplier: float
    base: float
    allowed_length: int
    last_n: int
    """How far it looks back; 0 is off, -1 the whole history."""

    @property
    def is_active(self) -> bool:
        """Whether the stage does anything at all."""
        return self.multiplier != 0.0 and self.base >= 1.0 and self.last_n != 0

    @property
    def longest(self) -> int | None:
        """The length of a match at which the penalty stops growing, so that it stays a number; None is no limit."""
        base = np.float32(self.base)
        if base == 1.0:
            return self.allowed_length
        return self.allowed_length + int(_LOG_OF_LARGEST / np.log(base)) if base > _LEAST_LIMITED_BASE else None


def apply_dry(
    candidates: Candidates, history: npt.NDArray[np.int32], rule: DryRule, breakers: Breakers
) -> Candidates:
    """Subtract multiplier x base ^ (length of the match - allowed length) from each token that continues a match."""
    tokens, lowered_by = dry_penalties(history, rule, breakers)
    if tokens.size == 0:
        return candidates
    touched = candidates.places_of(tokens)
    logits = candidates.logits.copy()
    logits[touched] -= lowered_by[np.searchsorted(tokens, candidates.ids[touched])]
    return candidates.with_logits(logits, touched)


def dry_penalties(
    history: npt.NDArray[np.int32], rule: DryRule, breakers: Breakers
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the tokens that continue a match, rising, and what is subtracted from each."""
    recent = history if rule.last_n < 0 else history[max(history.size - rule.last_n, 0) :]
    lengths: dict[int, int] = {}
    if recent.size > rule.allowed_length:
        limit = _unbroken_length(recent, breakers)
        if limit >= rule.allowed_length:
            lengths = _continued_lengths(recent, rule, limit)
    tokens = sorted(token for token in lengths if () not in breakers.tails.get(token, ()))
    return np.array(tokens, np.int32), np.array([_penalty(rule, lengths[token]) for token in tokens], np.float32)


def find_breakers(
    texts: Iterable[str], pieces: Sequence[bytes], tokenize: Callable[[bytes], Sequence[int]]
) -> Breakers:
    """Return the token sequences that hold a breaker's text; `pieces` are the bytes of every token by itself."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for text in texts:
        breaker = text.encode()[:_MOST_BREAKER_BYTES]
        if not breaker:
            continue
        tails: dict[int, tuple[int, ...]] = {}
        starts = [breaker[:length] for length in range(len(breaker) - 1, 0, -1)]
        for token, piece in enumerate(pieces):
            if breaker in piece:
                _add(found, token, ())
                continue
            for start in starts:
                if piece.endswith(start):
                    if len(start) not in tails:
                        tails[len(start)] = tuple(tokenize(breaker[len(start) :]))[:_MOST_TAIL_TOKENS]
                    _add(found, token, tails[len(start)])
    return Breakers(found)


def _add(found: dict[int, list[tuple[int, ...]]], token: int, tail: tuple[int, ...]) -> None:
    known = found.setdefault(token, [])
    if tail not in known:
        known.append(tail)


def _unbroken_length(recent: npt.NDArray[np.int32], breakers: Breakers) -> int:
    # How many tokens follow the last breaker; a match may not reach further back.
    if not breakers.tails:
        return len(recent)
    heads = np.flatnonzero(np.isin(recent, np.fromiter(breakers.tails, np.int32)))[::-1]
    for head in heads.tolist():
        after = tuple(recent[head + 1 : head + 1 + _MOST_TAIL_TOKENS].tolist())
        matches = [len(tail) for tail in breakers.tails[int(recent[head])] if after[: len(tail)] == tuple(tail)]
        if matches:
            return len(recent) - 1 - int(head) - max(matches)
    return len(recent)


def _continued_lengths(recent: npt.NDArray[np.int32], rule: DryRule, limit: int) -> dict[int, int]:
    # By token, the longest stretch before one of its occurrences that equals the end of the history.
    longest = limit if rule.longest is None else min(limit, rule.longest)
    ends = np.arange(recent.size - 1)
    lengths: dict[int, int] = {}
    for length in range(1, longest + 1):
        ends = ends[ends >= length - 1]
        ends = ends[recent[ends - (length - 1)] == recent[recent.size - length]]
        if ends.size == 0:
            break
        if length >= rule.allowed_length:
            lengths.update(dict.fromkeys(recent[ends + 1].tolist(), length))
    return lengths


def _penalty(rule: DryRule, length: int) -> np.float32:
    power = math.pow(float(np.float32(rule.base)), length - rule.allowed_length)
    with np.errstate(over="ignore"):
        return np.float32(float(np.float32(rule.multiplier)) * power)
