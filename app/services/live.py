"""The figures of the answer that is being written, or of the last one; unknown is None.

Counts and clocks are the engine's; only the time to the first painted character comes from the window. Of several
questions the one is shown that the engine works on.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from app.core.events import Failed, Finished, PrefillProgress, PromptReady, Step, Tokens
from app.core.metrics import MIN_PREFILL_TOKENS, ItlQuantiles, StopReason
from app.core.model import MemoryKind, ModelInfo
from app.core.signal import Signal
from app.core.words import Sentence
from app.planner.diagnosis import Circumstances, diagnose
from app.services.cache_parts import CachePart, cache_parts
from app.services.engine_session import EngineSession
from app.services.pace import Pace
from app.services.questions import AnswerEvent
from app.services.ttft import TtftPart, parts_at_end, parts_so_far

_MS = 1e6


class Figures(msgspec.Struct, frozen=True):
    """What the live panel shows."""

    is_writing: bool = False
    """An answer is being waited for or written."""
    ttft_ms: float | None = None
    ttft_parts: tuple[TtftPart, ...] = ()
    """Parts of the time to the first token, those that are known."""
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
    window_cells_used: int | None = None
    window_cells: int | None = None
    """Of the layers that keep a sliding window; None for a model without."""
    memory_kind: MemoryKind | None = None
    """What the loaded model keeps of its past; None while none is loaded."""
    checkpoints: int | None = None
    """Saved states of a model that cannot rewind without; None for one that can."""
    checkpoint_bytes: int = 0
    stop_reason: StopReason | None = None
    diagnosis: Sentence | None = None
    """Where the time of the answer went, once it has ended."""


class Live:
    """Follows the answers of the session and works out the figures."""

    def __init__(self, session: EngineSession, gpu_is_there: Callable[[], bool | None] = lambda: None) -> None:
        """`gpu_is_there` tells whether the machine has a GPU that the engine can use; None is unknown."""
        self.changed: Signal[()] = Signal()
        """At least one figure is another one."""
        self._session = session
        self._gpu_is_there = gpu_is_there
        self._figures = Figures()
        self._sent: dict[int, int] = {}
        """Questions that have not ended, with the time at which their clock starts."""
        self._request: int | None = None
        self._pace = Pace()
        self._prompt: PromptReady | None = None
        self._read_ns: int | None = None
        self._is_visible = False
        self._painted_ns: int | None = None
        self._sent_ns = 0
        self._finished: Finished | None = None
        self._model: ModelInfo | None = None
        """Whose cache is shown."""
        self._answered: ModelInfo | None = None
        session.sent.connect(self._take_sent)
        session.answer_told.connect(self._take)
        session.changed.connect(self._model_changed)

    @property
    def figures(self) -> Figures:
        """The figures as they are now."""
        return self._figures

    @property
    def gaps_ms(self) -> tuple[float, ...]:
        """The last gaps between neighbouring tokens, oldest first."""
        return self._pace.gaps_ms

    def first_text_painted(self, now_ns: int) -> None:
        """The first text of the answer is on the screen: the time to the first token ends here."""
        if self._request is not None and self._painted_ns is None and self._is_visible:
            self._painted_ns = now_ns
            self._set(ttft_ms=self._painted_ms, ttft_parts=self._ttft_parts())

    def _take_sent(self, request: int, sent_ns: int) -> None:
        self._sent[request] = sent_ns
        if self._request not in self._sent or self._request == request:
            self._begin(request)

    def _begin(self, request: int) -> None:
        """Show the figures of this question from now on; the cache stays as it is."""
        self._request, self._sent_ns = request, self._sent[request]
        self._pace = Pace()
        self._prompt = self._read_ns = self._painted_ns = self._finished = None
        self._is_visible = False
        self._figures = Figures(is_writing=True, **{name: getattr(self._figures, name) for name in _CACHE_FIELDS})
        self.changed.emit()

    def _take(self, event: AnswerEvent) -> None:
        if event.request not in self._sent:
            return
        if event.request != self._request and not isinstance(event, Failed):
            self._begin(event.request)
        if isinstance(event, (Finished, Failed)):
            del self._sent[event.request]
        match event:
            case PromptReady():
                self._prompt = event
                self._set(
                    prompt_tokens=len(event.ids) // 4,
                    prompt_tokens_from_cache=event.from_cache,
                    **self._cells(event.from_cache),
                )
            case PrefillProgress():
                self._read_ns = event.at_ns
                self._set(prefill_tokens_per_s=self._prefill_rate(event), **self._cells(event.done))
            case Tokens():
                self._take_tokens(event)
            case Finished():
                self._take_finished(event)
            case Failed():
                if event.request == self._request:
                    self._set(is_writing=False)
            case Step():
                pass

    def _prefill_rate(self, event: PrefillProgress) -> float | None:
        if self._prompt is None:
            return None
        tokens = event.done - event.from_cache
        took_ns = event.at_ns - self._prompt.at_ns
        return tokens * 1e9 / took_ns if tokens >= MIN_PREFILL_TOKENS and took_ns > 0 else None

    def _take_tokens(self, event: Tokens) -> None:
        self._pace.add(event)
        self._is_visible = self._is_visible or bool(event.text)
        cells = self._cells(event.cells_used)
        rate = self._pace.rate_now()
        self._set(
            decode_tokens_per_s=rate,
            decode_mean_tokens_per_s=self._pace.mean_rate(),
            sampled_tokens=event.first + event.count,
            gap_count=self._pace.gap_count,
            itl_ms=self._pace.quantiles(),
            traffic_gb_per_s=self._traffic(rate, cells.get("kv_bytes")),
            **cells,
        )

    def _traffic(self, rate: float | None, kv_bytes: object) -> float | None:
        """Return what is read for a token times tokens/s, in GB/s; None where a part of it is unknown."""
        weights = self._session.model.weight_bytes_per_token if self._session.model is not None else None
        if rate is None or weights is None or not isinstance(kv_bytes, int):
            return None
        return (weights + kv_bytes) * rate / 1e9

    def _take_finished(self, event: Finished) -> None:
        metrics, model = event.metrics, self._session.model
        self._finished = event
        self._is_visible = self._is_visible or bool(event.text)
        if self._prompt is None:
            self._prompt = PromptReady(event.request, bytes(4 * metrics.prompt_tokens), (), 0, 0)
        cells = self._cells(metrics.kv.cells_used)
        if model is not None:
            cells |= {
                "kv_cells": metrics.kv.cells,
                "kv_bytes": metrics.kv.bytes,
                "window_cells_used": metrics.kv.window_cells_used,
                "window_cells": metrics.kv.window_cells,
                "checkpoints": metrics.kv.checkpoints if model.memory_kind != "plain" else None,
                "checkpoint_bytes": metrics.kv.checkpoint_bytes,
            }
        self._set(
            is_writing=False,
            ttft_ms=self._painted_ms if self._painted_ns is not None else metrics.ttft_ms,
            ttft_parts=self._ttft_parts(),
            prefill_tokens_per_s=metrics.prefill_tokens_per_s,
            prompt_tokens=metrics.prompt_tokens,
            prompt_tokens_from_cache=metrics.prompt_tokens_from_cache,
            decode_tokens_per_s=metrics.decode_tokens_per_s,
            decode_mean_tokens_per_s=metrics.decode_tokens_per_s,
            sampled_tokens=metrics.sampled_tokens,
            itl_ms=metrics.itl_ms,
            traffic_gb_per_s=metrics.traffic_gb_per_s,
            stop_reason=event.stop_reason,
            diagnosis=diagnose(metrics, self._circumstances(model)) if model is not None else None,
            **cells,
        )
        self._answered = model

    def _circumstances(self, model: ModelInfo) -> Circumstances:
        return Circumstances(
            gpu_is_there=True if model.gpu_layers else self._gpu_is_there(),
            gpu_layers=model.gpu_layers,
            all_layers=model.layers + 1,
            weight_bytes_per_token=model.weight_bytes_per_token,
            first_after_load=self._answered is not model,
        )

    @property
    def _painted_ms(self) -> float | None:
        return None if self._painted_ns is None else (self._painted_ns - self._sent_ns) / _MS

    def _ttft_parts(self) -> tuple[TtftPart, ...]:
        if self._finished is not None:
            metrics = self._finished.metrics
            return parts_at_end(metrics.ttft_parts_ms, metrics.ttft_ms, self._painted_ms)
        ready_ns = self._prompt.at_ns if self._prompt is not None else None
        return parts_so_far((self._sent_ns, ready_ns, self._read_ns, self._pace.first_ns, self._painted_ns))

    def _model_changed(self) -> None:
        """Show an empty cache after a load, and none without a model."""
        model = self._session.model
        if model is self._model:
            return
        self._model, self._prompt = model, None
        if model is None:
            self._answered = None
            nothing = Figures()
            self._set(**{name: getattr(nothing, name) for name in _CACHE_FIELDS})
        else:
            saved = 0 if model.memory_kind != "plain" else None
            self._set(memory_kind=model.memory_kind, checkpoints=saved, checkpoint_bytes=0, **self._cells(0))

    def _cells(self, used: int) -> dict[str, object]:
        """Return the figures of so many cells in use; a window holds the last of them."""
        model = self._session.model
        if model is None:
            return {}
        window = model.cache.window_cells
        in_window = min(used, window) if window is not None else None
        prompt = self._prompt
        return {
            "kv_cells_used": used,
            "kv_cells": model.context,
            "kv_bytes": model.cache.in_use(used, model.context, in_window or 0),
            "kv_bytes_reserved": model.kv_bytes,
            "kv_parts": cache_parts(prompt.spans, len(prompt.ids) // 4, used) if prompt is not None else (),
            "window_cells_used": in_window,
            "window_cells": window,
        }

    def _set(self, **changes: object) -> None:
        figures = msgspec.structs.replace(self._figures, **changes)
        if figures != self._figures:
            self._figures = figures
            self.changed.emit()


_CACHE_FIELDS = (
    "kv_cells_used",
    "kv_cells",
    "kv_bytes",
    "kv_bytes_reserved",
    "kv_parts",
    "window_cells_used",
    "window_cells",
    "checkpoints",
    "checkpoint_bytes",
    "memory_kind",
)
