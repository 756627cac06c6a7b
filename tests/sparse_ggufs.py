"""Writes GGUF files of real size whose weights are a hole: a few kilobytes on the disk, as many gigabytes as one likes.

llama.cpp builds model and context of them in a dry run as of any file. They have no words and cannot answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import gguf
import numpy as np

from app.core.gguf_entries import Value
from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor

Entry = int | float | bool | str | Sequence[int] | Sequence[bool]
Shape = tuple[int, ...]
"""As ggml has it: the width of a row first."""
F32, F16 = gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16
Q4, Q8, MXFP4 = gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.MXFP4


class Sparse:
    """A model that is put together: its numbers, and its tensors by name."""

    def __init__(self, architecture: str, vocabulary: int, numbers: Mapping[str, Entry]) -> None:
        self.architecture = architecture
        self.vocabulary = vocabulary
        self.numbers = {"attention.layer_norm_rms_epsilon": 1e-6, **numbers}
        self.tensors: dict[str, tuple[Shape, gguf.GGMLQuantizationType]] = {}

    def matrix(self, name: str, *shape: int, kind: gguf.GGMLQuantizationType = Q4) -> None:
        """Add a tensor; one whose rows do not divide into blocks is kept in f16."""
        block, _ = gguf.GGML_QUANT_SIZES[kind]
        self.tensors[name] = (shape, kind if shape[0] % block == 0 else F16)

    def small(self, name: str, *shape: int) -> None:
        """Add a tensor in f32: a norm, a bias."""
        self.tensors[name] = (shape, F32)

    def header(self) -> Header:
        """Return the header without a file."""
        tensors, offset = [], 0
        for name, (shape, kind) in self.tensors.items():
            tensor = Tensor(name, shape, int(kind), offset)
            offset += -(-(tensor.size or 0) // 32) * 32
            tensors.append(tensor)
        metadata: dict[str, Value] = {
            "general.architecture": self.architecture,
            "tokenizer.ggml.model": "no_vocab",
            f"{self.architecture}.vocab_size": self.vocabulary,
        }
        for key, value in self.numbers.items():
            is_list = isinstance(value, Sequence) and not isinstance(value, str)
            metadata[f"{self.architecture}.{key}"] = tuple(value) if is_list else value  # type: ignore[arg-type, assignment]
        return Header(3, metadata, tuple(tensors), 32, 0)

    def write(self, path: Path, add_tokenizer: Callable[[gguf.GGUFWriter], object] | None = None) -> Path:
        """Write header and hole; with a tokenizer, of however few words, it passes for a model to chat with."""
        writer = gguf.GGUFWriter(path, self.architecture)
        writer.add_name(path.stem)
        if add_tokenizer is None:
            writer.add_tokenizer_model("no_vocab")
        else:
            add_tokenizer(writer)
        writer.add_vocab_size(self.vocabulary)
        for key, value in self.numbers.items():
            self._add(writer, f"{self.architecture}.{key}", value)
        size = 0
        for name, (shape, kind) in self.tensors.items():
            block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
            taken = int(np.prod(shape, dtype=np.int64)) // block * block_bytes
            writer.add_tensor_info(name, shape[::-1], np.dtype(np.float32), taken, raw_dtype=kind)
            size = -(-size // 32) * 32 + taken
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        writer.close()
        start = -(-path.stat().st_size // 32) * 32
        with path.open("r+b") as file:
            file.truncate(start + size)
        return path

    @staticmethod
    def _add(writer: gguf.GGUFWriter, key: str, value: Entry) -> None:
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, list(value))


def begin(
    architecture: str,
    *,
    vocabulary: int,
    context: int,
    embedding: int,
    layers: int,
    tied: bool = False,
    **numbers: Entry,
) -> Sparse:
    """Return a model with embedding table, output norm and, unless it is tied, output matrix."""
    keys = {key.replace("__", "."): value for key, value in numbers.items()}
    sizes = {"context_length": context, "embedding_length": embedding, "block_count": layers}
    model = Sparse(architecture, vocabulary, {**sizes, **keys})
    model.matrix("token_embd.weight", embedding, vocabulary)
    model.small("output_norm.weight", embedding)
    if not tied:
        model.matrix("output.weight", embedding, vocabulary, kind=Q8)
    return model


def attention(model: Sparse, block: str, embedding: int, queries: int, keys: int, values: int | None = None) -> None:
    """Add the attention of one layer: widths of all heads together."""
    model.small(f"{block}.attn_norm.weight", embedding)
    model.matrix(f"{block}.attn_q.weight", embedding, queries)
    model.matrix(f"{block}.attn_k.weight", embedding, keys)
    model.matrix(f"{block}.attn_v.weight", embedding, keys if values is None else values)
    model.matrix(f"{block}.attn_output.weight", queries, embedding)


def feed_forward(model: Sparse, block: str, embedding: int, width: int) -> None:
    """Add the feed-forward network of one layer."""
    model.small(f"{block}.ffn_norm.weight", embedding)
    model.matrix(f"{block}.ffn_gate.weight", embedding, width)
    model.matrix(f"{block}.ffn_up.weight", embedding, width)
    model.matrix(f"{block}.ffn_down.weight", width, embedding)


def mixture(
    model: Sparse,
    block: str,
    embedding: int,
    width: int,
    experts: int,
    kind: gguf.GGMLQuantizationType = Q4,
    *,
    norm: bool = True,
) -> None:
    """Add the experts of one layer of a mixture."""
    if norm:
        model.small(f"{block}.ffn_norm.weight", embedding)
    model.small(f"{block}.ffn_gate_inp.weight", embedding, experts)
    model.matrix(f"{block}.ffn_gate_exps.weight", embedding, width, experts, kind=kind)
    model.matrix(f"{block}.ffn_up_exps.weight", embedding, width, experts, kind=kind)
    model.matrix(f"{block}.ffn_down_exps.weight", width, embedding, experts, kind=kind)


def head_norms(model: Sparse, block: str, head: int) -> None:
    """Add the norms of one head's queries and keys."""
    model.small(f"{block}.attn_q_norm.weight", head)
    model.small(f"{block}.attn_k_norm.weight", head)
