"""Says whether a GGUF header belongs to a complete model that can chat, and if not, why not.

Judges header values only: it opens nothing, and leaves to llama.cpp what llama.cpp alone can know.
"""

from __future__ import annotations

import math

from app.core.errors import UserError
from app.core.gguf_cursor import shown_name
from app.core.gguf_header import Header
from app.core.model_kind import ModelKind, NotForChat
from app.core.words import Sentence, translate

EMBEDDING_ARCHITECTURES = frozenset(
    {
        "bert",
        "modern-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "neo-bert",
        "jina-bert-v2",
        "jina-bert-v3",
        "eurobert",
        "t5encoder",
        "gemma-embedding",
        "llama-embed",
    }
)
DIFFUSION_ARCHITECTURES = frozenset({"dream", "llada", "llada-moe", "rnd1"})
SPEECH_ARCHITECTURES = frozenset({"wavtokenizer-dec", "qwen3tts", "pockettts", "whisper"})
DRAFT_ARCHITECTURES = frozenset({"eagle3", "dflash", "gemma4-assistant"})
IMAGE_ARCHITECTURES = frozenset(
    {
        "flux",
        "sd1",
        "sdxl",
        "sd3",
        "aura",
        "hidream",
        "cosmos",
        "ltxv",
        "hyvid",
        "wan",
        "lumina2",
        "qwen_image",
    }
)

MAX_LAYERS = 512
MAX_EXPERTS = 1_024
MAX_CONTEXT = 2**31 - 1
"""Above these, and for sizes that contradict each other, llama.cpp ends the process instead of refusing."""

EPSILONS = ("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon", "attention.group_norm_epsilon")
ROPE_SCALINGS = ("none", "linear", "yarn", "longrope")

EMBEDDING_POOLING_TYPES = (1, 2, 3)
"""Mean, first token, last token: what embedding models do with their output."""
RANKING_POOLING_TYPE = 4
_Other = tuple[ModelKind, Sentence]
"""What a file is instead, and the sentence that says so."""


def check_tensor_data(header: Header, file_size: int, file_name: str) -> None:
    """Raise unless the tensors lie one after the other, and all of them inside the file."""
    following: int | None = 0
    end = header.data_offset
    for tensor in header.tensors:
        is_aligned = tensor.offset % header.alignment == 0
        if not is_aligned or (following is not None and tensor.offset != following):
            raise UserError(
                translate(
                    "ModelFile",
                    "The tensor “{tensor}” in “{file}” is not where it should be, so the file is damaged:"
                    " download it again.",
                    tensor=shown_name(tensor.name),
                    file=shown_name(file_name),
                )
            )
        size = tensor.size
        end = header.data_offset + tensor.offset + (size or 0)
        following = None if size is None else -(-(tensor.offset + size) // header.alignment) * header.alignment
    if end > file_size:
        raise UserError(
            translate(
                "ModelFile",
                "“{file}” is not complete, {size:,} of {needed:,} bytes are there: download it again.",
                file=shown_name(file_name),
                size=file_size,
                needed=end,
            )
        )


def check_chat_model(header: Header, tensors: int) -> None:
    """Raise unless this is the header of a text model; `tensors` are those of all parts of the model."""
    architecture = header.text("general.architecture")
    other = _other_kind_of_file(header) or _no_weights(tensors)
    if other is None and architecture:
        other = _other_kind_of_model(header, architecture)
    if other is not None:
        raise NotForChat(*other)
    sentence = None
    if not architecture:
        sentence = translate(
            "ModelFile",
            "This file does not say which architecture its model has, and llama.cpp needs to know: get"
            " another GGUF file of the model.",
        )
    elif header.text("tokenizer.ggml.model") in (None, "none", "no_vocab"):
        sentence = translate(
            "ModelFile",
            "This model comes without a tokenizer, so it cannot read text: get another GGUF file of the model.",
        )
    else:
        sentence = _impossible_size(header, architecture)
    if sentence is not None:
        raise UserError(sentence)


def _other_kind_of_file(header: Header) -> _Other | None:
    """Return what the file is when it only goes with a model."""
    file_type = header.text("general.type")
    architecture = header.text("general.architecture")
    if file_type == "adapter" or "adapter.type" in header.metadata:
        return "adapter", translate(
            "ModelFile",
            "This is a LoRA adapter, which only changes another model: choose that model, or a file with the"
            " adapter merged into it.",
        )
    if file_type == "mmproj" or architecture == "clip":
        return "projector", translate(
            "ModelFile",
            "This is the picture or sound part of a model (mmproj), which cannot chat alone: choose the"
            " model's main file.",
        )
    if file_type == "imatrix" or "imatrix.datasets" in header.metadata:
        return "other", translate(
            "ModelFile",
            "This is an importance matrix, which only helps to quantise a model: choose a model file.",
        )
    if architecture == "controlvector":
        return "other", translate(
            "ModelFile",
            "This is a control vector, which only steers another model: choose a model file.",
        )
    return None


def _no_weights(tensors: int) -> _Other | None:
    """Return the sentence for a file that has a vocabulary at best."""
    if tensors:
        return None
    return "vocabulary", translate(
        "ModelFile",
        "This file holds a vocabulary and no weights, so it cannot answer: choose the complete model file.",
    )


def _other_kind_of_model(header: Header, architecture: str) -> _Other | None:
    """Return what the model does when it does not write text one token after the other."""
    kind = shown_name(architecture)
    if architecture in DIFFUSION_ARCHITECTURES:
        return "other", translate(
            "ModelFile",
            "This is a diffusion language model ({kind}), which writes all words at once, and this program"
            " runs models that write one token after the other: choose such a model.",
            kind=kind,
        )
    if architecture in IMAGE_ARCHITECTURES:
        return "other", translate(
            "ModelFile",
            "This model makes pictures or films ({kind}) and cannot chat: choose a text model.",
            kind=kind,
        )
    if architecture in SPEECH_ARCHITECTURES:
        return "other", translate(
            "ModelFile",
            "This model is made for speech ({kind}) and cannot chat: choose a text model.",
            kind=kind,
        )
    if architecture in DRAFT_ARCHITECTURES:
        return "other", translate(
            "ModelFile",
            "This is a draft model ({kind}), which only speeds up another model: choose that model.",
            kind=kind,
        )
    if architecture == "t5":
        return "other", translate(
            "ModelFile",
            "This is an encoder-decoder model ({kind}), made to rewrite a text and not to chat: choose a chat model.",
            kind=kind,
        )
    if _ranks(header, architecture):
        return "reranker", translate(
            "ModelFile",
            "This is a reranker ({kind}), which says how well texts fit a question and cannot chat: choose a chat model.",
            kind=kind,
        )
    if architecture in EMBEDDING_ARCHITECTURES or _makes_embeddings(header, architecture):
        return "embedding", translate(
            "ModelFile",
            "This is an embedding model ({kind}), which turns text into numbers for search and cannot chat:"
            " choose a chat model.",
            kind=kind,
        )
    return None


def _makes_embeddings(header: Header, architecture: str) -> bool:
    """Whether a model of a chat architecture was trained to embed."""
    return (
        header.integer(f"{architecture}.pooling_type") in EMBEDDING_POOLING_TYPES
        or header.flag(f"{architecture}.attention.causal") is False
    )


def _ranks(header: Header, architecture: str) -> bool:
    """Whether a model of any architecture was trained to rank, or to sort into classes."""
    return (
        header.integer(f"{architecture}.pooling_type") == RANKING_POOLING_TYPE
        or f"{architecture}.classifier.output_labels" in header.metadata
    )


def _impossible_size(header: Header, architecture: str) -> Sentence | None:
    """Return the sentence for a size that llama.cpp answers with an abort."""
    layers_key = f"{architecture}.block_count"
    experts_key = f"{architecture}.expert_count"
    used_key = f"{architecture}.expert_used_count"
    predicting_key = f"{architecture}.nextn_predict_layers"
    context_key = f"{architecture}.context_length"
    layers = header.integer(layers_key)
    experts = header.integer(experts_key) or 0
    used = header.integer(used_key)
    predicting = header.integer(predicting_key) or 0
    context = header.integer(context_key) or 0
    if layers is not None and not 1 <= layers <= MAX_LAYERS:
        return _impossible(layers_key, layers)
    if not 0 <= experts <= MAX_EXPERTS:
        return _impossible(experts_key, experts)
    if not min(experts, 1) <= (used or 0) <= experts:
        return _impossible(experts_key if used is None else used_key, experts if used is None else used)
    if predicting and layers is not None and not 0 < predicting < layers:
        return _impossible(predicting_key, predicting)
    if not 0 <= context <= MAX_CONTEXT:
        return _impossible(context_key, context)
    return _impossible_number(header, architecture) or _unknown_scaling(header, f"{architecture}.rope.scaling.type")


def _impossible_number(header: Header, architecture: str) -> Sentence | None:
    """Return the sentence for a number that llama.cpp asserts while it computes, when it is too late to tell the file."""
    for name in EPSILONS:
        value = header.number(f"{architecture}.{name}")
        if value is not None and not 0 <= value < math.inf:
            return _impossible(f"{architecture}.{name}", value)
    return None


def _impossible(key: str, value: float) -> Sentence:
    return translate(
        "ModelFile",
        "The entry “{key}” in this file is {value:,}, a number that llama.cpp cannot work with, so the file is"
        " probably damaged: download the model again.",
        key=shown_name(key),
        value=value,
    )


def _unknown_scaling(header: Header, key: str) -> Sentence | None:
    """Return the sentence for a way of scaling that llama.cpp answers with an abort too."""
    value = header.text(key)
    if value is None or value in ROPE_SCALINGS:
        return None
    return translate(
        "ModelFile",
        "The entry “{key}” in this file is “{value}”, which llama.cpp does not know: update the program, or get another"
        " GGUF file of the model.",
        key=shown_name(key),
        value=shown_name(value),
    )
