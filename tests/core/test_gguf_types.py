"""The tables of the format against the engine that is installed."""

from __future__ import annotations

import ctypes
from pathlib import Path

import llama_cpp
import pytest

from app.core.gguf_types import FILE_TYPES, REMOVED_TENSOR_TYPES, TENSOR_TYPES


@pytest.fixture(scope="module")
def ggml() -> ctypes.CDLL:
    """The ggml library that llama.cpp was built with."""
    folder = Path(llama_cpp.__file__).parent / "lib"
    (path,) = [
        path for path in folder.iterdir() if "ggml-base" in path.name and path.suffix in {".so", ".dll", ".dylib"}
    ]
    library = ctypes.CDLL(str(path))
    library.ggml_type_size.restype = ctypes.c_size_t
    library.ggml_blck_size.restype = ctypes.c_int64
    library.ggml_type_name.restype = ctypes.c_char_p
    return library


def test_the_sizes_of_all_tensor_types_are_those_of_the_engine(ggml: ctypes.CDLL) -> None:
    for number, known in TENSOR_TYPES.items():
        assert ggml.ggml_type_name(number).decode().upper() == known.name.upper()
        assert (ggml.ggml_blck_size(number), ggml.ggml_type_size(number)) == known[1:]


def test_the_engine_has_no_block_for_the_types_that_were_removed(ggml: ctypes.CDLL) -> None:
    known = TENSOR_TYPES.keys() | REMOVED_TENSOR_TYPES.keys()
    assert known == set(range(43))
    assert all(ggml.ggml_blck_size(number) == 0 for number in REMOVED_TENSOR_TYPES)


def test_file_types_are_named_as_the_engine_names_them() -> None:
    for number, name in FILE_TYPES.items():
        engine_name = llama_cpp.llama_ftype_name(number).decode()
        stem, _, size = engine_name.removeprefix("all ").replace(" MoE", "").partition(" - ")
        if stem.startswith("Q") and size and stem != "Q2_K":
            stem += f"_{size[0]}"
        if (stem, size) == ("Q2_K", "Small"):
            stem = "Q2_K_S"
        assert stem.replace("IQ3_S mix", "IQ3_M") == name
