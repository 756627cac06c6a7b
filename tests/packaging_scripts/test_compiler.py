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
    ("installer", "remedy"),
    [
        ("apt", "sudo apt install build-essential"),
        ("dnf", "sudo dnf install gcc-c++ make"),
        ("pacman", "sudo pacman -S base-devel"),
        ("", "install a C and C++ compiler"),
    ],
)
def test_what_to_install_is_said_for_each_system(
    monkeypatch: pytest.MonkeyPatch, installer: str, remedy: str
) -> None:
    monkeypatch.setattr(compiler, "fault", lambda environment: "there is no C++ compiler")
    monkeypatch.setattr(compiler, "windows_fault", lambda environment: "there is no C++ compiler")
    with pytest.raises(Problem) as problem:
        compiler.check(installer)
    assert remedy in str(problem.value)
    assert "there is no C++ compiler" in str(problem.value)
