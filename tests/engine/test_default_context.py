"""How large a context is when nobody chose: never as large as what the model was trained for, whatever that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.harness import Engine
from tests.ggufs import write_tiny_llama


@pytest.mark.parametrize(
    ("trained", "cells"), [(512, 512), (8192, 8192), (8193, 8192), (131_072, 8192), (1_000_000, 8192), (300, 512)]
)
def test_the_default_is_what_the_model_was_trained_for_and_at_most_8192(
    tmp_path: Path, trained: int, cells: int
) -> None:
    with Engine() as engine:
        model = engine.load(write_tiny_llama(tmp_path / "tiny.gguf", context=trained), threads=1).model
        assert (model.trained_context, model.context) == (trained, cells)
