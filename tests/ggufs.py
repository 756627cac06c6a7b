"""Writes small GGUF files for tests: models that really run, and headers with anything wrong in them.

The weights are random but fixed by a seed; the answers are nonsense, the arithmetic is real.
"""

from __future__ import annotations

import mmap
import shutil
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import gguf
import numpy as np

from tests.gguf_bytes import Entry, encode_text, encode_value

STARTER_MODEL = Path(__file__).resolve().parent.parent / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] +"
    " '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%"
    " endif %}"
)

EMBEDDING = 128
HEADS = 2
KV_HEADS = 1
FEED_FORWARD = 256
EXPERTS_USED = 2

_WORDS = (
    "the and you that with this have from they what when make like time just know take people into "
    "your good some could them other than then look only come over think also back after work first "
    "well even want because these give most hello model token user assistant system Grüße straße"
)


def write_tiny_llama(
    path: Path,
    *,
    tokenizer: Literal["bpe", "spm"] = "bpe",
    chat_template: str | None = CHATML,
    layers: int = 2,
    context: int = 1024,
    experts: int = 0,
    seed: int = 1,
    architecture: str = "llama",
) -> Path:
    """Write a model with random f16 weights that loads and decodes; `architecture` is one with llama's tensors."""
    writer = gguf.GGUFWriter(path, architecture)
    _fill(writer, tokenizer, chat_template, layers, context, experts, seed)
    finish(writer)
    return path


def write_tiny_mixture(path: Path, *, seed: int = 1) -> Path:
    """Write a mixture of four experts of which two work on each token."""
    return write_tiny_llama(path, experts=4, seed=seed)


def write_other_tokenizer(path: Path, *, seed: int = 1) -> Path:
    """Write a model with a SentencePiece tokenizer: scores, byte tokens, a leading space, BOS."""
    return write_tiny_llama(path, tokenizer="spm", seed=seed)


def write_split_llama(folder: Path, *, tensors_per_file: int = 8, seed: int = 1) -> list[Path]:
    """Write one model as several files named as llama.cpp wants them; return these in order."""
    writer = gguf.GGUFWriter(folder / "split.gguf", "llama", split_max_tensors=tensors_per_file)
    _fill(writer, "bpe", CHATML, 2, 1024, 0, seed)
    finish(writer)
    return sorted(folder.glob("split-*-of-*.gguf"))


def write_vocab_only(path: Path, *, architecture: str = "llama") -> Path:
    """Write a file with a tokenizer and no weights."""
    writer = gguf.GGUFWriter(path, architecture)
    add_bpe_tokenizer(writer)
    finish(writer)
    return path


def copy_with(
    source: Path,
    target: Path,
    *,
    chat_template: str | None = None,
    remove: Sequence[str] = (),
    set: Mapping[str, Entry] | None = None,  # noqa: A002 - reads as what it does where it is called
) -> Path:
    """Copy a GGUF file with some entries changed; the tensors stay as they are, byte for byte."""
    changed: dict[str, Entry] = dict(set or {})
    if chat_template is not None:
        changed["tokenizer.chat_template"] = chat_template
    with source.open("rb") as reading, mmap.mmap(reading.fileno(), 0, access=mmap.ACCESS_READ) as head:
        version, tensor_count, entry_count = struct.unpack_from("<IQQ", head, 4)
        spans, entries_end = _entry_spans(head, entry_count)
        tensors_end = _tensors_end(head, entries_end, tensor_count)
        kept = [head[start:end] for key, start, end in spans if key not in changed and key not in remove]
        entries = kept + [encode_text(key) + encode_value(value) for key, value in changed.items()]
        tensors = [head[entries_end:tensors_end]]
        header = b"GGUF" + struct.pack("<IQQ", version, tensor_count, len(entries)) + b"".join(entries + tensors)
        with target.open("wb") as writing:
            writing.write(header + bytes(-len(header) % 32))
            reading.seek(tensors_end + -tensors_end % 32)
            shutil.copyfileobj(reading, writing, 16 * 1024 * 1024)
    return target


def _entry_spans(head: mmap.mmap, count: int) -> tuple[list[tuple[str, int, int]], int]:
    """Return each entry's key, start and end, and where the entries end."""
    spans = []
    at = 24
    for _ in range(count):
        start = at
        length = int.from_bytes(head[at : at + 8], "little")
        key = head[at + 8 : at + 8 + length].decode()
        at = _value_end(head, at + 8 + length)
        spans.append((key, start, at))
    return spans, at


def _value_end(head: mmap.mmap, at: int) -> int:
    """Return where the value that starts at `at` with its type ends."""
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    (value_type,) = struct.unpack_from("<I", head, at)
    count = 1
    at += 4
    if value_type == 9:
        value_type, count = struct.unpack_from("<IQ", head, at)
        at += 12
    if value_type != 8:
        return at + count * sizes[value_type]
    for _ in range(count):
        at += 8 + int.from_bytes(head[at : at + 8], "little")
    return at


def _tensors_end(head: mmap.mmap, at: int, count: int) -> int:
    """Return where the descriptions of `count` tensors end."""
    for _ in range(count):
        at += 8 + int.from_bytes(head[at : at + 8], "little")
        at += 4 + 8 * int.from_bytes(head[at : at + 4], "little") + 12
    return at


def _fill(
    writer: gguf.GGUFWriter,
    tokenizer: Literal["bpe", "spm"],
    chat_template: str | None,
    layers: int,
    context: int,
    experts: int,
    seed: int,
) -> None:
    """Give a writer everything that a tiny llama needs."""
    writer.add_name(f"Tiny {'Mixture' if experts else 'Llama'} {seed}")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(context)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(EXPERTS_USED)
    vocabulary = add_bpe_tokenizer(writer) if tokenizer == "bpe" else _add_spm_tokenizer(writer)
    writer.add_vocab_size(vocabulary)
    if chat_template is not None:
        writer.add_chat_template(chat_template)
    _add_weights(writer, vocabulary, layers, experts, np.random.default_rng(seed))


def finish(writer: gguf.GGUFWriter) -> None:
    """Write what the writer collected."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_weights(
    writer: gguf.GGUFWriter, vocabulary: int, layers: int, experts: int, random: np.random.Generator
) -> None:
    """Add random weights; their scale makes a distribution that is neither flat nor a single peak."""

    def add(name: str, *shape: int) -> None:
        scale = 0.25 if name == "output" else shape[-1] ** -0.5
        writer.add_tensor(f"{name}.weight", random.normal(0.0, scale, shape).astype(np.float16))

    def add_norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", random.uniform(0.8, 1.2, EMBEDDING).astype(np.float32))

    kv_width = EMBEDDING // HEADS * KV_HEADS
    add("token_embd", vocabulary, EMBEDDING)
    for layer in range(layers):
        block = f"blk.{layer}"
        add_norm(f"{block}.attn_norm")
        add(f"{block}.attn_q", EMBEDDING, EMBEDDING)
        add(f"{block}.attn_k", kv_width, EMBEDDING)
        add(f"{block}.attn_v", kv_width, EMBEDDING)
        add(f"{block}.attn_output", EMBEDDING, EMBEDDING)
        add_norm(f"{block}.ffn_norm")
        if experts:
            add(f"{block}.ffn_gate_inp", experts, EMBEDDING)
        lead, ending = ((experts,), "_exps") if experts else ((), "")
        add(f"{block}.ffn_gate{ending}", *lead, FEED_FORWARD, EMBEDDING)
        add(f"{block}.ffn_up{ending}", *lead, FEED_FORWARD, EMBEDDING)
        add(f"{block}.ffn_down{ending}", *lead, EMBEDDING, FEED_FORWARD)
    add_norm("output_norm")
    add("output", vocabulary, EMBEDDING)


def _byte_characters() -> list[str]:
    """Return the printable character that stands for each byte in a byte-level BPE vocabulary."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(moved)) for byte in range(256)]


def add_bpe_tokenizer(writer: gguf.GGUFWriter) -> int:
    """Add a byte-level BPE tokenizer with control tokens and a user-defined one; return its size."""
    characters = _byte_characters()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>"]
    tokens = special + characters
    known = {*tokens}
    merges = []
    for word in _WORDS.split():
        left, *rest = (characters[byte] for byte in word.encode())
        for right in rest:
            if left + right not in known:
                merges.append(f"{left} {right}")
                tokens.append(left + right)
                known.add(left + right)
            left += right
        merges.append(f"{characters[32]} {left}")
        tokens.append(characters[32] + left)
    types = [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.USER_DEFINED]
    types += [gguf.TokenType.NORMAL] * (len(tokens) - len(types))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    return len(tokens)


def _add_spm_tokenizer(writer: gguf.GGUFWriter) -> int:
    """Add a SentencePiece tokenizer with control tokens and byte tokens; return its size."""
    special = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<think>"]
    pieces = ["▁", *map(chr, range(0x21, 0x7F)), *"äöüß"]
    for word in f"{_WORDS} ▁{_WORDS.replace(' ', ' ▁')}".split():
        pieces += [word[:end] for end in range(2, len(word) + 1)]
    pieces = list(dict.fromkeys(pieces))
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    types = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 4 + [gguf.TokenType.USER_DEFINED]
    types += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(pieces)
    scores = [0.0] * (len(special) + 256) + [-float(rank) for rank in range(len(pieces))]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(True)
    return len(tokens)
