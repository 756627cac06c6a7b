"""The starter model in this process, loaded once for the tests of the stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.model import LoadOptions
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture, start_library
from app.engine.llama_model import LlamaBackend


@pytest.fixture(scope="session")
def llama_log() -> LogCapture:
    """llama.cpp, started, with its log captured."""
    return start_library()


@pytest.fixture(scope="session")
def starter_backend(llama_log: LogCapture, starter_model: Path) -> Iterator[LlamaBackend]:
    """The starter model with 1,024 cells."""
    options = LoadOptions(context=1024, threads=2)
    backend = LlamaBackend(str(starter_model), options, llama_log, lambda percent: True, 96_576_768)
    yield backend
    backend.close()


@pytest.fixture
def cache(starter_backend: LlamaBackend) -> KVCache:
    """An empty cache of the starter model."""
    starter_backend.remove(0, 0)
    return KVCache(starter_backend)
