"""Which fault missing and damaged files are, and what is said of each."""

from __future__ import annotations

from typing import get_args

import pytest

from app.core.library_fault import (
    FaultKind,
    LibraryFault,
    backend_name,
    fault_for,
    says_absent,
    says_instead,
    says_why,
)


@pytest.mark.parametrize(
    ("missing", "damaged", "backends", "expected"),
    [
        (("libcuda.so.1",), (), (), LibraryFault("driver", "CUDA", ("libcuda.so.1",))),
        (("nvcuda.dll",), (), ("CUDA",), LibraryFault("driver", "CUDA", ("nvcuda.dll",))),
        (("libvulkan.so.1",), (), (), LibraryFault("driver", "Vulkan", ("libvulkan.so.1",))),
        (("libcublas.so.12", "libcudart.so.12", "libcuda.so.1"), (), ("CUDA",), LibraryFault("driver", "CUDA", ("libcuda.so.1",))),
        (("libcublasLt.so.12", "libx.so"), (), (), LibraryFault("runtime", "CUDA", ("libcublasLt.so.12",))),
        (("libgomp.so.1",), (), (), LibraryFault("dependency", "", ("libgomp.so.1",))),
        (("libggml-base.so.0", "libcuda.so.1"), (), ("CUDA",), LibraryFault("incomplete", "CUDA", ("libggml-base.so.0",))),
        ((), ("libllama.so",), (), LibraryFault("incomplete", "", ("libllama.so",))),
        ((), (), (), LibraryFault("unfit")),
        (("libcuda.so.1",), (), ("Vulkan", "CUDA"), LibraryFault("driver", "CUDA", ("libcuda.so.1",))),
        (("libgomp.so.1",), (), ("Vulkan", "CUDA"), LibraryFault("dependency", "", ("libgomp.so.1",))),
    ],
)  # fmt: skip
def test_what_is_missing_tells_the_kind(
    missing: tuple[str, ...], damaged: tuple[str, ...], backends: tuple[str, ...], expected: LibraryFault
) -> None:
    assert fault_for(missing, damaged, backends) == expected


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_each_kind_has_its_sentences_with_a_next_step(kind: FaultKind) -> None:
    fault = LibraryFault(kind, "CUDA", ("libcuda.so.1", "libx.so"))
    for sentence in (says_why(fault), says_instead(fault), says_absent(fault)):
        text = sentence.english()
        assert text.endswith(".")
        assert "{" not in text
        assert any(step in text for step in ("Set Tokenlight up", "Install", "nset it"))
    if kind not in ("not_installed", "processor", "unfit", "misdirected"):
        assert "libcuda.so.1, libx.so" in says_why(fault).english()


def test_backends_are_called_what_people_call_them() -> None:
    assert [backend_name(name) for name in ("cuda", "vulkan", "hip", "opencl")] == ["CUDA", "Vulkan", "HIP", "Opencl"]


def test_a_folder_that_the_environment_names_is_named_with_its_variable() -> None:
    fault = LibraryFault("misdirected", "", ("libllama.so",), "/no {such} place")
    for sentence in (says_why(fault), says_instead(fault)):
        assert sentence.english().startswith(
            "LLAMA_CPP_LIB_PATH points to “/no {such} place”, where there is no usable"
        )
