"""Writes a file whole or not at all: a file of that name stays as it was until the new one is complete."""

from __future__ import annotations

import os
from pathlib import Path


def replace_whole(path: Path, content: bytes) -> None:
    """Write a file beside the place and put it there; OSError says why that did not work, and nothing is left over."""
    target = path.resolve()
    beside = target.with_name(f"{target.stem[:100]}.{os.getpid()}.new")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
