"""Small looks at the machine: processor, cards on the bus, folders, the CUDA of a build."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.system.cuda_build import cuda_major
from app.system.folders import look_at
from app.system.graphics_cards import card_makers
from app.system.processor import known_features, processor_features, processor_name
from tests.broken_libraries import for_cuda, needs_linux

X86 = "processor : 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t\t: fpu pni ssse3 avx avx2 f16c fma bmi2\n\nprocessor : 1\n"
ARM = "processor : 0\nFeatures\t: fp asimd asimddp i8mm\n"


def test_features_go_by_the_names_of_ggml(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text(X86)
    assert processor_features(info) == frozenset({"SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA", "BMI2"})
    if sys.platform != "win32":
        assert processor_name(info) == "Some CPU @ 3 GHz"
    info.write_text(ARM)
    assert processor_features(info) == frozenset({"NEON", "DOTPROD", "MATMUL_INT8"})
    assert processor_features(tmp_path / "nothing") is None


def test_a_server_processor_has_every_set_that_its_own_build_uses(tmp_path: Path) -> None:
    """The kernel writes some of these names with an underscore and others without."""
    info = tmp_path / "cpuinfo"
    info.write_text(
        "flags : pni ssse3 avx avx2 f16c fma bmi2 avx_vnni avx512f avx512bw avx512vbmi avx512_vbmi2 avx512_vnni"
        " avx512_bf16 amx_int8\n",
        encoding="utf-8",
    )
    own = {"AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16", "AVX_VNNI", "AMX_INT8"}
    assert processor_features(info) == frozenset({"SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA", "BMI2"}) | own
    assert processor_name(tmp_path / "nothing")
    assert known_features() >= {"AVX512", "SVE"}


def test_the_makers_of_graphics_cards_are_on_the_bus(tmp_path: Path) -> None:
    cards = {
        "0": ("0x030000", "0x10de"),
        "1": ("0x020000", "0x1002"),
        "2": ("0x038000", "0x8086"),
        "3": ("", "0x10de"),
    }
    for name, (kind, maker) in cards.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(f"{maker}\n")
        if kind:
            (tmp_path / name / "class").write_text(f"{kind}\n")
    assert card_makers(tmp_path) == ("Intel", "NVIDIA")
    assert card_makers(tmp_path / "nothing") == ()


def test_a_folder_is_looked_at_without_being_made(tmp_path: Path) -> None:
    there = look_at(tmp_path)
    assert (there.is_there, there.is_writable) == (True, True)
    assert there.free is not None
    later = look_at(tmp_path / "a" / "b")
    assert (later.is_there, later.is_writable) == (False, True)
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").touch()
    assert not look_at(tmp_path / "file").is_writable


@needs_linux
def test_a_folder_of_the_kernel_holds_no_files_and_tells_no_room() -> None:
    assert look_at(Path("/proc/new"))[1:] == (False, False, None)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions mean nothing here")
def test_a_folder_that_is_not_ours_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert not look_at(tmp_path / "new").is_writable
    tmp_path.chmod(0o700)


@needs_linux
def test_the_cuda_of_a_build_is_read_off_its_files(tmp_path: Path) -> None:
    assert cuda_major(for_cuda(tmp_path / "lib", "libcudart.so.13", "libcuda.so.1")) == 13
    assert cuda_major(for_cuda(tmp_path / "other", "libcuda.so.1")) is None
    (tmp_path / "lib" / "libggml-cuda.so.0").write_bytes(b"short")
    assert cuda_major(tmp_path / "lib") is None
    assert cuda_major(tmp_path / "nothing") is None
