"""The build for the processor alone that is kept beside one for a GPU."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.system import resources
from devtools import llama_build
from devtools.backends import Attempt, Backend
from devtools.console import Problem
from devtools.layout import Layout
from devtools.llama_build import BuildFailed
from devtools.machine import Machine
from devtools.plain_library import COMPILED, FOLDER, READY_MADE, keep

MACHINE = Machine("Linux", "x86_64", "cpu")
CUDA = Attempt(Backend.CUDA, cmake=("-DGGML_CUDA=ON",))
READY_CUDA = Attempt(Backend.CUDA, index="https://example.org/cu124")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)
    made.venv.mkdir(parents=True)
    return made


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "some.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (
            "llama_cpp/lib/libllama.so",
            "llama_cpp/lib/libggml.so.0",
            "llama_cpp/lib/cmake/x.cmake",
            "llama_cpp/llama.py",
        ):
            archive.writestr(name, name)
    return path


class Cache:
    """Stands in for the cache of wheels; what fails is named by a test."""

    def __init__(self, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Attempt] = []
        self.failing: dict[Attempt, Exception] = {}
        self._wheel = wheel
        monkeypatch.setattr(llama_build, "obtain", self._obtain)

    def _obtain(self, layout: Layout, version: str, attempt: Attempt, slot: Any, installer: str) -> Path:
        self.asked.append(attempt)
        if attempt in self.failing:
            raise self.failing[attempt]
        return self._wheel


@pytest.fixture
def cache(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    return Cache(wheel, monkeypatch)


def test_its_libraries_lie_where_the_program_looks_for_them(
    layout: Layout, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(layout, "0.3.36", CUDA, MACHINE, "apt")
    monkeypatch.setattr(sys, "prefix", str(layout.venv))
    folder = resources.find_plain_library()
    assert folder is not None
    assert sorted(path.name for path in folder.iterdir()) == ["libggml.so.0", "libllama.so"]
    assert cache.asked == [COMPILED]


def test_a_frozen_program_looks_in_its_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert resources.find_plain_library() is None
    (tmp_path / FOLDER / "lib").mkdir(parents=True)
    assert resources.find_plain_library() == tmp_path / FOLDER / "lib"


def test_it_runs_on_every_processor() -> None:
    assert "-DGGML_NATIVE=OFF" in COMPILED.cmake


def test_beside_a_ready_made_build_a_ready_made_one_is_tried_first(layout: Layout, cache: Cache) -> None:
    cache.failing[READY_MADE] = BuildFailed([], "", layout.logs)
    keep(layout, "0.3.36", READY_CUDA, MACHINE, "apt")
    assert cache.asked == [READY_MADE, COMPILED]
    assert (layout.venv / FOLDER / "lib" / "libllama.so").is_file()


def test_a_set_up_without_it_is_good_all_the_same(
    layout: Layout, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.failing = {READY_MADE: BuildFailed([], "", layout.logs), COMPILED: Problem("There is no compiler.")}
    keep(layout, "0.3.36", READY_CUDA, MACHINE, "apt")
    assert "could not be made" in capsys.readouterr().out
    assert list(layout.venv.iterdir()) == []


def test_a_build_for_the_processor_needs_none_and_an_old_one_goes(layout: Layout, cache: Cache) -> None:
    keep(layout, "0.3.36", CUDA, MACHINE, "apt")
    keep(layout, "0.3.36", Attempt(Backend.CPU), MACHINE, "apt")
    assert list(layout.venv.iterdir()) == []
    assert cache.asked == [COMPILED]
