"""The sizes of a transformer that its own file tells: width, heads, feed-forward; None where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from app.core.model_facts import ModelFacts, PerLayer


class Range(msgspec.Struct, frozen=True):
    """A size that may be another one in each layer: the least and the most of them."""

    least: int
    most: int


class ModelShape(msgspec.Struct, frozen=True):
    """How large the parts of one layer are."""

    embedding: int | None = None
    """Numbers that stand for one token on its way through the layers."""
    heads: Range | None = None
    """Heads of attention of a layer."""
    kv_heads: Range | None = None
    """Heads whose keys and values are kept; several heads can share one."""
    feed_forward: Range | None = None
    """Numbers in the middle of the feed-forward network of a layer."""
    experts: int | None = None
    """Feed-forward networks beside each other in a layer; None where there is just the one."""
    experts_used: int | None = None
    """How many of them work on a token."""


def shape_of(facts: ModelFacts) -> ModelShape:
    """Return the sizes that the file of a model tells; heads of keys and values are all heads where it is silent."""
    is_mixture = facts.is_mixture
    return ModelShape(
        embedding=facts.embedding,
        heads=_range(facts.heads),
        kv_heads=_range(facts.kv_heads if facts.kv_heads is not None else facts.heads),
        feed_forward=_range(facts.feed_forward),
        experts=facts.experts if is_mixture else None,
        experts_used=facts.experts_used if is_mixture else None,
    )


def _range(per_layer: PerLayer | None) -> Range | None:
    if isinstance(per_layer, tuple):
        return Range(min(per_layer), max(per_layer)) if per_layer else None
    return None if per_layer is None else Range(per_layer, per_layer)
