"""How many numbers one token adds to the KV cache at most, out of a model's header alone.

Layers x KV heads x (key length + value length), every layer counted as one that keeps every token. A bound to decide
whether a closer look is worth it; the exact figure is a dry run's.
"""

from __future__ import annotations

from app.core.model_facts import ModelFacts, PerLayer


def most_cache_elements(facts: ModelFacts) -> int | None:
    """Return how many keys and values one token has at most; None where the header does not tell."""
    if facts.layers is None:
        return None
    heads = _sum(facts.kv_heads if facts.kv_heads is not None else facts.heads, facts.layers)
    length = _head_length(facts)
    key = facts.key_length if facts.key_length is not None else length
    value = facts.value_length if facts.value_length is not None else length
    if heads is None or key is None or value is None:
        return None
    return heads * (key + value)


def _sum(per_layer: PerLayer | None, layers: int) -> int | None:
    if per_layer is None:
        return None
    return sum(per_layer) if isinstance(per_layer, tuple) else per_layer * layers


def _head_length(facts: ModelFacts) -> int | None:
    heads = max(facts.heads, default=0) if isinstance(facts.heads, tuple) else facts.heads
    return facts.embedding // heads if facts.embedding is not None and heads else None
