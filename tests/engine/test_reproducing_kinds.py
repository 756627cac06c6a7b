"""An answer is written once more from an empty cache whatever the cache can rewind to, and what follows is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.chat import TokenPrompt
from app.core.commands import Reproduce
from app.core.events import Finished, PromptReady
from app.core.model import LoadOptions
from app.core.sampling import PRESETS
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from tests.engine.replays import again, assert_cache_is_true, assert_same, end_of, written
from tests.engine.test_checkpoints import WRITERS
from tests.engine.test_loop import run

WILD = msgspec.structs.replace(PRESETS["Wild"], seed=3, max_tokens=12)


@pytest.fixture(params=list(WRITERS))
def backend(request: pytest.FixtureRequest, tmp_path: Path, llama_log: LogCapture) -> Iterator[LlamaBackend]:
    """A small model of each kind that cannot be cut anywhere."""
    path = WRITERS[request.param](tmp_path / "model.gguf")
    options = LoadOptions(context=1024, threads=1, batch=64, micro_batch=64)
    made = LlamaBackend(str(path), options, llama_log, lambda percent: True)
    yield made
    made.close()


def prompt(count: int, seed: int) -> TokenPrompt:
    return TokenPrompt(np.random.default_rng(seed).integers(10, 250, count).astype(np.int32).tobytes())


def following(backend: LlamaBackend, cache: KVCache, command: Reproduce) -> tuple[int, bytes]:
    """Go on after an answer; return how much of it came out of the cache, and what was written."""
    longer = TokenPrompt(command.prompt + command.ids[:-4] + prompt(20, seed=4).ids)
    ready, *_, done = run(backend, longer, msgspec.structs.replace(WILD, max_tokens=4), cache=cache)
    assert isinstance(ready, PromptReady) and isinstance(done, Finished)
    return ready.from_cache, done.ids


def test_nothing_of_it_comes_out_of_the_cache_and_what_follows_is_as_from_an_empty_one(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    command = written(backend, cache, WILD, prompt(300, seed=1))
    other = written(backend, cache, WILD, prompt(200, seed=2))
    events = again(backend, cache, command)
    ready, done = events[0], end_of(events)
    assert isinstance(ready, PromptReady)
    assert ready.from_cache == 0
    assert_same(done, command)
    assert_cache_is_true(cache, command, done)
    reused, ids = following(backend, cache, command)
    assert reused == len(command.prompt + command.ids) // 4 - 1
    _, other_ids = following(backend, cache, other)
    for each, expected in ((command, ids), (other, other_ids)):
        fresh = KVCache(backend)
        fresh.empty()
        assert following(backend, fresh, each) == (0, expected)
