"""What a model, or some of its layers, gives a machine to do: bytes read for a token, and operations for a prompt."""

from __future__ import annotations

import msgspec


class ModelWork(msgspec.Struct, frozen=True):
    """The work of all layers that one device has; bytes as they lie in its memory."""

    layers: int
    dense_bytes: int
    """Weights that every step reads once, the output head counted and a token embedding of its own not."""
    full_bytes: int = 0
    """Cache bytes that one token adds in layers which keep every token."""
    window_bytes: int = 0
    """Cache bytes of one token in layers which keep a sliding window."""
    window: int = 0
    """Tokens of that window."""
    state_bytes: int = 0
    """Recurrent state of one sequence: read and written by every step."""
    expert_bytes: int = 0
    """All routed experts of a mixture together."""
    experts: int = 0
    experts_used: int = 0
    parameters: int = 0
    """Weights that one token is multiplied with, without its embedding."""
    full_width: int = 0
    """Sum over the layers that keep every token of heads times (key width + value width) / 2."""
    window_width: int = 0
    """The same of those with a window."""

    def weight_bytes(self, tokens: int = 1) -> float:
        """Return the bytes of weights that a step with so many tokens reads.

        Distinct experts of a mixture: n (1 - (1 - used / n)^tokens), each token choosing for itself.
        """
        if not self.expert_bytes or self.experts <= 0:
            return float(self.dense_bytes)
        idle = 1 - min(1.0, self.experts_used / self.experts)
        return self.dense_bytes + self.expert_bytes * (1 - idle ** max(1, tokens))

    def cache_bytes(self, context: int) -> float:
        """Return the cache bytes that one step of one sequence reads, and writes of its state, with so many tokens."""
        tokens = max(0, context)
        windowed = min(tokens, self.window) if self.window > 0 else tokens
        return float(self.full_bytes * tokens + self.window_bytes * windowed + 2 * self.state_bytes)

    def operations(self, tokens: int, depth: int) -> float:
        """Return the floating-point operations for so many new tokens behind `depth` others.

        2 P n + 4 (layers x heads x width) n (depth + n / 2), the latter times what attention is slower than matrices.
        """
        new, old = max(0, tokens), max(0, depth)
        behind = old + new / 2
        windowed = min(behind, float(self.window)) if self.window > 0 else behind
        attention = 4 * new * (self.full_width * behind + self.window_width * windowed)
        return 2 * self.parameters * new + ATTENTION_COST * attention


ATTENTION_COST = 1.25
"""An operation of attention takes so much longer: fits the published prefill of an 8B at 0 to 131,072 tokens within 1 %."""
