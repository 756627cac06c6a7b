"""Real vocabularies of llama.cpp, loaded without their weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.engine.llama import LlamaVocabulary, api


@contextmanager
def vocabulary_of(path: Path) -> Iterator[LlamaVocabulary]:
    """Load a model's vocabulary and free it afterwards; llama.cpp must have been started."""
    parameters = api.llama_model_default_params()
    parameters.vocab_only = True
    model = api.llama_model_load_from_file(str(path).encode(), parameters)
    assert model
    try:
        yield LlamaVocabulary(model)
    finally:
        api.llama_model_free(model)
