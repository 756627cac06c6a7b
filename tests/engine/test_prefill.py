"""Prefill: what goes wrong on the way into the cache is a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from app.core.errors import UserError
from app.engine.backend import DecodeResult, TokenIds
from app.engine.kv_cache import KVCache
from app.engine.prefill import prefill
from app.engine.scripted import Script, ScriptedBackend


class Full(ScriptedBackend):
    """Finds no cells for anything."""

    def decode(self, ids: TokenIds, position: int, *, sequence: int, logits: bool) -> DecodeResult:
        return "no_room"


def test_a_cache_without_room_says_what_helps() -> None:
    backend = Full(Script(), "any")
    cache = KVCache(backend)
    with pytest.raises(UserError) as caught:
        list(prefill(backend, cache, np.arange(5, dtype=np.int32), lambda: False))
    assert "with a larger context" in caught.value.sentence.english()
    assert cache.used == 0
