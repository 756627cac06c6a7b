"""Damaged files in every variety: a sentence each time, never another error, never more memory than the file."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import UserError
from app.core.model_facts import model_facts
from app.core.model_file import ModelSource, check_model_file
from tests.gguf_bytes import encode_text, raw_gguf, raw_gguf_of

CONTENT = raw_gguf(
    {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "general.languages": ["en", "de"],
        "general.alignment": 32,
        "general.file_type": 1,
        "split.count": 1,
        "llama.context_length": 512,
        "llama.attention.head_count_kv": [1, 2],
        "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": [f"t{number}" for number in range(12)],
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": "{{ messages }}",
    },
    [
        ("token_embd.weight", (8, 12), 1, 0),
        ("blk.0.attn_q.weight", (32, 2), 2, 192),
        ("norm.weight", (8,), 0, 256),
    ],
    data=bytes(288),
)
MEMORY_LIMIT = 8 * 1024 * 1024


def refusal_of(content: bytes) -> str:
    """Return the sentence for a file, nothing if it passes; only bytes that the file has may be asked for."""
    fetched = 0

    def read(offset: int, size: int) -> bytes:
        nonlocal fetched
        assert 0 <= offset <= offset + size <= len(content)
        fetched += size
        return content[offset : offset + size]

    try:
        headers = check_model_file(
            "m.gguf", lambda name: ModelSource(read, len(content)) if name == "m.gguf" else None
        )
        model_facts(headers)
    except UserError as error:
        return str(error)
    finally:
        assert fetched <= 2 * len(content)
    return ""


def test_the_file_passes_before_it_is_damaged() -> None:
    assert refusal_of(CONTENT) == ""


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_give_a_sentence_or_a_model(flips: list[tuple[int, int]]) -> None:
    damaged = bytearray(CONTENT)
    for position, byte in flips:
        damaged[position] = byte
    assert isinstance(refusal_of(bytes(damaged)), str)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(CONTENT) - 8), st.integers(0, 2**64 - 1))
def test_eight_bytes_anywhere_overwritten_by_a_number_give_a_sentence_or_a_model(position: int, number: int) -> None:
    content = CONTENT[:position] + number.to_bytes(8, "little") + CONTENT[position + 8 :]
    assert isinstance(refusal_of(content), str)


def test_every_truncation_gives_a_sentence() -> None:
    assert all(refusal_of(CONTENT[:size]) for size in range(len(CONTENT)))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_noise_behind_a_good_start_gives_a_sentence(noise: bytes) -> None:
    assert refusal_of(b"GGUF" + (3).to_bytes(4, "little") + noise)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=1500))
def test_noise_gives_a_sentence(noise: bytes) -> None:
    assert refusal_of(noise)


def test_absurd_numbers_take_no_memory() -> None:
    huge = (2**62).to_bytes(8, "little")
    texts = (2**22).to_bytes(8, "little")
    kinds = [
        b"GGUF" + (3).to_bytes(4, "little") + huge * 2 + bytes(64),
        raw_gguf_of([huge], []),
        raw_gguf_of([encode_text("k") + (8).to_bytes(4, "little") + huge], []),
        raw_gguf_of([encode_text("k") + (9).to_bytes(4, "little") + (8).to_bytes(4, "little") + texts], []),
        raw_gguf_of([encode_text("k") + (9).to_bytes(4, "little") + (4).to_bytes(4, "little") + huge], []),
        raw_gguf({"general.architecture": "llama", "tokenizer.ggml.model": "x"}, [("t", (2**40, 2**20), 0, 0)]),
    ]
    tracemalloc.start()
    results = [refusal_of(content) for content in kinds]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(results)
    assert peak < MEMORY_LIMIT
