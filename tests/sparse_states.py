"""Real models with recurrent layers, as sparse files."""

from __future__ import annotations

from tests.sparse_ggufs import Sparse, attention, begin, feed_forward, head_norms, mixture


def mamba_2_8b() -> Sparse:
    """Return Mamba 2.8B: states alone."""
    model = begin(
        "mamba",
        vocabulary=50280,
        context=1048576,
        embedding=2560,
        layers=64,
        tied=True,
        feed_forward_length=0,
        attention__head_count=0,
        ssm__conv_kernel=4,
        ssm__inner_size=5120,
        ssm__state_size=16,
        ssm__time_step_rank=160,
    )
    for layer in range(64):
        _mamba(model, f"blk.{layer}", 2560, 5120, 16, 160)
    return model


def jamba_52b() -> Sparse:
    """Return Jamba: Mamba with attention in every eighth layer, experts in every second."""
    heads = [8 if layer % 8 == 4 else 0 for layer in range(32)]
    model = begin(
        "jamba",
        vocabulary=65536,
        context=262144,
        embedding=4096,
        layers=32,
        feed_forward_length=14336,
        attention__head_count=32,
        attention__head_count_kv=heads,
        expert_count=16,
        expert_used_count=2,
        ssm__conv_kernel=4,
        ssm__inner_size=8192,
        ssm__state_size=16,
        ssm__time_step_rank=256,
    )
    for layer, kv_heads in enumerate(heads):
        block = f"blk.{layer}"
        if kv_heads:
            attention(model, block, 4096, 4096, 1024)
        else:
            _mamba(model, block, 4096, 8192, 16, 256)
            model.small(f"{block}.ssm_dt_norm.weight", 256)
            model.small(f"{block}.ssm_b_norm.weight", 16)
            model.small(f"{block}.ssm_c_norm.weight", 16)
        if layer % 2:
            mixture(model, block, 4096, 14336, 16)
        else:
            feed_forward(model, block, 4096, 14336)
    return model


def lfm2_1_2b() -> Sparse:
    """Return LFM2 1.2B: short convolutions with attention in six of sixteen layers."""
    heads = [8 if layer in (2, 5, 8, 10, 12, 14) else 0 for layer in range(16)]
    model = begin(
        "lfm2",
        vocabulary=65536,
        context=128000,
        embedding=2048,
        layers=16,
        tied=True,
        feed_forward_length=8192,
        attention__head_count=32,
        attention__head_count_kv=heads,
        shortconv__l_cache=3,
    )
    del model.tensors["output_norm.weight"]
    model.small("token_embd_norm.weight", 2048)
    for layer, kv_heads in enumerate(heads):
        block = f"blk.{layer}"
        if kv_heads:
            attention(model, block, 2048, 2048, 512)
            head_norms(model, block, 64)
        else:
            model.small(f"{block}.attn_norm.weight", 2048)
            model.small(f"{block}.shortconv.conv.weight", 3, 2048)
            model.matrix(f"{block}.shortconv.in_proj.weight", 2048, 6144)
            model.matrix(f"{block}.shortconv.out_proj.weight", 2048, 2048)
        feed_forward(model, block, 2048, 8192)
    return model


def qwen35_27b() -> Sparse:
    """Return a Qwen3.5 27B: gated delta nets with attention in every fourth layer."""
    embedding, width, groups, ranks, state = 5120, 17408, 16, 48, 128
    values, keys = state * ranks, state * groups
    model = begin(
        "qwen35",
        vocabulary=248320,
        context=262144,
        embedding=embedding,
        layers=64,
        feed_forward_length=width,
        attention__head_count=24,
        attention__head_count_kv=4,
        attention__key_length=256,
        attention__value_length=256,
        rope__dimension_count=64,
        rope__dimension_sections=[11, 11, 10, 0],
        full_attention_interval=4,
        ssm__conv_kernel=4,
        ssm__inner_size=values,
        ssm__state_size=state,
        ssm__time_step_rank=ranks,
        ssm__group_count=groups,
    )
    for layer in range(64):
        block = f"blk.{layer}"
        if layer % 4 == 3:
            attention(model, block, embedding, 2 * 256 * 24, 1024)
            model.matrix(f"{block}.attn_output.weight", 256 * 24, embedding)
            head_norms(model, block, 256)
        else:
            model.small(f"{block}.attn_norm.weight", embedding)
            model.matrix(f"{block}.attn_qkv.weight", embedding, 2 * keys + values)
            model.matrix(f"{block}.attn_gate.weight", embedding, values)
            model.small(f"{block}.ssm_conv1d.weight", 4, 2 * keys + values)
            model.small(f"{block}.ssm_dt.bias", ranks)
            model.small(f"{block}.ssm_a", ranks)
            model.matrix(f"{block}.ssm_beta.weight", embedding, ranks)
            model.matrix(f"{block}.ssm_alpha.weight", embedding, ranks)
            model.small(f"{block}.ssm_norm.weight", state)
            model.matrix(f"{block}.ssm_out.weight", values, embedding)
        feed_forward(model, block, embedding, width)
        del model.tensors[f"{block}.ffn_norm.weight"]
        model.small(f"{block}.post_attention_norm.weight", embedding)
    return model


def granite_h_small() -> Sparse:
    """Return a Granite 4 hybrid: Mamba 2 with attention in four of forty layers, a mixture."""
    embedding, inner, state, ranks = 4096, 8192, 128, 128
    heads = [8 if layer in (5, 15, 25, 35) else 0 for layer in range(40)]
    model = begin(
        "granitehybrid",
        vocabulary=100352,
        context=131072,
        embedding=embedding,
        layers=40,
        tied=True,
        feed_forward_length=768,
        attention__head_count=32,
        attention__head_count_kv=heads,
        expert_count=72,
        expert_used_count=10,
        expert_shared_feed_forward_length=1536,
        ssm__conv_kernel=4,
        ssm__inner_size=inner,
        ssm__state_size=state,
        ssm__time_step_rank=ranks,
        ssm__group_count=1,
    )
    for layer, kv_heads in enumerate(heads):
        block = f"blk.{layer}"
        if kv_heads:
            attention(model, block, embedding, embedding, 1024)
        else:
            model.small(f"{block}.attn_norm.weight", embedding)
            _mamba2(model, block, embedding, inner, state, ranks, 1)
        mixture(model, block, embedding, 768, 72)
        for name, shape in (("gate", (embedding, 1536)), ("up", (embedding, 1536)), ("down", (1536, embedding))):
            model.matrix(f"{block}.ffn_{name}_shexp.weight", *shape)
    return model


def falcon_h1_1_5b() -> Sparse:
    """Return a Falcon H1 1.5B: Mamba 2 and attention beside each other in every layer."""
    embedding, inner, state, ranks = 2048, 3072, 256, 48
    model = begin(
        "falcon-h1",
        vocabulary=65536,
        context=131072,
        embedding=embedding,
        layers=24,
        feed_forward_length=4096,
        attention__head_count=8,
        attention__head_count_kv=2,
        attention__key_length=128,
        attention__value_length=128,
        ssm__conv_kernel=4,
        ssm__inner_size=inner,
        ssm__state_size=state,
        ssm__time_step_rank=ranks,
        ssm__group_count=1,
    )
    for layer in range(24):
        block = f"blk.{layer}"
        attention(model, block, embedding, 1024, 256)
        _mamba2(model, block, embedding, inner, state, ranks, 1)
        feed_forward(model, block, embedding, 4096)
        model.tensors[f"{block}.ffn_norm"] = model.tensors.pop(f"{block}.ffn_norm.weight")
    return model


def _mamba(model: Sparse, block: str, embedding: int, inner: int, state: int, rank: int) -> None:
    model.small(f"{block}.attn_norm.weight", embedding)
    model.matrix(f"{block}.ssm_in.weight", embedding, 2 * inner)
    model.small(f"{block}.ssm_conv1d.weight", 4, inner)
    model.small(f"{block}.ssm_conv1d.bias", inner)
    model.matrix(f"{block}.ssm_x.weight", inner, rank + 2 * state)
    model.matrix(f"{block}.ssm_dt.weight", rank, inner)
    model.small(f"{block}.ssm_dt.bias", inner)
    model.small(f"{block}.ssm_a", state, inner)
    model.small(f"{block}.ssm_d", inner)
    model.matrix(f"{block}.ssm_out.weight", inner, embedding)


def _mamba2(model: Sparse, block: str, embedding: int, inner: int, state: int, ranks: int, groups: int) -> None:
    convolved = inner + 2 * groups * state
    model.matrix(f"{block}.ssm_in.weight", embedding, inner + convolved + ranks)
    model.small(f"{block}.ssm_conv1d.weight", 4, convolved)
    model.small(f"{block}.ssm_conv1d.bias", convolved)
    model.small(f"{block}.ssm_dt.bias", ranks)
    model.small(f"{block}.ssm_a", 1, ranks)
    model.small(f"{block}.ssm_d", 1, ranks)
    model.small(f"{block}.ssm_norm.weight", inner // groups, groups)
    model.matrix(f"{block}.ssm_out.weight", inner, embedding)
