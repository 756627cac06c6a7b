"""Facts about the machine, read from the texts in which systems state them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devtools import machine
from devtools.machine import (
    Driver,
    Gpu,
    core_count,
    digest,
    driver_from_probe,
    processor_from_cpuinfo,
    this_machine,
    toolkit_version,
    vendors_from_windows,
    vendors_of_cards,
)
from devtools.processes import Outcome

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


def test_windows_names_the_makers_of_its_cards_once_each() -> None:
    output = (
        "PCI\\VEN_8086&DEV_A780&SUBSYS_00000000&REV_04\\3&11583659&0&10\n"
        "PCI\\VEN_10DE&DEV_2504&SUBSYS_397D1462&REV_A1\\4&2283F625&0&0008\n"
        "ROOT\\BASICRENDER\\0000\n"
        "PCI\\VEN_10DE&DEV_2504&SUBSYS_397D1462&REV_A1\\4&2283F625&0&0008\n"
        "PCI\\VEN_1AF4&DEV_1050&SUBSYS_11001AF4&REV_01\\3&13C0B0C5&0&08\n"
    )
    assert vendors_from_windows(output) == ("Intel", "NVIDIA")
    assert vendors_from_windows("PCI\\VEN_1002&DEV_744C&SUBSYS_0\\1") == ("AMD",)
    assert vendors_from_windows("PCI\\VEN_10de&DEV_2504&SUBSYS_0\\1") == ("NVIDIA",)


def test_a_windows_that_does_not_answer_has_no_known_cards() -> None:
    assert vendors_from_windows("[Errno 2] No such file or directory: 'powershell'") == ()
    assert vendors_from_windows("Get-CimInstance : Access denied") == ()


@pytest.mark.parametrize(("platform", "asked"), [("win32", ["powershell"]), ("linux", [])])
def test_only_windows_is_asked_in_its_own_shell(
    monkeypatch: pytest.MonkeyPatch, platform: str, asked: list[str]
) -> None:
    programs: list[str] = []

    def quiet(command: list[str]) -> Outcome:
        programs.append(command[0])
        assert "Win32_VideoController" in command[-1]
        return Outcome(0, "PCI\\VEN_1002&DEV_744C&SUBSYS_0\\1")

    monkeypatch.setattr(machine, "quiet", quiet)
    monkeypatch.setattr(machine, "vendors_of_cards", lambda devices: ("from the bus",))
    assert machine.vendors_on(platform) == (("AMD",) if asked else ("from the bus",))
    assert programs == asked


def test_this_machine_can_be_described_and_is_the_same_each_time() -> None:
    first = this_machine()
    assert first == this_machine()
    assert first.processor
    assert core_count() >= 1


def test_a_digest_depends_on_each_part_and_on_where_one_ends() -> None:
    assert len({digest("a", "b"), digest("ab"), digest("a", "c"), digest("a", "b", "")}) == 4
