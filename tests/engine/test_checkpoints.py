"""Saved states: which are kept, which one a prompt goes back to, and that going back is as if nothing had been."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from app.core.chat import TokenPrompt
from app.core.commands import Generate
from app.core.events import Finished
from app.core.model import LoadOptions
from app.engine.checkpoints import Checkpoints
from app.engine.control import Control
from app.engine.kv_cache import CHAT, KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from app.engine.prefill import prefill
from tests.engine.harness import GREEDY
from tests.ggufs_kinds import (
    write_tiny_hybrid,
    write_tiny_hybrid_window,
    write_tiny_recurrent,
    write_tiny_window,
)

Ids = npt.NDArray[np.int32]
WRITERS: dict[str, Callable[[Path], Path]] = {
    "window": write_tiny_window,
    "recurrent": write_tiny_recurrent,
    "hybrid": write_tiny_hybrid,
    "hybrid window": write_tiny_hybrid_window,
}
NEAR = 0.1
"""Logits of the same tokens in other batches; those of other tokens are far more than 1 apart."""


def some(count: int, seed: int = 1) -> Ids:
    return np.random.default_rng(seed).integers(10, 250, count).astype(np.int32)


def joined(*parts: Ids) -> Ids:
    return np.concatenate(parts)


@pytest.fixture(params=list(WRITERS))
def backend(request: pytest.FixtureRequest, tmp_path: Path, llama_log: LogCapture) -> Iterator[LlamaBackend]:
    """A small model of each kind that cannot be cut anywhere."""
    path = WRITERS[request.param](tmp_path / "model.gguf")
    options = LoadOptions(context=1024, threads=1, batch=64, micro_batch=64)
    made = LlamaBackend(str(path), options, llama_log, lambda percent: True)
    yield made
    made.close()


def run(backend: LlamaBackend, cache: KVCache, prompt: Ids) -> tuple[int, npt.NDArray[np.float32]]:
    """Return how many tokens were reused and the logits after the prompt."""
    reused = cache.rewind(prompt)
    for _ in prefill(backend, cache, prompt, lambda: False):
        pass
    assert list(cache.ids) == list(prompt)
    return reused, backend.logits().copy()


def from_empty(backend: LlamaBackend, prompt: Ids) -> npt.NDArray[np.float32]:
    """Return the logits after the prompt in a cache that held nothing."""
    assert backend.remove(CHAT, 0)
    return run(backend, KVCache(backend, checkpoints=0), prompt)[1]


def test_a_prompt_goes_back_to_the_longest_saved_beginning(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    start, one, two = some(300), some(100, 2), some(30, 3)
    run(backend, cache, start)
    cache.checkpoint()
    run(backend, cache, joined(start, one))
    cache.checkpoint()
    reused, logits = run(backend, cache, joined(start, two))
    assert reused == 300
    expected = from_empty(backend, joined(start, two))
    assert np.abs(logits - expected).max() < NEAR
    assert np.abs(from_empty(backend, joined(some(300, 9), two)) - expected).max() > 10 * NEAR


def test_the_same_prompt_again_evaluates_its_last_token_only(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    prompt = some(300)
    _, first = run(backend, cache, prompt)
    for token in some(90, 4):
        cache.append((int(token),), logits=True)
    reused, again = run(backend, cache, prompt)
    assert reused == 299
    assert np.abs(first - again).max() < NEAR


def test_without_checkpoints_it_is_evaluated_anew_and_right(backend: LlamaBackend) -> None:
    cache = KVCache(backend, checkpoints=0)
    start = some(300)
    run(backend, cache, joined(start, some(250, 2)))
    reused, logits = run(backend, cache, joined(start, some(20, 3)))
    assert reused == 0 and cache.use.checkpoints == 0 and cache.use.checkpoint_bytes == 0
    assert np.abs(logits - from_empty(backend, joined(start, some(20, 3)))).max() < NEAR


def test_what_goes_on_needs_no_checkpoint(backend: LlamaBackend) -> None:
    cache = KVCache(backend, checkpoints=0)
    run(backend, cache, some(300))
    assert run(backend, cache, joined(some(300), some(5, 2)))[0] == 300


def test_an_aborted_chunk_leaves_nothing_behind(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    start, rest = some(200), some(150, 2)
    run(backend, cache, start)
    cache.checkpoint()
    backend.set_abort(lambda: True)
    assert cache.append(rest[:64], logits=False) == "aborted"
    backend.set_abort(None)
    assert list(cache.ids) == list(start)
    reused, logits = run(backend, cache, joined(start, rest))
    assert reused == 200
    assert np.abs(logits - from_empty(backend, joined(start, rest))).max() < NEAR


def test_an_abort_with_nothing_to_go_back_to_begins_anew(backend: LlamaBackend) -> None:
    cache = KVCache(backend, checkpoints=0)
    prompt = some(200)
    run(backend, cache, prompt)
    backend.set_abort(lambda: True)
    assert cache.append(some(64, 2), logits=False) == "aborted"
    backend.set_abort(None)
    assert cache.used == (200 if backend.memory_kind == "window" else 0)
    assert np.abs(run(backend, cache, joined(prompt, some(3, 5)))[1] - from_empty(backend, cache.ids)).max() < NEAR


def test_a_state_that_llama_cpp_does_not_take_is_forgotten(backend: LlamaBackend) -> None:
    saved = Checkpoints(backend, CHAT, 8)
    cache = KVCache(backend)
    prompt = some(100)
    run(backend, cache, prompt)
    saved.save(prompt)
    checkpoint = saved.best(prompt, 100)
    assert checkpoint is not None
    checkpoint.state[:8] = 0
    assert not saved.restore(checkpoint)
    assert len(saved) == 0 and saved.bytes == 0


def test_at_most_so_many_are_kept_and_the_least_recently_used_goes(backend: LlamaBackend) -> None:
    saved = Checkpoints(backend, CHAT, 3)
    cache = KVCache(backend)
    prompt = some(60)
    for length in (10, 20, 30):
        cache.append(prompt[cache.used : length], logits=True)
        saved.save(cache.ids)
    saved.save(prompt[:10])
    cache.append(prompt[30:40], logits=True)
    saved.save(cache.ids)
    assert len(saved) == 3
    kept = [length for length in range(61) if (found := saved.best(prompt, length)) and found.position == length]
    assert kept == [10, 30, 40]
    assert saved.best(some(60, 2), 60) is None


def test_together_they_stay_below_a_size(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    run(backend, cache, some(100))
    size = backend.state_bytes(CHAT)
    small = Checkpoints(backend, CHAT, 8, most_bytes=size - 1)
    small.save(cache.ids)
    assert len(small) == 0
    saved = Checkpoints(backend, CHAT, 8, most_bytes=size)
    saved.save(cache.ids)
    assert len(saved) == 1 and saved.bytes == size


@pytest.mark.parametrize("fault", [RuntimeError("no"), MemoryError()])
def test_a_state_that_cannot_be_saved_costs_no_answer(
    backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def refuse(sequence: int) -> npt.NDArray[np.uint8]:
        raise fault

    logged: list[object] = []
    monkeypatch.setattr(backend, "save_state", refuse)
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: logged.append(error))
    cache = KVCache(backend)
    command = Generate(1, TokenPrompt(some(100).tobytes()), msgspec.structs.replace(GREEDY, max_tokens=4), 0)
    *_, end = Answer(backend, cache, command, Control(1)).run(lambda: False)
    assert isinstance(end, Finished) and end.metrics.sampled_tokens == 4
    assert ["could not be saved" in note.english() for note in end.notes] == [True]
    assert end.metrics.kv.checkpoints == 0 and cache.take_problem() is None
    assert logged == [fault, fault]


def test_what_is_in_use_counts_the_window_apart(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    run(backend, cache, some(400))
    use, sizes = cache.use, backend.info.cache
    if sizes.window_cells is None:
        assert use.window_cells_used is None
    else:
        assert use.window_cells_used == sizes.window_cells == 256
    assert use.bytes == sizes.in_use(400, 1024, use.window_cells_used or 0)
    assert use.bytes == (sizes.full or 0) * 400 // 1024 + (sizes.window or 0) + (sizes.state or 0)


def test_a_plain_cache_saves_nothing(starter_backend: LlamaBackend) -> None:
    starter_backend.remove(CHAT, 0)
    cache = KVCache(starter_backend)
    cache.append((10, 11, 12), logits=True)
    cache.checkpoint()
    assert not cache.saves and cache.use.checkpoints == 0
