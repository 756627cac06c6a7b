"""Real models of which every layer keeps every token, as sparse files."""

from __future__ import annotations

from tests.sparse_ggufs import Sparse, attention, begin, feed_forward, head_norms, mixture


def llama_8b() -> Sparse:
    """Return Llama 3.1 8B: dense, untied."""
    return _llama(32, 4096, 14336, 32, 8, 128256, context=131072)


def smollm_135m() -> Sparse:
    """Return SmolLM2 135M: dense, tied."""
    return _llama(30, 576, 1536, 9, 3, 49152, context=8192, tied=True)


def mixtral_8x7b() -> Sparse:
    """Return Mixtral 8x7B: a mixture of large experts."""
    return _llama(32, 4096, 14336, 32, 8, 32000, context=32768, experts=8)


def _llama(
    layers: int,
    embedding: int,
    width: int,
    heads: int,
    kv_heads: int,
    vocabulary: int,
    *,
    context: int,
    tied: bool = False,
    experts: int = 0,
) -> Sparse:
    numbers: dict[str, int] = {"expert_count": experts, "expert_used_count": 2} if experts else {}
    model = begin(
        "llama",
        vocabulary=vocabulary,
        context=context,
        embedding=embedding,
        layers=layers,
        tied=tied,
        feed_forward_length=width,
        attention__head_count=heads,
        attention__head_count_kv=kv_heads,
        **numbers,
    )
    for layer in range(layers):
        attention(model, f"blk.{layer}", embedding, embedding, embedding // heads * kv_heads)
        if experts:
            mixture(model, f"blk.{layer}", embedding, width, experts)
        else:
            feed_forward(model, f"blk.{layer}", embedding, width)
    return model


def qwen3(layers: int, embedding: int, width: int, heads: int, kv_heads: int, *, tied: bool) -> Sparse:
    """Return a Qwen3: heads wider than embedding / heads."""
    model = begin(
        "qwen3",
        vocabulary=151936,
        context=40960,
        embedding=embedding,
        layers=layers,
        tied=tied,
        feed_forward_length=width,
        attention__head_count=heads,
        attention__head_count_kv=kv_heads,
        attention__key_length=128,
        attention__value_length=128,
    )
    for layer in range(layers):
        block = f"blk.{layer}"
        attention(model, block, embedding, 128 * heads, 128 * kv_heads)
        head_norms(model, block, 128)
        feed_forward(model, block, embedding, width)
    return model


def qwen3_8b() -> Sparse:
    """Return Qwen3 8B: dense."""
    return qwen3(36, 4096, 12288, 32, 8, tied=False)


def qwen3_600m() -> Sparse:
    """Return Qwen3 0.6B: dense, tied, queries twice as wide as the embedding."""
    return qwen3(28, 1024, 3072, 16, 8, tied=True)


def qwen3_32b() -> Sparse:
    """Return Qwen3 32B: dense, queries somewhat wider than the embedding."""
    return qwen3(64, 5120, 25600, 64, 8, tied=False)


def qwen3_30b() -> Sparse:
    """Return Qwen3 30B-A3B: a mixture of 128 small experts."""
    model = begin(
        "qwen3moe",
        vocabulary=151936,
        context=40960,
        embedding=2048,
        layers=48,
        feed_forward_length=6144,
        attention__head_count=32,
        attention__head_count_kv=4,
        attention__key_length=128,
        attention__value_length=128,
        expert_count=128,
        expert_used_count=8,
        expert_feed_forward_length=768,
    )
    for layer in range(48):
        block = f"blk.{layer}"
        attention(model, block, 2048, 4096, 512)
        head_norms(model, block, 128)
        mixture(model, block, 2048, 768, 128)
    return model


def phi3_mini() -> Sparse:
    """Return Phi-3 mini: queries, keys and values in one matrix, gate and up in another."""
    model = begin(
        "phi3",
        vocabulary=32064,
        context=131072,
        embedding=3072,
        layers=32,
        feed_forward_length=8192,
        attention__head_count=32,
        attention__head_count_kv=32,
        rope__dimension_count=96,
    )
    for layer in range(32):
        block = f"blk.{layer}"
        model.small(f"{block}.attn_norm.weight", 3072)
        model.matrix(f"{block}.attn_qkv.weight", 3072, 9216)
        model.matrix(f"{block}.attn_output.weight", 3072, 3072)
        model.small(f"{block}.ffn_norm.weight", 3072)
        model.matrix(f"{block}.ffn_up.weight", 3072, 16384)
        model.matrix(f"{block}.ffn_down.weight", 8192, 3072)
    return model


def deci_by_layer() -> Sparse:
    """Return a DeciLM: other heads in each layer, some of them without attention or network."""
    heads = [0 if layer % 4 == 3 else (8, 4, 2)[layer % 4] for layer in range(32)]
    widths = [0 if layer % 8 == 5 else 14336 - 1024 * (layer % 3) for layer in range(32)]
    model = begin(
        "deci",
        vocabulary=128256,
        context=131072,
        embedding=4096,
        layers=32,
        feed_forward_length=widths,
        attention__head_count=[32 if kv_heads else 0 for kv_heads in heads],
        attention__head_count_kv=heads,
        rope__dimension_count=128,
    )
    for layer, (kv_heads, width) in enumerate(zip(heads, widths, strict=True)):
        block = f"blk.{layer}"
        if kv_heads:
            attention(model, block, 4096, 4096, 128 * kv_heads)
        if width:
            feed_forward(model, block, 4096, width)
    return model


def deepseek2_lite() -> Sparse:
    """Return DeepSeek V2 Lite: one compressed row a token (MLA)."""
    model = begin(
        "deepseek2",
        vocabulary=102400,
        context=163840,
        embedding=2048,
        layers=27,
        feed_forward_length=10944,
        attention__head_count=16,
        attention__head_count_kv=1,
        attention__key_length=576,
        attention__value_length=512,
        attention__key_length_mla=192,
        attention__value_length_mla=128,
        attention__kv_lora_rank=512,
        rope__dimension_count=64,
        leading_dense_block_count=1,
        expert_count=64,
        expert_used_count=6,
        expert_shared_count=2,
        expert_feed_forward_length=1408,
        expert_weights_scale=1.0,
    )
    for layer in range(27):
        block = f"blk.{layer}"
        model.small(f"{block}.attn_norm.weight", 2048)
        model.small(f"{block}.attn_kv_a_norm.weight", 512)
        model.matrix(f"{block}.attn_q.weight", 2048, 16 * 192)
        model.matrix(f"{block}.attn_kv_a_mqa.weight", 2048, 576)
        model.matrix(f"{block}.attn_k_b.weight", 128, 512, 16)
        model.matrix(f"{block}.attn_v_b.weight", 512, 128, 16)
        model.matrix(f"{block}.attn_output.weight", 2048, 2048)
        if layer == 0:
            feed_forward(model, block, 2048, 10944)
            continue
        mixture(model, block, 2048, 1408, 64)
        for name, shape in (("gate", (2048, 2816)), ("up", (2048, 2816)), ("down", (2816, 2048))):
            model.matrix(f"{block}.ffn_{name}_shexp.weight", *shape)
    return model
