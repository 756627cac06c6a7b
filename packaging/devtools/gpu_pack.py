"""Prepares the folder that `packaging/gpu_check.sh` needs on a machine without a network: sources, binding, wheels.

It must not know what is checked there, and must never make the folder larger than what can be carried.
"""

from __future__ import annotations

import fnmatch
import json
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from devtools import build_errors, llama_build, setup_steps
from devtools.console import Problem, ProgressLine, say
from devtools.processes import logged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from devtools.layout import Layout

FOLDER = "build/gpu_check"
SOURCES, WHEELS, TOOLS, MANIFEST = "sources.tar.xz", "wheels", "tools", "manifest.json"
LIMIT_BYTES = 60_000_000
MEGABYTE = 1_000_000

# Of llama.cpp: its libraries for CPU, CUDA and Vulkan, and what its CMake files name although it is not built.
LLAMA_SOURCES = (
    "CMakeLists.txt",
    "LICENSE",
    "cmake/*",
    "include/*",
    "src/*",
    "vendor/CMakeLists.txt",
    "vendor/*/CMakeLists.txt",
    "vendor/hash/*",
    "ggml/CMakeLists.txt",
    "ggml/cmake/*",
    "ggml/include/*",
    "ggml/src/ggml-cpu/*",
    "ggml/src/ggml-cuda/*",
    "ggml/src/ggml-vulkan/*",
)
CORE_FOLDER = PurePosixPath("ggml/src")
LLAMA_FOLDER = PurePosixPath("vendor/llama.cpp")
BINDING = ("PKG-INFO", "llama_cpp/llama_cpp.py", "llama_cpp/_ctypes_extensions.py")
"""The C API of the Python binding alone: its helpers are not used and need more packages."""

PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_12_x86_64")
PYTHONS = ("3.11", "3.12", "3.13")
BUILD_TOOLS = ("cmake", "ninja")
"""In a folder of their own: whoever carries a library that was built earlier leaves them out."""
FOR_EVERY_PYTHON = ("gguf", "jinja2", "nvidia-ml-py", "psutil", "typing-extensions")
FOR_EACH_PYTHON = ("markupsafe", "msgspec", "pyyaml")


def place_of(member: str) -> str | None:
    """Return where a file of the source distribution lies in the pack; None where it is not needed."""
    path = PurePosixPath(*PurePosixPath(member).parts[1:])
    if str(path) in BINDING:
        return str(path)
    if not path.is_relative_to(LLAMA_FOLDER):
        return None
    inside = path.relative_to(LLAMA_FOLDER)
    wanted = inside.parent == CORE_FOLDER or any(fnmatch.fnmatchcase(str(inside), each) for each in LLAMA_SOURCES)
    return str("llama.cpp" / inside) if wanted else None


def repack(distribution: Path, target: Path) -> int:
    """Write what is needed of a source distribution to a small archive; returns how many files that are."""
    count = 0
    with tarfile.open(distribution, "r:gz") as source, tarfile.open(target, "w:xz") as kept:
        for member in source:
            place = place_of(member.name) if member.isfile() else None
            if place is not None:
                file = tarfile.TarInfo(place)  # the member's own carries its long old name in extended headers
                file.size, file.mtime = member.size, member.mtime
                kept.addfile(file, source.extractfile(member))
                count += 1
    return count


def manifest(folder: Path, version: str) -> dict[str, object]:
    """Return what lies in the folder, in bytes, and the sum; raises `Problem` where it is too much to carry."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    total = sum(sizes.values())
    if total > LIMIT_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        raise Problem(
            f"The pack has {total / MEGABYTE:.0f} MB, more than the {LIMIT_BYTES // MEGABYTE} MB that can be carried:"
            f" leave {largest} out (packaging/devtools/gpu_pack.py) and run this command again."
        )
    return {"llama_cpp_python": version, "files": sizes, "total": total}


def make(layout: Layout) -> int:
    """Prepare the folder anew and say how large it is."""
    version = setup_steps.requirements(layout.root / "pyproject.toml", ()).llama_version
    folder = layout.root / FOLDER
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".gpu_check-") as workshop:
        fresh, distributions = Path(workshop) / "pack", Path(workshop) / "sdist"
        fresh.mkdir()
        sdist = ("--no-binary", llama_build.PACKAGE)
        _download(layout, distributions, sdist, [f"{llama_build.PACKAGE}=={version}"])
        repack(next(distributions.glob("*.tar.gz")), fresh / SOURCES)
        _download(layout, fresh / TOOLS, _wheels_for(PYTHONS[0]), BUILD_TOOLS)
        _download(layout, fresh / WHEELS, _wheels_for(PYTHONS[0]), FOR_EVERY_PYTHON)
        for python in PYTHONS:
            _download(layout, fresh / WHEELS, _wheels_for(python), FOR_EACH_PYTHON)
        listed = manifest(fresh, version)
        (fresh / MANIFEST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)
    say(f"{FOLDER} is ready to be carried: {sum(_sizes(folder)) / MEGABYTE:.1f} MB.")
    say("On the machine with the GPU, in the checkout: sh packaging/gpu_check.sh")
    return 0


def _sizes(folder: Path) -> Iterable[int]:
    return (path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _wheels_for(python: str) -> tuple[str, ...]:
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    return ("--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *platforms)


def _download(layout: Layout, target: Path, how: Sequence[str], packages: Sequence[str]) -> None:
    """Let pip fetch the pinned versions of packages, nothing that comes with them."""
    log, line = layout.logs / "gpu-pack.log", ProgressLine()
    constraints = layout.root / "packaging" / "constraints.txt"
    quiet: list[str | Path] = ["--no-deps", "--progress-bar", "off"]
    command = [layout.python, "-m", "pip", "download", *quiet, "--dest", target, *how]

    def on_line(text: str) -> None:
        words = text.split()
        if len(words) > 1 and words[0] in ("Collecting", "Downloading"):
            line.update(f"Fetching {words[1].split('/')[-1]}")

    done = logged([*command, "--constraint", constraints, *packages], log, on_line)
    line.finish()
    if not done.ok:
        why = build_errors.advice(done.output) or "Check the network and try again."
        raise Problem(f"What the GPU check needs could not be downloaded. {why} The whole log is {log}.")
