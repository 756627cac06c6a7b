"""What the command `plan` says of a machine whose answers so far were all held up."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.machine_speed import KeptAnswers, KnownMemory
from tests.cli.conftest import CommandLine
from tests.cli.test_plan import plan
from tests.ggufs import add_bpe_tokenizer
from tests.sparse_models import ALL

SLOWED = "Something slowed down every answer on this machine so far"
SLOW = KeptAnswers(weak_decode=tuple((32.0, 4.6e9, 1e8, 2.0, 1000.0) for _ in range(4)))


@pytest.mark.usefixtures("listed")
def test_a_busy_machine_is_not_taken_for_a_slow_one_and_that_it_is_busy_is_said(
    line: CommandLine, tmp_path: Path
) -> None:
    model = ALL["qwen3-32b"]().write(tmp_path / "model.gguf", add_bpe_tokenizer)
    words = (str(model), "--gpu", "rtx-4070", "--context", "512")
    settings = line.desk.program.settings
    settings.change(memory_speeds={"CPU": KnownMemory(40.0)})
    (before,) = plan(line, *words)["models"][0]["plans"]
    assert before["caveats"] == []
    settings.change(answers_here={"CPU, 2": SLOW})
    (after,) = plan(line, *words)["models"][0]["plans"]
    assert after["decode"] == before["decode"]
    (said,) = after["caveats"]
    assert said.startswith(SLOWED)
    assert line.run("plan", *words) == 0 and f"  {said}\n" in line.out
    assert line.run("plan", str(model), "--gpu", "rtx-4070,h200") == 0
    assert " ".join(line.out.split()).count(said) == 1


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("measured", [2.32, 35.0])
def test_a_memory_measured_beside_busy_programs_makes_nothing_slower_and_is_told_of(
    line: CommandLine, tmp_path: Path, measured: float
) -> None:
    model = ALL["qwen3-32b"]().write(tmp_path / "model.gguf", add_bpe_tokenizer)
    words = (str(model), "--gpu", "rtx-4070", "--context", "512")
    (before,) = plan(line, *words)["models"][0]["plans"]
    assert before["caveats"] == []
    line.desk.program.settings.change(
        memory_speeds={"CPU": KnownMemory(measured, 2, "A processor", is_disturbed=True)}
    )
    (after,) = plan(line, *words)["models"][0]["plans"]
    was, now = (each["decode"]["tokens_per_s"] for each in (before, after))
    assert now == was if measured < 20 else now > 1.2 * was
    (said,) = after["caveats"]
    assert said.startswith("Other programs were busy while the memory of this machine was measured")
    assert line.run("plan", *words) == 0 and f"  {said}\n" in line.out
    kept = KeptAnswers(tuple((32.0, 4.6e9, 1e8, 1.0, 1000.0) for _ in range(4)), (), 4)
    line.desk.program.settings.change(answers_here={"CPU, 2": kept})
    (told,) = plan(line, *words)["models"][0]["plans"]
    assert told["caveats"] == [], "real answers tell more than its memory"
