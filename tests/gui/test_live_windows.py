"""What the live panel says of the cache of a model whose layers look back a limited number of tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.cache_shape import CacheClass
from app.core.model import CacheSizes
from tests.fake_engine import CONTEXT
from tests.ggufs import write_tiny_llama
from tests.gui.live_panel import PanelStage, live

__all__ = ["live"]


def test_a_window_is_filled_apart(live: PanelStage, tmp_path: Path) -> None:
    sizes = CacheSizes(full=64 << 20, window=8 << 20, window_cells=512)
    live.load(
        write_tiny_llama(tmp_path / "other.F16.gguf", seed=2), cache=sizes, memory_kind="window", kv_bytes=72 << 20
    )
    live.ask()
    live.prompt(2048)
    assert live.reads("kv_bytes") == "40.0 MiB of 72.0 MiB reserved · window 512 / 512"


@pytest.mark.parametrize("is_everywhere", [True, False])
def test_where_no_layer_keeps_every_token_they_are_counted_as_context(
    live: PanelStage, tmp_path: Path, *, is_everywhere: bool
) -> None:
    window = CacheClass(512, 4, "f16", 1 << 22, "f16", 1 << 22, is_window=True)
    full = CacheClass(CONTEXT, 4, "f16", 1 << 24, "f16", 1 << 24)
    live.load(
        write_tiny_llama(tmp_path / "other.F16.gguf", seed=2),
        cache=CacheSizes(full=0 if is_everywhere else 64 << 20, window=8 << 20, window_cells=512),
        cache_classes=(window,) if is_everywhere else (full, window),
        memory_kind="window",
    )
    live.ask()
    live.prompt(2048)
    title = "Context" if is_everywhere else "KV cache"
    assert live.names("kv_gauge").startswith(f"{title}: 2,048 of {CONTEXT:,} tokens.")
    assert live.reads("kv_value_title") == title
    assert ("Only the latest are held" in live.hint("kv_value")) == is_everywhere
