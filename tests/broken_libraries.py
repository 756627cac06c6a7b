"""Folders of llama.cpp's libraries that cannot be loaded here, each broken in one way.

Made of copies of the real ones and of tiny libraries from the C compiler; works on Linux, where tests may use it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import util
from pathlib import Path

import pytest

MAIN = "libllama.so"
DRIVER = "libcuda.so.1"
RUNTIME = "libcudart.so.12"
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the libraries are made with the compiler of Linux")

NOTHING = "int tokenlight_nothing(void) { return 0; }"
AT_ONCE = 'static void __attribute__((constructor)) strike(void) { __asm__ volatile("ud2"); }'
AT_LOAD = 'void *llama_model_load_from_file(void) { __asm__ volatile("ud2"); return 0; }'
AT_DECODE = 'int llama_decode(void) { __asm__ volatile("ud2"); return 0; }'
if sys.platform == "linux":
    import platform

    if platform.machine() == "aarch64":
        AT_ONCE, AT_LOAD, AT_DECODE = (each.replace("ud2", "udf #0") for each in (AT_ONCE, AT_LOAD, AT_DECODE))


def real_folder() -> Path:
    """Return the folder of the build that these tests run on."""
    spec = util.find_spec("llama_cpp")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "lib"


def whole(folder: Path) -> Path:
    """Return a copy of the real libraries."""
    folder.mkdir(parents=True)
    for library in real_folder().glob("lib*.so*"):
        if library.name.count(".") <= 2:
            shutil.copy(library, folder)
    return folder


def compile_library(file: Path, source: str, *needed: str) -> None:
    """Make a library that needs others: paths of files, or names of libraries that need not be there."""
    stubs = []
    for name in needed:
        if not (file.parent / name).exists():
            compile_library(file.parent / name, NOTHING)
            stubs.append(file.parent / name)
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("there is no C compiler")
    libraries = [f"-l:{name}" for name in needed]
    options = ["-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", str(file), f"-Wl,-soname,{file.name}"]
    options += ["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", f"-L{file.parent}", *libraries]
    subprocess.run([found, *options], input=source, text=True, check=True, capture_output=True)
    for stub in stubs:
        stub.unlink()


def wrap(folder: Path, source: str, *needed: str) -> None:
    """Put another library before the main one: it needs the real one and holds this code."""
    (folder / MAIN).unlink()
    compile_library(folder / MAIN, source, "libllama.so.0", *needed)


def for_cuda(folder: Path, *needed: str) -> Path:
    """Return a build that links a CUDA part which needs these libraries."""
    whole(folder)
    compile_library(folder / "libggml-cuda.so.0", NOTHING, *needed)
    wrap(folder, NOTHING, "libggml-cuda.so.0")
    return folder


def without_driver(folder: Path) -> Path:
    """Return a CUDA build on a machine without NVIDIA's driver."""
    return for_cuda(folder, DRIVER)


def without_runtime(folder: Path) -> Path:
    """Return a CUDA build whose own runtime is missing."""
    return for_cuda(folder, RUNTIME, "libcublas.so.12")


def without_dependency(folder: Path) -> Path:
    """Return a build that needs a library which nothing brings."""
    whole(folder)
    wrap(folder, NOTHING, "libtokenlight-absent.so.3")
    return folder


def without_part(folder: Path) -> Path:
    """Return a build of which a file was deleted."""
    whole(folder)
    for part in folder.glob("libggml-base*"):
        part.unlink()
    return folder


def truncated(folder: Path) -> Path:
    """Return a build whose main library ends in the middle."""
    whole(folder)
    content = (folder / MAIN).read_bytes()
    (folder / MAIN).write_bytes(content[: len(content) // 2])
    return folder


def illegal(folder: Path, source: str = AT_ONCE) -> Path:
    """Return a build with an instruction that no processor knows."""
    whole(folder)
    wrap(folder, source)
    return folder


Break = Callable[[Path], Path]
