"""The whole program on a build of llama.cpp that cannot run here: a real model answers on the processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import bootstrap
from app.bootstrap import Options, build
from app.cli.arguments import read_arguments
from app.cli.run import run
from app.core.library_fault import FOLDER_VARIABLE
from tests import broken_libraries
from tests.broken_libraries import Break, needs_linux, real_folder


@needs_linux
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (broken_libraries.without_driver, "because its driver is missing (libcuda.so.1)"),
        (broken_libraries.without_runtime, "because libraries of CUDA are missing"),
        (broken_libraries.illegal, "a plain build is used instead"),
    ],
)
def test_a_real_model_answers_although_the_usual_build_cannot_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    starter_model: Path,
    broken: Break,
    reason: str,
) -> None:
    monkeypatch.setenv("TOKENLIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(broken(tmp_path / "lib")))
    monkeypatch.setattr(bootstrap, "find_plain_library", real_folder)
    words = ["ask", "The capital of France is", "--raw", "--model", str(starter_model), "--context", "512"]
    words += ["--preset", "Greedy", "--max-tokens", "3"]
    assert run(read_arguments(words), words, lambda: build(Options())) == 0
    answered, told = capsys.readouterr()
    assert "Paris" in answered
    assert told.count("\n") == 1
    assert reason in told
