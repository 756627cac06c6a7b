"""The engine tells the sizes of the model that it loaded, as its file has them."""

from __future__ import annotations

from pathlib import Path

from app.core.commands import Load
from app.core.model import LoadOptions
from app.core.model_shape import ModelShape, Range
from app.engine.llama import LogCapture
from app.engine.opening import LlamaOpener


def test_the_starter_model_has_the_sizes_of_its_card(starter_model: Path, llama_log: LogCapture) -> None:
    backend = LlamaOpener(llama_log)(Load(1, str(starter_model), LoadOptions(context=256)), lambda percent: True)
    shape, layers = backend.info.shape, backend.info.layers
    backend.close()
    assert layers == 30
    assert shape == ModelShape(embedding=576, heads=Range(9, 9), kv_heads=Range(3, 3), feed_forward=Range(1536, 1536))
