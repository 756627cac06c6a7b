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

ModelKind = Literal["dense", "window", "latent", "recurrent", "hybrid", "unknown"]
"""Every layer keeps all tokens; some a window of them; one compressed row a token (MLA); a state of fixed size; both."""


class LayerCache(msgspec.Struct, frozen=True):
    """What one layer keeps of the past; widths are numbers of one head's key or value."""

    kv_heads: int = 0
    key_width: int = 0
    value_width: int = 0
    """0 where no values are kept: MLA makes them anew out of its keys."""
    is_window: bool = False
    """It keeps the last tokens alone."""
    is_recurrent: bool = False
    """It keeps a state that does not grow, instead of or beside keys and values."""
    owns_cache: bool = True
    """Whether it has keys and values of its own, not those of an earlier layer."""

    @property
    def key_elements(self) -> int:
        """Numbers that one token adds to this layer's keys."""
        return self.kv_heads * self.key_width if self.owns_cache else 0

    @property
    def value_elements(self) -> int:
        """Numbers that one token adds to this layer's values."""
        return self.kv_heads * self.value_width if self.owns_cache else 0


class LayerWeights(msgspec.Struct, frozen=True):
    """Bytes of one layer's weights."""

    dense: int = 0
    """Read for every token."""
    experts: int = 0
    """Experts of a mixture, of which some work on a token."""


class PlannedWeights(msgspec.Struct, frozen=True):
    """Bytes of the weights, by where llama.cpp puts them."""

    embedding: int = 0
    """Table of the tokens, which stays in main memory."""
    output: int = 0
    """Output matrix; a tied one is the embedding table again, and a GPU gets a copy of it."""
    is_tied: bool = False
    host: int = 0
    """Other tables before the first layer, which stay in main memory too: per-layer embeddings, positions."""
    rest: int = 0
    """What lies with the output matrix: its norm."""
    layers: tuple[LayerWeights, ...] = ()
    experts: int = 0
    """Experts beside each other in a layer; 0 where there is just the one network."""
    experts_used: int = 0
    """How many of them work on a token."""

    @property
    def total(self) -> int:
        """Bytes of all tensors in the file."""
        blocks = sum(layer.dense + layer.experts for layer in self.layers)
        return self.embedding + self.host + self.rest + blocks + (0 if self.is_tied else self.output)


class RecurrentState(msgspec.Struct, frozen=True):
    """Numbers of the state that one recurrent layer keeps for one sequence, each of 4 bytes."""

    shift: int = 0
    """Of the last inputs: what a convolution or a token shift looks back at (`n_embd_r` in llama.cpp)."""
    memory: int = 0
    """Of what is carried on (`n_embd_s`)."""


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
