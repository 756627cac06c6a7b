"""Why a GPU is used or not: each reason has its sentence and the command that mends it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.core.devices import Device, Gpu, GpuReport
from app.core.library_fault import LibraryFault, says_instead
from app.core.words import translate
from app.services.gpu_reasons import GpuClues, gpu_findings, library_remedy
from app.services.remedies import Remedies
from app.system.gpus import fault_report
from tests.services.surroundings_of_tests import CHECKOUT, GIB, LIBRARY, PROCESSOR

L4 = Gpu("NVIDIA L4", "GPU-1", "00000000:01:00.0", 24 * GIB, GIB, 23 * GIB)
A2 = Gpu("NVIDIA A2", "GPU-2", "00000000:41:00.0", 16 * GIB, GIB, 15 * GIB)
CUDA0 = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB, "0000:01:00.0")
DRIVER = GpuReport((L4,), "550.54.15", (12, 4))
WITH_CUDA = msgspec.structs.replace(LIBRARY, backends=("CUDA", "CPU"), gpu_offload=True)
WITH_VULKAN = msgspec.structs.replace(LIBRARY, backends=("Vulkan", "CPU"))
SET_UP = "python3 packaging/dev.py setup"


def hidden(gpu: Gpu) -> Gpu:
    return msgspec.structs.replace(gpu, visible=False)


def clues(**changes: Any) -> GpuClues:
    plain = GpuClues(LIBRARY, (PROCESSOR,), fault_report("no_library"))
    return msgspec.structs.replace(plain, **changes)


def test_a_gpu_that_is_used_is_named() -> None:
    (finding,) = gpu_findings(clues(library=WITH_CUDA, devices=(CUDA0, PROCESSOR), gpus=DRIVER), CHECKOUT)
    assert finding.state == "ok"
    assert "CUDA0 (NVIDIA L4)" in finding.sentence.english()


def test_a_second_gpu_that_is_hidden_is_noted() -> None:
    report = GpuReport((L4, hidden(A2)), "550", (12, 4))
    used = clues(library=WITH_CUDA, devices=(CUDA0,), gpus=report, hidden_by="0")
    _, finding = gpu_findings(used, CHECKOUT)
    assert finding.state == "note"
    words = ("NVIDIA A2", "00000000:41:00.0", "“0”", "Add it there")
    assert all(word in finding.sentence.english() for word in words)


def test_a_gpu_that_runs_is_not_called_hidden() -> None:
    report = GpuReport((hidden(L4),), "550", (12, 4))
    used = clues(library=WITH_CUDA, devices=(CUDA0,), gpus=report, hidden_by="GPU-")
    assert [finding.state for finding in gpu_findings(used, CHECKOUT)] == ["ok"]


@pytest.mark.parametrize(
    ("changes", "words", "command"),
    [
        ({}, "No GPU was found", ""),
        ({"gpus": DRIVER}, "was made without CUDA", f"{SET_UP} --backend cuda"),
        ({"gpus": DRIVER, "library": WITH_VULKAN}, "was made without CUDA", f"{SET_UP} --backend cuda"),
        ({"gpus": DRIVER, "library": WITH_CUDA, "cuda_needed": 13}, "runs CUDA 12.4, and this build of llama.cpp needs CUDA 13", SET_UP),
        ({"gpus": DRIVER, "library": WITH_CUDA, "cuda_needed": 12}, "found no GPU that it can use among NVIDIA L4", SET_UP),
        ({"gpus": GpuReport((hidden(L4),)), "library": WITH_CUDA, "hidden_by": "-1"}, "CUDA_VISIBLE_DEVICES is “-1”", "unset CUDA_VISIBLE_DEVICES"),
        ({"cards": ("NVIDIA",)}, "its driver is not installed", SET_UP),
        ({"cards": ("NVIDIA",), "gpus": fault_report("driver_mismatch")}, "was updated while it was running", ""),
        ({"cards": ("NVIDIA",), "gpus": fault_report("blocked")}, "does not answer", ""),
        ({"cards": ("NVIDIA",), "gpus": fault_report("no_gpu")}, "install a driver that supports this card", ""),
        ({"cards": ("AMD", "NVIDIA"), "gpus": fault_report("no_gpu")}, "its driver finds no GPU", ""),
        ({"cards": ("AMD",)}, "AMD needs Vulkan", f"{SET_UP} --backend vulkan"),
        ({"cards": ("Intel", "AMD"), "gpus": fault_report("no_gpu")}, "AMD needs Vulkan", f"{SET_UP} --backend vulkan"),
        ({"cards": ("Intel",), "library": WITH_VULKAN}, "no driver for the GPU of Intel", "sudo apt-get install libvulkan1"),
    ],
)  # fmt: skip
def test_each_reason_has_its_sentence_and_its_command(changes: dict[str, Any], words: str, command: str) -> None:
    finding = gpu_findings(clues(**changes), CHECKOUT)[0]
    assert words in " ".join(part.english() for part in (finding.sentence, finding.reason) if part is not None)
    assert finding.command == command
    assert finding.state == ("ok" if not changes else "note")


def test_a_plain_build_that_stands_in_is_the_reason() -> None:
    fault = LibraryFault("runtime", "CUDA", ("libcudart.so.12",))
    library = msgspec.structs.replace(LIBRARY, instead=fault, notes=(says_instead(fault),))
    findings = gpu_findings(clues(library=library, gpus=DRIVER), CHECKOUT)
    assert len(findings) == 1
    assert "the processor is used instead" in findings[0].sentence.english()
    assert findings[0].command == SET_UP


def test_parts_that_were_not_loaded_are_told_too() -> None:
    note = translate("Test", "The part for CUDA was not loaded.")
    library = msgspec.structs.replace(LIBRARY, notes=(note,))
    assert note in [finding.sentence for finding in gpu_findings(clues(library=library), CHECKOUT)]


@pytest.mark.parametrize(
    ("fault", "command"),
    [
        (LibraryFault("driver", "CUDA", ("libcuda.so.1",)), SET_UP),
        (LibraryFault("driver", "Vulkan", ("libvulkan.so.1",)), "sudo apt-get install libvulkan1"),
        (LibraryFault("dependency", "", ("libgomp.so.1",)), "sudo apt-get install libgomp1"),
        (LibraryFault("dependency", "", ("libodd.so.1",)), SET_UP),
        (LibraryFault("processor"), SET_UP),
        (LibraryFault("misdirected", folder="/nowhere"), "unset LLAMA_CPP_LIB_PATH"),
    ],
)
def test_a_build_that_cannot_be_loaded_has_one_command(fault: LibraryFault, command: str) -> None:
    assert library_remedy(fault, CHECKOUT) == command


def test_commands_fit_how_the_program_was_installed() -> None:
    package = Remedies("package", "/venv/bin/python", "0.3.36", "dnf")
    assert package.set_up("cuda").startswith("CMAKE_ARGS=-DGGML_CUDA=ON /venv/bin/python -m pip install")
    assert package.set_up().endswith("llama-cpp-python==0.3.36")
    assert package.install_libraries(("libGL.so.1",)) == "sudo dnf install 'libGL.so.1()(64bit)'"
    assert package.install_python_package("x>=1") == "/venv/bin/python -m pip install 'x>=1'"
    frozen = Remedies("frozen", "/opt/tokenlight", "0.3.36")
    assert frozen.set_up("cuda") == frozen.install_libraries(("libGL.so.1",)) == ""
    assert frozen.install_python_package("x") == ""
    assert CHECKOUT.install_libraries(("libGL.so.1", "libodd.so.1")) == ""


def test_commands_are_written_for_the_shell_that_they_are_typed_in() -> None:
    spaced = Remedies("package", "/home/me too/bin/python", "0.3.36")
    assert spaced.set_up("vulkan").startswith("CMAKE_ARGS=-DGGML_VULKAN=ON '/home/me too/bin/python' -m pip")
    assert spaced.unset("X") == "unset X"
    windows = Remedies("package", r"C:\Program Files\Python\python.exe", "0.3.36", shell="windows")
    python = r'"C:\Program Files\Python\python.exe"'
    assert windows.set_up("cuda").startswith(f'set "CMAKE_ARGS=-DGGML_CUDA=ON" && {python} -m pip install --force')
    assert windows.install_python_package("x>=1,<2") == f'{python} -m pip install "x>=1,<2"'
    assert windows.unset("X") == "set X="
    checkout = Remedies("checkout", "python.exe", "0.3.36", shell="windows")
    assert checkout.set_up("cuda") == r"py packaging\dev.py setup --backend cuda"
    assert checkout.install_python_package("x") == r"py packaging\dev.py setup"


def test_hidden_gpus_are_shown_again_with_the_words_of_the_shell() -> None:
    windows = Remedies("checkout", "python.exe", "0.3.36", shell="windows")
    seen = clues(library=WITH_CUDA, gpus=GpuReport((hidden(L4),)), hidden_by="-1")
    (finding,) = gpu_findings(seen, windows)
    assert finding.command == "set CUDA_VISIBLE_DEVICES="
    assert "Remove this variable" in finding.sentence.english()


def test_the_drivers_own_words_stay_a_sentence_of_their_own() -> None:
    report = fault_report("driver_mismatch")
    (finding,) = gpu_findings(clues(gpus=report), CHECKOUT)
    assert finding.reason == report.reason
    assert finding.sentence.values == {}
