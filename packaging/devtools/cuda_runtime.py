"""Gives a ready-made CUDA build the runtime libraries that it needs and does not bring: cudart and cuBLAS.

It must not be needed by builds made here, which use the toolkit's own.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = {
    "cu12": ("nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12"),
    "cu13": ("nvidia-cuda-runtime", "nvidia-cublas"),
}
LIBRARIES = (
    "libcudart.so.*",
    "libcublas.so.*",
    "libcublasLt.so.*",
    "cudart64_*.dll",
    "cublas64_*.dll",
    "cublasLt64_*.dll",
)


def packages_for(name: str) -> tuple[str, ...]:
    """Return the packages for a ready-made build called "cu124" or the like."""
    return PACKAGES[name[:4]]


def put_beside(site_packages: Path) -> list[str]:
    """Link or copy the runtime libraries into llama.cpp's folder, where its own look for them; return their names."""
    target = site_packages / "llama_cpp" / "lib"
    placed = []
    for pattern in LIBRARIES:
        for library in sorted((site_packages / "nvidia").rglob(pattern)):
            beside = target / library.name
            beside.unlink(missing_ok=True)
            try:
                beside.symlink_to(os.path.relpath(library, target))
            except OSError:
                shutil.copyfile(library, beside)
            placed.append(library.name)
    return placed
