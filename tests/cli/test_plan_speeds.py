"""The speeds that the command `plan` tells: those of the window's planner for the same question, and for how many tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.devices import MainMemory
from app.services.planning_devices import KnownGpus
from app.services.planning_models import read_planned
from app.services.planning_values import PlanChoice
from app.services.planning_view import make_plan, place_of, view_of
from tests.cli.conftest import CommandLine
from tests.cli.test_plan import plan
from tests.ggufs import add_bpe_tokenizer
from tests.planner.works import GIB, TABLE
from tests.sparse_dense import llama_8b
from tests.sparse_models import ALL


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama_8b().write(tmp_path_factory.mktemp("large") / "Llama-8B-Q4_K.gguf", add_bpe_tokenizer)


def test_speed_is_told_as_an_answer_begins_and_with_the_context_full_as_the_page_of_the_window_has_it(
    line: CommandLine, large: Path
) -> None:
    words = (str(large), "--gpu", "L4", "--context", "8192")
    told = plan(line, *words)["models"][0]["plans"][0]
    begin, full = told["decode_after_prompt"], told["decode"]
    assert (begin["context"], full["context"]) == (1024, 8192) and begin["tokens_per_s"] > full["tokens_per_s"]
    place, choice = place_of("l4", (), KnownGpus(tuple(TABLE.values()))), PlanChoice("l4")
    found = read_planned(large)
    shown = view_of(make_plan(found, choice, place), choice, place, None).speed
    assert shown.decode is not None and shown.decode_full is not None
    assert shown.decode.value == pytest.approx(begin["tokens_per_s"])
    assert shown.decode_full.value == pytest.approx(full["tokens_per_s"])
    assert line.run("plan", *words) == 0
    lines = {row.strip().split("  ")[0]: row for row in line.out.splitlines()}
    assert lines["Decode"].endswith(" after 1,024 tokens") and lines["Context full"].endswith(" after 8,192 tokens")
    assert line.run("plan", *words, "--prompt", "8192") == 0 and "Context full" not in line.out
    assert line.run("plan", str(large), "--gpu", "L4,T4") == 0
    assert "Tok/s: with the context full" in line.out


def test_where_less_context_fits_the_context_that_was_asked_for_is_told_as_the_window_plans_it(
    line: CommandLine, large: Path
) -> None:
    words = (str(large), "--gpu", "rtx-3070", "--context", "65536")
    (told,) = plan(line, *words)["models"][0]["plans"]
    as_asked = told["decode_as_asked"]
    assert as_asked["context"] == 65_536 and 0 < told["gpu_layers_as_asked"] < told["gpu_layers"] == 33
    assert as_asked["tokens_per_s"] < told["decode"]["tokens_per_s"]
    assert line.run("plan", *words) == 0
    layers = told["gpu_layers_as_asked"]
    assert f"  With 65,536 tokens: {layers} of 33 layers on the GPU, " in line.out
    (fits,) = plan(line, str(large), "--gpu", "l4", "--context", "8192")["models"][0]["plans"]
    assert fits["decode_as_asked"] is None and fits["gpu_layers_as_asked"] is None


@pytest.mark.parametrize(
    ("name", "gpu", "context", "speed"),
    [("llama-3.1-8b", "rtx-3070", "65536", "decode_as_asked"), ("qwen3-32b", "rtx-4070", "512", "decode")],
)
def test_layers_beside_another_gpu_are_said_to_be_judged_by_the_processor_of_this_machine(
    line: CommandLine, tmp_path: Path, name: str, gpu: str, context: str, speed: str
) -> None:
    model = ALL[name]().write(tmp_path / "model.gguf", add_bpe_tokenizer)
    words = (str(model), "--gpu", gpu, "--context", context)
    (told,) = plan(line, *words)["models"][0]["plans"]
    assert told[speed]["source"] == "assumed" and "by the processor of this machine (" in told["note"]
    assert line.run("plan", *words) == 0 and f"  {told['note']}\n" in line.out
    assert line.run("plan", str(model), "--gpu", f"h200,{gpu}", "--context", context) == 0
    is_in_table = speed == "decode"  # a row has the context that fits, on the GPU alone
    assert " ".join(line.out.split()).count(told["note"]) == is_in_table
    (whole,) = plan(line, str(model), "--gpu", "h200", "--context", "512")["models"][0]["plans"]
    assert whole["note"] is None and whole["decode"]["source"] == "measured"


def test_speed_of_several_conversations_is_said_to_be_that_of_each(line: CommandLine, large: Path) -> None:
    words = (str(large), "--gpu", "l4", "--context", "2048")
    assert line.run("plan", *words, "--sequences", "2") == 0
    assert line.out.count(" tok/s each (") == 2 and ", together " in line.out
    assert line.run("plan", *words) == 0 and "each" not in line.out


def test_where_less_context_fits_what_helps_is_told_of_the_context_that_was_asked_for(
    line: CommandLine, large: Path
) -> None:
    words = (str(large), "--gpu", "rtx-3070", "--context", "65536")
    (told,) = plan(line, *words)["models"][0]["plans"]
    assert told["context_as_asked"] == 65_536 > told["context"]
    shorter = next(lever for lever in told["levers"] if lever["kind"] == "context")
    assert shorter["context"] == told["context"], "nothing is saved of what is shown"
    assert line.run("plan", *words) == 0
    layers = told["gpu_layers_as_asked"]
    assert f"\nWhat needs less memory than 65,536 tokens with {layers} of 33 layers on the GPU\n" in line.out
    assert line.run("plan", str(large), "--gpu", "l4", "--context", "8192") == 0
    assert "\nWhat needs less memory\n" in line.out


def test_below_a_table_nothing_is_said_of_a_context_that_has_no_row(line: CommandLine, large: Path) -> None:
    assert line.run("plan", str(large), "--gpu", "rtx-3070,h200", "--context", "65536") == 0
    assert "less context" in line.out and "layers in main memory" not in line.out


def test_without_a_wish_the_context_that_is_planned_is_told_and_not_the_one_that_fits(
    line: CommandLine, large: Path
) -> None:
    (told,) = plan(line, str(large), "--gpu", "rtx-3070", "--sequences", "8")["models"][0]["plans"]
    assert told["verdict"] == "less_context" and told["context"] < told["context_as_asked"] == 8192
    assert line.run("plan", str(large), "--gpu", "rtx-3070", "--sequences", "8") == 0
    assert "\n8 conversations of 8,192 tokens, " in line.out


def test_nothing_is_judged_where_no_speed_is_told(line: CommandLine, tmp_path: Path) -> None:
    model = ALL["qwen3-30b-a3b"]().write(tmp_path / "model.gguf", add_bpe_tokenizer)
    command = line.desk.program.planner.command
    command._sources = replace(command._sources, main_memory=lambda: MainMemory(GIB, GIB, GIB))
    (told,) = plan(line, str(model), "--gpu", "rtx-4070", "--context", "262144")["models"][0]["plans"]
    assert told["verdict"] == "too_large" and told["decode"] is None and told["note"] is None
