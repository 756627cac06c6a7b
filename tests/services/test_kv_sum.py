"""Bytes of a token as layers x heads x width x bytes of a number, and the reason where that does not hold."""

from __future__ import annotations

import msgspec
import pytest

from app.core.cache_shape import AttentionShape, CacheClass
from app.core.model import CacheSizes, ModelInfo
from app.services.kv_sum import ClassSum, class_sums
from tests.fake_engine import model_info

SHAPE = AttentionShape(3, 64, 64, 64, 64)
MIB = 1 << 20


def model(*classes: CacheClass, shape: AttentionShape = SHAPE, **changes: object) -> ModelInfo:
    return msgspec.structs.replace(model_info("x.gguf"), cache_classes=classes, attention=shape, **changes)


def only(*classes: CacheClass, shape: AttentionShape = SHAPE) -> ClassSum:
    (found,) = class_sums(model(*classes, shape=shape))
    return found


def test_the_sum_of_a_plain_model_has_its_real_numbers() -> None:
    found = only(CacheClass(1024, 30, "f16", 1024 * 11_520, "f16", 1024 * 11_520))
    assert found.keys is not None and found.values is not None and found.reason is None
    assert (found.layers, found.heads, found.keys.width, found.keys.number_bytes) == (30, 3, 64, 2.0)
    assert found.bytes == 30 * 3 * (64 + 64) * 2 == 23_040


def test_keys_and_values_may_have_other_types() -> None:
    # 30 x 3 x 64 numbers: keys in q8_0 take 34 bytes for 32 of them, values in q4_0 18.
    found = only(CacheClass(1024, 30, "q8_0", round(5.98 * MIB), "q4_0", round(3.16 * MIB)))
    assert found.keys is not None and found.values is not None
    assert (found.keys.bytes, found.values.bytes, found.bytes) == (6_120, 3_240, 9_360)


def test_the_layers_with_a_window_have_a_sum_and_widths_of_their_own() -> None:
    shape = AttentionShape(2, 128, 128, 64, 64)
    full = CacheClass(1024, 4, "f16", 1024 * 4 * 2 * 128 * 2, "f16", 1024 * 4 * 2 * 128 * 2)
    window = CacheClass(768, 20, "f16", 768 * 20 * 2 * 64 * 2, "f16", 768 * 20 * 2 * 64 * 2, is_window=True)
    one, other = class_sums(model(full, window, shape=shape))
    assert (one.bytes, one.is_window) == (4 * 2 * 256 * 2, False)
    assert (other.bytes, other.is_window) == (20 * 2 * 128 * 2, True)
    assert other.keys is not None and other.keys.width == 64


def test_layers_without_heads_do_not_count_where_the_others_are_alike() -> None:
    shape = msgspec.structs.replace(SHAPE, kv_heads=(0, 3, 0, 3))
    found = only(CacheClass(256, 2, "f16", 256 * 768, "f16", 256 * 768), shape=shape)
    assert (found.heads, found.bytes) == (3, 2 * 3 * 128 * 2)


@pytest.mark.parametrize(
    ("kept", "shape", "word"),
    [
        (CacheClass(1024, 27, "f16", 1024 * 27 * 1152, "", 0), SHAPE, "latent"),
        (CacheClass(1024, 27, "f16", 1024, "f16", 1024), AttentionShape(1, 576, 512, is_latent=True), "latent"),
        (
            CacheClass(1024, 3, "f16", 1024, "f16", 1024),
            msgspec.structs.replace(SHAPE, kv_heads=(1, 2, 3)),
            "different",
        ),
        (CacheClass(1024, 3, "f16", 1024, "f16", 1024), AttentionShape(), "different"),
        (CacheClass(1024, 30, "f16", 2048 * 11_520, "f16", 1024 * 11_520), SHAPE, "another way"),
        (CacheClass(1024, 30, "iq9", 1024 * 11_520, "f16", 1024 * 11_520), SHAPE, "another way"),
    ],
)
def test_where_the_formula_does_not_hold_there_is_a_reason_and_what_was_set_aside(
    kept: CacheClass, shape: AttentionShape, word: str
) -> None:
    found = only(kept, shape=shape)
    assert found.reason is not None and word in found.reason.english()
    assert found.heads is None and found.keys is None and found.values is None
    assert found.bytes == round((kept.key_bytes + kept.value_bytes) / 1024)


def test_a_class_that_keeps_nothing_has_no_sum() -> None:
    empty = CacheClass(1024, 0, "f16", 0, "f16", 0)
    assert class_sums(model(empty, cache=CacheSizes(state=MIB))) == () == class_sums(model())
