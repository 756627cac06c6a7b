"""The stages of llama.cpp's sampler chain one by one, pure, in its arithmetic (float32, summed in order).

Must not know the native library; `tests/probability` holds each stage against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.core.sampling import REMEMBERING, SamplingSettings
from app.probability.candidates import Candidates, Logits, Places, falling
from app.probability.dry import NO_BREAKERS, Breakers, DryRule, apply_dry

_LARGEST_XTC_THRESHOLD = 0.5
_FIRST_SORTED = (256, 4096)
_LARGEST_EXPONENT = 80.0


@dataclass(frozen=True, slots=True)
class Step:
    """What the stages need to know of one step beside the candidates."""

    history: npt.NDArray[np.int32]
    """The tokens of prompt and answer before this step, oldest first; as many as the stages look back."""
    xtc_decides: bool = False
    """Whether XTC's own number for this step says that it takes effect."""
    breakers: Breakers = NO_BREAKERS
    log_outside: float = -math.inf
    """Logarithm of the sum of e^logit over tokens that are alive but not among the candidates."""


_Apply = Callable[[Candidates, Step], Candidates]


@dataclass(frozen=True, slots=True)
class Stage:
    """One active stage of a chain; `apply` cuts or reshapes the candidates."""

    name: str
    apply: _Apply


def chain(settings: SamplingSettings) -> list[Stage]:
    """Return the stages that do something with these settings, in the order in which they run.

    A greedy chain has no stage that cuts but the last one, which keeps the most likely token.
    """
    s = settings
    rule = dry_rule(s)
    stages: dict[str, tuple[bool, _Apply]] = {
        "penalties": (s.penalty_reach(cells=1) > 0, lambda c, step: _penalties_of(s, c, step)),
        "dry": (rule.is_active, lambda c, step: apply_dry(c, step.history, rule, step.breakers)),
        "top_k": (s.top_k > 0, lambda c, _: top_k(c, s.top_k)),
        "typical": (_single(s.typical_p) < 1.0, lambda c, _: typical(c, s.typical_p)),
        "top_p": (_single(s.top_p) < 1.0, lambda c, step: top_p(c, s.top_p, step.log_outside)),
        "min_p": (_single(s.min_p) > 0, lambda c, _: min_p(c, s.min_p)),
        "xtc": (_xtc_can_act(s), lambda c, step: _xtc_of(s, c, step)),
        "temperature": (True, lambda c, _: temperature(c, s.temperature)),
    }
    names = s.stages
    if s.is_greedy:
        names = (*(name for name in names if name in REMEMBERING), "temperature")
    return [Stage(name, stages[name][1]) for name in names if stages[name][0]]


def dry_rule(s: SamplingSettings) -> DryRule:
    """Return the settings of DRY; where the stage is switched off its strength is 0."""
    multiplier = 0.0 if "dry" in s.off else s.dry_multiplier
    return DryRule(multiplier, s.dry_base, s.dry_allowed_length, s.dry_penalty_last_n)


def probabilities(logits: Logits, log_outside: float = -math.inf) -> Logits:
    """Return the softmax, in float32 and summed in order, of logits that may not be all that there are."""
    largest = logits.max()
    weights: Logits = logits - largest
    np.exp(weights, out=weights)
    outside = math.exp(min(log_outside - float(largest), _LARGEST_EXPONENT))
    weights /= np.cumsum(weights)[-1] + _single(outside)
    return weights


def penalties(
    candidates: Candidates, recent: npt.NDArray[np.int32], repeat: float, frequency: float, presence: float
) -> Candidates:
    """Lower the logits of recent tokens: the repetition penalty scales, the other two subtract."""
    if recent.size == 0:
        return candidates.with_logits(candidates.logits, np.empty(0, np.int64))
    tokens, times = np.unique(recent, return_counts=True)
    touched = candidates.places_of(tokens)
    counts = times[np.searchsorted(tokens, candidates.ids[touched])]
    logits = candidates.logits.copy()
    logits[touched] = penalised(logits[touched], counts, repeat, frequency, presence)
    return candidates.with_logits(logits, touched)


def penalised(
    logits: Logits, counts: npt.NDArray[np.int64], repeat: float, frequency: float, presence: float
) -> Logits:
    """Return what the penalties make of the logits of tokens that occurred so often, each at least once."""
    with np.errstate(over="ignore"):  # what DRY lowered before may be as low as a number gets
        scaled = np.where(logits <= 0, logits * _single(repeat), logits / _single(repeat))
    lowered: Logits = scaled - (counts.astype(np.float32) * _single(frequency) + _single(presence))
    return lowered


def top_k(candidates: Candidates, k: int) -> Candidates:
    """Keep the k largest logits, in order; 0 keeps all."""
    if k <= 0:
        return candidates
    if candidates.is_sorted:
        return candidates.kept(slice(0, k), is_sorted=True)
    return candidates.kept(candidates.in_order(k), is_sorted=True)


def typical(candidates: Candidates, p: float) -> Candidates:
    """Keep the tokens whose surprise is closest to the entropy until their mass is above p, the closest first."""
    if _single(p) >= 1.0:
        return candidates
    candidates = _sorted(candidates)
    p_of = probabilities(candidates.logits)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.log(p_of)
        np.negative(surprise, out=surprise)
        terms = p_of * surprise
    # What rounds to probability 0 adds nothing to the entropy; llama.cpp would get NaN from it and cut at random.
    terms[p_of == 0] = 0
    surprise -= np.cumsum(terms)[-1]
    closeness = np.negative(np.abs(surprise, out=surprise), out=surprise)
    return candidates.kept(_until(lambda count: _closest(closeness, count), p_of, p, "right"), is_sorted=False)


def top_p(candidates: Candidates, p: float, log_outside: float = -math.inf) -> Candidates:
    """Keep the most likely tokens up to and with the one at which their mass reaches p."""
    if _single(p) >= 1.0:
        return candidates
    p_of = probabilities(candidates.logits, log_outside)
    if candidates.is_sorted:
        return candidates.kept(slice(0, int(np.searchsorted(np.cumsum(p_of), np.float32(p))) + 1), is_sorted=True)
    if candidates.ranking is None:
        return candidates.kept(_until(candidates.in_order, p_of, p, "left"), is_sorted=True)
    order = candidates.in_order(candidates.ids.size)
    return candidates.kept(_until(lambda count: order[:count], p_of, p, "left"), is_sorted=True)


def min_p(candidates: Candidates, p: float) -> Candidates:
    """Keep the tokens with at least the share p of the most likely token's probability."""
    if _single(p) <= 0:
        return candidates
    cut = candidates.logits.max() + np.log(np.float32(p))
    return candidates.kept(np.flatnonzero(candidates.logits >= cut), is_sorted=candidates.is_sorted)


def xtc(candidates: Candidates, threshold: float, log_outside: float = -math.inf) -> Candidates:
    """Drop all but the least likely of the tokens whose probability is at least the threshold."""
    if _single(threshold) > _LARGEST_XTC_THRESHOLD or candidates.ids.size < 2:
        return candidates
    candidates = _sorted(candidates)
    likely = int(np.count_nonzero(probabilities(candidates.logits, log_outside) >= _single(threshold)))
    return candidates.kept(slice(max(likely - 1, 0), None), is_sorted=True)


def temperature(candidates: Candidates, t: float) -> Candidates:
    """Divide the logits by t; at 0 or below only the first of the largest is left."""
    if _single(t) <= 0:
        best = int(candidates.logits.argmax())
        return candidates.kept(slice(best, best + 1), is_sorted=True)
    with np.errstate(over="ignore"):
        return candidates._replace(logits=candidates.logits / _single(t))


def recent_of(history: npt.NDArray[np.int32], last_n: int) -> npt.NDArray[np.int32]:
    """Return the last n tokens of a history; -1 is all of them."""
    return history if last_n < 0 else history[max(history.size - last_n, 0) :]


def _penalties_of(s: SamplingSettings, candidates: Candidates, step: Step) -> Candidates:
    recent = recent_of(step.history, s.penalty_last_n)
    return penalties(candidates, recent, s.repeat_penalty, s.frequency_penalty, s.presence_penalty)


def _xtc_of(s: SamplingSettings, candidates: Candidates, step: Step) -> Candidates:
    return xtc(candidates, s.xtc_threshold, step.log_outside) if step.xtc_decides else candidates


def _xtc_can_act(s: SamplingSettings) -> bool:
    return s.xtc_probability > 0.0 and _single(s.xtc_threshold) <= _LARGEST_XTC_THRESHOLD


def _until(first: Callable[[int], Places], p_of: Logits, mass: float, side: Literal["left", "right"]) -> Places:
    # The first places of an order, up to and with the one that reaches the mass ("left") or passes it ("right").
    for count in (*_FIRST_SORTED, p_of.size):
        order = first(count)
        last = int(np.searchsorted(np.cumsum(p_of[order]), np.float32(mass), side=side))
        if last < count:
            break
    return order[: last + 1]


def _closest(closeness: Logits, count: int) -> Places:
    # What `falling` says. In a sorted row the surprise rises, so the closest lie around one place: it is enough to
    # sort there, if nothing outside is as close as the last of them.
    peak = int(closeness.argmax())
    low, high = max(peak - count, 0), peak + count + 1
    if low == 0 and high >= closeness.size:
        return falling(closeness, count)
    order = falling(closeness[low:high], count) + low
    last = closeness[order[-1]]
    is_among = closeness[:low].max(initial=-np.inf) < last and closeness[high:].max(initial=-np.inf) <= last
    return order if is_among else falling(closeness, count)


def _sorted(candidates: Candidates) -> Candidates:
    if candidates.is_sorted:
        return candidates
    return candidates.kept(candidates.in_order(candidates.ids.size), is_sorted=True)


def _single(value: float) -> float:
    # llama.cpp keeps its settings in float32: 0.99999999 is 1 there.
    return float(np.float32(value))
