"""Layers, heads and types of the cells, as llama.cpp's log and the model's header tell them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.cache_shape import AttentionShape, CacheClass, attention_shape
from app.core.gguf_header import Header
from app.engine.cache_classes import parse_classes
from app.engine.opening import checked_headers
from app.engine.sizes import MIB
from app.services.kv_sum import class_sums
from tests.engine.harness import Engine
from tests.engine.test_sizes import WINDOW_LOG
from tests.ggufs_kinds import write_tiny_hybrid, write_tiny_plain, write_tiny_recurrent, write_tiny_window


def test_classes_are_told_apart_with_their_layers_and_bytes() -> None:
    full, window = parse_classes(WINDOW_LOG)
    assert full == CacheClass(32_768, 8, "f16", 1024 * MIB, "f16", 1024 * MIB)
    assert window == CacheClass(1_536, 40, "f16", 240 * MIB, "f16", 240 * MIB, is_window=True)


def test_where_keys_alone_are_kept_there_are_no_values() -> None:
    line = "llama_kv_cache: size =  100.00 MiB (  8192 cells,   8 layers,  1/1 seqs), K (q8_0):  100.00 MiB"
    assert parse_classes((line,)) == (CacheClass(8_192, 8, "q8_0", 100 * MIB, "", 0),)


def test_a_line_that_is_not_known_leaves_all_of_it_unknown() -> None:
    assert parse_classes((*WINDOW_LOG, "llama_kv_cache: size = 3 GiB in 8192 cells")) == ()
    assert parse_classes(("something else",)) == ()


@pytest.mark.parametrize(
    ("write", "shape"),
    [
        (write_tiny_plain, AttentionShape(1, 32, 32, 32, 32)),
        (write_tiny_window, AttentionShape(1, 64, 64, 64, 64)),
        (write_tiny_hybrid, AttentionShape((0, 1, 0, 1), 32, 32, 32, 32)),
    ],
)
def test_the_header_tells_heads_and_widths(
    tmp_path: Path, write: Callable[[Path], Path], shape: AttentionShape
) -> None:
    assert attention_shape(checked_headers(write(tmp_path / "m.gguf"))[0]) == shape


def test_widths_of_their_own_and_what_is_latent_are_read() -> None:
    values: dict[str, object] = {
        "general.architecture": "deepseek2",
        "deepseek2.embedding_length": 128,
        "deepseek2.attention.head_count": 16,
        "deepseek2.attention.key_length": 576,
        "deepseek2.attention.value_length": 512,
        "deepseek2.attention.key_length_swa": 64,
        "deepseek2.attention.key_length_mla": 192,
    }
    header = Header(version=3, metadata=values, tensors=(), data_offset=0, alignment=32)  # type: ignore[arg-type]
    assert attention_shape(header) == AttentionShape(16, 576, 512, 64, 512, is_latent=True)


def test_a_loaded_models_sum_is_that_of_its_types(starter_model: Path) -> None:
    with Engine() as engine:
        model = engine.load(starter_model, context=512, kv_type_k="q8_0").model
    (found,) = class_sums(model)
    assert found.keys is not None and found.values is not None and found.heads == 3
    assert (found.keys.type, found.keys.bytes) == ("q8_0", 30 * 3 * 64 * 34 // 32)
    assert (found.values.type, found.values.bytes) == ("f16", 30 * 3 * 64 * 2)


def test_a_model_without_attention_has_no_sum(tmp_path: Path) -> None:
    with Engine() as engine:
        assert class_sums(engine.load(write_tiny_recurrent(tmp_path / "m.gguf"), context=512).model) == ()
