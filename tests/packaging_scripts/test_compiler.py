"""The compiler is tried, not believed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from devtools import compiler
from devtools.console import Problem


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert compiler.fault({}) == "there is no C compiler"


def test_a_compiler_that_builds_nothing_is_named(tmp_path: Path) -> None:
    useless = tmp_path / "useless.py"
    useless.write_text("import sys; sys.exit(1)\n")
    environment = {"CC": f"{Path(sys.executable).as_posix()} {useless.as_posix()}"}
    assert compiler.fault(environment).startswith("the C compiler python")


def test_both_languages_are_tried(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("")
    bad.write_text("import sys; sys.exit(1)\n")
    python = Path(sys.executable).as_posix()
    environment = {"CC": f"{python} {good.as_posix()}", "CXX": f"{python} {bad.as_posix()}"}
    assert compiler.fault(environment).startswith("the C++ compiler python")
    assert compiler.fault({**environment, "CXX": environment["CC"]}) == ""


@pytest.mark.parametrize(
    ("platform", "manager", "command"),
    [
        ("linux", "apt", "sudo apt install build-essential"),
        ("linux", "dnf", "sudo dnf install gcc-c++ make"),
        ("linux", "pacman", "sudo pacman -S base-devel"),
        ("darwin", "", "xcode-select --install"),
        (
            "win32",
            "",
            'install "Build Tools for Visual Studio" with the part "Desktop development with C++"',
        ),
        ("linux", "", "install a C and C++ compiler"),
    ],
)
def test_what_to_install_is_said_for_each_system(platform: str, manager: str, command: str) -> None:
    assert compiler.remedy(platform, manager) == command


def test_a_package_manager_that_was_added_to_a_mac_or_to_windows_does_not_decide() -> None:
    assert compiler.remedy("darwin", "apt") == "xcode-select --install"
    assert "Visual Studio" in compiler.remedy("win32", "pacman")


def test_what_is_wrong_and_what_to_install_make_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "fault", lambda environment: "there is no C++ compiler")
    monkeypatch.setattr(compiler, "windows_fault", lambda environment: "there is no C++ compiler")
    with pytest.raises(Problem) as problem:
        compiler.check("apt")
    remedy = compiler.remedy(sys.platform, "apt")
    assert str(problem.value) == (
        f"llama.cpp has to be compiled once, but there is no C++ compiler: {remedy}, then run this command again."
    )
