"""Which llama.cpp a machine gets: every row of the table, from facts alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from devtools.backends import Backend, Plan, choose
from devtools.console import Problem
from devtools.machine import Driver, Gpu, Machine, Toolkit, Version

PLAIN = Machine("Linux", "x86_64", "some processor")
NVCC = Path("/usr/local/cuda/bin/nvcc")


def driver(cuda: Version = (12, 4), compute: Version = (8, 6)) -> Driver:
    return Driver(cuda, 0, (Gpu("RTX", compute),))


def shape(plan: Plan) -> list[tuple[str, str]]:
    """Return each attempt as backend and source."""
    return [
        (each.backend.value, each.index.rsplit("/", 1)[-1] if each.index else "compile") for each in plan.attempts
    ]


def test_a_plain_machine_gets_the_cpu_and_nothing_is_said() -> None:
    plan = choose(PLAIN)
    assert shape(plan) == [("cpu", "compile")]
    assert plan.notes == ()


def test_a_toolkit_without_a_driver_changes_nothing_and_nothing_false_is_said() -> None:
    assert choose(replace(PLAIN, toolkit=Toolkit(NVCC, (13, 0)))) == choose(PLAIN)


def test_driver_and_toolkit_build_for_the_card_that_is_present() -> None:
    plan = choose(replace(PLAIN, driver=driver(), toolkit=Toolkit(NVCC, (12, 4))))
    assert shape(plan) == [("cuda", "compile"), ("cuda", "cu124"), ("cpu", "compile")]
    assert "-DGGML_CUDA=ON" in plan.attempts[0].cmake
    assert "-DCMAKE_CUDA_ARCHITECTURES=native" in plan.attempts[0].cmake
    assert "-DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc" in plan.attempts[0].cmake
    assert plan.notes == ()


@pytest.mark.parametrize(
    ("cuda", "compute", "index"),
    [
        ((12, 1), (8, 6), "cu121"),
        ((12, 9), (8, 6), "cu125"),
        ((13, 0), (9, 0), "cu130"),
        ((13, 1), (9, 0), "cu130"),
        ((13, 0), (6, 1), "cu125"),
    ],
)
def test_a_driver_without_a_toolkit_uses_the_newest_ready_made_build_that_it_runs(
    cuda: Version, compute: Version, index: str
) -> None:
    plan = choose(replace(PLAIN, driver=driver(cuda, compute)))
    assert shape(plan) == [("cuda", index), ("cpu", "compile")]
    assert "ready-made" in plan.attempts[0].on_failure
    assert f"; install a CUDA {index[2:4]} toolkit and run `" in plan.attempts[0].on_failure


@pytest.mark.parametrize(
    ("toolkit", "compute"),
    [((13, 0), (8, 6)), ((13, 0), (7, 0))],
)
def test_a_toolkit_newer_than_the_driver_is_not_used(toolkit: Version, compute: Version) -> None:
    plan = choose(replace(PLAIN, driver=driver((12, 4), compute), toolkit=Toolkit(NVCC, toolkit)))
    assert shape(plan) == [("cuda", "cu124"), ("cpu", "compile")]
    said = plan.attempts[0].on_failure
    assert "; the CUDA 13.0 toolkit does not suit the driver or the card: install a CUDA 12 toolkit and run" in said


def test_a_toolkit_whose_build_failed_is_not_to_be_installed_again() -> None:
    said = choose(replace(PLAIN, driver=driver(), toolkit=Toolkit(NVCC, (12, 4)))).attempts[1].on_failure
    assert "; put right what kept the CUDA 12.4 toolkit from building it and run `" in said
    assert "install" not in said


def test_cuda_13_is_not_built_for_cards_that_it_dropped() -> None:
    plan = choose(replace(PLAIN, driver=driver((13, 0), (7, 0)), toolkit=Toolkit(NVCC, (13, 0))))
    assert shape(plan) == [("cuda", "cu125"), ("cpu", "compile")]


def test_the_weakest_card_decides() -> None:
    two = Driver((13, 0), 0, (Gpu("new", (9, 0)), Gpu("old", (6, 1))))
    assert shape(choose(replace(PLAIN, driver=two)))[0] == ("cuda", "cu125")


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (replace(PLAIN, vendors=("NVIDIA",)), "driver was not found"),
        (replace(PLAIN, vendors=("NVIDIA",), driver=Driver((0, 0), 100)), "finds no graphics card"),
        (replace(PLAIN, driver=Driver((0, 0), 803)), "its error is 803"),
        (replace(PLAIN, driver=Driver((0, 0), -1)), "does not start"),
        (replace(PLAIN, driver=driver((11, 8))), "supports CUDA 11.8"),
        (replace(PLAIN, architecture="aarch64", driver=driver()), "nothing ready-made fits"),
        (replace(PLAIN, vendors=("AMD",)), "AMD graphics processor needs Vulkan"),
        (replace(PLAIN, vendors=("Intel",)), "Intel graphics processor needs Vulkan"),
    ],
)
def test_a_card_that_cannot_be_used_ends_on_the_cpu_with_one_sentence_why(machine: Machine, said: str) -> None:
    plan = choose(machine)
    assert shape(plan) == [("cpu", "compile")]
    assert len(plan.notes) == 1
    assert plan.notes[0].startswith("The CPU is used: ")
    assert said in plan.notes[0]


def test_a_driver_library_without_a_card_as_in_containers_is_no_news() -> None:
    assert choose(replace(PLAIN, driver=Driver((0, 0), 100))).notes == ()


def test_a_mac_with_apple_silicon_gets_metal_and_an_older_one_the_cpu() -> None:
    mac = Machine("Darwin", "arm64", "Apple M3")
    assert shape(choose(mac)) == [("metal", "compile"), ("cpu", "compile")]
    assert choose(mac).attempts[0].on_failure.startswith("The CPU is used")
    older = choose(replace(mac, architecture="x86_64"))
    assert shape(older) == [("cpu", "compile")]
    assert older.attempts[0].cmake == ("-DGGML_METAL=OFF",)
    assert choose(mac).notes == ()


def test_an_intel_mac_is_told_why_its_graphics_processor_is_not_used_and_how_to_try_it() -> None:
    mac = Machine("Darwin", "x86_64", "Intel Core i7")
    (note,) = choose(mac).notes
    assert note.startswith("The CPU is used: Metal on Intel Macs is slower")
    assert note.endswith("run `python3 packaging/dev.py setup --backend metal`.")
    assert shape(choose(mac, "metal")) == [("metal", "compile")]
    assert choose(mac, "cpu").notes == ()


def test_the_cpu_can_be_demanded_where_a_card_is_present() -> None:
    assert shape(choose(replace(PLAIN, driver=driver()), "cpu")) == [("cpu", "compile")]


def test_a_demanded_backend_never_falls_back_in_silence() -> None:
    plan = choose(replace(PLAIN, driver=driver(), toolkit=Toolkit(NVCC, (12, 4))), "cuda")
    assert {each.backend for each in plan.attempts} == {Backend.CUDA}
    vulkan = choose(replace(PLAIN, shader_compiler=True), "vulkan")
    assert [each.cmake for each in vulkan.attempts] == [("-DGGML_VULKAN=ON",)]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("cuda", "no NVIDIA driver was found"),
        ("vulkan", "glslc"),
        ("metal", "on a Mac only"),
        ("magic", "choose one of"),
    ],
)
def test_a_backend_that_cannot_be_had_is_refused_with_the_next_step(wanted: str, said: str) -> None:
    with pytest.raises(Problem, match=said):
        choose(PLAIN, wanted)
