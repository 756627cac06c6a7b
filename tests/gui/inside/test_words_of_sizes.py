"""Lengths of time, costs and numbers of layers can be translated as a whole; a strip shows the largest of its numbers."""

from __future__ import annotations

import msgspec
import pytest

from app.core.cache_shape import CacheClass
from app.gui.inside.cache.fact_words import bytes_fact
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.stage_box import in_columns
from app.gui.inside.pass_row import cost_words
from app.gui.inside.timing.bar_words import tick_words, time_words
from app.services.attention_cost import AttentionCost
from app.services.kv_sum import class_sums
from app.services.loop_example import example
from app.services.loop_values import LoopPrefill
from tests.fake_engine import model_info
from tests.gui.test_token_words import marked

__all__ = ["marked"]
MS = 1_000_000


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("ns", [1.5 * MS, 15 * MS, 150 * MS, 15_000 * MS])
def test_a_length_of_time_can_be_translated_with_its_unit(ns: float) -> None:
    for said in (time_words(ns), *(tick_words(ns, step) for step in (1e5, 1e6, 1e8, 1e9))):
        assert said.startswith("[") and said.endswith(("s]", "ms]"))
    values = msgspec.structs.replace(example(), prefill=LoopPrefill(42, 42, 0, 20.0), tokens_per_s=25.0)
    assert "[2.1 s]" in number("prefill", values) and "[0.04 s]" in number("prefill", values)


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("tokens", [1, 40])
@pytest.mark.parametrize("seconds", [None, 2.0, 20.0])
@pytest.mark.parametrize("size", [None, 3 << 20])
def test_what_a_pass_costs_is_one_sentence(tokens: int, seconds: float | None, size: int | None) -> None:
    said = cost_words(AttentionCost(tokens, seconds, size))
    assert said.startswith("[Reads ") and said.endswith("]") and said.count("[") == 1
    assert (" s" in said.removeprefix("[Reads").replace(" tokens", "")) == (seconds is not None)
    assert ("3.0 MiB" in said) == (size is not None)


@pytest.mark.parametrize(("layers", "said"), [(1, "1 layer × "), (2, "2 layers × ")])
def test_one_layer_is_said_as_one(layers: int, said: str) -> None:
    size = 1024 * layers * 3 * 64 * 2
    model = msgspec.structs.replace(
        model_info("a.gguf"), cache_classes=(CacheClass(1024, layers, "f16", size, "f16", size),)
    )
    assert bytes_fact(model, class_sums(model)).words.startswith(said)
    window = msgspec.structs.replace(model.cache_classes[0], is_window=True)
    both = msgspec.structs.replace(model, cache_classes=(*model.cache_classes, window))
    all_of_it, of_window = bytes_fact(both, class_sums(both)).words.splitlines()
    assert all_of_it.startswith("1 layer that keeps all" if layers == 1 else "2 layers that keep all")
    assert of_window.startswith("1 layer with a window" if layers == 1 else "2 layers with a window")


def test_a_strip_shows_the_number_of_each_part_that_is_farthest_from_0() -> None:
    assert in_columns([0.1, -0.9, 0.2, 0.3, 0.0, 0.7, -0.7], 3) == [-0.9, 0.3, 0.7]
    assert in_columns([1.0, 2.0], 2) == [1.0, 2.0] and in_columns([1.0, -2.0], 1) == [-2.0]
    row = [0.01 * each for each in range(576)]
    assert len(in_columns(row, 77)) == 77 and in_columns(row, 77)[-1] == row[-1]
