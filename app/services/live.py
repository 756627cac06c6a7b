"""The figures of the answer that is being written, or of the last one; unknown is None.

Counts and clocks are the engine's; only the time to the first painted character comes from the window.
"""

from __future__ import annotations

from collections import deque

import msgspec

from app.core.events import Failed, Finished, PrefillProgress, PromptReady, Step, Tokens
from app.core.metrics import StopReason
from app.core.signal import Signal
from app.services.engine_session import AnswerEvent, EngineSession

RATE_WINDOW_NS = 1_500_000_000
MIN_PREFILL_TOKENS = 16
"""Below so many evaluated tokens a prefill speed says nothing."""


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
        used = self._figures.kv_cells_used
        self._figures = Figures(kv_cells_used=used)
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
                self._set(
                    prefill_tokens_per_s=self._prefill_rate(event),
                    kv_cells_used=event.done,
                    kv_bytes=self._bytes(event.done),
                )
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
        self._set(
            decode_tokens_per_s=rate,
            sampled_tokens=count,
            kv_cells_used=event.cells_used,
            kv_bytes=self._bytes(event.cells_used),
        )

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
            stop_reason=event.stop_reason,
        )

    def _model_changed(self) -> None:
        model = self._session.model
        if model is None:
            if self._figures.kv_cells is not None:
                self._set(kv_cells=None, kv_cells_used=None, kv_bytes=None)
        elif self._figures.kv_cells != model.context:
            self._set(kv_cells=model.context, kv_cells_used=self._figures.kv_cells_used or 0)

    def _bytes(self, cells: int) -> int | None:
        model = self._session.model
        if model is None or model.kv_bytes is None or not model.context:
            return None
        return model.kv_bytes * cells // model.context

    def _set(self, **changes: object) -> None:
        figures = msgspec.structs.replace(self._figures, **changes)
        if figures != self._figures:
            self._figures = figures
            self.changed.emit()
