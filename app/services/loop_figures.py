"""The single figures of the picture of the loop, out of what the engine told of an answer or what is kept of it. Pure."""

from __future__ import annotations

from app.core.metrics import KVUse
from app.services.loop_run import LoopRun
from app.services.loop_values import LoopModel, LoopPrefill, Phase
from app.services.turns import Turn


def phase_of(turn: Turn | None, run: LoopRun | None) -> Phase:
    """Return how far an answer is."""
    if turn is None:
        return "empty"
    if turn.state == "done":
        return "done"
    if turn.state == "interrupted":
        return "interrupted"
    if run is None:
        return "waiting"
    if run.is_held:
        return "held"
    return "writing" if run.tokens else "reading"


def prefill_of(turn: Turn | None, run: LoopRun | None, prompt: int | None) -> LoopPrefill | None:
    """Return how a prompt of so many tokens was read; an answer that is over has the figures that are kept of it."""
    if turn is not None and turn.finished is not None and turn.state == "done":
        metrics = turn.finished.metrics
        total, used = metrics.prompt_tokens, metrics.kv.cells_used
        done = total if metrics.sampled_tokens else min(used, total)  # stopped while it was read
        begun = max(total - prompt, 0) if prompt is not None else 0
        return LoopPrefill(done, total, metrics.prompt_tokens_from_cache, metrics.prefill_tokens_per_s, begun)
    return run.prefill if run is not None else None


def kv_of(turn: Turn | None) -> KVUse | None:
    """Return what the cells held at the end of an answer; None before it."""
    if turn is None or turn.finished is None or turn.state != "done":
        return None
    return turn.finished.metrics.kv


def cells_of(
    turn: Turn | None, run: LoopRun | None, model: LoopModel | None
) -> tuple[int | None, int | None, int | None]:
    """Return the cells in use, those there are, and the bytes of those in use."""
    if (kv := kv_of(turn)) is not None:
        return kv.cells_used, kv.cells, kv.bytes
    used = run.cells_used if run is not None else None
    if model is None:
        return used, None, None
    return used, model.cells, model.bytes_of(used)


def written_by(turn: Turn | None, run: LoopRun | None) -> int:
    """Return how many tokens an answer has."""
    if run is not None and turn is not None and turn.state in ("waiting", "writing"):
        return run.first + run.tokens
    return len(turn.ids) // 4 if turn is not None else 0


def pace_of(turn: Turn | None, run: LoopRun | None) -> float | None:
    """Return how fast an answer is written, or was, on average."""
    if turn is not None and turn.state == "done" and turn.finished is not None:
        return turn.finished.metrics.decode_tokens_per_s
    return run.tokens_per_s if run is not None else None
