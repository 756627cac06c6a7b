"""Obtaining llama.cpp: names of builds, the cache, and what an interrupted or failed build leaves behind."""

from __future__ import annotations

import shlex
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devtools import compiler, llama_build
from devtools.backends import Attempt, Backend
from devtools.layout import Layout
from devtools.llama_build import BuildFailed, Slot, flags_for, obtain, slot_for, slot_name
from devtools.machine import Machine
from devtools.processes import Outcome

MACHINE = Machine("Linux", "x86_64", "EPYC avx2")
CPU = Attempt(Backend.CPU)
WHEEL = "llama_cpp_python-0.3.36-py3-none-linux_x86_64.whl"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "check out", tmp_path / "cache", windows=False)


class Pip:
    """Stands in for pip: notes what it is asked for, writes what the test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[list[str]] = []
        self.environments: list[dict[str, str]] = []
        self.code = 0
        self.error: BaseException | None = None
        self.writes_wheel = True
        monkeypatch.setattr(llama_build, "logged", self)
        monkeypatch.setattr(compiler, "check", lambda installer: None)

    def __call__(self, command: Any, log: Path, on_line: Any, environment: Any) -> Outcome:
        self.calls.append([str(part) for part in command])
        self.environments.append(dict(environment))
        on_line("  [1/83] cc")
        names = {"--wheel-dir", "--dest"}
        target = next(Path(str(command[n + 1])) for n, part in enumerate(command) if str(part) in names)
        if self.writes_wheel:
            with zipfile.ZipFile(target / WHEEL, "w") as archive:
                archive.writestr("llama_cpp/__init__.py", "")
        if self.error is not None:
            raise self.error
        return Outcome(self.code, "x.cpp:1:1: error: No space left on device\n" if self.code else "")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    return Pip(monkeypatch)


def name_of(attempt: Attempt = CPU, machine: Machine = MACHINE, version: str = "0.3.36", recipe: str = "r") -> str:
    return slot_name(version, attempt, machine, flags_for(attempt, {}), recipe)


def test_a_build_is_named_by_all_that_decides_what_comes_out() -> None:
    names = {
        name_of(),
        name_of(version="0.3.37"),
        name_of(Attempt(Backend.CUDA)),
        name_of(Attempt(Backend.CPU, cmake=("-DGGML_METAL=OFF",))),
        name_of(Attempt(Backend.CPU, identity="toolkit 12.4")),
        name_of(Attempt(Backend.CPU, index="https://example.org")),
        name_of(machine=replace(MACHINE, processor="EPYC avx512")),
        name_of(recipe="other"),
        slot_name("0.3.36", CPU, MACHINE, flags_for(CPU, {"CMAKE_ARGS": "-DGGML_NATIVE=OFF"}), "r"),
    }
    assert len(names) == 9
    assert name_of() == name_of()
    assert name_of().startswith("llama_cpp_python-0.3.36-cpu_built-")
    assert "-py3-" in name_of()


def test_the_first_build_is_made_and_the_second_is_found(layout: Layout, pip: Pip) -> None:
    slot = slot_for(layout, "0.3.36", CPU, MACHINE)
    first = obtain(layout, "0.3.36", CPU, slot, "apt")
    assert first == slot.folder / WHEEL
    assert obtain(layout, "0.3.36", CPU, slot, "apt") == first
    assert len(pip.calls) == 1


def test_pip_compiles_and_never_takes_a_wheel_from_elsewhere(layout: Layout, pip: Pip) -> None:
    obtain(layout, "0.3.36", CPU, slot_for(layout, "0.3.36", CPU, MACHINE), "apt")
    call = pip.calls[0]
    assert call[1:5] == ["-m", "pip", "wheel", "--no-deps"]
    assert "--no-cache-dir" in call
    assert call[call.index("--no-binary") + 1] == "llama-cpp-python"
    assert call[-1] == "llama-cpp-python==0.3.36"


def test_the_least_that_is_needed_is_compiled(layout: Layout, pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DCMAKE_CXX_FLAGS='-O2 -g'")
    obtain(layout, "0.3.36", CPU, slot_for(layout, "0.3.36", CPU, MACHINE), "apt")
    flags = shlex.split(pip.environments[0]["CMAKE_ARGS"])
    include = next(flag for flag in flags if flag.startswith("-DCMAKE_PROJECT_llama.cpp_INCLUDE="))
    path = Path(include.split("=", 1)[1])
    assert path.is_absolute()
    assert "set(LLAMA_BUILD_COMMON OFF)" in path.read_text(encoding="utf-8")
    assert "-DLLAVA_BUILD=OFF" in flags
    assert flags[-1] == "-DCMAKE_CXX_FLAGS=-O2 -g"


def test_the_build_tools_are_pinned_even_where_the_path_has_a_space(layout: Layout, pip: Pip) -> None:
    obtain(layout, "0.3.36", CPU, slot_for(layout, "0.3.36", CPU, MACHINE), "apt")
    constraint = pip.environments[0]["PIP_CONSTRAINT"]
    assert constraint.startswith("file://")
    assert constraint.endswith("/check%20out/packaging/constraints.txt")
    assert pip.environments[0]["PIP_BUILD_CONSTRAINT"] == constraint


def test_a_ready_made_build_comes_from_its_own_index(layout: Layout, pip: Pip) -> None:
    attempt = Attempt(Backend.CUDA, index="https://example.org/cu124")
    obtain(layout, "0.3.36", attempt, slot_for(layout, "0.3.36", attempt, MACHINE), "apt")
    call = pip.calls[0]
    assert call[3] == "download"
    assert call[call.index("--index-url") + 1] == "https://example.org/cu124"
    assert call[call.index("--only-binary") + 1] == ":all:"


def test_a_failed_build_says_why_and_leaves_nothing_to_be_used(layout: Layout, pip: Pip) -> None:
    pip.code = 1
    slot = slot_for(layout, "0.3.36", CPU, MACHINE)
    with pytest.raises(BuildFailed) as failed:
        obtain(layout, "0.3.36", CPU, slot, "apt")
    assert failed.value.lines == ["x.cpp:1:1: error: No space left on device"]
    assert "disk space" in failed.value.advice
    assert failed.value.log.parent == layout.logs
    assert slot.wheel() is None
    assert [path.name for path in layout.wheels.iterdir()] == ["build.lock"]


def test_an_interrupted_build_is_never_used(layout: Layout, pip: Pip) -> None:
    pip.error = KeyboardInterrupt()
    slot = slot_for(layout, "0.3.36", CPU, MACHINE)
    with pytest.raises(KeyboardInterrupt):
        obtain(layout, "0.3.36", CPU, slot, "apt")
    assert not slot.folder.exists()
    pip.error = None
    assert obtain(layout, "0.3.36", CPU, slot, "apt").is_file()
    assert len(pip.calls) == 2


def test_what_a_killed_build_left_is_removed_by_the_next(layout: Layout, pip: Pip) -> None:
    left = layout.wheels / ".building-abc"
    left.mkdir(parents=True)
    (left / WHEEL).write_bytes(b"half")
    obtain(layout, "0.3.36", CPU, slot_for(layout, "0.3.36", CPU, MACHINE), "apt")
    assert not left.exists()


def test_a_damaged_wheel_in_the_cache_is_built_again(layout: Layout, pip: Pip) -> None:
    slot = slot_for(layout, "0.3.36", CPU, MACHINE)
    slot.folder.mkdir(parents=True)
    (slot.folder / WHEEL).write_bytes(b"not a wheel")
    assert slot.wheel() is None
    assert zipfile.is_zipfile(obtain(layout, "0.3.36", CPU, slot, "apt"))
    assert len(pip.calls) == 1


def test_success_without_a_wheel_counts_as_a_failure(layout: Layout, pip: Pip) -> None:
    pip.writes_wheel = False
    with pytest.raises(BuildFailed):
        obtain(layout, "0.3.36", CPU, slot_for(layout, "0.3.36", CPU, MACHINE), "apt")


def test_a_place_with_two_wheels_is_not_guessed_from(tmp_path: Path) -> None:
    for name in ("a.whl", "b.whl"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x", "")
    assert Slot(tmp_path).wheel() is None
