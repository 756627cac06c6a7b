"""The C API comes without the package around it, and the package still works afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.engine.low_level import import_low_level

IN_A_FRESH_PROCESS = """
import sys
import app.engine.llama as ours
assert "llama_cpp.llama_cpp" in sys.modules and "llama_cpp" not in sys.modules
assert not {"sqlite3", "diskcache", "PySide6"} & set(sys.modules), "something heavy came along"
import llama_cpp
assert llama_cpp.llama_cpp is ours.api and llama_cpp.Llama
"""


def test_the_c_api_comes_alone() -> None:
    subprocess.run([sys.executable, "-c", IN_A_FRESH_PROCESS], check=True, capture_output=True)


def test_a_package_that_is_not_there_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="no_such_package"):
        import_low_level("no_such_package", "inside")
