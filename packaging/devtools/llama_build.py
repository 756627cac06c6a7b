"""Obtains a wheel of llama-cpp-python: from the cache of earlier builds, ready made, or compiled with the least needed.

It must not choose the backend and must not install the wheel.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sysconfig
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import build_errors, compiler, file_lock
from devtools.backends import Backend
from devtools.build_progress import BuildProgress, expected
from devtools.console import Problem, ProgressLine, say
from devtools.machine import core_count, digest
from devtools.processes import logged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devtools.backends import Attempt
    from devtools.layout import Layout
    from devtools.machine import Machine

PACKAGE = "llama-cpp-python"
WORKSHOP = ".building-"
CMAKE_INCLUDE = Path(__file__).resolve().parents[1] / "only_llama.cmake"
# The multimodal library is most of the compile time; the folders keep the libraries from being installed twice.
CMAKE_FLAGS = (
    "-DLLAVA_BUILD=OFF",
    "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
)


class BuildFailed(Exception):
    """The wheel could not be obtained; the lines say why, the advice what to do, the log keeps the rest."""

    def __init__(self, lines: list[str], advice: str, log: Path) -> None:
        super().__init__(log)
        self.lines = lines
        self.advice = advice
        self.log = log


@dataclass(frozen=True)
class Slot:
    """A place in the cache; it exists only when its wheel is complete."""

    folder: Path

    def wheel(self) -> Path | None:
        """Return the wheel that lies here, or None."""
        found = sorted(self.folder.glob("*.whl"))
        return found[0] if len(found) == 1 and zipfile.is_zipfile(found[0]) else None


def slot_name(version: str, attempt: Attempt, machine: Machine, flags: tuple[str, ...], recipe: str) -> str:
    """Name a build by all that decides what comes out: version, backend, flags, Python tag, platform, processor."""
    platform = re.sub(r"[^a-z0-9]+", "_", sysconfig.get_platform().lower())
    source = "ready" if attempt.index else "built"
    parts = (
        f"llama_cpp_python-{version}",
        f"{attempt.backend.value}_{source}",
        digest(*flags, recipe, attempt.identity),
        "py3",
        platform,
        digest(machine.processor),
    )
    return "-".join(parts)


def flags_for(attempt: Attempt, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the CMake flags of this build, those that people set in CMAKE_ARGS last."""
    return (*CMAKE_FLAGS, *attempt.cmake, *shlex.split(environment.get("CMAKE_ARGS", "")))


def slot_for(layout: Layout, version: str, attempt: Attempt, machine: Machine) -> Slot:
    """Return the cache's place for this build on this machine."""
    recipe = CMAKE_INCLUDE.read_text(encoding="utf-8")
    name = slot_name(version, attempt, machine, flags_for(attempt, os.environ), recipe)
    return Slot(layout.wheels / name)


def obtain(layout: Layout, version: str, attempt: Attempt, slot: Slot, installer: str) -> Path:
    """Return the wheel for this slot, from the cache or made now; only one process at a time makes one."""
    found = slot.wheel()
    if found is not None:
        say("Using the llama.cpp that was built here before.")
        return found
    with file_lock.held(
        layout.wheels / "build.lock", lambda: say("Waiting for another set-up that builds llama.cpp …")
    ):
        found = slot.wheel()
        if found is not None:
            return found
        for leftover in layout.wheels.glob(WORKSHOP + "*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if attempt.index is None:
            compiler.check(installer)
        workshop = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=layout.wheels))
        try:
            _make(layout, version, attempt, workshop, layout.logs / f"{slot.folder.name}.log")
            place(workshop / "wheel", slot)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    made = slot.wheel()
    if made is None:
        raise Problem(f"The built wheel is damaged: delete {slot.folder} and run this command again.")
    return made


def place(finished: Path, slot: Slot) -> None:
    """Move a finished folder to its place in one step, so that half a build is never found there."""
    if slot.folder.exists():
        shutil.rmtree(slot.folder)
    finished.rename(slot.folder)


def command_for(python: Path, version: str, attempt: Attempt, target: Path) -> list[str | Path]:
    """Return the pip command that puts the wheel into the target folder."""
    wanted = f"{PACKAGE}=={version}"
    if attempt.index is not None:
        ready: list[str | Path] = [
            "--only-binary",
            ":all:",
            "--index-url",
            attempt.index,
            "--dest",
            target,
            "--retries",
            "1",
            "--timeout",
            "20",
        ]
        return [python, "-m", "pip", "download", "--no-deps", *ready, wanted]
    # pip's own cache of wheels does not know the CMake flags, so it must not answer.
    build: list[str | Path] = ["--no-cache-dir", "--no-binary", PACKAGE, "-v", "--wheel-dir", target]
    return [python, "-m", "pip", "wheel", "--no-deps", *build, wanted]


def environment_for(attempt: Attempt, constraints: Path, workshop: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the build: our flags, pinned build tools, temporary files in the workshop."""
    include = f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={CMAKE_INCLUDE.as_posix()}"
    environment = dict(base)
    environment["CMAKE_ARGS"] = shlex.join((include, *flags_for(attempt, base)))
    environment["PIP_CONSTRAINT"] = environment["PIP_BUILD_CONSTRAINT"] = constraints.as_uri()
    if os.name == "posix":
        environment["TMPDIR"] = str(workshop)
    return environment


def _make(layout: Layout, version: str, attempt: Attempt, workshop: Path, log: Path) -> None:
    name = "Downloading llama.cpp" if attempt.index else "Compiling llama.cpp"
    if attempt.index is None:
        usual = "often 10 minutes and more" if attempt.backend is Backend.CUDA else expected(core_count())
        say(f"Compiling llama.cpp for this machine once, which takes {usual}. Log: {log}")
    log.unlink(missing_ok=True)
    progress, line = BuildProgress(name), ProgressLine()
    target = workshop / "wheel"
    target.mkdir()
    command = command_for(layout.python, version, attempt, target)
    constraints = layout.root / "packaging" / "constraints.txt"
    environment = environment_for(attempt, constraints, workshop, os.environ)
    try:
        done = logged(command, log, lambda text: line.update(progress.read(text)), environment)
    finally:
        line.finish()
    if not done.ok or Slot(target).wheel() is None:
        raise BuildFailed(build_errors.lines_that_matter(done.output), build_errors.advice(done.output), log)
