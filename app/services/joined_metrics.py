"""The figures of an answer that was written in parts: sums of both, or unknown; never those of one part alone.

What comes before the first token is that of the first part; what the cells and the memory hold, that of the last one.
"""

from __future__ import annotations

import msgspec

from app.core.circumstances import Circumstances
from app.core.metrics import Loading, Metrics, PageIns
from app.planner.circumstances import kept_circumstances

_OF_A_LOAD = (
    "gpu_is_there",
    "gpu_layers",
    "all_layers",
    "weight_bytes_per_token",
    "threads",
    "cores",
    "micro_batch",
    "kv_is_f16",
    "locks_memory",
    "checkpoints",
)


def without_beginning(rest: Metrics, tokens: int) -> Metrics:
    """Return the figures of a whole answer of so many tokens whose beginning has none: those of all tokens are unknown."""
    return msgspec.structs.replace(
        rest,
        ttft_ms=None,
        sampled_tokens=tokens,
        decode_tokens_per_s=None,
        itl_ms=None,
        traffic_gb_per_s=None,
        sampling_ms=None,
        drift=None,
        decode_cpu_s=None,
        page_ins=None,
        held_ms=None,
        parts=rest.parts + 1,
        circumstances=None,
    )


def joined_metrics(first: Metrics, rest: Metrics) -> Metrics:
    """Return the figures of the whole answer: the time between the parts is nobody's, like that of a pause."""
    if not rest.sampled_tokens:
        kept = {"kv": rest.kv, "memory": rest.memory, "held_ms": _sum(first.held_ms, rest.held_ms)}
        return msgspec.structs.replace(first, **kept)
    decode = _rate(first, rest)
    cpu_s, sampling_ms = _sum(first.decode_cpu_s, rest.decode_cpu_s), _sum(first.sampling_ms, rest.sampling_ms)
    return msgspec.structs.replace(
        first,
        decode_tokens_per_s=decode,
        sampled_tokens=first.sampled_tokens + rest.sampled_tokens,
        itl_ms=None if first.itl_ms and rest.itl_ms else first.itl_ms or rest.itl_ms,
        kv=rest.kv,
        memory=rest.memory,
        traffic_gb_per_s=_traffic(rest, decode) if _same_load(first, rest) else None,
        sampling_ms=sampling_ms,
        drift=None,
        decode_cpu_s=cpu_s,
        page_ins=_page_ins(first.page_ins, rest.page_ins),
        loading=_loading(first.loading, rest.loading),
        parts=first.parts + rest.parts,
        held_ms=_sum(first.held_ms, rest.held_ms),
        circumstances=_circumstances(first, rest),
    )


def _rate(first: Metrics, rest: Metrics) -> float | None:
    """Return the speed of both decodes; None where a part has gaps whose time nobody knows."""
    if any(part.gaps and part.decode_s is None for part in (first, rest)):
        return None
    seconds = sum(part.decode_s or 0.0 for part in (first, rest))
    return (first.gaps + rest.gaps) / seconds if seconds > 0 else None


def _traffic(rest: Metrics, decode: float | None) -> float | None:
    """Return the bytes that the last token read, as often as tokens came."""
    if rest.traffic_gb_per_s is None or not rest.decode_tokens_per_s or decode is None:
        return None
    return rest.traffic_gb_per_s * decode / rest.decode_tokens_per_s


def _page_ins(first: PageIns | None, rest: PageIns | None) -> PageIns | None:
    if first is None or rest is None:
        return None
    known = first.decode_bytes is not None and rest.decode_bytes is not None
    return msgspec.structs.replace(
        first,
        decode_faults=first.decode_faults + rest.decode_faults,
        decode_bytes=(first.decode_bytes or 0) + (rest.decode_bytes or 0) if known else None,
    )


def _loading(first: Loading | None, rest: Loading | None) -> Loading | None:
    """Return how the model was loaded for both parts; None where it was loaded in another way meanwhile."""
    if first is None or rest is None:
        return None
    return first if msgspec.structs.replace(rest, is_first=first.is_first) == first else None


def _same_load(first: Metrics, rest: Metrics) -> bool:
    one, other = kept_circumstances(first), kept_circumstances(rest)
    return all(getattr(one, name) == getattr(other, name) for name in _OF_A_LOAD)


def _circumstances(first: Metrics, rest: Metrics) -> Circumstances | None:
    """Return what was around both parts; nothing of a load that was another one for each."""
    one, other = kept_circumstances(first), kept_circumstances(rest)
    if first.circumstances is None and rest.circumstances is None:
        return None
    joined = Circumstances(
        first_after_load=one.first_after_load,
        unused_cache=one.unused_cache,
        read_again=one.read_again,
        window_busy_s=_sum(one.window_busy_s, other.window_busy_s),
        gpu_limits=one.gpu_limits & other.gpu_limits,
        expected=_expected(first, rest),
        expected_prefill_s=_expected_reading(one.expected_prefill_s, other.expected_prefill_s),
        # A part with a grammar beside one without: what of the draws it took is not known.
        has_grammar=one.has_grammar and other.has_grammar,
        top_k_is_off=one.top_k_is_off and other.top_k_is_off and one.has_grammar == other.has_grammar,
    )
    if not _same_load(first, rest):
        return joined
    of_load = {name: getattr(other, name) for name in (*_OF_A_LOAD, "gpu_used_bytes", "gpu_buffer_bytes")}
    most = other.memory_gb_per_s if other.memory_gb_per_s is not None else one.memory_gb_per_s
    return msgspec.structs.replace(joined, **of_load, memory_gb_per_s=most)


def _expected(first: Metrics, rest: Metrics) -> tuple[float, float, float] | None:
    """Return how fast both parts together should have been: as many gaps in the time that each part should take."""
    parts = [(part.gaps, kept_circumstances(part).expected) for part in (first, rest) if part.gaps]
    speeds = [(gaps, speed) for gaps, speed in parts if speed is not None and min(speed) > 0]
    if not speeds or len(speeds) < len(parts):
        return None
    whole = sum(gaps for gaps, _speed in speeds)
    speed, low, high = (whole / sum(gaps / speed[place] for gaps, speed in speeds) for place in range(3))
    return speed, low, high


def _expected_reading(
    one: tuple[float, float, float] | None, other: tuple[float, float, float] | None
) -> tuple[float, float, float] | None:
    """Return how long both prompts together should have taken to be read."""
    if one is None or other is None:
        return None
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
