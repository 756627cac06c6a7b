"""Remembers what the virtual environment was made for, so that an unchanged one is used at once.

It must not make or change anything but its own file.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from devtools.layout import Layout

FORMAT = 1
INPUTS = ("pyproject.toml", "packaging/constraints.txt", "packaging/only_llama.cmake")


@dataclass(frozen=True)
class Stamp:
    """What a virtual environment holds: its inputs, the backend asked for, the build used, the extras installed."""

    inputs: str
    wanted: str
    backend: str
    build: str
    extras: tuple[str, ...] = ()
    format: int = FORMAT

    def serves(self, inputs: str, wanted: str | None, extras: tuple[str, ...]) -> bool:
        """Tell whether nothing has to be done; `wanted` None keeps the backend that is there."""
        same = self.format == FORMAT and self.inputs == inputs
        return same and wanted in (None, self.wanted) and set(extras) <= set(self.extras)


def inputs_digest(layout: Layout, python_version: str, processor: str) -> str:
    """Digest all that decides what gets installed, and the checkout's path, which a virtual environment holds."""
    hasher = hashlib.sha256()
    for name in INPUTS:
        hasher.update((layout.root / name).read_bytes() + b"\0")
    hasher.update(f"{python_version}\0{processor}\0{os.path.realpath(layout.root)}".encode())
    return hasher.hexdigest()


def read(path: Path) -> Stamp | None:
    """Read a stamp; an absent, broken or older one counts as none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return Stamp(**{**values, "extras": tuple(values["extras"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(path: Path, stamp: Stamp) -> None:
    """Write a stamp in one step."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(stamp), indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
