"""Which CUDA a build of llama.cpp was made with, read off its files; loads none of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from app.core.shared_object import Damaged, read_shared_object

_RUNTIME = re.compile(r"^libcudart\.so\.(\d+)")
_RUNTIME_ON_WINDOWS = re.compile(r"^cudart64_(\d+)\.dll$", re.IGNORECASE)


def cuda_major(folder: Path) -> int | None:
    """Return the major version of CUDA that the libraries in a folder need; None where the files do not tell."""
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return None
    if sys.platform == "win32":
        names = [file.name for file in files]
        pattern = _RUNTIME_ON_WINDOWS
    else:
        names = [name for file in files if file.name.startswith("libggml-cuda.") for name in _needed(file)]
        pattern = _RUNTIME
    return next((int(match[1]) for name in names if (match := pattern.match(name)) is not None), None)


def _needed(file: Path) -> tuple[str, ...]:
    try:
        with file.open("rb") as opened:
            return read_shared_object(opened).needed
    except (OSError, Damaged):
        return ()
