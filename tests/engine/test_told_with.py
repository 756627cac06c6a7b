"""What an answer's figures carry of how it came about: the load, what was in the cells, what came from the disk."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from app.core.metrics import CacheReuse, Loading, Metrics
from app.engine import paging
from app.engine.kv_cache import KVCache
from app.engine.paging import Paging
from tests.engine.harness import user
from tests.engine.test_loop import finished, run, scripted


def test_the_first_answer_of_a_load_and_its_load_are_told() -> None:
    backend = scripted(gpu_layers=1)
    cache = KVCache(backend)
    first = finished(run(backend, cache=cache)).metrics
    assert first.decode_cpu_s is not None and first.decode_cpu_s >= 0
    assert first.loading == Loading(1, 2, 1, 1 << 20, is_first=True)
    second = finished(run(backend, cache=cache)).metrics
    assert second.loading is not None and not second.loading.is_first


def test_what_the_cells_held_is_told_of_the_prompt_that_came() -> None:
    backend = scripted()
    cache = KVCache(backend)
    first = finished(run(backend, user("Why?"), cache=cache))
    assert first.metrics.reuse == CacheReuse(0, 0)
    held = cache.used
    again = finished(run(backend, user("Why not?"), cache=cache)).metrics
    assert again.reuse is not None and again.reuse.held == held
    assert 0 < again.reuse.shared < held and again.reuse.shared == again.prompt_tokens_from_cache


def test_a_cache_that_cannot_go_back_shares_more_than_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scripted()
    cache = KVCache(backend)
    finished(run(backend, user("Why?"), cache=cache))
    monkeypatch.setattr(cache, "_can_cut", lambda _length: False)
    lost = finished(run(backend, user("Why not?"), cache=cache)).metrics
    assert lost.reuse is not None and lost.reuse.shared > lost.prompt_tokens_from_cache == 0


def test_pages_are_counted_for_prefill_and_decode_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([paging._Count(10, 100), paging._Count(13, 4196), paging._Count(14, None)])
    monkeypatch.setattr(paging, "_count", lambda: next(counts))
    counted = Paging()
    counted.mark_prefill()
    pages = counted.page_ins()
    assert pages is not None
    assert (pages.prefill_faults, pages.prefill_bytes) == (3, 4096)
    assert (pages.decode_faults, pages.decode_bytes) == (1, None)


def test_a_system_that_counts_no_pages_leaves_them_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "resource", None)
    assert Paging().page_ins() is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count a process's pages")
def test_bytes_are_read_from_what_the_system_says_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted = Paging()
    counted.mark_prefill()
    pages = counted.page_ins()
    assert pages is not None and pages.prefill_faults >= 0 and pages.decode_faults >= 0
    monkeypatch.setattr(paging, "_IO", str(tmp_path / "none"))
    assert paging._bytes_read() is None
    (tmp_path / "io").write_bytes(b"rchar: 7\nread_bytes: 4096\nwrite_bytes: 3\n")
    monkeypatch.setattr(paging, "_IO", str(tmp_path / "io"))
    assert paging._bytes_read() == 4096


def test_figures_that_were_kept_before_there_was_all_this_leave_it_unknown() -> None:
    metrics = finished(run(scripted())).metrics
    kept = msgspec.to_builtins(metrics)
    for name in ("drift", "decode_cpu_s", "page_ins", "reuse", "loading"):
        kept.pop(name)
    old = msgspec.convert(kept, Metrics)
    assert (old.drift, old.page_ins, old.reuse, old.loading) == (None, None, None, None)
    assert msgspec.convert(msgspec.to_builtins(metrics), Metrics) == metrics
