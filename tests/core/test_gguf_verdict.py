"""Whether a header belongs to a complete model that can chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from app.core.errors import UserError
from app.core.gguf_header import Header, read_header
from app.core.gguf_verdict import check_chat_model, check_tensor_data
from app.core.model_kind import ModelKind, NotForChat
from tests.gguf_bytes import Entry, raw_gguf

CHAT: dict[str, Entry] = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2"}
F32, Q4_0, UNKNOWN = 0, 2, 99

TensorRow = tuple[str, tuple[int, ...], int, int]


def header_of(content: bytes) -> Header:
    """Return the header of these bytes."""
    return read_header(lambda offset, size: content[offset : offset + size], len(content))


def verdict_of(metadata: Mapping[str, Entry], tensors: int = 1) -> str:
    """Return the sentence that a model with these entries is refused with; nothing when it can chat."""
    try:
        check_chat_model(header_of(raw_gguf(metadata)), tensors)
    except UserError as error:
        return str(error)
    return ""


def placement_of(tensors: Sequence[TensorRow], data: int) -> str:
    """Return the sentence that `data` bytes of weights are refused with; nothing when all is there."""
    content = raw_gguf(CHAT, tensors, data=bytes(data))
    try:
        check_tensor_data(header_of(content), len(content), "m.gguf")
    except UserError as error:
        return str(error)
    return ""


OTHER_KINDS: dict[str, tuple[dict[str, Entry], str]] = {
    "lora": ({"general.type": "adapter", "adapter.type": "lora"}, "LoRA adapter"),
    "old lora": ({"adapter.type": "lora"}, "LoRA adapter"),
    "mmproj by type": ({"general.type": "mmproj"}, "(mmproj)"),
    "clip": ({"general.architecture": "clip"}, "(mmproj)"),
    "imatrix": ({"general.type": "imatrix"}, "importance matrix"),
    "imatrix by entry": ({"imatrix.datasets": ["x"]}, "importance matrix"),
    "control vector": ({"general.architecture": "controlvector"}, "control vector"),
    "bert": ({"general.architecture": "bert"}, "an embedding model (bert)"),
    "nomic": ({"general.architecture": "nomic-bert"}, "an embedding model (nomic-bert)"),
    "jina": ({"general.architecture": "jina-bert-v2"}, "an embedding model (jina-bert-v2)"),
    "t5 encoder": ({"general.architecture": "t5encoder"}, "an embedding model (t5encoder)"),
    "mean pooling": ({"llama.pooling_type": 1}, "an embedding model (llama)"),
    "first token": ({"llama.pooling_type": 2}, "an embedding model (llama)"),
    "last token": ({"llama.pooling_type": 3}, "an embedding model (llama)"),
    "reranker": ({"llama.pooling_type": 4}, "a reranker (llama)"),
    "reranker of an encoder": ({"general.architecture": "bert", "bert.pooling_type": 4}, "a reranker (bert)"),
    "not causal": ({"llama.attention.causal": False}, "an embedding model (llama)"),
    "classifier": ({"llama.classifier.output_labels": ["yes", "no"]}, "a reranker (llama)"),
    "t5": ({"general.architecture": "t5"}, "an encoder-decoder model (t5)"),
    "dream": (
        {"general.architecture": "dream", "dream.attention.causal": False},
        "diffusion language model (dream)",
    ),
    "llada": ({"general.architecture": "llada"}, "diffusion language model (llada)"),
    "flux": ({"general.architecture": "flux"}, "makes pictures or films (flux)"),
    "speech": ({"general.architecture": "wavtokenizer-dec"}, "made for speech (wavtokenizer-dec)"),
    "draft": ({"general.architecture": "eagle3"}, "a draft model (eagle3)"),
    "empty architecture": ({"general.architecture": ""}, "does not say which architecture"),
    "architecture of another type": ({"general.architecture": 7}, "does not say which architecture"),
    "no tokenizer": ({"tokenizer.ggml.model": "none"}, "without a tokenizer"),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_a_file_that_cannot_chat_says_what_it_is(kind: str) -> None:
    entries, expected = OTHER_KINDS[kind]
    assert expected in verdict_of({**CHAT, **entries})


KINDS: dict[str, ModelKind] = {
    "lora": "adapter",
    "old lora": "adapter",
    "mmproj by type": "projector",
    "clip": "projector",
    "bert": "embedding",
    "mean pooling": "embedding",
    "not causal": "embedding",
    "reranker": "reranker",
    "reranker of an encoder": "reranker",
    "classifier": "reranker",
    "imatrix": "other",
    "t5": "other",
    "speech": "other",
}


@pytest.mark.parametrize(("case", "kind"), KINDS.items())
def test_the_kind_of_a_file_that_cannot_chat_is_kept(case: str, kind: ModelKind) -> None:
    with pytest.raises(NotForChat) as refused:
        check_chat_model(header_of(raw_gguf({**CHAT, **OTHER_KINDS[case][0]})), 1)
    assert refused.value.kind == kind


def test_a_model_without_architecture_or_tokenizer_is_refused() -> None:
    assert "does not say which architecture" in verdict_of({"tokenizer.ggml.model": "gpt2"})
    assert "without a tokenizer" in verdict_of({"general.architecture": "llama"})


def test_a_file_without_weights_holds_a_vocabulary() -> None:
    assert "a vocabulary and no weights" in verdict_of(CHAT, tensors=0)
    assert "a vocabulary and no weights" in verdict_of({**CHAT, "general.architecture": "bert"}, tensors=0)


@pytest.mark.parametrize("architecture", ["llama", "qwen2moe", "gemma3", "mamba", "an-architecture-of-tomorrow"])
def test_a_chat_model_passes(architecture: str) -> None:
    assert verdict_of({**CHAT, "general.architecture": architecture}) == ""


def test_pooling_none_and_causal_attention_are_those_of_a_chat_model() -> None:
    assert verdict_of({**CHAT, "llama.pooling_type": 0, "llama.attention.causal": True}) == ""


@pytest.mark.parametrize(
    ("entries", "wrong"),
    [
        ({"llama.block_count": 0}, "“llama.block_count” in this file is 0"),
        ({"llama.block_count": 513}, "“llama.block_count” in this file is 513"),
        ({"llama.expert_count": 1025}, "“llama.expert_count” in this file is 1,025"),
        (
            {"llama.expert_count": 4, "llama.expert_used_count": 5},
            "“llama.expert_used_count” in this file is 5",
        ),
        (
            {"llama.expert_count": 4, "llama.expert_used_count": 0},
            "“llama.expert_used_count” in this file is 0",
        ),
        ({"llama.expert_count": 4}, "“llama.expert_count” in this file is 4"),
        ({"llama.context_length": 2**32 - 1}, "“llama.context_length” in this file is 4,294,967,295"),
        (
            {"llama.block_count": 2, "llama.nextn_predict_layers": 2},
            "“llama.nextn_predict_layers” in this file is 2",
        ),
        ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, "layer_norm_rms_epsilon” in this file is nan"),
        ({"llama.attention.layer_norm_rms_epsilon": -1.0}, "layer_norm_rms_epsilon” in this file is -1.0"),
        ({"llama.attention.layer_norm_epsilon": float("inf")}, "layer_norm_epsilon” in this file is inf"),
        ({"llama.rope.scaling.type": "odd"}, "“llama.rope.scaling.type” in this file is “odd”"),
        ({"llama.expert_used_count": 1}, "“llama.expert_used_count” in this file is 1"),
    ],
)
def test_a_size_that_would_end_the_engine_is_refused(entries: dict[str, Entry], wrong: str) -> None:
    assert wrong in verdict_of({**CHAT, **entries})


def test_the_largest_sizes_and_a_dense_model_that_counts_no_experts_pass() -> None:
    assert (
        verdict_of({**CHAT, "llama.block_count": 512, "llama.expert_count": 1024, "llama.expert_used_count": 8}) == ""
    )
    assert verdict_of({**CHAT, "llama.block_count": 1, "llama.expert_count": 0, "llama.expert_used_count": 0}) == ""
    assert verdict_of({**CHAT, "llama.expert_count": 4, "llama.expert_used_count": 4}) == ""
    assert verdict_of({**CHAT, "llama.block_count": 2, "llama.nextn_predict_layers": 1}) == ""
    assert (
        verdict_of({**CHAT, "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.scaling.type": "yarn"}) == ""
    )


def test_an_architecture_with_strange_characters_is_shown_printable() -> None:
    sentence = verdict_of(
        {"general.architecture": "a\n{kind}", "tokenizer.ggml.model": "gpt2", "a\n{kind}.pooling_type": 1}
    )
    assert "(a�{kind})" in sentence


def test_tensors_one_after_the_other_pass() -> None:
    assert placement_of([("a", (4, 2), F32, 0), ("b", (3,), F32, 32), ("c", (32,), Q4_0, 64)], 96) == ""


def test_padding_after_the_last_tensor_may_be_missing() -> None:
    assert placement_of([("a", (4, 2), F32, 0), ("b", (3,), F32, 32)], 44) == ""


def test_a_truncated_file_says_how_much_is_there() -> None:
    content = raw_gguf(CHAT, [("a", (1000,), F32, 0)], data=bytes(4000))
    header = header_of(content)
    for size in (len(content) - 1, header.data_offset + 1, header.data_offset):
        with pytest.raises(UserError) as caught:
            check_tensor_data(header, size, "m.gguf")
        assert f"“m.gguf” is not complete, {size:,} of {len(content):,} bytes are there" in str(caught.value)


@pytest.mark.parametrize(
    "second", [("b", (3,), F32, 33), ("b", (3,), F32, 0), ("b", (3,), F32, 64), ("b", (3,), F32, 2**62)]
)
def test_a_tensor_that_is_out_of_line_overlaps_or_leaves_a_gap_is_damage(second: TensorRow) -> None:
    assert "The tensor “b” in “m.gguf” is not where it should be" in placement_of(
        [("a", (4, 2), F32, 0), second], 9999
    )


def test_behind_a_type_that_is_not_known_only_the_step_and_the_end_are_checked() -> None:
    first: TensorRow = ("a", (4, 2), UNKNOWN, 0)
    assert placement_of([first, ("b", (3,), F32, 320)], 332) == ""
    assert "“b” in “m.gguf” is not where it should be" in placement_of([first, ("b", (3,), F32, 321)], 999)
    assert "is not complete" in placement_of([first, ("b", (3,), F32, 320)], 331)
    assert placement_of([("a", (4, 2), F32, 0), ("b", (4, 2), UNKNOWN, 32)], 32) == ""
