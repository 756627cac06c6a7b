"""The parts of a planned model: what a layer keeps of the past, and where its weights lie. Plain values."""

from __future__ import annotations

import msgspec


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
    attends: bool = True
    """Whether there is attention in it at all."""

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
    largest_dense: int = 0
    """Of one matrix: a GPU that computes with what lies in main memory gets a copy of it."""
    largest_expert: int = 0
    """The same of the experts, all of a layer in one."""


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
    copies: float = 0.0
    """States beside those that are kept, while one batch is computed."""
    width: int = 0
    """Numbers that one token takes on its way through such a layer, about."""


class Widths(msgspec.Struct, frozen=True):
    """Numbers that one token takes inside the widest layers, which decide how large a buffer for computing is."""

    network: int = 0
    """Inside the feed-forward network: what goes into its product, and the product."""
    experts: int = 0
    """Inside the experts that work on a token, all of them together."""
    expert_rows: int = 0
    """What comes out of those experts."""
    queries: int = 0
    """Of all heads."""
    kv: int = 0
    """Of the keys of all heads."""
    shared: int = 0
    """Inside the experts that work on every token, beside what comes out of the others."""
    is_fused: bool = False
    """Whether the network's gate and its other half are one matrix."""
