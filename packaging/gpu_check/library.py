"""llama.cpp's libraries: built with CMake within a time, kept in parts that can be carried, or taken from a folder.

It must not choose what is built (`toolchain.py` does) and must not load a library.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devtools.console import Problem
from devtools.machine import core_count
from gpu_check.report import Report
from gpu_check.toolchain import Toolchain

ARCHIVE = "libraries.tar.xz"
PART_BYTES = 15_000_000
"""No part of the kept libraries is larger, so that what limits single files lets them through."""
FAST = 1
"""What xz is told: GPU code is packed already, and the time is the GPU's."""
BUILD_LOG = "build.log"
LIBRARIES = ("libllama", "libggml")
TAIL_LINES = 12
_STEP = re.compile(r"^\[\s*(\d+/\d+|\d+%)\]")


class Builder:
    """Builds the libraries in a work folder and tells how far it came."""

    def __init__(self, report: Report, work: Path, cmake: str, ninja: str | None) -> None:
        self._report = report
        self._folder = work / "build"
        self._log = report.folder / BUILD_LOG
        self._cmake, self._ninja = cmake, ninja
        self._log.unlink(missing_ok=True)

    def configure(self, sources: Path, toolchain: Toolchain, seconds: float) -> bool:
        """Run CMake's first step; False, with a line in the report, where it fails."""
        generator = (
            ("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={self._ninja}") if self._ninja else ("-G", "Unix Makefiles")
        )
        command = [self._cmake, "-S", str(sources), "-B", str(self._folder), *generator, *toolchain.all_flags]
        return self._step("configure", command, seconds)

    def build(self, toolchain: Toolchain, seconds: float) -> Path | None:
        """Compile and return the folder of the libraries; None, with a line in the report, where it fails."""
        jobs = str(core_count())
        command = [self._cmake, "--build", str(self._folder), "-j", jobs, "--target", *toolchain.targets]
        return self._folder / "bin" if self._step("build", command, seconds) else None

    def _step(self, name: str, command: Sequence[str], seconds: float) -> bool:
        began = time.monotonic()
        self._report.say(f"{name}: at most {seconds:.0f} s, log in {self._log}")
        code = run_within(command, self._log, seconds)
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        if code == 0:
            self._report.measured(f"{name}_seconds", time.monotonic() - began, "s")
            return True
        self._report.keep("\n".join(lines[-TAIL_LINES:]))
        steps = [match[1] for line in lines if (match := _STEP.match(line)) is not None]
        reached = f" at step {steps[-1]}" if steps else ""
        ending = f"was ended after {seconds:.0f} s" if code is None else f"failed with code {code}"
        last = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
        self._report.missed(f"{name}_seconds", f"{name} {ending}{reached}: {last.strip()[:200]}")
        return False


def run_within(command: Sequence[str], log: Path, seconds: float) -> int | None:
    """Run a program with its output in a log; returns its code, None when the time was up and it was ended."""
    with log.open("a", encoding="utf-8") as kept:
        kept.write(f"$ {subprocess.list2cmdline(list(command))}\n")
        kept.flush()
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=kept, stderr=subprocess.STDOUT, start_new_session=True
        ) as process:
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads a process group, and everything that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Parts(io.RawIOBase):
    """A file that is written in parts of limited size: NAME.00, NAME.01 and so on."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.paths: list[Path] = []
        self._room = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            if self._room == 0:
                self.paths.append(self._base.with_name(f"{self._base.name}.{len(self.paths):02d}"))
                self._room = PART_BYTES
            piece = view[done : done + self._room]
            with self.paths[-1].open("ab") as part:
                part.write(piece)
            done += len(piece)
            self._room -= len(piece)
        return done


def keep(libraries: Path, folder: Path) -> int:
    """Pack the libraries of a folder in parts; returns the bytes of all parts."""
    for old in folder.glob(f"{ARCHIVE}.*"):
        old.unlink()
    parts = _Parts(folder / ARCHIVE)
    with (
        io.BufferedWriter(parts, 1 << 20) as stream,
        lzma.open(stream, "wb", preset=FAST) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for path in sorted(libraries.iterdir()):
            if path.name.startswith(LIBRARIES) and ".so" in path.name:
                archive.add(path, path.name)
    return sum(path.stat().st_size for path in parts.paths)


def opened(folder: Path, work: Path) -> Path:
    """Return the folder of libraries that were built earlier, unpacked if they are kept in parts."""
    if any(folder.glob("libllama.*")):
        return folder.resolve()
    parts = sorted(folder.glob(f"{ARCHIVE}.*"))
    if not parts:
        raise Problem(f"There is no llama.cpp library in {folder}: name the folder with libllama, or leave it out.")
    target, whole = work / "library", work / ARCHIVE
    if target.exists():
        shutil.rmtree(target)
    with whole.open("wb") as joined:
        for part in parts:
            joined.write(part.read_bytes())
    with tarfile.open(whole) as archive:
        archive.extractall(target, filter="data")
    whole.unlink()
    return target
