"""What CMake is told to build llama.cpp's libraries for a backend on this machine, or why that cannot be done.

It must not build anything. A toolkit without cuBLAS, or without the stub of the driver's library, is made do with.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devtools import backends
from devtools.console import Problem
from devtools.machine import Machine, this_machine
from devtools.processes import quiet

COMMON = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    *(f"-DLLAMA_BUILD_{part}=OFF" for part in ("COMMON", "TOOLS", "EXAMPLES", "TESTS", "SERVER", "APP", "MTMD")),
    "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
)
TARGETS = {"cpu": ("ggml-cpu",), "cuda": ("ggml-cpu", "ggml-cuda"), "vulkan": ("ggml-cpu", "ggml-vulkan")}
STAND_IN_ARCHITECTURE = "90"
"""What is configured for where no GPU answers, to see at least that everything is there."""
TOOLKIT_HEADERS = ("include", "targets/x86_64-linux/include")
TOOLKIT_LIBRARIES = ("lib64", "targets/x86_64-linux/lib", "lib")
DRIVER_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
)


@dataclass(frozen=True)
class Toolchain:
    """CMake's flags, the folders that the finished libraries need at run time, and what people should know."""

    backend: str
    flags: tuple[str, ...]
    architecture: str = ""
    has_gpu: bool = True
    folders: tuple[Path, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def targets(self) -> tuple[str, ...]:
        """What is built."""
        return ("llama", "ggml", *TARGETS[self.backend])

    @property
    def all_flags(self) -> tuple[str, ...]:
        """Return every flag, those that people set in CMAKE_ARGS last."""
        origin = ";".join(("$ORIGIN", *map(str, self.folders)))
        added = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        return (*COMMON, f"-DCMAKE_INSTALL_RPATH={origin}", *self.flags, *added)


def for_backend(backend: str, work: Path) -> Toolchain:
    """Look at this machine; raises `Problem` with what is missing."""
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        raise Problem(
            "There is no C++ compiler: install g++ (Debian and Ubuntu: build-essential) and run this again."
        )
    if backend == "cpu":
        return Toolchain(backend, ())
    machine = _machine_with_toolkit()
    if backend == "vulkan":
        return Toolchain(backend, backends.choose(machine, backend).attempts[0].cmake)
    return _cuda(machine, work)


def _machine_with_toolkit() -> Machine:
    """Look at this machine, also into the folders of CUDA toolkits that nothing points to."""
    machine = this_machine()
    if machine.toolkit is None:
        for home in sorted(Path("/usr/local").glob("cuda-*"), reverse=True):
            if (home / "bin" / "nvcc").exists():
                os.environ["CUDA_HOME"] = str(home)
                return this_machine()
    return machine


def _cuda(machine: Machine, work: Path) -> Toolchain:
    if machine.toolkit is None:
        raise Problem("CUDA's compiler nvcc was not found: install the CUDA toolkit, or set CUDA_HOME to its folder.")
    root = toolkit_root(machine.toolkit.nvcc)
    nvcc = root / "bin" / "nvcc" if (root / "bin" / "nvcc").exists() else machine.toolkit.nvcc
    architecture = compute_architecture(machine)
    flags = [
        "-DGGML_CUDA=ON",
        "-DGGML_CUDA_NCCL=OFF",
        f"-DCMAKE_CUDA_COMPILER={nvcc}",
        f"-DCMAKE_CUDA_ARCHITECTURES={architecture or STAND_IN_ARCHITECTURE}-real",
    ]
    notes = [f"CUDA {backends.dotted(machine.toolkit.version)} in {root}, architecture {architecture or 'unknown'}"]
    folders = list(runtime_folders(root, sys.path))
    blas = _blas_flags(root, work / "cublas")
    driver = driver_flags(root, _driver_places(os.environ))
    notes += [note for note in (blas.note, driver.note) if note]
    return Toolchain(
        backend="cuda",
        flags=(*flags, *blas.flags, *driver.flags),
        architecture=architecture,
        has_gpu=bool(architecture),
        folders=tuple(folders),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class Found:
    """Flags for a part of the toolkit that was found elsewhere, and where."""

    flags: tuple[str, ...] = ()
    note: str = ""


def toolkit_root(nvcc: Path) -> Path:
    """Return the toolkit's folder; nvcc may be a script that stands somewhere else."""
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    places = [nvcc.resolve().parents[1], *([Path(named)] if named else []), Path("/usr/local/cuda")]
    return next((place for place in places if _has_header(place, "cuda_runtime.h")), places[0]).resolve()


def _has_header(root: Path, name: str) -> bool:
    return any((root / folder / name).exists() for folder in TOOLKIT_HEADERS)


def compute_architecture(machine: Machine) -> str:
    """Return the first GPU's compute capability as CMake writes it, such as “90”; empty where none answers."""
    if machine.driver is not None and machine.driver.gpus:
        major, minor = machine.driver.gpus[0].compute_capability
        return f"{major}{minor}"
    answer = quiet(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    match = re.match(r"(\d+)\.(\d+)", answer.output.strip()) if answer.ok else None
    return f"{match[1]}{match[2]}" if match else ""


def runtime_folders(root: Path, path: Sequence[str]) -> Iterable[Path]:
    """Return the folders with CUDA's runtime and cuBLAS: the toolkit's, then those of Python packages."""
    places = (*(root / name for name in TOOLKIT_LIBRARIES), *package_folders(path, "lib"))
    for place in dict.fromkeys(place.resolve() for place in places):
        if any(place.glob("libcudart.so.*")) or any(place.glob("libcublas.so.*")):
            yield place


def package_folders(path: Sequence[str], name: str) -> list[Path]:
    """Return the folders of this name that NVIDIA's Python packages brought."""
    return [folder for entry in path if entry for folder in sorted(Path(entry).glob(f"nvidia/*/{name}"))]


def _blas_flags(root: Path, overlay: Path) -> Found:
    """Return nothing where the toolkit has cuBLAS, else flags for the one of a Python package."""
    libraries = [root / name for name in TOOLKIT_LIBRARIES]
    if any((place / "libcublas.so").exists() for place in libraries) and _has_header(root, "cublas_v2.h"):
        return Found()
    headers = [place for place in package_folders(sys.path, "include") if (place / "cublas_v2.h").exists()]
    places = [place for place in package_folders(sys.path, "lib") if any(place.glob("libcublas.so.*"))]
    if not headers or not places:
        raise Problem(
            f"The CUDA toolkit in {root} has no cuBLAS, and this Python has none either: "
            "install the toolkit's cuBLAS, or the package nvidia-cublas of the toolkit's version."
        )
    if overlay.exists():
        shutil.rmtree(overlay)
    for folder in ("include", "lib"):
        (overlay / folder).mkdir(parents=True)
    for header in headers[0].glob("cublas*.h"):
        (overlay / "include" / header.name).symlink_to(header.resolve())
    for library in places[0].glob("libcublas*.so.*"):
        (overlay / "lib" / library.name).symlink_to(library.resolve())
        (overlay / "lib" / f"{library.name.partition('.so')[0]}.so").symlink_to(library.resolve())
    flags = [f"-DCUDA_{name}_LIBRARY={overlay}/lib/lib{name}.so" for name in ("cublas", "cublasLt")]
    flags.append(f"-DCMAKE_CUDA_FLAGS=-I{overlay}/include")
    return Found(tuple(flags), f"cuBLAS is taken from {places[0]}")


def driver_flags(root: Path, places: Iterable[Path]) -> Found:
    """Return nothing where the toolkit has the driver library's stub, else flags for the driver's own or for none."""
    if any((root / name / "stubs" / "libcuda.so").exists() for name in TOOLKIT_LIBRARIES):
        return Found()
    for place in places:
        library = place / "libcuda.so.1"
        if library.exists():
            return Found((f"-DCUDA_cuda_driver_LIBRARY={library}",), f"the driver's library is {library}")
    note = "no stub of the driver's library: built without CUDA's virtual memory"
    return Found(("-DGGML_CUDA_NO_VMM=ON",), note)


def _driver_places(environment: Mapping[str, str]) -> Iterable[Path]:
    yield from (Path(each) for each in environment.get("LD_LIBRARY_PATH", "").split(os.pathsep) if each)
    for line in quiet(["ldconfig", "-p"]).output.splitlines():
        if line.strip().startswith("libcuda.so.1 ") and "=>" in line:
            yield Path(line.split("=>")[1].strip()).parent
    yield from map(Path, DRIVER_FOLDERS)
