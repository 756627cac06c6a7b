"""Imports one module of a package without running the package's own `__init__`.

llama_cpp's loads a web of helpers and, through a disk cache, sqlite3; the engine needs its C API alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType


def import_low_level(package: str, module: str) -> ModuleType:
    """Return `package.module`; whoever imports the package later gets all of it, with this same module in it.

    Raises ImportError where the package is not installed.
    """
    name = f"{package}.{module}"
    if package in sys.modules:
        return importlib.import_module(name)
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"{package} is not installed", name=package)
    stand_in = ModuleType(package)
    stand_in.__path__ = list(spec.submodule_search_locations)
    stand_in.__spec__ = spec
    sys.modules[package] = stand_in
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[package]
