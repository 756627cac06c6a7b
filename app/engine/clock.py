"""The clocks of one answer and the metrics that they give; every definition stands here once.

Knows nothing of tokens' meaning; times are `perf_counter_ns`, taken after the device has synchronised.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from app.core.metrics import MIN_PREFILL_TOKENS, ItlDrift, ItlQuantiles, KVUse, Metrics, TtftParts
from app.engine.backend import Backend

MS = 1e6
MIN_DRIFT_TOKENS = 65
"""A quarter of fewer gaps has no median that says something."""


class AnswerClock:
    """Marks the moments of one answer, in the order of the loop's stages."""

    def __init__(self, sent_ns: int, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now = now
        self.sent = sent_ns
        self.started = max(now(), sent_ns)
        self.tokens_ready = self.started
        self.prefilled = self.started
        self._rewound: int | None = None
        self.visible: int | None = None
        self._times: list[int] = []
        self._waited = 0
        """How long an answer waited for others behind the same prefill; in none of its figures."""
        self._template: int | None = None
        self._drawing: int | None = None
        """When the draw began that is being made."""
        self._drawn = 0
        self._draws = 0
        self._held = 0
        """How long it waited for somebody between its tokens; in none of its figures either."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Leave out of everything what passes meanwhile."""
        began = self._now()
        yield
        self._held += self._now() - began

    @property
    def held_ns(self) -> int:
        """For how long the answer was held until now, a hold that goes on left out."""
        return self._held

    def shared(self, *, waits: bool) -> AnswerClock:
        """Return the clock of another answer behind the same prefill; one that waits its turn begins its draw now."""
        clock = AnswerClock(self.sent, self._now)
        clock.started, clock.tokens_ready, clock.prefilled = self.started, self.tokens_ready, self.prefilled
        clock._waited = self._now() - self.prefilled if waits else 0
        return clock

    def mark_tokens(self, template_ns: int | None = None) -> None:
        """The prompt is rendered, which took `template_ns`, and tokenised."""
        self._template = template_ns
        self.tokens_ready = self.prefilled = self._now()

    def mark_rewound(self) -> None:
        """The cells hold what is reused of the prompt, which may have come from disk: evaluating begins."""
        self._rewound = self._now()

    def mark_prefill(self) -> int:
        """The last prompt token of a chunk is evaluated; returns the moment."""
        self.prefilled = self._now()
        return self.prefilled

    def mark_draw(self) -> None:
        """There is a row of logits, and the draw from it begins."""
        self._drawing = self._now()

    def mark_token(self) -> int:
        """A token is drawn; returns the moment, without the time for which the answer was held."""
        now = self._now()
        if self._drawing is not None:
            self._drawn += now - self._drawing
            self._draws += 1
            self._drawing = None
        now -= self._held
        self._times.append(now)
        return now

    def mark_visible(self) -> None:
        """The first visible character leaves the engine."""
        if self.visible is None:
            self.visible = self._now() - self._held

    @property
    def first_token(self) -> int | None:
        """When the first token was drawn."""
        return self._times[0] if self._times else None

    def ttft_parts(self) -> TtftParts:
        """Return the parts in ms; their sum is the time to the first token."""
        first = self.first_token
        held = self.visible if self.visible is not None else None
        return TtftParts(
            queue=(self.started - self.sent) / MS,
            tokens=(self.tokens_ready - self.started) / MS,
            prefill=(self.prefilled - self.tokens_ready) / MS,
            first_sample=None if first is None else (first - self.prefilled - self._waited) / MS,
            held_back=None if first is None or held is None else (held - first) / MS,
            template=None if self._template is None else self._template / MS,
        )

    def decode_rate(self) -> float | None:
        """Return (n - 1) / (time of last token - time of first) in tokens/s, None where it says nothing."""
        if len(self._times) < 2 or self._times[-1] <= self._times[0]:
            return None
        return (len(self._times) - 1) / (self._times[-1] - self._times[0]) * 1e9

    def metrics(self, backend: Backend, prompt_tokens: int, from_cache: int, evaluated: int, kv: KVUse) -> Metrics:
        """Return every figure of the answer; `evaluated` prompt tokens were run."""
        began = self.tokens_ready if self._rewound is None else self._rewound
        prefill_s = (self.prefilled - began) / 1e9
        decode = self.decode_rate()
        info = backend.info
        traffic = None
        if decode is not None and kv.bytes is not None and info.weight_bytes_per_token is not None:
            traffic = (info.weight_bytes_per_token + kv.bytes) * decode / 1e9
        speak = evaluated >= MIN_PREFILL_TOKENS and prefill_s > 0
        return Metrics(
            ttft_ms=None if self.visible is None else (self.visible - self.sent - self._waited) / MS,
            ttft_parts_ms=self.ttft_parts(),
            prompt_tokens=prompt_tokens,
            prompt_tokens_from_cache=from_cache,
            prefill_tokens_per_s=evaluated / prefill_s if speak else None,
            decode_tokens_per_s=decode,
            sampled_tokens=len(self._times),
            itl_ms=self._itl(),
            kv=kv,
            memory=backend.memory,
            traffic_gb_per_s=traffic,
            sampling_ms=self._drawn / MS if self._draws and self._draws == len(self._times) else None,
            drift=self._drift(),
            held_ms=self._held / MS,
        )

    def _drift(self) -> ItlDrift | None:
        if len(self._times) < MIN_DRIFT_TOKENS:
            return None
        gaps = np.diff(np.asarray(self._times, np.int64)) / MS
        quarter = len(gaps) // 4
        return ItlDrift(float(np.median(gaps[:quarter])), float(np.median(gaps[-quarter:])))

    def _itl(self) -> ItlQuantiles | None:
        if len(self._times) < 2:
            return None
        gaps = np.diff(np.asarray(self._times, np.int64)) / MS
        p50, p95, p99 = (float(value) for value in np.quantile(gaps, (0.5, 0.95, 0.99)))
        return ItlQuantiles(p50, p95, p99) if math.isfinite(p99) else None
