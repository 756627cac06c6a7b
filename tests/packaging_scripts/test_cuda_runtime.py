"""The CUDA libraries that a ready-made build needs are put where it looks."""

from __future__ import annotations

from pathlib import Path

from devtools.backends import PREBUILT_CUDA
from devtools.cuda_runtime import packages_for, put_beside


def test_every_ready_made_build_has_its_packages() -> None:
    for major, minor in PREBUILT_CUDA:
        assert len(packages_for(f"cu{major}{minor}")) == 2
    assert packages_for("cu124") == ("nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12")


def test_the_libraries_are_put_beside_llama_cpps_own(tmp_path: Path) -> None:
    target = tmp_path / "llama_cpp" / "lib"
    target.mkdir(parents=True)
    for name in (
        "cublas/lib/libcublas.so.12",
        "cublas/lib/libcublasLt.so.12",
        "cuda_runtime/lib/libcudart.so.12",
    ):
        path = tmp_path / "nvidia" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "nvidia" / "cublas" / "lib" / "libnvblas.so.12").touch()
    expected = ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12"]
    assert sorted(put_beside(tmp_path)) == expected
    assert sorted(put_beside(tmp_path)) == expected
    assert sorted(path.name for path in target.iterdir()) == expected
    assert (target / "libcudart.so.12").read_text() == "cuda_runtime/lib/libcudart.so.12"
