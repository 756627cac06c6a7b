from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import pytest

from app.cli import bench
from app.core.model import FoundModel
from app.core.version import VERSION
from tests.cli.conftest import CommandLine


@pytest.fixture
def folder(line: CommandLine, model: Path) -> Path:
    made = line.desk.program.paths.models
    made.mkdir(parents=True)
    shutil.copy(model, made / "sp ace ü.F16.gguf")
    (made / "broken.gguf").write_text("<html>")
    return made


def test_models_are_listed_with_where_they_are_and_why_one_cannot_be_used(line: CommandLine, folder: Path) -> None:
    assert line.run("models") == 0
    assert "sp ace ü" in line.out
    assert str(folder / "broken.gguf") in line.out
    assert "Cannot be used: This file is a web page" in line.out


def test_models_as_json(line: CommandLine, folder: Path) -> None:
    assert line.run("models", "--json") == 0
    (listed,) = line.lines()
    by_path = {Path(each["path"]): each for each in listed}
    good = by_path[folder / "sp ace ü.F16.gguf"]
    assert (good["architecture"], good["quantisation"], good["problem"]) == ("llama", "F16", None)
    assert "web page" in by_path[folder / "broken.gguf"]["problem"]


def test_a_name_that_is_no_text_is_listed_all_the_same(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    found = FoundModel("m\udcff.gguf", 1, "m\udcff")
    monkeypatch.setattr(line.desk.program.models, "list_now", lambda: (found,))
    assert line.run("models", "--json") == 0
    assert line.lines()[0][0]["name"] == "m\ufffd"
    assert line.run("models") == 0


def test_whose_a_model_is_and_which_parts_are_there_is_listed(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FoundModel("/x/m.gguf", 1, "m", origin="ollama", parts=2, parts_wanted=3)
    monkeypatch.setattr(line.desk.program.models, "list_now", lambda: (found,))
    assert line.run("models") == 0
    assert "/x/m.gguf (2 of 3 parts present, Ollama)" in line.out


def test_the_version_needs_no_program(line: CommandLine) -> None:
    assert line.run_short("--version") == 0
    assert line.out == f"Tokenlight {VERSION}\n"


def test_outside_a_checkout_there_are_no_benchmarks(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "checkout_folder", lambda: None)
    assert line.run("bench") == 2
    assert "checkout" in line.err


def test_benchmarks_get_the_words_that_were_typed(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tests" / "bench").mkdir(parents=True)
    (tmp_path / "tests" / "bench" / "__main__.py").touch()
    ran: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(bench, "checkout_folder", lambda: tmp_path)
    monkeypatch.setattr(runpy, "run_module", lambda name, **_how: ran.append((name, sys.argv[1:])))
    monkeypatch.setattr(sys, "argv", ["x"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert line.run("bench", "--json", "--only", "prefill") == 0
    assert ran == [("tests.bench", ["--json", "--only", "prefill"])]
