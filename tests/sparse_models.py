"""Real models by their sizes, one of each kind of memory, as sparse files: see `tests.sparse_ggufs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.sparse_ggufs import MXFP4, Sparse, attention, begin, feed_forward, mixture


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
        _head_norms(model, block, 128)
        feed_forward(model, block, embedding, width)
    return model


def qwen3_8b() -> Sparse:
    """Return Qwen3 8B: dense."""
    return qwen3(36, 4096, 12288, 32, 8, tied=False)


def qwen3_600m() -> Sparse:
    """Return Qwen3 0.6B: dense, tied, queries twice as wide as the embedding."""
    return qwen3(28, 1024, 3072, 16, 8, tied=True)


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
        _head_norms(model, block, 128)
        mixture(model, block, 2048, 768, 128)
    return model


def gemma3_12b() -> Sparse:
    """Return Gemma 3 12B: a window of 1,024 tokens in five of six layers."""
    return _gemma("gemma3", 48, 3840, 15360, 16, 8, 256, context=131072, window=1024, norms=True)


def gemma3_1b() -> Sparse:
    """Return Gemma 3 1B: a vocabulary that outweighs its layers."""
    return _gemma("gemma3", 26, 1152, 6912, 4, 1, 256, context=32768, window=512, norms=True)


def gemma2_9b() -> Sparse:
    """Return Gemma 2 9B: a window in every second layer."""
    return _gemma("gemma2", 42, 3584, 14336, 16, 8, 256, context=8192, window=4096, norms=False)


def _gemma(
    architecture: str,
    layers: int,
    embedding: int,
    width: int,
    heads: int,
    kv_heads: int,
    head: int,
    *,
    context: int,
    window: int,
    norms: bool,
) -> Sparse:
    model = begin(
        architecture,
        vocabulary=262144 if norms else 256000,
        context=context,
        embedding=embedding,
        layers=layers,
        tied=True,
        feed_forward_length=width,
        attention__head_count=heads,
        attention__head_count_kv=kv_heads,
        attention__key_length=head,
        attention__value_length=head,
        attention__sliding_window=window,
    )
    for layer in range(layers):
        block = f"blk.{layer}"
        attention(model, block, embedding, head * heads, head * kv_heads)
        if norms:
            _head_norms(model, block, head)
        model.small(f"{block}.post_attention_norm.weight", embedding)
        feed_forward(model, block, embedding, width)
        model.small(f"{block}.post_ffw_norm.weight", embedding)
    return model


def gemma3n_e4b() -> Sparse:
    """Return Gemma 3n E4B: a table of embeddings for each layer, layers that use the keys of earlier ones."""
    layers, embedding, width, head, slices = 35, 2048, 16384, 256, 256
    model = begin(
        "gemma3n",
        vocabulary=262144,
        context=32768,
        embedding=embedding,
        layers=layers,
        tied=True,
        feed_forward_length=[width] * layers,
        attention__head_count=8,
        attention__head_count_kv=2,
        attention__key_length=head,
        attention__value_length=head,
        attention__sliding_window=512,
        attention__shared_kv_layers=15.0,
        embedding_length_per_layer_input=slices,
    )
    model.matrix("per_layer_token_embd.weight", slices * layers, 262144)
    model.matrix("per_layer_model_proj.weight", embedding, slices * layers)
    model.small("per_layer_proj_norm.weight", slices)
    for name in ("altup_proj", "altup_unembd_proj"):
        model.matrix(f"{name}.weight", embedding, embedding, 3)
    for layer in range(layers):
        block = f"blk.{layer}"
        attention(model, block, embedding, 8 * head, 2 * head)
        _head_norms(model, block, head)
        feed_forward(model, block, embedding, width)
        for name in ("post_attention_norm", "post_ffw_norm", "post_norm", "altup_correct_scale", "laurel_post_norm"):
            model.small(f"{block}.{name}.weight", embedding)
        model.small(f"{block}.altup_router_norm.weight", embedding)
        model.small(f"{block}.altup_correct_coef.weight", 4, 4)
        model.small(f"{block}.altup_predict_coef.weight", 4, 16)
        model.small(f"{block}.altup_router.weight", embedding, 4)
        model.matrix(f"{block}.inp_gate.weight", embedding, slices)
        model.matrix(f"{block}.proj.weight", slices, embedding)
        model.matrix(f"{block}.laurel_l.weight", embedding, 64)
        model.matrix(f"{block}.laurel_r.weight", 64, embedding)
    return model


def gemma4_small() -> Sparse:
    """Return a Gemma 4 of the sizes of its small one: two widths of heads, shared keys, a list of windows."""
    layers, embedding, width = 42, 2560, 10240
    windows = [layer % 6 != 5 for layer in range(layers)]
    model = begin(
        "gemma4",
        vocabulary=262144,
        context=131072,
        embedding=embedding,
        layers=layers,
        tied=True,
        feed_forward_length=width,
        attention__head_count=8,
        attention__head_count_kv=2,
        attention__key_length=512,
        attention__value_length=512,
        attention__key_length_swa=256,
        attention__value_length_swa=256,
        attention__sliding_window=512,
        attention__sliding_window_pattern=windows,
        attention__shared_kv_layers=18,
        embedding_length_per_layer_input=0,
    )
    model.small("rope_freqs.weight", 256)
    for layer, is_window in enumerate(windows):
        block, head = f"blk.{layer}", 256 if is_window else 512
        attention(model, block, embedding, 8 * head, 2 * head)
        _head_norms(model, block, head)
        model.small(f"{block}.post_attention_norm.weight", embedding)
        feed_forward(model, block, embedding, width)
        model.small(f"{block}.post_ffw_norm.weight", embedding)
    return model


def gpt_oss_20b() -> Sparse:
    """Return gpt-oss 20B: a mixture, a window of 128 tokens in every second layer."""
    model = begin(
        "gpt-oss",
        vocabulary=201088,
        context=131072,
        embedding=2880,
        layers=24,
        feed_forward_length=2880,
        attention__head_count=64,
        attention__head_count_kv=8,
        attention__key_length=64,
        attention__value_length=64,
        attention__sliding_window=128,
        expert_count=32,
        expert_used_count=4,
        expert_feed_forward_length=2880,
    )
    for layer in range(24):
        block = f"blk.{layer}"
        attention(model, block, 2880, 4096, 512)
        model.small(f"{block}.attn_sinks.weight", 64)
        model.small(f"{block}.post_attention_norm.weight", 2880)
        mixture(model, block, 2880, 2880, 32, MXFP4, norm=False)
        model.small(f"{block}.attn_output.bias", 2880)
        model.small(f"{block}.ffn_gate_inp.bias", 32)
        for name in ("gate", "up", "down"):
            model.small(f"{block}.ffn_{name}_exps.bias", 2880, 32)
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
            _head_norms(model, block, 64)
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
            _head_norms(model, block, 256)
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


def _head_norms(model: Sparse, block: str, head: int) -> None:
    model.small(f"{block}.attn_q_norm.weight", head)
    model.small(f"{block}.attn_k_norm.weight", head)


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


DENSE: Mapping[str, Callable[[], Sparse]] = {
    "llama-3.1-8b": llama_8b,
    "smollm2-135m": smollm_135m,
    "qwen3-8b": qwen3_8b,
    "qwen3-0.6b": qwen3_600m,
    "deci-by-layer": deci_by_layer,
}
WINDOWED: Mapping[str, Callable[[], Sparse]] = {
    "gemma-3-12b": gemma3_12b,
    "gemma-3-1b": gemma3_1b,
    "gemma-2-9b": gemma2_9b,
    "gemma-3n-e4b": gemma3n_e4b,
    "gemma-4-small": gemma4_small,
}
OTHERS: Mapping[str, Callable[[], Sparse]] = {
    "mixtral-8x7b": mixtral_8x7b,
    "qwen3-30b-a3b": qwen3_30b,
    "gpt-oss-20b": gpt_oss_20b,
    "deepseek-v2-lite": deepseek2_lite,
    "mamba-2.8b": mamba_2_8b,
    "jamba-52b": jamba_52b,
    "lfm2-1.2b": lfm2_1_2b,
    "qwen3.5-27b": qwen35_27b,
    "granite-4-h-small": granite_h_small,
    "falcon-h1-1.5b": falcon_h1_1_5b,
}
ALL: Mapping[str, Callable[[], Sparse]] = {**DENSE, **WINDOWED, **OTHERS}
