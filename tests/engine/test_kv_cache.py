"""The cells mirror what llama.cpp holds."""

from __future__ import annotations

import numpy as np

from app.engine.kv_cache import KVCache, common_prefix
from app.engine.llama_model import LlamaBackend


def ids(*tokens: int) -> np.ndarray:
    return np.asarray(tokens, np.int32)


def test_the_common_prefix_ends_at_the_first_difference() -> None:
    assert common_prefix(ids(1, 2, 3), ids(1, 2, 4, 5)) == 2
    assert common_prefix(ids(1, 2), ids(1, 2, 3)) == 2
    assert common_prefix(ids(), ids(1)) == 0


def test_evaluated_tokens_are_in_the_cells(cache: KVCache) -> None:
    assert cache.append(ids(10, 11, 12), logits=True) == "done"
    assert cache.used == 3
    assert list(cache.ids) == [10, 11, 12]


def test_the_last_token_of_a_whole_cached_prompt_is_evaluated_again(
    cache: KVCache, starter_backend: LlamaBackend
) -> None:
    cache.append(ids(10, 11, 12), logits=True)
    assert cache.rewind(ids(10, 11, 12, 13)) == 3
    assert cache.rewind(ids(10, 11, 12)) == 2
    assert cache.rewind(ids(10, 99)) == 1
    assert cache.rewind(ids(99)) == 0
    assert cache.used == 0 and starter_backend.min_position(0) == -1


def test_a_trimmed_cache_goes_on_as_if_the_rest_had_never_been(cache: KVCache, starter_backend: LlamaBackend) -> None:
    cache.append(ids(10, 11, 12, 13), logits=True)
    expected = starter_backend.logits().copy()
    cache.append(ids(50, 51), logits=True)
    assert cache.rewind(ids(10, 11, 12, 99)) == 3
    assert list(cache.ids) == [10, 11, 12]
    cache.append(ids(13), logits=True)
    again = starter_backend.logits()
    assert np.abs(expected - again).max() < 0.5
    assert int(expected.argmax()) == int(again.argmax())


def test_cells_that_are_gone_are_not_reused(cache: KVCache, starter_backend: LlamaBackend) -> None:
    cache.append(ids(*range(100, 120)), logits=True)
    prompt = ids(*range(100, 110), 7)
    assert starter_backend.remove(0, 0)
    assert cache.rewind(prompt) == 0
