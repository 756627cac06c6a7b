"""The order of the set-up: what is skipped, what falls back to the CPU, what ends it, and what is remembered."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from devtools import (
    backends,
    interpreter,
    llama_build,
    plain_library,
    setup_steps,
    starter_model,
    system_libraries,
)
from devtools import stamp as stamps
from devtools.backends import Attempt, Backend, Plan
from devtools.console import Problem
from devtools.layout import Layout
from devtools.llama_build import BuildFailed
from devtools.machine import Machine
from devtools.setup_steps import Request, ensure, requirements
from devtools.stamp import INPUTS
from devtools.system_libraries import Missing

ROOT = Path(setup_steps.__file__).resolve().parents[2]
PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
dependencies = ["numpy>=2", "llama-cpp-python==0.3.36"]
[project.optional-dependencies]
dev = ["pytest>=8"]
"""
GPU = Attempt(Backend.CUDA, on_failure="llama.cpp could not be built with the CUDA 12.4 toolkit.")
CPU = Attempt(Backend.CPU)


class Steps:
    """Stands in for every step that would touch the machine, and notes the order."""

    def __init__(self, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.plan = Plan((CPU,))
        self.failing: set[Backend] = set()
        self.faults: dict[Backend, str] = {}
        self.missing = Missing()
        self.usable = False
        self.wanted: list[str] = []
        self._layout = layout
        replace: Callable[..., None] = monkeypatch.setattr
        replace(setup_steps, "this_machine", lambda: Machine("Linux", "x86_64", "cpu"))
        replace(backends, "choose", self._choose)
        replace(interpreter, "make", self._make)
        replace(setup_steps, "_is_usable", lambda layout: self.usable)
        replace(setup_steps, "_pip", lambda layout, log, doing, *rest: self.done.append(doing))
        replace(system_libraries, "look", lambda python: self.missing)
        replace(system_libraries, "package_manager", lambda: "apt")
        replace(llama_build, "obtain", self._obtain)
        replace(setup_steps, "_load_fault", lambda layout, attempt: self.faults.get(attempt.backend, ""))
        replace(starter_model, "ensure", lambda layout: self.done.append("model"))
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def _choose(self, facts: Machine, wanted: str) -> Plan:
        self.wanted.append(wanted)
        return self.plan

    def _make(self, layout: Layout, manager: str) -> None:
        self.done.append("venv")
        layout.python.parent.mkdir(parents=True, exist_ok=True)
        layout.python.touch()
        self.usable = True

    def _obtain(self, layout: Layout, version: str, attempt: Attempt, slot: Any, manager: str) -> Path:
        self.done.append(f"build {attempt.backend.value} {version}")
        if attempt.backend in self.failing:
            raise BuildFailed(["x.cu:1: error: no"], "The CUDA toolkit lacks cuBLAS.", layout.logs / "build.log")
        return Path("some.whl")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    for name in INPUTS:
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PYPROJECT)
    return Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)


@pytest.fixture
def steps(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(layout, monkeypatch)


def test_a_bare_checkout_is_set_up_in_order(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    assert steps.done == [
        "venv",
        "Installing libraries",
        "build cpu 0.3.36",
        "Installing Tokenlight",
        "model",
    ]
    assert stamps.read(layout.stamp) is not None


def test_an_unchanged_checkout_does_nothing_but_look_for_the_model(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    steps.done.clear()
    ensure(layout, Request())
    assert steps.done == ["model"]


def test_an_unchanged_checkout_is_set_up_again_when_that_is_asked_for(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    steps.done.clear()
    ensure(layout, Request(again=True))
    assert steps.done == ["Installing libraries", "build cpu 0.3.36", "Installing Tokenlight", "model"]


def test_a_build_for_a_gpu_gets_a_plain_one_beside_it(
    layout: Layout, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Attempt] = []
    monkeypatch.setattr(plain_library, "keep", lambda layout, version, attempt, *rest: kept.append(attempt))
    steps.plan = Plan((GPU, CPU))
    ensure(layout, Request())
    assert kept == [GPU]


def test_a_changed_project_is_installed_into_the_same_environment(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    steps.done.clear()
    (layout.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    ensure(layout, Request())
    assert steps.done[0] == "Installing libraries"


def test_the_backend_asked_for_is_kept_until_another_is_asked_for(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request(wanted="cpu"))
    (layout.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    ensure(layout, Request())
    ensure(layout, Request(wanted="auto"))
    assert steps.wanted == ["cpu", "cpu", "auto"]


def test_tests_add_their_libraries_and_running_the_application_keeps_them(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    ensure(layout, Request(extras=("dev",)))
    steps.done.clear()
    ensure(layout, Request())
    assert steps.done == ["model"]


def test_a_card_that_cannot_be_built_for_ends_on_the_cpu_and_says_why(
    layout: Layout, steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    steps.plan, steps.failing = Plan((GPU, CPU)), {Backend.CUDA}
    ensure(layout, Request())
    said = capsys.readouterr().out
    assert "could not be built with the CUDA 12.4 toolkit. The CUDA toolkit lacks cuBLAS." in said
    stamp = stamps.read(layout.stamp)
    assert stamp is not None
    assert (stamp.wanted, stamp.backend) == ("auto", "cpu")


def test_a_build_that_does_not_see_the_card_ends_on_the_cpu_and_says_why(
    layout: Layout, steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    steps.plan, steps.faults = Plan((GPU, CPU)), {Backend.CUDA: "it does not see the graphics processor"}
    ensure(layout, Request())
    assert "it does not see the graphics processor" in capsys.readouterr().out
    stamp = stamps.read(layout.stamp)
    assert stamp is not None
    assert stamp.backend == "cpu"


def test_notes_on_the_choice_are_said(layout: Layout, steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    steps.plan = Plan((CPU,), ("The CPU is used: the driver was not found.",))
    ensure(layout, Request())
    assert "The CPU is used: the driver was not found." in capsys.readouterr().out


def test_a_build_that_fails_for_the_cpu_ends_with_the_lines_that_matter(layout: Layout, steps: Steps) -> None:
    steps.failing = {Backend.CPU}
    with pytest.raises(Problem) as problem:
        ensure(layout, Request())
    assert "x.cu:1: error: no" in str(problem.value)
    assert str(layout.logs / "build.log") in str(problem.value)
    assert stamps.read(layout.stamp) is None
    assert "model" not in steps.done


def test_what_was_asked_for_outlives_an_interrupted_set_up(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request(wanted="cpu", extras=("dev",)))
    (layout.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    steps.failing = {Backend.CPU}
    with pytest.raises(Problem):
        ensure(layout, Request())
    steps.failing = set()
    ensure(layout, Request())
    stamp = stamps.read(layout.stamp)
    assert stamp is not None
    assert (stamp.wanted, stamp.extras) == ("cpu", ("dev",))


def test_a_failed_set_up_is_not_taken_for_a_good_one(layout: Layout, steps: Steps) -> None:
    ensure(layout, Request())
    (layout.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    steps.failing = {Backend.CPU}
    with pytest.raises(Problem):
        ensure(layout, Request())
    (layout.root / "pyproject.toml").write_text(PYPROJECT)
    steps.failing = set()
    steps.done.clear()
    ensure(layout, Request())
    assert "build cpu 0.3.36" in steps.done


def test_missing_libraries_stop_a_window_before_anything_is_compiled(layout: Layout, steps: Steps) -> None:
    steps.missing = Missing(("libGL.so.1",))
    with pytest.raises(Problem, match="sudo apt install libgl1"):
        ensure(layout, Request(opens_window=True))
    assert steps.done == ["venv", "Installing libraries"]


def test_missing_libraries_do_not_stop_what_opens_no_window(
    layout: Layout, steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    steps.missing = Missing(("libGL.so.1",))
    ensure(layout, Request(opens_window=False))
    assert "sudo apt install libgl1" in capsys.readouterr().err
    assert "model" in steps.done


def test_llama_cpp_is_left_out_of_what_pip_resolves() -> None:
    needed = requirements(ROOT / "pyproject.toml", ("dev",))
    assert needed.llama_version == "0.3.36"
    assert not [each for each in needed.packages if each.startswith("llama")]
    assert {"msgspec", "pytest", "hatchling", "diskcache"} <= {Requirement(each).name for each in needed.packages}


def pins() -> dict[str, Version]:
    """Return the constraints as versions by name."""
    lines = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(each.name): Version(str(each.specifier).removeprefix("==")) for each in found}


def test_every_requirement_is_pinned_to_one_version_that_it_allows() -> None:
    pinned = pins()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*requirements(ROOT / "pyproject.toml", tuple(project["project"]["optional-dependencies"])).packages]
    asked += project["project"]["dependencies"]
    wrong = [
        each
        for each in map(Requirement, asked)
        if not each.specifier.contains(pinned.get(canonicalize_name(each.name), Version("0")))
    ]
    assert wrong == []


def test_the_constraints_name_no_host_and_no_hash() -> None:
    text = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--hash" not in text
    assert not [line for line in text.splitlines() if line and line[0] != "#" and "==" not in line]


def all_that_comes_along(names: set[str]) -> set[str]:
    """Follow what the installed packages require, on this system and this Python."""
    seen: set[str] = set()
    waiting = set(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        seen.add(name)
        needed = [Requirement(each) for each in requires(name) or ()]
        waiting |= {
            each.name
            for each in needed
            if canonicalize_name(each.name) not in seen
            and (each.marker is None or each.marker.evaluate({"extra": ""}))
        }
    return seen


def test_everything_that_comes_along_is_pinned_too() -> None:
    asked = requirements(ROOT / "pyproject.toml", ("dev",)).packages
    without_build = {Requirement(each).name for each in asked} - {"hatchling", "editables"}
    closure = all_that_comes_along({*without_build, "llama-cpp-python"})
    assert "markupsafe" in closure
    assert sorted(closure - pins().keys()) == []
