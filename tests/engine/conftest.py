"""The starter model in this process, loaded once for the tests of the stages, and a small, quick one."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.model import LoadOptions
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture, start_library
from app.engine.llama_model import LlamaBackend
from tests.ggufs_kinds import write_tiny_plain


@functools.cache
def _captured() -> LogCapture:
    """llama.cpp hands its log to whoever asked last: a second capture would leave every holder of the first deaf."""
    return start_library()


@pytest.fixture(scope="session")
def llama_log() -> LogCapture:
    """llama.cpp, started, with its log captured; the same for all tests, however they came by this fixture."""
    return _captured()


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


@pytest.fixture(scope="session")
def quick_backend(llama_log: LogCapture, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaBackend]:
    """A model of two small layers with 1,024 cells: a hundred times as fast, for what is the same in any model."""
    path = write_tiny_plain(tmp_path_factory.mktemp("quick") / "quick.gguf")
    backend = LlamaBackend(str(path), LoadOptions(context=1024, threads=2), llama_log, lambda percent: True)
    yield backend
    backend.close()


@pytest.fixture
def quick_cache(quick_backend: LlamaBackend) -> KVCache:
    """An empty cache of the small model."""
    quick_backend.remove(0, 0)
    return KVCache(quick_backend)
