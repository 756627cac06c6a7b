"""Keeps llama.cpp for the processor alone beside a build for a GPU: it runs where that one cannot be loaded.

It must not choose what is installed, and must not fail a set-up: the build for the GPU works without it.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from devtools import llama_build
from devtools.backends import PREBUILT_INDEX, Attempt, Backend
from devtools.console import Problem, say

if TYPE_CHECKING:
    from devtools.layout import Layout
    from devtools.machine import Machine

FOLDER = "llama_cpu"
"""In the virtual environment; `app.system.resources` looks for it there."""
NEEDS_ONE = (Backend.CUDA, Backend.VULKAN)
INSIDE = PurePosixPath("llama_cpp/lib")
# Not made for this processor, because it also stands in where the other build was made for another one.
COMPILED = Attempt(Backend.CPU, cmake=("-DGGML_NATIVE=OFF",), identity="any processor")
READY_MADE = Attempt(Backend.CPU, index=f"{PREBUILT_INDEX}cpu", identity="any processor")


def keep(layout: Layout, version: str, installed: Attempt, machine: Machine, installer: str) -> None:
    """Obtain and unpack it where a build for a GPU was installed; elsewhere take an earlier one away."""
    if installed.backend not in NEEDS_ONE:
        shutil.rmtree(layout.venv / FOLDER, ignore_errors=True)
        return
    attempts = (READY_MADE, COMPILED) if installed.index is not None else (COMPILED,)
    for attempt in attempts:
        slot = llama_build.slot_for(layout, version, attempt, machine)
        try:
            wheel = llama_build.obtain(layout, version, attempt, slot, installer)
        except (llama_build.BuildFailed, Problem):
            continue
        unpack(wheel, layout.venv / FOLDER)
        return
    say(
        "llama.cpp for the processor alone could not be made, so Tokenlight will not start where the graphics driver is"
        " missing."
    )


def unpack(wheel: Path, folder: Path) -> None:
    """Put the libraries of a wheel into `folder/lib`, all of them or none."""
    workshop = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        target = workshop / folder.name / "lib"
        target.mkdir(parents=True)
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if PurePosixPath(member.filename).parent == INSIDE and not member.is_dir():
                    (target / PurePosixPath(member.filename).name).write_bytes(archive.read(member))
        shutil.rmtree(folder, ignore_errors=True)
        target.parent.rename(folder)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
