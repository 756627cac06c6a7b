"""How the GPU check gets its library: what CMake is told on this machine, builds within a time, parts that are kept."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from devtools.console import Problem
from devtools.machine import Driver, Gpu, Machine, Toolkit
from devtools.processes import Outcome
from gpu_check import library, toolchain

CUDA_13 = Toolkit(Path("/opt/cuda/bin/nvcc"), (13, 0))
H200 = Gpu("NVIDIA H200", (9, 0))

needs_shell = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")


def fake_toolkit(root: Path, *, stub: bool) -> Path:
    (root / "include").mkdir(parents=True)
    (root / "include" / "cuda_runtime.h").touch()
    (root / "lib64" / "stubs").mkdir(parents=True)
    (root / "lib64" / "libcudart.so.13").touch()
    (root / "bin").mkdir()
    (root / "bin" / "nvcc").touch()
    if stub:
        (root / "lib64" / "stubs" / "libcuda.so").touch()
    return root / "bin" / "nvcc"


def fake_cublas(site: Path) -> None:
    for folder, names in (("include", ("cublas_v2.h",)), ("lib", ("libcublas.so.13", "libcublasLt.so.13"))):
        (site / "nvidia" / "cu13" / folder).mkdir(parents=True)
        for name in names:
            (site / "nvidia" / "cu13" / folder / name).touch()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """Return a machine with an H200 and a toolkit without cuBLAS and stub; no other one is seen."""
    nvcc = fake_toolkit(tmp_path / "cuda", stub=False)
    made = Machine("Linux", "x86_64", "", driver=Driver((13, 0), 0, (H200,)), toolkit=replace(CUDA_13, nvcc=nvcc))
    monkeypatch.setattr(toolchain, "this_machine", lambda: made)
    monkeypatch.setattr(toolchain, "DRIVER_FOLDERS", ())
    monkeypatch.setattr(toolchain, "quiet", lambda command: Outcome(1, ""))
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/" + name)
    for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    return made


def test_cublas_of_a_python_package_and_no_driver_stub_are_made_do_with(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_cublas(tmp_path / "site")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    tools = toolchain.for_backend("cuda", tmp_path / "work")
    assert tools.has_gpu
    assert "-DCMAKE_CUDA_ARCHITECTURES=90-real" in tools.flags
    assert "-DGGML_CUDA_NO_VMM=ON" in tools.flags
    overlay = tmp_path / "work" / "cublas"
    assert f"-DCUDA_cublasLt_LIBRARY={overlay}/lib/libcublasLt.so" in tools.flags
    assert (overlay / "lib" / "libcublas.so").resolve() == tmp_path / "site/nvidia/cu13/lib/libcublas.so.13"
    assert (overlay / "lib" / "libcublasLt.so.13").exists()
    assert (overlay / "include" / "cublas_v2.h").exists()
    assert tools.folders == (tmp_path / "cuda/lib64", tmp_path / "site/nvidia/cu13/lib")
    rpath = next(flag for flag in tools.all_flags if flag.startswith("-DCMAKE_INSTALL_RPATH="))
    assert rpath.partition("=")[2].split(";") == ["$ORIGIN", *map(str, tools.folders)]


def test_a_toolkit_without_cublas_anywhere_is_said_in_a_sentence(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "empty")])
    with pytest.raises(Problem, match=r"has no cuBLAS.* install"):
        toolchain.for_backend("cuda", tmp_path / "work")


def test_the_drivers_own_library_serves_where_there_is_no_stub(tmp_path: Path) -> None:
    fake_toolkit(tmp_path / "cuda", stub=False)
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "libcuda.so.1").touch()
    found_driver = toolchain.driver_flags(tmp_path / "cuda", [tmp_path / "nowhere", tmp_path / "driver"])
    assert found_driver.flags == (f"-DCUDA_cuda_driver_LIBRARY={tmp_path}/driver/libcuda.so.1",)
    fake_toolkit(tmp_path / "whole", stub=True)
    assert toolchain.driver_flags(tmp_path / "whole", [tmp_path / "driver"]).flags == ()


def test_a_toolkit_is_found_where_nvcc_is_a_script_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_toolkit(tmp_path / "cuda", stub=False)
    script = tmp_path / "bin" / "nvcc"
    script.parent.mkdir()
    script.touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert toolchain.toolkit_root(script) == tmp_path / "cuda"


# The library


def test_libraries_come_back_out_of_parts_that_can_be_carried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(library, "PART_BYTES", 10_000)
    built, out = tmp_path / "bin", tmp_path / "out"
    built.mkdir()
    out.mkdir()
    content = np.random.default_rng(1).bytes(35_000)
    (built / "libllama.so.0").write_bytes(content)
    (built / "libllama.so").symlink_to("libllama.so.0")
    (built / "llama-test").write_bytes(b"not a library")
    size = library.keep(built, out)
    parts = sorted(out.iterdir())
    assert [part.name for part in parts] == [f"{library.ARCHIVE}.{number:02d}" for number in range(len(parts))]
    assert len(parts) == 4
    assert max(part.stat().st_size for part in parts) == 10_000
    assert sum(part.stat().st_size for part in parts) == size
    (tmp_path / "work").mkdir()
    opened = library.opened(out, tmp_path / "work")
    assert (opened / "libllama.so").read_bytes() == content
    assert sorted(path.name for path in opened.iterdir()) == ["libllama.so", "libllama.so.0"]


def test_a_folder_without_a_library_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"no llama\.cpp library in .*leave it out"):
        library.opened(tmp_path, tmp_path)


@needs_shell
def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    waits = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    assert library.run_within(waits, tmp_path / "log", 0.1) is None
    assert library.run_within([sys.executable, "-c", "print('done')"], tmp_path / "log", 60) == 0
    assert "done" in (tmp_path / "log").read_text()
