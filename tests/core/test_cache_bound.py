"""The bound of the KV cache out of a header: grouped heads, lengths of their own, missing entries."""

from __future__ import annotations

import pytest

from app.core.cache_bound import most_cache_elements
from app.core.gguf_header import Header
from app.core.model_facts import model_facts

LLAMA_8B = {"block_count": 32, "embedding_length": 4096, "attention.head_count": 32, "attention.head_count_kv": 8}


def bound(entries: dict[str, int | tuple[int, ...]]) -> int | None:
    metadata = {f"llama.{key}": value for key, value in entries.items()}
    header = Header(3, {"general.architecture": "llama", **metadata}, (), 32, 0)
    return most_cache_elements(model_facts([header]))


@pytest.mark.parametrize(
    ("entries", "elements"),
    [
        # 8192 tokens of f16: 1,024 MiB
        (LLAMA_8B, 32 * 8 * 256),
        ({**LLAMA_8B, "attention.head_count_kv": 32}, 32 * 32 * 256),
        # one KV head of 256 in each of 18 layers
        (
            {
                "block_count": 18,
                "embedding_length": 640,
                "attention.head_count": 4,
                "attention.head_count_kv": 1,
                "attention.key_length": 256,
                "attention.value_length": 256,
            },
            18 * 512,
        ),
        ({**LLAMA_8B, "attention.head_count_kv": (0, 8) * 16}, 16 * 8 * 256),
        ({**LLAMA_8B, "attention.head_count": (32, 16) * 16}, 32 * 8 * 256),
        # as many KV heads as heads, where the header names none
        ({"block_count": 32, "embedding_length": 4096, "attention.head_count": 32}, 32 * 32 * 256),
    ],
)
def test_a_token_has_at_most_so_many_keys_and_values(
    entries: dict[str, int | tuple[int, ...]], elements: int
) -> None:
    assert bound(entries) == elements


@pytest.mark.parametrize("missing", ["block_count", "embedding_length", "attention.head_count"])
def test_a_missing_entry_makes_the_bound_unknown(missing: str) -> None:
    assert bound({key: value for key, value in LLAMA_8B.items() if key != missing}) is None


def test_a_model_without_heads_has_no_bound() -> None:
    assert bound({"block_count": 24, "embedding_length": 768, "attention.head_count": 0}) is None
