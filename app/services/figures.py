"""What the live panel shows of an answer and of the cache, and what of it can be told of an answer that has ended.

Pure: told an answer and the circumstances that it was written in. Unknown is None.
"""

from __future__ import annotations

import msgspec

from app.core.circumstances import Circumstances
from app.core.devices import MAIN_MEMORY
from app.core.diagnosis import Diagnosis
from app.core.events import Finished
from app.core.metrics import ItlQuantiles, Metrics, StopReason
from app.core.model import MemoryKind
from app.planner.circumstances import kept_circumstances
from app.planner.diagnosis import diagnose
from app.services.cache_parts import CachePart
from app.services.ttft import TtftPart, parts_at_end
from app.services.turns import Turn


class Elsewhere(msgspec.Struct, frozen=True):
    """An answer that is being written in a conversation that is not shown."""

    title: str
    decode_tokens_per_s: float | None = None
    """Over the last 1.5 s."""


class Figures(msgspec.Struct, frozen=True):
    """What the live panel shows."""

    is_writing: bool = False
    """An answer is being waited for or written."""
    ttft_ms: float | None = None
    ttft_parts: tuple[TtftPart, ...] = ()
    """Parts of the time to the first token, those that are known; none where all of it is not."""
    ttft_is_lost: bool = False
    """The answer has its first letters, but nobody kept when: it was interrupted after them."""
    prefill_tokens_per_s: float | None = None
    """From the first evaluated part of the prompt on while it is read, over all of it afterwards."""
    prompt_tokens: int | None = None
    prompt_tokens_from_cache: int | None = None
    decode_tokens_per_s: float | None = None
    """Over the last 1.5 s while the answer is written, over all of it afterwards."""
    decode_mean_tokens_per_s: float | None = None
    sampled_tokens: int = 0
    gap_count: int = 0
    """Gaps between neighbouring tokens so far."""
    itl_ms: ItlQuantiles | None = None
    """Of the last gaps while the answer is written, of all of them afterwards."""
    traffic_gb_per_s: float | None = None
    kv_cells_used: int = 0
    kv_cells: int = 0
    """0 while no model is loaded: then no cells are reserved."""
    kv_bytes: int | None = 0
    kv_bytes_reserved: int | None = 0
    kv_parts: tuple[CachePart, ...] = ()
    kv_holds: str = ""
    """The title of the conversation that the cells hold, where it is not the one that is shown."""
    window_cells_used: int | None = None
    window_cells: int | None = None
    """Of the layers that keep a sliding window; None for a model without."""
    keeps_all: bool = True
    """Whether some layer keeps every token: else the cells are fewer than those of the context."""
    memory_kind: MemoryKind | None = None
    """What the loaded model keeps of its past; None while none is loaded."""
    checkpoints: int | None = None
    """Saved states of a model that cannot rewind without; None for one that can."""
    checkpoint_bytes: int = 0
    stop_reason: StopReason | None = None
    is_cut_off: bool = False
    """The answer was interrupted: there are no figures of all of it, at most of its beginning."""
    traffic_ceiling: float | None = None
    """The most that the memory gives which holds the weights, in 10^9 bytes/s, where it was measured."""
    diagnosis: Diagnosis | None = None
    """Where the time of the answer went, once it has ended."""
    elsewhere: Elsewhere | None = None


def figures_at_end(finished: Finished, painted_ms: float | None) -> Figures:
    """Return the figures of an answer that has ended; `painted_ms` is the time to the first text on the screen."""
    metrics = finished.metrics
    circumstances = _circumstances(metrics)
    ttft_ms = painted_ms if painted_ms is not None else metrics.ttft_ms
    parts = parts_at_end(metrics.ttft_parts_ms, metrics.ttft_ms, painted_ms)
    return Figures(
        ttft_ms=ttft_ms,
        ttft_parts=parts if ttft_ms is not None else (),
        ttft_is_lost=ttft_ms is None and bool(finished.text),
        prefill_tokens_per_s=metrics.prefill_tokens_per_s,
        prompt_tokens=metrics.prompt_tokens,
        prompt_tokens_from_cache=metrics.prompt_tokens_from_cache,
        decode_tokens_per_s=metrics.decode_tokens_per_s,
        decode_mean_tokens_per_s=metrics.decode_tokens_per_s,
        sampled_tokens=metrics.sampled_tokens,
        itl_ms=metrics.itl_ms,
        traffic_gb_per_s=metrics.traffic_gb_per_s,
        traffic_ceiling=circumstances.memory_gb_per_s,
        stop_reason=finished.stop_reason,
        diagnosis=diagnose(_as_seen(metrics, ttft_ms, parts), circumstances),
    )


def _as_seen(metrics: Metrics, ttft_ms: float | None, parts: tuple[TtftPart, ...]) -> Metrics:
    """Return the figures with the times to the screen, which the engine does not know."""
    paint = next((part.ms for part in parts if part.kind == "paint"), None)
    ttft = msgspec.structs.replace(metrics.ttft_parts_ms, paint=paint)
    return msgspec.structs.replace(metrics, ttft_ms=ttft_ms, ttft_parts_ms=ttft)


def figures_of_turn(turn: Turn) -> Figures:
    """Return what is kept of an answer's figures; those of one that was cut off are unknown."""
    if turn.role != "assistant" or turn.finished is None:
        lost = turn.role == "assistant" and turn.ttft_ms is None and bool(turn.text)
        return Figures(ttft_ms=turn.ttft_ms, ttft_is_lost=lost, is_cut_off=turn.state == "interrupted")
    return figures_at_end(turn.finished, turn.ttft_ms)


def _circumstances(metrics: Metrics) -> Circumstances:
    """Return what the figures themselves say of how an answer was computed; some do not say how many layers were where."""
    if metrics.circumstances is not None or metrics.loading is not None:
        return kept_circumstances(metrics)
    on_gpu = any(use.weights for use in metrics.memory if use.device != MAIN_MEMORY)
    return Circumstances(gpu_is_there=True, gpu_layers=1, all_layers=1) if on_gpu else Circumstances()
