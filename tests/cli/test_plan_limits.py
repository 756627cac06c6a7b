"""What the command `plan` says of what does not fit, and what it refuses to plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from tests.cli.conftest import CommandLine
from tests.cli.test_plan import asked, gpus, large, plan
from tests.fake_dry_run import FakeDryRun
from tests.ggufs import add_bpe_tokenizer
from tests.sparse_dense import llama_8b, mixtral_8x7b

__all__ = ["asked", "gpus", "large"]


def test_what_is_too_large_says_so_and_what_would_help(line: CommandLine, tmp_path: Path) -> None:
    path = mixtral_8x7b().write(tmp_path / "Mixtral-Q4_K.gguf", add_bpe_tokenizer)
    found = plan(line, str(path), "--gpu", "T4", "--context", "32768")["models"][0]["plans"][0]
    assert found["verdict"] in ("partly", "too_large")
    kinds = {lever["kind"] for lever in found["levers"]}
    assert {"context", "kv_type"} <= kinds
    assert line.run("plan", str(path), "--gpu", "T4,A10", "--context", "32768") == 0
    assert "partly" in line.out and max(map(len, line.out.splitlines())) <= 110
    assert line.run("plan", str(path), "--gpu", "T4", "--context", "32768") == 0
    assert "What needs less memory" in line.out and "Keys and values in q8_0: " in line.out


def test_what_lies_in_main_memory_in_part_is_not_called_too_large(line: CommandLine, large: Path) -> None:
    assert line.run("plan", str(large), "--gpu", "rtx-3060-8", "--context", "131072") == 0
    assert "still too large" not in line.out
    assert "less, still not all on the GPU" in line.out and "less, fits" in line.out


def test_a_prompt_fits_into_the_context_also_where_nobody_named_one(
    line: CommandLine, model: Path, asked: FakeDryRun
) -> None:
    assert line.run("plan", str(model), "--prompt", "1025") == ExitCode.WRONG_USE
    assert "A prompt of 1,025 tokens does not fit into a context of 1,024" in line.err and asked.asked == []
    assert line.run("plan", str(model), "--prompt", "1024") == 0


@pytest.mark.parametrize("words", [("--sequences", "257"), ("--context", str((1 << 24) + 1))])
def test_nothing_is_planned_that_no_load_can_be(line: CommandLine, model: Path, words: tuple[str, str]) -> None:
    with pytest.raises(UserError, match=words[0]):
        line.run("plan", str(model), *words)


@pytest.mark.parametrize(
    ("word", "said"), [("", "No model is named"), (" ", "No model is named"), ("round", "Too many levels")]
)
def test_what_names_no_model_is_told_in_one_plain_sentence(
    line: CommandLine, tmp_path: Path, word: str, said: str
) -> None:
    (tmp_path / "round.gguf").symlink_to("round.gguf")
    assert line.run("plan", str(tmp_path / "round.gguf") if word == "round" else word) != 0
    assert said in line.err and "did you mean" not in line.err and line.err.count("\n") == 1


def test_a_context_beyond_the_training_is_remarked_upon(line: CommandLine, model: Path, asked: FakeDryRun) -> None:
    assert line.run("plan", str(model), "--context", "1025") == 0
    assert "  The model was trained for 1,024 tokens: " in line.out
    assert line.run("plan", str(model), "--context", "1024") == 0
    assert "The model was trained for" not in line.out


def test_a_prompt_that_is_longer_than_the_context_of_one_of_several_models_is_said(
    line: CommandLine, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        llama_8b().write(tmp_path / f"{name}.gguf", add_bpe_tokenizer)
    words = (str(tmp_path), "--gpu", "l4", "--prompt", "9000")
    for model in plan(line, *words)["models"]:
        (told,) = model["plans"]
        assert told["ttft"] is None and "does not fit into a context of 8,192. Make" in told["remark"]
    assert line.run("plan", *words) == 0
    assert line.out.count("    A prompt of 9,000 tokens does not fit into a context of 8,192.") == 2


@pytest.mark.parametrize(
    ("typed", "cells"), [("32768", 32_768), ("32k", 32_768), ("32K", 32_768), ("32,768", 32_768), (" 8k ", 8192)]
)
def test_a_context_is_read_as_people_write_it(line: CommandLine, model: Path, typed: str, cells: int) -> None:
    assert plan(line, str(model), "--gpu", "l4", "--context", typed)["asked"]["context"] == cells


@pytest.mark.parametrize("typed", ["32kb", "k", "3,27", "-1", "1.5k", "16385k", "", "٣٢"])
def test_what_is_no_context_is_told_with_how_to_write_one(line: CommandLine, model: Path, typed: str) -> None:
    with pytest.raises(UserError, match=r"such as 8192 or 8k, not “"):
        line.run("plan", str(model), f"--context={typed}")
