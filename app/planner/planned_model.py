"""What a plan needs to know of a model: its weights by layer, and what each layer keeps of the past. Plain values.

Taken from the headers of its files alone, so that a model can be planned which is not here yet. What a header does not
say is None or `unknown_reason`, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from app.core.gguf_header import Header
from app.core.words import Sentence
from app.planner.model_parts import LayerCache, PlannedWeights, RecurrentState

ModelKind = Literal["dense", "window", "latent", "recurrent", "hybrid", "unknown"]
"""Every layer keeps all tokens; some a window of them; one compressed row a token (MLA); a state of fixed size; both."""


class PlannedModel(msgspec.Struct, frozen=True):
    """A model as far as a plan is concerned; None is unknown."""

    name: str
    architecture: str
    kind: ModelKind
    quantisation: str | None = None
    layers: int | None = None
    """Blocks, without the output layer and without those that only predict further tokens."""
    trained_context: int | None = None
    embedding: int | None = None
    vocabulary: int | None = None
    heads: int | None = None
    """Most heads of attention of a layer."""
    feed_forward: int | None = None
    """Most numbers in the middle of the feed-forward network of a layer."""
    parameters: int | None = None
    active_parameters: int | None = None
    """Numbers that work on one token: of a mixture, the experts used."""
    file_bytes: int | None = None
    weights: PlannedWeights | None = None
    """None where a tensor is of a type whose size is not known."""
    cache: tuple[LayerCache, ...] = ()
    """One for each of `layers`; empty where unknown."""
    window: int = 0
    """Tokens of the sliding window; 0 for none."""
    latent_width: int = 0
    """Numbers of the compressed row of MLA; 0 for none."""
    state: RecurrentState = RecurrentState()
    unknown_reason: Sentence | None = None
    """Why the cache cannot be worked out; None where it can."""

    @property
    def is_mixture(self) -> bool:
        """Whether only some experts work on each token."""
        return self.weights is not None and self.weights.experts > 1


def planned_model(headers: Sequence[Header], file_bytes: int | None = None) -> PlannedModel:
    """Return what the headers of all files of one model say of it, the first one first; never raises.

    `file_bytes` are those of all its files together, where they are known.
    """
    raise NotImplementedError
