"""Which layer keeps what of the past: heads and widths of each, windows, states, by the header and the architecture.

Source: `llama_hparams` (`src/llama-hparams.cpp`) and `llama_model::create_memory` of llama.cpp as of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from typing import NamedTuple

from app.planner.architectures import (
    BOTH_IN_EACH,
    BY_INTERVAL,
    BY_KV_HEADS,
    EXAONE4_WINDOW_LAYERS,
    GEMMA3N_OWN_LAYERS,
    NO_FEED_FORWARD,
    RECURRENT,
    WINDOWS,
)
from app.planner.header_numbers import Numbers
from app.planner.model_parts import LayerCache


class _Heads(NamedTuple):
    """Widths of one head's key and value: in layers that keep every token, and in those with a window."""

    key: int
    value: int
    window_key: int
    window_value: int


def layer_caches(numbers: Numbers, architecture: str, layers: int, blocks: int) -> tuple[LayerCache, ...] | None:
    """Return what each of `layers` keeps; None where the header does not tell. `blocks` counts predicting ones too."""
    if architecture in RECURRENT:
        return (LayerCache(is_recurrent=True, attends=False),) * layers
    heads = numbers.each("attention.head_count", layers)
    kv_heads = numbers.each("attention.head_count_kv", layers) if numbers.has("attention.head_count_kv") else heads
    widths = _widths(numbers, architecture)
    recurrent = _recurrent(numbers, architecture, layers, kv_heads)
    if kv_heads is None or widths is None or recurrent is None:
        return None
    windows = _windows(numbers, architecture, layers, recurrent)
    own = _own_layers(numbers, architecture, blocks)
    if windows is None or own is None:
        return None
    networks = numbers.each("feed_forward_length", layers) if architecture in NO_FEED_FORWARD else None
    caches = []
    for layer in range(layers):
        state = recurrent[layer]
        attends = architecture in BOTH_IN_EACH or not (state or (networks is not None and networks[layer] > 0))
        window = windows[layer]
        caches.append(
            LayerCache(
                kv_heads=kv_heads[layer] if attends else 0,
                key_width=(widths.window_key if window else widths.key) if attends else 0,
                value_width=(widths.window_value if window else widths.value) if attends else 0,
                is_window=window and attends,
                is_recurrent=state,
                owns_cache=layer < own,
                attends=attends,
            )
        )
    return tuple(caches)


def window_tokens(numbers: Numbers, architecture: str, layers: int) -> int:
    """Return the tokens of the sliding window; 0 for none."""
    said = numbers.one("attention.sliding_window")
    if architecture == "lfm2":
        return said or 0
    rule = WINDOWS.get(architecture)
    if rule is None or (architecture == "exaone4" and layers != EXAONE4_WINDOW_LAYERS):
        return 0
    if rule.forced is not None and (said or (said is None and rule.window is not None)):
        return rule.forced
    return (rule.window or 0) if said is None else said


def is_latent(numbers: Numbers) -> bool:
    """Whether one compressed row a token stands for the keys and values of all heads (MLA)."""
    return bool(numbers.one("attention.key_length_mla")) and bool(numbers.one("attention.value_length_mla"))


def _widths(numbers: Numbers, architecture: str) -> _Heads | None:
    heads, embedding = numbers.each("attention.head_count", 1), numbers.one("embedding_length")
    usual = embedding // heads[0] if embedding is not None and heads and heads[0] else None
    if embedding is None or heads is None:
        return None
    reads = usual is not None or architecture == "plamo2"  # no other looks where the first layer has no heads
    key = _first(numbers.one("attention.key_length") if reads else None, usual) or 0
    value = _first(numbers.one("attention.value_length") if reads else None, usual) or 0
    if is_latent(numbers):
        value = 0
    window_key = _first(numbers.one("attention.key_length_swa"), key)
    window_value = 0 if is_latent(numbers) else _first(numbers.one("attention.value_length_swa"), value)
    return _Heads(key, value, window_key or 0, window_value or 0)


def _windows(
    numbers: Numbers, architecture: str, layers: int, recurrent: tuple[bool, ...]
) -> tuple[bool, ...] | None:
    if not window_tokens(numbers, architecture, layers):
        return (False,) * layers
    if architecture == "lfm2":
        return tuple(not state for state in recurrent)
    rule = WINDOWS[architecture]
    if (marks := numbers.marks("attention.sliding_window_pattern", layers)) is not None:
        return marks
    if rule.every is None:
        return None
    said = numbers.one("attention.sliding_window_pattern")
    every = rule.every if said is None else said
    if not every:
        return (True,) * layers
    return tuple(bool(layer % every) if rule.dense_first else layer % every < every - 1 for layer in range(layers))


def _recurrent(
    numbers: Numbers, architecture: str, layers: int, kv_heads: tuple[int, ...] | None
) -> tuple[bool, ...] | None:
    if architecture in BOTH_IN_EACH:
        return (True,) * layers
    if architecture in BY_INTERVAL:
        if (marks := numbers.marks("attention.recurrent_layers", layers)) is not None:
            return marks
        said = numbers.one("full_attention_interval")
        every = BY_INTERVAL[architecture] if said is None else said
        return tuple((layer + 1) % every != 0 for layer in range(layers)) if every else None
    if architecture not in BY_KV_HEADS:
        return (False,) * layers
    networks = numbers.each("feed_forward_length", layers) if architecture in NO_FEED_FORWARD else (0,) * layers
    if kv_heads is None or networks is None:
        return None
    return tuple(not kv_heads[layer] and not networks[layer] for layer in range(layers))


def _own_layers(numbers: Numbers, architecture: str, blocks: int) -> int | None:
    """Return how many layers, from the first on, have keys and values of their own."""
    if architecture == "gemma3n":
        return GEMMA3N_OWN_LAYERS
    shared = numbers.one("attention.shared_kv_layers") or 0
    if architecture != "gemma4" or not shared:
        return blocks
    return blocks - shared if blocks - shared >= 2 else None  # llama.cpp reuses those of the last two


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one
