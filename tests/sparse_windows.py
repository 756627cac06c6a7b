"""Real models of which some layers keep a window of the last tokens, as sparse files."""

from __future__ import annotations

from tests.sparse_ggufs import MXFP4, Sparse, attention, begin, feed_forward, head_norms, mixture


def gemma3_12b() -> Sparse:
    """Return Gemma 3 12B: a window of 1,024 tokens in five of six layers."""
    return _gemma("gemma3", 48, 3840, 15360, 16, 8, 256, context=131072, window=1024, norms=True)


def gemma3_1b() -> Sparse:
    """Return Gemma 3 1B: a vocabulary that outweighs its layers."""
    return _gemma("gemma3", 26, 1152, 6912, 4, 1, 256, context=32768, window=512, norms=True)


def gemma3_27b() -> Sparse:
    """Return Gemma 3 27B: queries narrower than the embedding."""
    return _gemma("gemma3", 62, 5376, 21504, 32, 16, 128, context=131072, window=1024, norms=True)


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
            head_norms(model, block, head)
        model.small(f"{block}.post_attention_norm.weight", embedding)
        feed_forward(model, block, embedding, width)
        model.small(f"{block}.post_ffw_norm.weight", embedding)
    return model


def cohere2_7b() -> Sparse:
    """Return Command R7B: attention and network beside each other, a window in three of four layers."""
    model = begin(
        "cohere2",
        vocabulary=256000,
        context=131072,
        embedding=4096,
        layers=32,
        tied=True,
        feed_forward_length=14336,
        attention__head_count=32,
        attention__head_count_kv=8,
        attention__key_length=128,
        attention__value_length=128,
        attention__sliding_window=4096,
        attention__layer_norm_epsilon=1e-5,
        logit_scale=0.25,
    )
    for layer in range(32):
        block = f"blk.{layer}"
        attention(model, block, 4096, 4096, 1024)
        feed_forward(model, block, 4096, 14336)
        del model.tensors[f"{block}.ffn_norm.weight"]
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
        head_norms(model, block, head)
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
        head_norms(model, block, head)
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
