"""The figures of the answer that is being written, or of the last one; unknown is None.

Counts and clocks are the engine's; only the time to the first painted character comes from the window.
"""

from __future__ import annotations

from collections import deque

import msgspec

from app.core.events import Failed, Finished, PrefillProgress, PromptReady, Step, Tokens
from app.core.metrics import StopReason
from app.core.model import MemoryKind
from app.core.signal import Signal
from app.services.engine_session import AnswerEvent, EngineSession

RATE_WINDOW_NS = 1_500_000_000
MIN_PREFILL_TOKENS = 16
"""Below so many evaluated tokens a prefill speed says nothing."""
_NO_CELLS: dict[str, int | None] = {
    "kv_cells_used": None,
    "kv_bytes": None,
    "window_cells_used": None,
    "window_cells": None,
}


class Figures(msgspec.Struct, frozen=True):
    """What the live panel shows."""

    ttft_ms: float | None = None
    prefill_tokens_per_s: float | None = None
    """From the first evaluated part of the prompt on while it is read, over all of it afterwards."""
    prompt_tokens: int | None = None
    prompt_tokens_from_cache: int | None = None
    decode_tokens_per_s: float | None = None
    """Over the last 1.5 s while the answer is written, over all of it afterwards."""
    sampled_tokens: int = 0
    kv_cells_used: int | None = None
    kv_cells: int | None = None
    kv_bytes: int | None = None
    window_cells_used: int | None = None
    """Of the layers that keep a sliding window; None for a model without."""
    window_cells: int | None = None
    memory_kind: MemoryKind | None = None
    """What the loaded model keeps of its past; None while none is loaded."""
    checkpoints: int | None = None
    """Saved states of a model that cannot rewind without; None for one that can."""
    checkpoint_bytes: int = 0
    stop_reason: StopReason | None = None


class Live:
    """Follows the answers of the session and works out the figures."""

    def __init__(self, session: EngineSession) -> None:
        self.changed: Signal[()] = Signal()
        """At least one figure is another one."""
        self._session = session
        self._figures = Figures()
        self._request: int | None = None
        self._sent_ns = 0
        self._painted = False
        self._steps: deque[tuple[int, int]] = deque()
        self._prompt: PromptReady | None = None
        session.sent.connect(self._begin)
        session.answer_told.connect(self._take)
        session.changed.connect(self._model_changed)

    @property
    def figures(self) -> Figures:
        """The figures as they are now."""
        return self._figures

    def first_text_painted(self, now_ns: int) -> None:
        """The first text of the answer is on the screen: the time to the first token ends here."""
        if self._request is not None and not self._painted:
            self._painted = True
            self._set(ttft_ms=(now_ns - self._sent_ns) / 1e6)

    def _begin(self, request: int, sent_ns: int) -> None:
        self._request, self._sent_ns, self._painted = request, sent_ns, False
        self._steps.clear()
        self._prompt = None
        before = self._figures
        self._figures = Figures(
            kv_cells_used=before.kv_cells_used,
            window_cells_used=before.window_cells_used,
            memory_kind=before.memory_kind,
            checkpoints=before.checkpoints,
            checkpoint_bytes=before.checkpoint_bytes,
        )
        self._model_changed()
        self.changed.emit()

    def _take(self, event: AnswerEvent) -> None:
        if event.request != self._request:
            return
        match event:
            case PromptReady():
                self._prompt = event
                tokens = len(event.ids) // 4
                self._set(prompt_tokens=tokens, prompt_tokens_from_cache=event.from_cache)
            case PrefillProgress():
                self._set(prefill_tokens_per_s=self._prefill_rate(event), **self._cells(event.done))
            case Tokens():
                self._take_tokens(event)
            case Finished():
                self._take_finished(event)
            case Failed() | Step():
                pass

    def _prefill_rate(self, event: PrefillProgress) -> float | None:
        if self._prompt is None:
            return None
        tokens = event.done - event.from_cache
        took_ns = event.at_ns - self._prompt.at_ns
        return tokens * 1e9 / took_ns if tokens >= MIN_PREFILL_TOKENS and took_ns > 0 else None

    def _take_tokens(self, event: Tokens) -> None:
        count = event.first + event.count
        if not self._steps and event.count > 1:
            self._steps.append((event.first_ns, event.first + 1))
        self._steps.append((event.last_ns, count))
        while len(self._steps) > 2 and event.last_ns - self._steps[1][0] >= RATE_WINDOW_NS:
            self._steps.popleft()
        (start_ns, start_count), (end_ns, end_count) = self._steps[0], self._steps[-1]
        rate = (end_count - start_count) * 1e9 / (end_ns - start_ns) if end_ns > start_ns else None
        self._set(decode_tokens_per_s=rate, sampled_tokens=count, **self._cells(event.cells_used))

    def _take_finished(self, event: Finished) -> None:
        metrics = event.metrics
        self._set(
            ttft_ms=self._figures.ttft_ms if self._painted else metrics.ttft_ms,
            prefill_tokens_per_s=metrics.prefill_tokens_per_s,
            prompt_tokens=metrics.prompt_tokens,
            prompt_tokens_from_cache=metrics.prompt_tokens_from_cache,
            decode_tokens_per_s=metrics.decode_tokens_per_s,
            sampled_tokens=metrics.sampled_tokens,
            kv_cells_used=metrics.kv.cells_used,
            kv_cells=metrics.kv.cells,
            kv_bytes=metrics.kv.bytes,
            window_cells_used=metrics.kv.window_cells_used,
            window_cells=metrics.kv.window_cells,
            checkpoints=metrics.kv.checkpoints if self._rewinds_by_checkpoints else None,
            checkpoint_bytes=metrics.kv.checkpoint_bytes,
            stop_reason=event.stop_reason,
        )

    def _model_changed(self) -> None:
        model = self._session.model
        if model is None:
            if self._figures.kv_cells is not None:
                self._set(kv_cells=None, memory_kind=None, checkpoints=None, checkpoint_bytes=0, **_NO_CELLS)
        elif (self._figures.kv_cells, self._figures.window_cells, self._figures.memory_kind) != (
            model.context,
            model.cache.window_cells,
            model.memory_kind,
        ):
            saved = (self._figures.checkpoints or 0) if self._rewinds_by_checkpoints else None
            used = self._cells(self._figures.kv_cells_used or 0)
            self._set(kv_cells=model.context, memory_kind=model.memory_kind, checkpoints=saved, **used)

    @property
    def _rewinds_by_checkpoints(self) -> bool:
        model = self._session.model
        return model is not None and model.memory_kind != "plain"

    def _cells(self, used: int) -> dict[str, int | None]:
        """Return the figures of so many cells in use; a window holds the last of them."""
        model = self._session.model
        if model is None:
            return {**_NO_CELLS, "kv_cells_used": used}
        window = model.cache.window_cells
        in_window = min(used, window) if window is not None else None
        return {
            "kv_cells_used": used,
            "kv_bytes": model.cache.in_use(used, model.context, in_window or 0),
            "window_cells_used": in_window,
            "window_cells": window,
        }

    def _set(self, **changes: object) -> None:
        figures = msgspec.structs.replace(self._figures, **changes)
        if figures != self._figures:
            self._figures = figures
            self.changed.emit()
