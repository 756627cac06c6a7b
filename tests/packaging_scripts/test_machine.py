"""Facts about the machine, read from the texts in which systems state them."""

from __future__ import annotations

import json
from pathlib import Path

from devtools.machine import (
    Driver,
    Gpu,
    core_count,
    digest,
    driver_from_probe,
    processor_from_cpuinfo,
    this_machine,
    toolkit_version,
    vendors_of_cards,
)

CPUINFO = """processor\t: 0
model name\t: AMD EPYC 9
flags\t\t: fpu sse2 avx2 f16c tsc_known_freq

processor\t: 1
model name\t: AMD EPYC 9
flags\t\t: fpu sse2 avx2 f16c tsc_known_freq
"""


def test_a_processor_is_its_model_and_its_instruction_sets() -> None:
    assert processor_from_cpuinfo(CPUINFO) == "model name: 9 AMD EPYC\nflags: avx2 f16c sse2"


def test_flags_that_only_the_kernel_cares_about_do_not_matter() -> None:
    assert processor_from_cpuinfo(CPUINFO.replace(" tsc_known_freq", "")) == processor_from_cpuinfo(CPUINFO)
    assert processor_from_cpuinfo(CPUINFO.replace(" avx2", "")) != processor_from_cpuinfo(CPUINFO)


def test_an_arm_processor_is_told_by_its_part_and_features() -> None:
    text = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\nFeatures\t: fp asimd dotprod\n"
    assert processor_from_cpuinfo(text) == "CPU implementer: 0x41\nCPU part: 0xd0c\nFeatures: asimd dotprod fp"


def test_the_toolkit_version_is_read_from_nvcc() -> None:
    assert toolkit_version("Cuda compilation tools, release 12.4, V12.4.131\n") == (12, 4)
    assert toolkit_version("command not found") is None


def test_the_driver_probe_tells_version_and_cards() -> None:
    answer = {"installed": True, "error": 0, "cuda": 12040, "devices": [["RTX 3060", 8, 6]]}
    assert driver_from_probe(json.dumps(answer)) == Driver((12, 4), 0, (Gpu("RTX 3060", (8, 6)),))


def test_no_driver_is_told_from_one_that_fails() -> None:
    assert driver_from_probe('{"installed": false}\n') is None
    failed = driver_from_probe('{"installed": true, "error": 803, "cuda": 0, "devices": []}')
    assert failed == Driver((0, 0), 803)
    assert driver_from_probe("Segmentation fault") == Driver((0, 0), -1)
    assert driver_from_probe("") == Driver((0, 0), -1)


def test_only_display_controllers_count_as_cards(tmp_path: Path) -> None:
    for name, kind, maker in (
        ("0000:00:02.0", "0x030000", "0x8086"),
        ("0000:01:00.0", "0x030200", "0x10de"),
        ("0000:02:00.0", "0x020000", "0x1002"),
        ("0000:03:00.0", "0x030000", "0x1234"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "class").write_text(kind + "\n")
        (tmp_path / name / "vendor").write_text(maker + "\n")
    assert vendors_of_cards(tmp_path) == ("Intel", "NVIDIA")
    assert vendors_of_cards(tmp_path / "absent") == ()


def test_this_machine_can_be_described_and_is_the_same_each_time() -> None:
    first = this_machine()
    assert first == this_machine()
    assert first.processor
    assert core_count() >= 1


def test_a_digest_depends_on_each_part_and_on_where_one_ends() -> None:
    assert len({digest("a", "b"), digest("ab"), digest("a", "c"), digest("a", "b", "")}) == 4
