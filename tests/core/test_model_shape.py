"""What the file of a model tells of the sizes of its layers."""

from __future__ import annotations

import msgspec

from app.core.gguf_header import Header
from app.core.model_facts import model_facts
from app.core.model_shape import ModelShape, Range, shape_of


def shape(**entries: object) -> ModelShape:
    """Return the shape of a model whose header has these entries."""
    metadata = {"general.architecture": "llama", **{f"llama.{name}": value for name, value in entries.items()}}
    return shape_of(model_facts([Header(3, metadata, (), 32, 0)]))  # type: ignore[arg-type]


def test_one_number_for_all_layers_is_its_own_range() -> None:
    found = shape(**{"embedding_length": 576, "attention.head_count": 9, "attention.head_count_kv": 3})
    assert found == ModelShape(576, Range(9, 9), Range(3, 3))


def test_sizes_that_differ_by_layer_are_told_from_least_to_most() -> None:
    found = shape(**{"feed_forward_length": (8, 32, 16), "attention.head_count": (4, 2, 2)})
    assert (found.feed_forward, found.heads, found.kv_heads) == (Range(8, 32), Range(2, 4), Range(2, 4))


def test_without_a_word_on_kv_heads_every_head_keeps_its_own() -> None:
    assert shape(**{"attention.head_count": 16}).kv_heads == Range(16, 16)


def test_experts_are_told_of_a_mixture_alone() -> None:
    assert shape(expert_count=8, expert_used_count=2).experts == 8
    assert shape(expert_count=8, expert_used_count=2).experts_used == 2
    assert shape(expert_count=1, expert_used_count=1) == ModelShape()


def test_a_shape_goes_to_another_process_and_back() -> None:
    found = shape(**{"embedding_length": 576, "attention.head_count": (9, 3)})
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=ModelShape) == found
