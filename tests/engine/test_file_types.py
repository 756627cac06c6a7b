"""What a model's quantisation is called once it is loaded: by the name that it has in every list."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.services.model_check import check_model
from tests.engine.harness import Engine
from tests.ggufs import copy_with, write_tiny_llama


@pytest.mark.parametrize(("file_type", "name"), [(15, "Q4_K_M"), (13, "Q3_K_L"), (19, "IQ2_XXS"), (1, "F16")])
def test_a_loaded_model_has_the_quantisation_that_its_file_is_listed_with(
    tmp_path: Path, file_type: int, name: str
) -> None:
    tiny = write_tiny_llama(tmp_path / "tiny.gguf")
    path = copy_with(tiny, tmp_path / "named.gguf", set={"general.file_type": file_type})
    with Engine() as engine:
        loaded = engine.load(path, threads=1).model
    assert loaded.quantisation == check_model(path)[0].quantisation == name
