"""Writes small GGUF files of every kind of memory and of models that do not chat.

Sliding-window, recurrent and hybrid models forget or compress their past, each in its own way. Their weights are random,
scaled so that an early token still shows in the logits a thousand tokens later, and kept in f32 so that little else does.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

from tests.ggufs import CHATML, add_bpe_tokenizer, finish, write_tiny_llama

EMBEDDING = 128
HEADS = 2
KV_HEADS = 1
HEAD = EMBEDDING // HEADS
FEED_FORWARD = 256

STATE_EMBEDDING = 64
"""Width of the recurrent and hybrid models."""
INNER = 2 * STATE_EMBEDDING
"""llama.cpp supports no other factor in these architectures."""
STATE = 16
CONVOLUTION = 4
STEP_RANK = 8

LATENT, ROPE = 32, 16
"""Width of a compressed key, and of the part of a key that says where it stands."""

OUTPUT_GAIN = 1.5
"""Makes distributions that are neither flat nor a single peak, and keeps rounding out of the second decimal."""
WINDOW_PATTERN = 2
"""Every second layer keeps all tokens, the others a window."""


class _Weights:
    """Adds random tensors to a writer; matrices keep the size of what goes through them, times `gain`."""

    def __init__(self, writer: gguf.GGUFWriter, seed: int) -> None:
        self._writer = writer
        self._random = np.random.default_rng(seed)

    def matrix(self, name: str, *shape: int, gain: float = 1.0) -> None:
        values = self._random.normal(0.0, gain * shape[-1] ** -0.5, shape)
        self._writer.add_tensor(f"{name}.weight", values.astype(np.float32))

    def norm(self, name: str, size: int, *, gain: float = 1.0, suffix: str = ".weight") -> None:
        self.exact(name + suffix, self._random.uniform(0.8 * gain, 1.2 * gain, size))

    def exact(self, name: str, values: np.ndarray) -> None:
        self._writer.add_tensor(name, values.astype(np.float32))

    def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
        return self._random.uniform(low, high, shape)

    def normal(self, scale: float, *shape: int) -> np.ndarray:
        return self._random.normal(0.0, scale, shape)


def write_tiny_plain(
    path: Path, *, context: int = 2048, layers: int = 2, seed: int = 1, stretched_from: int | None = None
) -> Path:
    """Write a model whose layers keep every token (Llama); one that was stretched by LongRoPE has two sets of factors."""
    writer = _begin(path, "llama", f"Tiny Plain {seed}", context, STATE_EMBEDDING, layers)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(STATE_EMBEDDING // HEADS)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    if stretched_from is not None:
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        writer.add_rope_scaling_orig_ctx_len(stretched_from)
        for name, factor in (("long", 8.0), ("short", 1.0)):
            weights.exact(f"rope_factors_{name}.weight", np.full(STATE_EMBEDDING // HEADS // 2, factor))
    weights.matrix("token_embd", vocabulary, STATE_EMBEDDING, gain=STATE_EMBEDDING**0.5)
    for layer in range(layers):
        _add_attention(weights, f"blk.{layer}", STATE_EMBEDDING, gain=1.0)
        _add_feed_forward(weights, f"blk.{layer}", STATE_EMBEDDING, gain=1.5)
    weights.norm("output_norm", STATE_EMBEDDING)
    weights.matrix("output", vocabulary, STATE_EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_window(path: Path, *, window: int = 64, context: int = 2048, layers: int = 4, seed: int = 1) -> Path:
    """Write a model whose layers keep by turns a sliding window and every token."""
    writer = _begin(path, "gemma3", f"Tiny Window {seed}", context, EMBEDDING, layers)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_sliding_window(window)
    writer.add_sliding_window_pattern(WINDOW_PATTERN)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, EMBEDDING)
    for layer in range(layers):
        block = f"blk.{layer}"
        _add_attention(weights, block, EMBEDDING)
        for name in ("attn_q_norm", "attn_k_norm"):
            weights.norm(f"{block}.{name}", HEAD)
        weights.norm(f"{block}.post_attention_norm", EMBEDDING)
        weights.norm(f"{block}.post_ffw_norm", EMBEDDING)
        _add_feed_forward(weights, block, EMBEDDING)
    weights.norm("output_norm", EMBEDDING)
    weights.matrix("output", vocabulary, EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_latent(path: Path, *, context: int = 2048, layers: int = 2, seed: int = 1) -> Path:
    """Write a model whose heads share one compressed key a token (DeepSeek 2, multi-head latent attention)."""
    writer = _begin(path, "deepseek2", f"Tiny Latent {seed}", context, STATE_EMBEDDING, layers)
    writer.add_head_count_kv(1)
    writer.add_leading_dense_block_count(layers)
    writer.add_q_lora_rank(LATENT)
    writer.add_kv_lora_rank(LATENT)
    writer.add_key_length(LATENT + ROPE)
    writer.add_value_length(LATENT)
    writer.add_key_length_mla(2 * ROPE)
    writer.add_value_length_mla(LATENT)
    writer.add_rope_dimension_count(ROPE)
    for add, value in (
        (writer.add_expert_count, 2),
        (writer.add_expert_used_count, 1),
        (writer.add_expert_feed_forward_length, FEED_FORWARD),
        (writer.add_expert_shared_count, 1),
    ):
        add(value)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, STATE_EMBEDDING, gain=STATE_EMBEDDING**0.5)
    for layer in range(layers):
        block = f"blk.{layer}"
        for name, size in (("attn_norm", STATE_EMBEDDING), ("attn_q_a_norm", LATENT), ("attn_kv_a_norm", LATENT)):
            weights.norm(f"{block}.{name}", size)
        weights.matrix(f"{block}.attn_q_a", LATENT, STATE_EMBEDDING)
        weights.matrix(f"{block}.attn_q_b", HEADS * 2 * ROPE, LATENT, gain=2.0)
        weights.matrix(f"{block}.attn_kv_a_mqa", LATENT + ROPE, STATE_EMBEDDING)
        weights.matrix(f"{block}.attn_k_b", HEADS, LATENT, ROPE)
        weights.matrix(f"{block}.attn_v_b", HEADS, LATENT, LATENT)
        weights.matrix(f"{block}.attn_output", STATE_EMBEDDING, HEADS * LATENT)
        _add_feed_forward(weights, block, STATE_EMBEDDING)
    weights.norm("output_norm", STATE_EMBEDDING)
    weights.matrix("output", vocabulary, STATE_EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_recurrent(path: Path, *, context: int = 2048, layers: int = 4, seed: int = 1) -> Path:
    """Write a model that keeps nothing of its past but a state of fixed size (Mamba)."""
    writer = _begin(path, "mamba", f"Tiny Recurrent {seed}", context, STATE_EMBEDDING, layers)
    _add_state_sizes(writer)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, STATE_EMBEDDING)
    for layer in range(layers):
        weights.norm(f"blk.{layer}.attn_norm", STATE_EMBEDDING)
        _add_recurrence(weights, f"blk.{layer}")
    weights.norm("output_norm", STATE_EMBEDDING)
    weights.matrix("output", vocabulary, STATE_EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_hybrid(path: Path, *, context: int = 2048, layers: int = 4, seed: int = 1) -> Path:
    """Write a model whose layers keep by turns a state of fixed size and every token (Jamba)."""
    writer = _begin(path, "jamba", f"Tiny Hybrid {seed}", context, STATE_EMBEDDING, layers)
    _add_state_sizes(writer)
    writer.add_head_count_kv([KV_HEADS if layer % 2 else 0 for layer in range(layers)])
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, STATE_EMBEDDING)
    for layer in range(layers):
        block = f"blk.{layer}"
        if layer % 2:
            _add_attention(weights, block, STATE_EMBEDDING)
        else:
            weights.norm(f"{block}.attn_norm", STATE_EMBEDDING)
            _add_recurrence(weights, block)
            for name, size in (("ssm_dt_norm", STEP_RANK), ("ssm_b_norm", STATE), ("ssm_c_norm", STATE)):
                weights.norm(f"{block}.{name}", size)
        _add_feed_forward(weights, block, STATE_EMBEDDING)
    weights.norm("output_norm", STATE_EMBEDDING)
    weights.matrix("output", vocabulary, STATE_EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_hybrid_window(
    path: Path, *, window: int = 64, context: int = 2048, layers: int = 4, seed: int = 1
) -> Path:
    """Write a model whose layers keep by turns a few tokens of a convolution and a sliding window (LFM2)."""
    writer = _begin(path, "lfm2", f"Tiny Hybrid Window {seed}", context, EMBEDDING, layers)
    writer.add_head_count_kv([KV_HEADS if layer % 2 else 0 for layer in range(layers)])
    writer.add_sliding_window(window)
    writer.add_shortconv_l_cache(CONVOLUTION)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, EMBEDDING)
    for layer in range(layers):
        block = f"blk.{layer}"
        if layer % 2:
            _add_attention(weights, block, EMBEDDING)
            for name in ("attn_q_norm", "attn_k_norm"):
                weights.norm(f"{block}.{name}", HEAD)
        else:
            weights.norm(f"{block}.attn_norm", EMBEDDING)
            weights.exact(f"{block}.shortconv.conv.weight", weights.normal(0.5, EMBEDDING, CONVOLUTION))
            weights.matrix(f"{block}.shortconv.in_proj", 3 * EMBEDDING, EMBEDDING)
            weights.matrix(f"{block}.shortconv.out_proj", EMBEDDING, EMBEDDING)
        _add_feed_forward(weights, block, EMBEDDING)
    weights.norm("token_embd_norm", EMBEDDING)
    weights.matrix("output", vocabulary, EMBEDDING, gain=OUTPUT_GAIN)
    finish(writer)
    return path


def write_tiny_diffusion(path: Path, *, seed: int = 1) -> Path:
    """Write a diffusion language model (LLaDA), which looks at all words at once."""
    return write_tiny_llama(path, architecture="llada", seed=seed)


def write_tiny_encoder_decoder(path: Path, *, layers: int = 2, seed: int = 1) -> Path:
    """Write a model that reads a text with one half and writes with the other (T5)."""
    writer = _begin(path, "t5", f"Tiny Rewriter {seed}", 512, EMBEDDING, layers)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    buckets = 32
    writer.add_relative_attn_buckets_count(buckets)
    writer.add_decoder_start_token_id(0)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, EMBEDDING)
    for half in ("enc", "dec"):
        for layer in range(layers):
            block = f"{half}.blk.{layer}"
            kinds = ("attn",) if half == "enc" else ("attn", "cross_attn")
            for kind in kinds:
                weights.norm(f"{block}.{kind}_norm", EMBEDDING)
                for name in ("q", "k", "v", "o"):
                    weights.matrix(f"{block}.{kind}_{name}", EMBEDDING, EMBEDDING)
            weights.exact(f"{block}.attn_rel_b.weight", weights.normal(0.5, buckets, HEADS))
            weights.norm(f"{block}.ffn_norm", EMBEDDING)
            weights.matrix(f"{block}.ffn_up", FEED_FORWARD, EMBEDDING)
            weights.matrix(f"{block}.ffn_down", EMBEDDING, FEED_FORWARD)
        weights.norm(f"{half}.output_norm", EMBEDDING)
    weights.matrix("output", vocabulary, EMBEDDING)
    finish(writer)
    return path


def write_tiny_encoder(path: Path, *, layers: int = 2, seed: int = 1) -> Path:
    """Write a model that turns text into numbers (BERT)."""
    context = 512
    writer = _begin(path, "bert", f"Tiny Encoder {seed}", context, EMBEDDING, layers)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(2)
    vocabulary = _add_vocabulary(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", vocabulary, EMBEDDING)
    weights.exact("token_types.weight", weights.normal(0.1, 2, EMBEDDING))
    weights.exact("position_embd.weight", weights.normal(0.1, context, EMBEDDING))
    _add_biased_norm(weights, "token_embd_norm")
    for layer in range(layers):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            width = HEAD * KV_HEADS if name in ("attn_k", "attn_v") else EMBEDDING
            weights.matrix(f"{block}.{name}", width, EMBEDDING)
        _add_biased_norm(weights, f"{block}.attn_output_norm")
        weights.matrix(f"{block}.ffn_up", FEED_FORWARD, EMBEDDING)
        weights.matrix(f"{block}.ffn_down", EMBEDDING, FEED_FORWARD)
        _add_biased_norm(weights, f"{block}.layer_output_norm")
    finish(writer)
    return path


def _begin(path: Path, architecture: str, name: str, context: int, embedding: int, layers: int) -> gguf.GGUFWriter:
    """Start a file with what every architecture says of itself."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(name)
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(context)
    writer.add_embedding_length(embedding)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    return writer


def _add_vocabulary(writer: gguf.GGUFWriter) -> int:
    """Add the tokenizer of the other small models; returns its size."""
    vocabulary = add_bpe_tokenizer(writer)
    writer.add_vocab_size(vocabulary)
    writer.add_chat_template(CHATML)
    return vocabulary


def _add_state_sizes(writer: gguf.GGUFWriter) -> None:
    writer.add_ssm_conv_kernel(CONVOLUTION)
    writer.add_ssm_inner_size(INNER)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(STEP_RANK)


def _add_attention(weights: _Weights, block: str, embedding: int, gain: float = 1.5) -> None:
    """Add an attention layer with one head of keys and values for both heads of queries; `gain` makes it sharper."""
    head = embedding // HEADS
    weights.norm(f"{block}.attn_norm", embedding)
    weights.matrix(f"{block}.attn_q", embedding, embedding, gain=gain)
    weights.matrix(f"{block}.attn_k", head * KV_HEADS, embedding, gain=gain)
    weights.matrix(f"{block}.attn_v", head * KV_HEADS, embedding)
    weights.matrix(f"{block}.attn_output", embedding, embedding, gain=2.0)


def _add_feed_forward(weights: _Weights, block: str, embedding: int, gain: float = 1.0) -> None:
    weights.norm(f"{block}.ffn_norm", embedding)
    weights.matrix(f"{block}.ffn_gate", FEED_FORWARD, embedding, gain=gain)
    weights.matrix(f"{block}.ffn_up", FEED_FORWARD, embedding, gain=gain)
    weights.matrix(f"{block}.ffn_down", embedding, FEED_FORWARD, gain=gain)


def _add_recurrence(weights: _Weights, block: str) -> None:
    """Add a Mamba layer whose channels forget after some ten to some thousand tokens."""
    weights.matrix(f"{block}.ssm_in", 2 * INNER, STATE_EMBEDDING)
    weights.exact(f"{block}.ssm_conv1d.weight", weights.normal(0.5, INNER, CONVOLUTION))
    weights.exact(f"{block}.ssm_conv1d.bias", weights.normal(0.2, INNER))
    weights.matrix(f"{block}.ssm_x", STEP_RANK + 2 * STATE, INNER, gain=2.0)
    weights.matrix(f"{block}.ssm_dt", INNER, STEP_RANK, gain=0.5)
    weights.exact(f"{block}.ssm_dt.bias", weights.uniform(-3.0, -1.0, INNER))
    weights.exact(f"{block}.ssm_a", -np.exp(weights.uniform(np.log(0.002), np.log(1.0), INNER, STATE)))
    weights.exact(f"{block}.ssm_d", weights.uniform(0.5, 1.5, INNER))
    weights.matrix(f"{block}.ssm_out", STATE_EMBEDDING, INNER)


def _add_biased_norm(weights: _Weights, name: str) -> None:
    weights.norm(name, EMBEDDING)
    weights.exact(f"{name}.bias", weights.normal(0.1, EMBEDDING))
