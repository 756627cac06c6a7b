"""Model files of any size with random weights: speeds and memory do not depend on what weights say.

Written with the package `gguf`. It must not load a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

BLOCK = 32
BLOCK_BYTES = 18
"""Q4_0: a float16 scale and 32 weights of four bits."""
TILE_BLOCKS = 1_000_003
"""Random blocks that a larger tensor repeats; a prime, so that no two of its rows are alike."""
PADDING = 1 << 20
"""More than what aligns all tensors."""
WEIGHT_SPREAD = 4.63
"""Standard deviation of a Q4_0 weight in scales."""
OUTPUT_SPREAD = 3.0
"""Standard deviation of the logits: a distribution that is neither flat nor a single peak."""
WORDS = "the of and to in is it you that he was for on are with as his they at be this from have or by one had not"
CONTROL = ("<|start|>", "<|end|>")

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Shape:
    """The sizes of a model of the llama architecture; all weights are Q4_0, norms float32."""

    layers: int
    embedding: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    trained_context: int = 131_072

    @property
    def kv_width(self) -> int:
        """Keys (and values) of one token in one layer."""
        return self.embedding // self.heads * self.kv_heads

    def layer(self, number: int) -> dict[str, tuple[int, int]]:
        """Return the matrices of a layer: name → (outputs, inputs)."""
        width, inner, block = self.embedding, self.feed_forward, f"blk.{number}"
        return {
            f"{block}.attn_q": (width, width),
            f"{block}.attn_k": (self.kv_width, width),
            f"{block}.attn_v": (self.kv_width, width),
            f"{block}.attn_output": (width, width),
            f"{block}.ffn_gate": (inner, width),
            f"{block}.ffn_up": (inner, width),
            f"{block}.ffn_down": (width, inner),
        }

    @property
    def layer_bytes(self) -> int:
        """Bytes of one layer, its two norms included."""
        return sum(map(_quantised_bytes, self.layer(0).values())) + 2 * 4 * self.embedding

    @property
    def output_bytes(self) -> int:
        """Bytes of the output layer, the last norm included."""
        return _quantised_bytes((self.vocabulary, self.embedding)) + 4 * self.embedding

    @property
    def total_bytes(self) -> int:
        """Bytes of all weights."""
        embedding = _quantised_bytes((self.vocabulary, self.embedding))
        return self.layers * self.layer_bytes + self.output_bytes + embedding

    def bytes_on_gpu(self, gpu_layers: int) -> int:
        """Return the bytes of weights of so many layers, the output layer being the first to go to the GPU."""
        if gpu_layers <= 0:
            return 0
        return self.output_bytes + min(gpu_layers - 1, self.layers) * self.layer_bytes

    def kv_bytes_on_gpu(self, gpu_layers: int, cells: int) -> int:
        """Return the bytes of the f16 KV cache of so many layers."""
        return max(0, min(gpu_layers - 1, self.layers)) * cells * self.kv_width * 2 * 2


LARGE = Shape(32, 4096, 32, 8, 14336, 128_256)
"""A model of 8 billion weights, 4.5 GB."""
WIDE = Shape(32, 4096, 32, 8, 14336, 8_192)
"""The layers of the large model, without a matrix that is larger than any device's largest buffer."""
SMALL = Shape(4, 1024, 16, 4, 2816, 8_192)
TINY = Shape(2, 256, 4, 2, 512, 2_048, 32_768)


def write(path: Path, shape: Shape, seed: int = 1) -> Path:
    """Write a model file; takes as long as the disk needs."""
    random = np.random.default_rng(seed)
    tile = random.integers(0, 256, (TILE_BLOCKS, BLOCK_BYTES), np.uint8)
    writer = _begin(path, shape)
    for name, (outputs, inputs) in _tensors(shape).items():
        if outputs == 1:
            writer.write_tensor_data(np.ones(inputs, np.float32))
        else:
            spread = OUTPUT_SPREAD if name == "output" else 1.0
            writer.write_tensor_data(_quantised(tile, outputs, inputs, spread))
    writer.close()
    return path


def write_hollow(path: Path, shape: Shape) -> Path:
    """Write a model file whose weights are a hole: it takes no disk, and is for whoever reads no weights."""
    _begin(path, shape).close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + shape.total_bytes + PADDING)
    return path


def _begin(path: Path, shape: Shape) -> gguf.GGUFWriter:
    """Write everything that comes before the weights."""
    writer = gguf.GGUFWriter(path, "llama")
    _describe(writer, shape)
    for name, (outputs, inputs) in _tensors(shape).items():
        if outputs == 1:
            writer.add_tensor_info(f"{name}.weight", (inputs,), np.dtype(np.float32), 4 * inputs)
            continue
        stored = (outputs, inputs // BLOCK * BLOCK_BYTES)
        kind = gguf.GGMLQuantizationType.Q4_0
        writer.add_tensor_info(f"{name}.weight", stored, np.dtype(np.uint8), stored[0] * stored[1], kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    return writer


def _quantised_bytes(size: tuple[int, int]) -> int:
    return size[0] * size[1] // BLOCK * BLOCK_BYTES


def _quantised(tile: Bytes, outputs: int, inputs: int, spread: float) -> Bytes:
    """Return a Q4_0 matrix whose outputs have this standard deviation for inputs of 1."""
    blocks = np.resize(tile, (outputs * inputs // BLOCK, BLOCK_BYTES))
    scale = np.float16(spread / WEIGHT_SPREAD / np.sqrt(inputs))
    blocks[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(outputs, -1)


def _tensors(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return every tensor in the order of the file: name → (outputs, inputs); a norm has one output."""
    tensors = {"token_embd": (shape.vocabulary, shape.embedding)}
    for number in range(shape.layers):
        tensors[f"blk.{number}.attn_norm"] = tensors[f"blk.{number}.ffn_norm"] = (1, shape.embedding)
        tensors |= shape.layer(number)
    return tensors | {"output_norm": (1, shape.embedding), "output": (shape.vocabulary, shape.embedding)}


def _describe(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_name("Random weights")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_context_length(shape.trained_context)
    writer.add_embedding_length(shape.embedding)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.embedding // shape.heads)
    writer.add_vocab_size(shape.vocabulary)
    _add_tokenizer(writer, shape.vocabulary)


def _add_tokenizer(writer: gguf.GGUFWriter, size: int) -> None:
    """Add a byte-level vocabulary that is filled up with words of no meaning, and one merge."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = iter(range(0x100, 0x200))
    characters = [chr(byte if byte in plain else next(moved)) for byte in range(256)]
    tokens = [*CONTROL, *characters, "th"]
    words = WORDS.split()
    tokens += [f"{words[number % len(words)]}{number}" for number in range(size - len(tokens))]
    types = [gguf.TokenType.CONTROL] * len(CONTROL) + [gguf.TokenType.NORMAL] * (size - len(CONTROL))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(False)


FIRST_WORD = len(CONTROL) + 256 + 1
"""The first id that is a whole word."""


def any_prompt(tokens: int, seed: int, shape: Shape) -> list[int]:
    """Return ids of words; no two seeds have a first token in common."""
    random = np.random.default_rng(seed)
    ids = random.integers(FIRST_WORD, shape.vocabulary, tokens)
    ids[0] = FIRST_WORD + seed % (shape.vocabulary - FIRST_WORD)
    return [int(each) for each in ids]
