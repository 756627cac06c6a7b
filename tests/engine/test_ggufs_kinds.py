"""The small models of every kind of memory are what they say: llama.cpp makes that memory, and old tokens count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.core.model import LoadOptions
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from tests.engine.exchanges import WRITERS

MOST_BYTES = 5_000_000
FAR, SAME = 0.1, 0.03
"""Logits: twenty other tokens a thousand tokens ago change them by more, another way to the same tokens by less."""
Ids = np.ndarray
WINDOWS = {"window": 64, "hybrid_window": 64}


def logits(backend: LlamaBackend, *chunks: Ids) -> Ids:
    """Return the row after some tokens, evaluated in these chunks from an empty cache."""
    assert backend.remove(0, 0)
    at = 0
    for chunk in chunks:
        assert backend.decode(chunk, at, sequence=0, logits=True) == "done"
        at += len(chunk)
    return backend.logits().copy()


@pytest.mark.parametrize("kind", list(WRITERS))
def test_a_model_has_its_kind_of_memory_and_remembers_far_back(
    tmp_path: Path, llama_log: LogCapture, kind: str
) -> None:
    path = WRITERS[kind](tmp_path / "model.gguf")
    assert path.stat().st_size < MOST_BYTES
    options = LoadOptions(context=2048, threads=1, micro_batch=256)
    backend = LlamaBackend(str(path), options, llama_log, lambda percent: True)
    try:
        assert (backend.memory_kind, backend.window) == (kind.removesuffix("_window"), WINDOWS.get(kind, 0))
        ids = np.random.default_rng(3).integers(4, 400, 1100).astype(np.int32)
        at_once = logits(backend, ids)
        in_chunks = logits(backend, ids[:701], ids[701:1050], *np.split(ids[1050:], 50))
        changed = ids.copy()
        start = 1020 if kind == "hybrid_window" else 0
        changed[start : start + 20] = 99
        gap, far = float(np.abs(at_once - in_chunks).max()), float(np.abs(at_once - logits(backend, changed)).max())
        print(f"{kind}: in chunks {gap:.4f} apart, with another beginning {far:.4f}")
        assert gap < SAME
        assert far > FAR
    finally:
        backend.close()
