"""What a model's own files say of it: architecture, sizes, quantisation, tokenizer, template, license.

A fact that is absent or of another type than it should be is None, never a guess and never an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from app.core.gguf_header import Header, short_label
from app.core.gguf_tensors import Tensor
from app.core.gguf_types import file_type_name

MOST_LANGUAGES = 200
TEMPLATE_KEY = "tokenizer.chat_template"

PerLayer = int | tuple[int, ...]
"""One number for every layer, or one each."""


class TokenizerFacts(msgspec.Struct, frozen=True):
    """What the header says of the tokenizer."""

    model: str | None
    """llama.cpp's name of the method, such as “gpt2” for byte-level BPE or “llama” for SentencePiece."""
    pre: str | None
    vocabulary: int | None
    bos_id: int | None
    eos_id: int | None
    eot_id: int | None
    padding_id: int | None
    add_bos: bool | None
    add_eos: bool | None
    chat_template: str | None
    named_templates: dict[str, str]
    """Further templates by name, such as “tool_use”."""


class ModelFacts(msgspec.Struct, frozen=True):
    """What the headers of all files of one model say of it."""

    architecture: str | None
    name: str | None
    size_label: str | None
    license: str | None
    languages: tuple[str, ...]
    quantisation: str | None
    parameters: int
    tensor_count: int
    tensor_bytes: int | None
    """All weights together; None when a tensor is of a type whose size is not known."""
    bytes_per_type: dict[str, int]
    trained_context: int | None
    layers: int | None
    embedding: int | None
    feed_forward: PerLayer | None
    heads: PerLayer | None
    kv_heads: PerLayer | None
    key_length: int | None
    value_length: int | None
    sliding_window: int | None
    experts: int | None
    experts_used: int | None
    experts_shared: int | None
    tokenizer: TokenizerFacts

    @property
    def is_mixture(self) -> bool:
        """Whether only some experts work on each token."""
        return (self.experts or 0) > 1


def model_facts(headers: Sequence[Header]) -> ModelFacts:
    """Return the facts of a model from the headers of all its files, the first one first."""
    first = headers[0]
    tensors = [tensor for header in headers for tensor in header.tensors]
    architecture = first.label("general.architecture")
    sizes = [tensor.size for tensor in tensors]
    known_sizes = [size for size in sizes if size is not None]
    return ModelFacts(
        architecture=architecture,
        name=first.label("general.name"),
        size_label=first.label("general.size_label"),
        license=first.label("general.license"),
        languages=tuple(map(short_label, (first.texts("general.languages") or ())[:MOST_LANGUAGES])),
        quantisation=_quantisation(first, tensors),
        parameters=sum(tensor.elements for tensor in tensors),
        tensor_count=len(tensors),
        tensor_bytes=sum(known_sizes) if len(known_sizes) == len(sizes) else None,
        bytes_per_type=_bytes_per_type(tensors),
        trained_context=first.integer(f"{architecture}.context_length"),
        layers=first.integer(f"{architecture}.block_count"),
        embedding=first.integer(f"{architecture}.embedding_length"),
        feed_forward=first.integers(f"{architecture}.feed_forward_length"),
        heads=first.integers(f"{architecture}.attention.head_count"),
        kv_heads=first.integers(f"{architecture}.attention.head_count_kv"),
        key_length=first.integer(f"{architecture}.attention.key_length"),
        value_length=first.integer(f"{architecture}.attention.value_length"),
        sliding_window=first.integer(f"{architecture}.attention.sliding_window"),
        experts=first.integer(f"{architecture}.expert_count"),
        experts_used=first.integer(f"{architecture}.expert_used_count"),
        experts_shared=first.integer(f"{architecture}.expert_shared_count"),
        tokenizer=_tokenizer_facts(first, architecture),
    )


def _tokenizer_facts(header: Header, architecture: str | None) -> TokenizerFacts:
    """Return what the first header says of the tokenizer."""
    vocabulary = header.array_length("tokenizer.ggml.tokens")
    if vocabulary is None:
        vocabulary = header.integer(f"{architecture}.vocab_size")
    prefix = f"{TEMPLATE_KEY}."
    return TokenizerFacts(
        model=header.label("tokenizer.ggml.model"),
        pre=header.label("tokenizer.ggml.pre"),
        vocabulary=vocabulary,
        bos_id=header.integer("tokenizer.ggml.bos_token_id"),
        eos_id=header.integer("tokenizer.ggml.eos_token_id"),
        eot_id=header.integer("tokenizer.ggml.eot_token_id"),
        padding_id=header.integer("tokenizer.ggml.padding_token_id"),
        add_bos=header.flag("tokenizer.ggml.add_bos_token"),
        add_eos=header.flag("tokenizer.ggml.add_eos_token"),
        chat_template=header.text(TEMPLATE_KEY),
        named_templates={
            short_label(key.removeprefix(prefix)): value
            for key, value in header.metadata.items()
            if key.startswith(prefix) and isinstance(value, str)
        },
    )


def _quantisation(header: Header, tensors: Sequence[Tensor]) -> str | None:
    """Return the name the header gives, else the type that most numbers of the matrices have."""
    file_type = header.integer("general.file_type")
    if file_type is not None and (told := file_type_name(file_type)) is not None:
        return told
    matrices = [tensor for tensor in tensors if len(tensor.dimensions) > 1]
    elements: Counter[str] = Counter()
    for tensor in matrices or tensors:
        elements[tensor.type_name] += tensor.elements
    return elements.most_common(1)[0][0] if elements else None


def _bytes_per_type(tensors: Sequence[Tensor]) -> dict[str, int]:
    """Return the bytes of each tensor type whose size is known."""
    bytes_per_type: Counter[str] = Counter()
    for tensor in tensors:
        bytes_per_type[tensor.type_name] += tensor.size or 0
    return {name: size for name, size in bytes_per_type.most_common() if size}
