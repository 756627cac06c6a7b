"""Where the time of an answer went, in seconds, and from when on a time or a rate says something."""

from __future__ import annotations

import msgspec

from app.core.metrics import Metrics

FEW_TOKENS = 16
"""Below so many tokens, sampled or evaluated, a rate says nothing."""
SHORT_S = 1.0
"""A wait that took less than this has nothing to tell."""
LONG_WAIT_S = 2.0
"""What MLPerf allows a server until the first token of a large model: a longer wait is one."""
SLOW_TOKENS_PER_S = 30.0
FLUENT_TOKENS_PER_S = 60.0
"""People who tried several speeds call 30 tok/s slow and 60 fluent."""
NEAR, FAR = 0.6, 0.4
"""llama.cpp reads memory at 0.6 to 0.8 of what it gives at best: above this share memory is what it waits for."""
_MS = 1e-3


class Times(msgspec.Struct, frozen=True):
    """Where the time of one answer went, in s."""

    queue: float
    prompt: float
    """Template and tokens."""
    prefill: float
    paint: float
    """First text in the engine to its letters on the screen."""
    decode: float
    total: float

    @property
    def before(self) -> float:
        """All before the first text."""
        return self.total - self.decode


def times_of(metrics: Metrics) -> Times:
    """Return the times of an answer; a part that is not known counts as none."""
    parts, decode = metrics.ttft_parts_ms, metrics.decode_s or 0.0
    waited, prompt = max(0.0, parts.queue) * _MS, max(0.0, parts.tokens) * _MS
    prefill, paint = max(0.0, parts.prefill) * _MS, max(0.0, parts.paint or 0.0) * _MS
    rest = sum(part or 0.0 for part in (parts.save, parts.first_sample)) * _MS
    return Times(waited, prompt, prefill, paint, decode, waited + prompt + prefill + paint + decode + rest)
