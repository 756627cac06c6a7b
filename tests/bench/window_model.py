"""Writes a sliding-window model large enough that evaluating it is work: a few layers of the shape of Gemma 3 270M."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from gguf.quants import quantize

from tests.ggufs import CHATML, add_bpe_tokenizer, finish

EMBEDDING = 640
HEADS = 4
HEAD = 256
FEED_FORWARD = 2_048
LAYERS = 8
WINDOW = 512
CONTEXT = 8_192
QUANTISATION = gguf.GGMLQuantizationType.Q8_0
FULL_EVERY = 6
"""One layer of so many keeps every token."""


def write_window_model(path: Path, seed: int = 1) -> Path:
    """Write the model with random weights, about 35 MB."""
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_sliding_window(WINDOW)
    writer.add_sliding_window_pattern(FULL_EVERY)
    vocabulary = add_bpe_tokenizer(writer)
    writer.add_vocab_size(vocabulary)
    writer.add_chat_template(CHATML)
    random = np.random.default_rng(seed)

    def matrix(name: str, rows: int, columns: int) -> None:
        values = random.standard_normal((rows, columns), np.float32) * np.float32(columns**-0.5)
        writer.add_tensor(f"{name}.weight", quantize(values, QUANTISATION), raw_dtype=QUANTISATION)

    def norm(name: str, size: int) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))

    matrix("token_embd", vocabulary, EMBEDDING)
    norm("output_norm", EMBEDDING)
    for block in (f"blk.{layer}" for layer in range(LAYERS)):
        for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            norm(f"{block}.{name}", EMBEDDING)
        for name in ("attn_q_norm", "attn_k_norm"):
            norm(f"{block}.{name}", HEAD)
        matrix(f"{block}.attn_q", HEADS * HEAD, EMBEDDING)
        matrix(f"{block}.attn_k", HEAD, EMBEDDING)
        matrix(f"{block}.attn_v", HEAD, EMBEDDING)
        matrix(f"{block}.attn_output", EMBEDDING, HEADS * HEAD)
        matrix(f"{block}.ffn_gate", FEED_FORWARD, EMBEDDING)
        matrix(f"{block}.ffn_up", FEED_FORWARD, EMBEDDING)
        matrix(f"{block}.ffn_down", EMBEDDING, FEED_FORWARD)
    finish(writer)
    return path
