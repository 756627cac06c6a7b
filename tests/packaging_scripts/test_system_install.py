"""`--system`: what is installed is left alone, the rest is installed by the name that this Debian knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devtools import system_install
from devtools.console import Problem
from devtools.processes import Outcome
from devtools.system_install import WANTED, first_known, install, installed_of, missing, venv_packages

EVERYTHING = "".join(f"{each.split('|')[0]} ii \n" for each in WANTED)


class System:
    """Stands in for dpkg and apt."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, installed: str, root: bool = True, code: int = 0) -> None:
        self.installed, self.code = installed, code
        self.ran: list[list[str]] = []
        monkeypatch.setattr(system_install, "quiet", self.quiet)
        monkeypatch.setattr(system_install, "logged", self.logged)
        monkeypatch.setattr("devtools.system_install.shutil.which", lambda name: f"/usr/bin/{name}")
        monkeypatch.setattr("devtools.system_install.os.geteuid", lambda: 0 if root else 1000, raising=False)

    def quiet(self, command: list[str]) -> Outcome:
        if command[0] == "dpkg-query":
            return Outcome(1, self.installed)
        name = command[-1]
        return Outcome(0, "" if name.endswith("t64") else f"{name}:\n  Candidate: 1.0\n")

    def logged(self, command: list[str], log: Path, on_line: Any, environment: dict[str, str]) -> Outcome:
        assert environment["DEBIAN_FRONTEND"] == "noninteractive"
        self.ran.append(command)
        return Outcome(self.code, "E: Unable to locate package\n")


def test_states_are_read_from_dpkg() -> None:
    output = "xvfb ii \nlibgl1 rc \ndpkg-query: no packages found matching libegl1\n"
    assert installed_of(output) == {"xvfb"}


def test_either_of_two_names_will_do() -> None:
    assert missing(["new|old", "other"], {"old"}) == ["other"]
    assert missing(["new|old"], {"new"}) == []
    assert missing(["new|old"], set()) == ["new|old"]


def test_the_first_name_that_the_system_knows_is_taken() -> None:
    assert first_known("new|old", lambda name: True) == "new"
    assert first_known("new|old", lambda name: False) == "old"
    assert first_known("only", lambda name: False) == "only"


def test_the_package_for_virtual_environments_is_wanted_only_where_it_lacks() -> None:
    assert venv_packages((3, 11), has_ensurepip=False) == ("python3.11-venv",)
    assert venv_packages((3, 11), has_ensurepip=True) == ()


def test_nothing_runs_and_nothing_is_said_when_all_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = System(monkeypatch, EVERYTHING, root=False)
    install((), tmp_path)
    assert system.ran == []
    assert capsys.readouterr().out == ""


def test_only_what_is_missing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = EVERYTHING.replace("xvfb ii", "xvfb rc").replace("libglib2.0-0t64 ii", "libglib2.0-0t64 un")
    system = System(monkeypatch, installed)
    install(("python3.11-venv",), tmp_path)
    assert system.ran[0] == ["apt-get", "update"]
    assert system.ran[1][:4] == ["apt-get", "install", "--yes", "--no-install-recommends"]
    assert system.ran[1][4:] == ["libglib2.0-0", "xvfb", "python3.11-venv"]


def test_without_root_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = System(monkeypatch, EVERYTHING.replace("xvfb ii", "xvfb un"), root=False)
    with pytest.raises(Problem, match="sudo apt install xvfb"):
        install((), tmp_path)
    assert system.ran == []


def test_a_failed_installation_shows_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    System(monkeypatch, "", code=100)
    with pytest.raises(Problem, match="Unable to locate package"):
        install((), tmp_path)


def test_other_systems_are_told_that_nothing_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = System(monkeypatch, "")
    monkeypatch.setattr("devtools.system_install.shutil.which", lambda name: None)
    install((), tmp_path)
    assert system.ran == []
    assert "nothing was installed" in capsys.readouterr().out
