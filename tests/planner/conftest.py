"""llama.cpp for the tests that hold formulae against it: one capture of its log in a process, as the engine's tests have."""

from __future__ import annotations

from tests.engine.conftest import llama_log

__all__ = ["llama_log"]
