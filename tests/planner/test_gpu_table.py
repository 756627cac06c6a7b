"""The table of GPUs that ships, and the GPUs that people add to it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from app.core.own_gpu import OwnGpu
from app.planner.gpu import Gpu
from app.planner.gpu_table import FIGURES, gpu_id, matching, name_problem, own_gpus, read_gpu_table
from app.planner.this_machine import OwnDevice, known_as, this_machine
from app.system.resources import find_resources
from tests.planner.works import GIB, TABLE

DATA_CENTRE = (
    "t4",
    "v100-16",
    "v100-32",
    "v100-sxm-16",
    "v100-sxm-32",
    "a10",
    "a10g",
    "l4",
    "l40s",
    "a100-40",
    "a100-80-pcie",
    "a100-80-sxm",
)
HOPPER = ("h100-pcie", "h100-sxm", "h100-nvl", "h200")
GEFORCE = tuple(f"rtx-{number}" for number in (3060, 3070, 3080, 3090, 4060, 4070, 4080, 4090, 5070, 5080, 5090))
LAPTOPS = tuple(f"rtx-{number}-laptop" for number in (3060, 4060, 4070, 4080, 4090))
OTHERS = ("rtx-a6000", "rtx-pro-6000", "rx-7900-xtx")
APPLE = (
    "m1-16",
    "m1-pro-32",
    "m1-max-64",
    "m1-ultra-128",
    "m2-24",
    "m3-24",
    "m4-32",
    "m4-pro-64",
    "m4-max-128",
    "m5-32",
)
VENDOR_FIGURES = {
    "t4": (16, 320, 65),
    "v100-sxm-32": (32, 900, 125),
    "a10g": (24, 600, 70),
    "rtx-3060-8": (8, 240, 51),
    "m3-max-96": (96, 300, 10.6),
    "m4-max-36": (36, 410, 13.6),
    "l4": (24, 300, 121),
    "l40s": (48, 864, 362),
    "a100-40": (40, 1555, 312),
    "a100-80-sxm": (80, 2039, 312),
    "h100-sxm": (80, 3350, 989),
    "h200": (141, 4800, 989),
    "rtx-3060-laptop": (6, 336, 52),
    "rtx-4060-laptop": (8, 256, 58),
    "rtx-4070-laptop": (8, 256, 80),
    "rtx-4080-laptop": (12, 432, 135),
    "rtx-4090-laptop": (16, 576, 171),
    "rtx-3090": (24, 936, 142),
    "rtx-4090": (24, 1008, 330),
    "rtx-5090": (32, 1792, 419),
    "rx-7900-xtx": (24, 960, 123),
}


@pytest.mark.parametrize("name", [*DATA_CENTRE, *HOPPER, *GEFORCE, *LAPTOPS, *OTHERS, *APPLE])
def test_the_table_has_what_people_ask_for(name: str) -> None:
    assert name in TABLE


@pytest.mark.parametrize("gpu", TABLE.values(), ids=lambda gpu: gpu.id)
def test_every_gpu_has_all_figures_in_bounds_each_with_a_source(gpu: Gpu) -> None:
    assert set(gpu.sources) == set(FIGURES) and all(len(source) > 5 for source in gpu.sources.values())
    assert 0.6 * gpu.memory < gpu.usable <= gpu.memory
    assert 0 < gpu.efficiency <= 1 and 10 <= gpu.layer_us <= 120
    assert 0.15 <= gpu.below <= 0.35 and 0.15 <= gpu.above <= 0.35 and 0.15 <= gpu.prefill_band <= 0.5
    assert gpu.prefill_tflops and math.isfinite(gpu.prefill_tflops)
    assert gpu.tflops is None or gpu.prefill_tflops < gpu.tflops
    assert (gpu.tflops is None) == (gpu.sources["tflops"] == "not published")
    assert all(gpu.source_kind(figure) for figure in FIGURES if getattr(gpu, figure) is not None)
    assert gpu.source_kind("bandwidth") == "vendor" and gpu.source_kind("colour") is None
    assert gpu.shares_main_memory == (gpu.family == "apple") and gpu.speed_class and gpu.family != "other"
    assert not gpu.is_processor and not gpu.is_this_machine


@pytest.mark.parametrize(("name", "figures"), VENDOR_FIGURES.items())
def test_vendors_figures_are_those_without_sparsity(name: str, figures: tuple[int, int, int]) -> None:
    gpu = TABLE[name]
    assert (gpu.memory, gpu.bandwidth, gpu.tflops) == (figures[0] * GIB, figures[1], figures[2])


def test_what_llama_cpp_sees_is_less_than_what_is_sold() -> None:
    seen = {name: TABLE[name].usable >> 20 for name in ("rtx-4090", "l4", "l40s", "h200")}
    assert seen == {"rtx-4090": 24080, "l4": 23034, "l40s": 45467, "h200": 143771}
    assert TABLE["m4-16"].usable == pytest.approx(16 * GIB * 2 / 3, abs=1)
    assert TABLE["m4-max-128"].usable == 96 * GIB
    assert TABLE["m5-16"].tflops is None and TABLE["m5-16"].source_kind("tflops") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L4", {"l4"}),
        ("h100", {"h100-pcie", "h100-sxm", "h100-nvl"}),
        ("4090", {"rtx-4090"}),
        ("NVIDIA GeForce RTX 3080", {"rtx-3080"}),
        ("4060 ti", {"rtx-4060-ti-8", "rtx-4060-ti-16"}),
        ("Apple M4 Max", {"m4-max-36", "m4-max-48", "m4-max-64", "m4-max-128"}),
        ("7900 XTX", {"rx-7900-xtx"}),
        ("A100 80 GB SXM", {"a100-80-sxm"}),
        ("a100 80gb sxm", {"a100-80-sxm"}),
        ("v100 SXM2 32 GB", {"v100-sxm-32"}),
        ("rtx3080 12gb", {"rtx-3080-12"}),
        ("RX7900XTX", {"rx-7900-xtx"}),
        ("GeForce RTX 4060 Ti 8 GB", {"rtx-4060-ti-8"}),
        ("m4-max-64", {"m4-max-64"}),
        ("Voodoo 2", set()),
        (" ", set()),
    ],
)
def test_a_gpu_is_found_by_what_people_call_it(text: str, expected: set[str]) -> None:
    assert {gpu.id for gpu in matching(text, TABLE.values())} == expected


@pytest.mark.parametrize("change", [str, str.lower, str.upper, lambda text: text.replace(" ", "")])
def test_every_name_that_is_printed_is_understood(change: Callable[[str], str]) -> None:
    for gpu in TABLE.values():
        shorter = (gpu.name.removeprefix(maker) for maker in ("NVIDIA GeForce ", "NVIDIA ", "AMD ", "AMD Radeon "))
        for shown in {gpu.name, gpu.id, *shorter}:
            assert matching(change(shown), TABLE.values()) == (gpu,), shown


TEXT = find_resources().gpu_table()


def damaged(change: str, value: Any) -> str:
    raw = json.loads(TEXT)
    if value is None:
        del raw["gpus"][0][change]
    else:
        raw["gpus"][0][change] = value
    return json.dumps(raw)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"gpus": []}',
        "[" * 100_000,
        TEXT[:-200],
        damaged("bandwidth", -1),
        damaged("bandwidth", 1e300),
        damaged("bandwidth", "fast"),
        damaged("class", "none"),
        damaged("sources", {"memory": "t4"}),
        damaged("sources", {"memory": "nowhere"}),
        damaged("memory_gib", [0]),
        damaged("id", "l4"),
        damaged("colour", "green"),
        damaged("family", None),
        "\udcff",
    ],
    ids=lambda text: text[:20],
)
def test_a_damaged_table_is_empty_and_says_so_in_one_sentence(text: str) -> None:
    table = read_gpu_table(text)
    assert table.gpus == ()
    assert table.problem is not None and "install the program again" in table.problem.english()


def test_peoples_own_gpus_stand_beside_those_of_the_table() -> None:
    entries = {
        "My card": OwnGpu(32, 1400, 200, like="rtx-4090"),
        "Strange\nname": OwnGpu(8, 200),
        "my  CARD": OwnGpu(1, 1),
        "RTX 4090": OwnGpu(1, 1),
        " ": OwnGpu(1, 1),
    }
    mine, strange = own_gpus(entries, TABLE.values())
    assert (mine.id, mine.name, mine.memory, mine.bandwidth, mine.tflops) == (
        "my-card",
        "My card",
        32 * GIB,
        1400,
        200,
    )
    assert mine.efficiency == TABLE["rtx-4090"].efficiency and mine.speed_class == "gddr"
    assert mine.prefill_tflops == pytest.approx(200 * 122 / 330)
    assert "\n" not in strange.name and strange.prefill_tflops is None and strange.below > mine.below
    assert set(mine.sources) == set(FIGURES) and mine.source_kind("bandwidth") == "entered"
    assert strange.source_kind("efficiency") == mine.source_kind("efficiency") == "assumed"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("My card", None),
        (" — ", "needs a name"),
        ("", "needs a name"),
        ("rtx 4090", "“rtx 4090” already"),
        ("NVIDIA L4", "already"),
        ("Second  CARD", "already"),
    ],
)
def test_a_gpu_is_added_under_a_name_that_tells_it_apart(name: str, problem: str | None) -> None:
    found = name_problem(name, TABLE.values(), ["second card"])
    assert found is None if problem is None else found is not None and problem in found.english()


@pytest.mark.parametrize(
    ("name", "gib", "expected"),
    [
        ("NVIDIA GeForce RTX 4090", 23.5, "rtx-4090"),
        ("NVIDIA GeForce RTX 4090", 48, None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16, "rtx-4090-laptop"),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", 6, "rtx-3060-laptop"),
        ("NVIDIA GeForce RTX 3080 Laptop GPU", 16, None),
        ("NVIDIA A100-SXM4-80GB", 79.1, "a100-80-sxm"),
        ("NVIDIA A100 80GB PCIe", 79.1, "a100-80-pcie"),
        ("NVIDIA A100-PCIE-40GB", 39.5, "a100-40"),
        ("NVIDIA H100 80GB HBM3", 79.1, "h100-sxm"),
        ("NVIDIA H100 PCIe", 79.1, "h100-pcie"),
        ("NVIDIA H200", 140.4, "h200"),
        ("Tesla T4", 14.6, "t4"),
        ("Tesla V100-PCIE-32GB", 31.7, "v100-32"),
        ("Tesla V100-SXM2-16GB", 15.8, "v100-sxm-16"),
        ("NVIDIA A10G", 22.3, "a10g"),
        ("NVIDIA A10", 22.3, "a10"),
        ("NVIDIA GeForce RTX 3060", 11.8, "rtx-3060"),
        ("NVIDIA GeForce RTX 3060", 7.8, "rtx-3060-8"),
        ("Apple M3 Max", 24, "m3-max-36"),
        ("Apple M3 Max", 72, "m3-max-96"),
        ("Apple M4 Max", 24, "m4-max-36"),
        ("NVIDIA GeForce RTX 3080", 12, "rtx-3080-12"),
        ("NVIDIA GeForce RTX 3080", 9.8, "rtx-3080"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 95, "rtx-pro-6000"),
        ("Quadro RTX 6000", 24, None),
        ("Apple M4 Max", 36, "m4-max-48"),
        ("Apple M1", 10.6, "m1-16"),
        ("llvmpipe", 8, None),
        ("", None, None),
    ],
)
def test_a_drivers_name_is_found_in_the_table(name: str, gib: float | None, expected: str | None) -> None:
    found = known_as(name, None if gib is None else round(gib * GIB), TABLE.values())
    assert (found.id if found else None) == expected


def test_this_machines_gpu_is_the_tables_with_the_memory_that_is_there() -> None:
    gpu = this_machine(OwnDevice("NVIDIA L4", 22 * GIB), TABLE.values())
    assert gpu is not None and gpu.is_this_machine and gpu.usable == 22 * GIB
    assert (gpu.bandwidth, gpu.layer_us, gpu.speed_class) == (300, 32, "gddr")
    assert gpu.source_kind("usable") == "told" and gpu.source_kind("prefill_tflops") == "extrapolated"


def test_an_unknown_device_is_judged_by_its_measured_bandwidth_or_not_at_all() -> None:
    assert this_machine(OwnDevice("Some card", 8 * GIB), TABLE.values()) is None
    card = this_machine(OwnDevice("Some card", 8 * GIB, bandwidth=250.0), TABLE.values())
    assert card is not None and card.bandwidth == 250 and card.prefill_tflops is None and not card.is_processor
    assert this_machine(OwnDevice("A processor", 8 * GIB, is_processor=True), TABLE.values()) is None
    processor = this_machine(OwnDevice("A processor", 8 * GIB, True, bandwidth=40.0), TABLE.values())
    assert processor is not None and processor.is_processor and processor.shares_main_memory
    assert set(processor.sources) == set(FIGURES)


def test_ids_are_words_and_dashes() -> None:
    assert gpu_id("  NVIDIA GeForce RTX (4090) ") == "nvidia-geforce-rtx-4090"
