"""The command `plan`: what it prints of models here and on a hub, for this machine and for other GPUs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.core.commands import Command, ListDevices
from app.core.devices import Device, LibraryFacts
from app.core.errors import ExitCode
from app.core.events import DevicesListed, EngineGone, FailureKind, MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.core.words import translate
from app.services.plan_answer import (
    DecodeValue,
    PlanValue,
)
from tests.cli.conftest import CommandLine
from tests.fake_dry_run import CPU, FakeDryRun
from tests.ggufs import add_bpe_tokenizer
from tests.sparse_dense import llama_8b

MIB, GIB = 1 << 20, 1 << 30
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 22 * GIB)
ASKED = DeviceMemory("CPU", 7 * MIB, 5 * MIB, 3 * MIB, 0, MIB)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama_8b().write(tmp_path_factory.mktemp("large") / "Llama-8B-Q4_K.gguf", add_bpe_tokenizer)


@pytest.fixture
def gpus() -> list[Device]:
    """What the engine can compute on beside the processor."""
    return []


@pytest.fixture
def asked(line: CommandLine, gpus: list[Device], monkeypatch: pytest.MonkeyPatch) -> FakeDryRun:
    """Let the dry run and the engine answer."""
    run, react = line.desk.dry_run, line.desk.engine.on_command

    def measure(request: int, path: str, options: LoadOptions, *, keep: bool = True) -> None:
        FakeDryRun.measure(run, request, path, options, keep=keep)
        run.answer(ASKED, devices=(CPU, *gpus))

    def hear(command: Command) -> None:
        if isinstance(command, ListDevices):
            library = LibraryFacts("0", "", False, (), ())
            line.desk.engine.say(DevicesListed(command.request, library, (CPU, *gpus)))
        else:
            react(command)

    monkeypatch.setattr(run, "measure", measure)
    line.desk.engine.on_command = hear
    return run


def plan(line: CommandLine, *words: str) -> Any:
    """Return the JSON of a plan that was made."""
    assert line.run("plan", *words, "--json") == 0, line.err
    (found,) = line.lines()
    return found


def test_this_machine_is_asked_for_a_file_and_each_figure_says_so(
    line: CommandLine, model: Path, asked: FakeDryRun
) -> None:
    found = plan(line, str(model), "--context", "500", "--kv", "Q8_0")
    (question,) = asked.asked
    assert (question.path, question.options.context, question.options.kv_type_v) == (str(model), 512, "q8_0")
    (told,) = found["models"]
    (here,) = told["plans"]
    (device,) = here["devices"]
    assert (told["name"], told["layers"], told["trained_context"]) == ("tiny", 2, 1024)
    assert (here["gpu"], here["name"], here["verdict"], here["context"]) == (
        "this-machine",
        "a processor",
        "fits",
        500,
    )
    assert device["weights"] == {"bytes": 7 * MIB, "source": "asked"}
    assert device["compute"] == {"bytes": 4 * MIB, "source": "asked"}
    assert device["margin"]["source"] == "assumed"
    assert here["decode"]["low"] < here["decode"]["tokens_per_s"] < here["decode"]["high"] < here["decode"]["ceiling"]


def test_as_text_every_row_has_its_source_and_speeds_have_a_band(
    line: CommandLine, model: Path, asked: FakeDryRun
) -> None:
    assert line.run("plan", str(model)) == 0
    rows = {" ".join(row.split()[:1]): " ".join(row.split()[1:]) for row in line.out.splitlines()}
    assert rows["Weights"] == "7.0 MiB asked of llama.cpp"
    assert rows["Margin"] == "1.0 GiB assumed"
    assert " to " in rows["Decode"] and "by bandwidth alone" in rows["Decode"]
    assert "This machine (a processor): fits" in line.out
    assert line.err == "" and "None" not in line.out
    assert max(map(len, line.out.splitlines())) <= 110


def fail_as(line: CommandLine, monkeypatch: pytest.MonkeyPatch, kind: FailureKind) -> None:
    run = line.desk.dry_run

    def measure(request: int, path: str, options: LoadOptions, *, keep: bool = True) -> None:
        FakeDryRun.measure(run, request, path, options, keep=keep)
        run.fail(kind, "It does not start.")

    monkeypatch.setattr(run, "measure", measure)


def test_where_llama_cpp_gives_no_figures_the_formula_does(
    line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_as(line, monkeypatch, "engine")
    assert line.run("plan", str(model)) == 0
    assert "by formula" in line.out
    assert "llama.cpp was asked and gave no figures: It does not start." in line.out


@pytest.mark.parametrize("words", [(), ("--sequences", "2")])
def test_a_file_that_llama_cpp_refuses_fits_nowhere_and_ends_with_3(
    line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    fail_as(line, monkeypatch, "model")
    assert line.run("plan", str(model), *words) == ExitCode.MODEL_UNUSABLE
    assert "This machine: unknown\n  It does not start.\n" in line.out and line.out.count("It does not start.") == 1
    assert "Largest context  –" in line.out and "What needs less memory" not in line.out
    assert line.run("plan", str(model), *words, "--json") == ExitCode.MODEL_UNUSABLE
    (here,) = line.lines()[0]["models"][0]["plans"]
    told = (here["verdict"], here["decode"], here["ttft"], here["note"], here["levers"])
    assert told == ("unknown", None, None, None, [])
    assert here["reason"] == "It does not start."


@pytest.mark.parametrize("words", [(), ("--sequences", "2")])
def test_an_engine_that_dies_meanwhile_is_told(
    line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    run, engine = line.desk.dry_run, line.desk.engine

    def die(request: int, *_: object, **__: object) -> None:
        run._sink(EngineGone(-9, (request,), translate("Test", "The engine was killed.")))

    def hear(command: Command) -> None:
        if isinstance(command, ListDevices):
            die(command.request)

    monkeypatch.setattr(run, "measure", die)
    engine.on_command = hear
    assert line.run("plan", str(model), *words) == 0
    assert "gave no figures: The engine was killed." in line.out


def test_more_conversations_than_a_load_has_are_planned_by_formula_on_the_gpu_that_is_here(
    line: CommandLine, large: Path, asked: FakeDryRun, gpus: list[Device]
) -> None:
    gpus.append(GPU)
    found = plan(line, str(large), "--sequences", "16", "--context", "2048")
    here = found["models"][0]["plans"][0]
    assert [question.options.context for question in asked.asked] == [16 * 2048], "it may still refuse the file"
    assert (here["name"], here["verdict"], here["gpu_layers"]) == ("NVIDIA L4", "fits", 33)
    assert [device["name"] for device in here["devices"]] == ["CUDA0", "CPU"]
    assert here["devices"][0]["kv"] == {"bytes": 4 * GIB, "source": "formula"}
    assert here["decode"]["together"] == pytest.approx(16 * here["decode"]["tokens_per_s"])


@pytest.mark.parametrize(("sequences", "source"), [("4", "asked"), ("16", "formula")])
def test_what_was_asked_of_several_conversations_is_said(
    line: CommandLine, large: Path, asked: FakeDryRun, sequences: str, source: str
) -> None:
    (main,) = plan(line, str(large), "--sequences", sequences, "--context", "256")["models"][0]["plans"][0]["devices"]
    assert main["weights"] == {"bytes": 7 * MIB, "source": "asked"}
    assert main["kv"]["source"] == main["compute"]["source"] == source


def test_layers_lie_where_llama_cpp_has_put_them(
    line: CommandLine, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = line.desk.dry_run

    def measure(request: int, path: str, options: LoadOptions, *, keep: bool = True) -> None:
        FakeDryRun.measure(run, request, path, options, keep=keep)
        run._sink(MemoryMeasured(request, path, LoadOptions(gpu_layers=10), (ASKED,), 8192, 32, (CPU, GPU)))

    monkeypatch.setattr(run, "measure", measure)
    here = plan(line, str(large))["models"][0]["plans"][0]
    assert (here["gpu_layers"], here["verdict"]) == (10, "partly")


def test_of_several_gpus_each_has_its_layers_at_its_own_speed(
    line: CommandLine, large: Path, asked: FakeDryRun, gpus: list[Device]
) -> None:
    gpus.append(GPU)
    gpus.append(Device("CUDA1", "Tesla T4", "gpu", "CUDA", 15 * GIB, 14 * GIB))
    words = (str(large), "--sequences", "10", "--context", "1024")
    here = plan(line, *words)["models"][0]["plans"][0]
    l4, t4 = (plan(line, *words, "--gpu", name)["models"][0]["plans"][0]["decode"] for name in ("L4", "T4"))
    assert here["name"] == "NVIDIA L4, Tesla T4"
    ceilings = sorted((l4["ceiling"], t4["ceiling"]))
    assert ceilings[0] < here["decode"]["ceiling"] < ceilings[1]
    assert here["decode"]["low"] < here["decode"]["tokens_per_s"] < here["decode"]["high"]


def test_a_gpu_whose_speed_nobody_knows_is_planned_without_one(
    line: CommandLine, large: Path, asked: FakeDryRun, gpus: list[Device]
) -> None:
    words = (str(large), "--sequences", "10", "--context", "1024")
    gpus.append(GPU)
    known = plan(line, *words)["models"][0]["plans"][0]
    gpus[:] = [msgspec.structs.replace(GPU, description="Some card")]
    here = plan(line, *words)["models"][0]["plans"][0]
    assert (here["verdict"], here["decode"], here["ttft"]) == ("fits", None, None)
    assert here["largest_context"] == known["largest_context"]
    assert line.run("plan", *words) == 0
    assert "Decode             –" in line.out


def test_gpus_are_a_table_and_this_machine_is_not_asked(line: CommandLine, large: Path, asked: FakeDryRun) -> None:
    assert line.run("plan", str(large), "--gpu", "L4,RTX4090", "--gpu", "l4", "--context", "8192") == 0
    assert asked.asked == [] and line.desk.engine.all(ListDevices) == []
    rows = line.out.splitlines()[-2:]
    assert [row.split("  ")[0] for row in rows] == ["L4", "RTX 4090"]
    assert all("fits" in row and "memory bandwidth" in row for row in rows)


def test_a_table_says_which_prompt_and_which_plan_its_figures_are_for(
    line: CommandLine, large: Path, asked: FakeDryRun
) -> None:
    words = (str(large), "--gpu", "rtx-3070", "--context", "65536")
    assert line.run("plan", *words, "--gpu", "l4", "--sequences", "2") == 0
    assert "2 conversations of 65,536 tokens" in line.out
    assert "First token: after a prompt of 1,024 tokens" in line.out
    assert "Tok/s each" in line.out and "Together" in line.out
    assert "less context" in line.out and "all figures of the row are for the context that fits" in line.out
    assert line.run("plan", *words) == 0
    assert "All figures are for the context that fits: " in line.out
    (found,) = plan(line, *words)["models"][0]["plans"]
    assert found["context"] == found["largest_context"] < 65_536
    assert found["gpu_layers"] == 33 and found["decode"]["limited_by"] == "bandwidth"


def test_a_folder_is_a_line_for_each_model_and_the_best_is_marked(
    line: CommandLine, large: Path, model: Path, tmp_path: Path, asked: FakeDryRun
) -> None:
    shutil.copy(model, tmp_path / "a.gguf")
    (tmp_path / "b.gguf").write_text("<html>")
    (tmp_path / "Large-Q4_K.gguf").symlink_to(large)
    found = plan(line, str(tmp_path))
    best = {each["name"]: (each["is_best"], each["problem"] is None) for each in found["models"]}
    assert best == {"a": (False, True), "b": (False, False), "Large": (True, True)}
    assert line.run("plan", str(tmp_path)) == 0
    assert "* Large Q4_K" in line.out and "Cannot be used: This file is a web page" in line.out
    assert "* the largest that fits best" in line.out


def test_a_folder_without_a_usable_model_ends_with_3(line: CommandLine, tmp_path: Path, asked: FakeDryRun) -> None:
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_text("<html>")
    assert line.run("plan", str(tmp_path)) == 3
    assert line.out.count("Cannot be used") == 2
    assert "conversation" not in line.out
    assert line.run("plan", str(tmp_path / "a.gguf")) == 3
    assert line.out == "" and line.err.startswith("This file is a web page")


WRONG = {
    ("{model}", "--gpu", "RTX 4900"): "did you mean NVIDIA GeForce RTX 4",
    ("{model}", "--gpu", "L4,gpu"): "No GPU is called “gpu”: names are such as NVIDIA L4, ",
    ("{model}", "--gpu", "foo"): "The planner of the window lists all of them",
    ("{model}", "--gpu", "rtx5099"): "did you mean NVIDIA GeForce RTX 50",
    ("{model}", "--context", "100", "--prompt", "101"): "make --context larger, or --prompt smaller",
    ("{folder}/tinny.gguf",): "did you mean {folder}/tiny.F16.gguf?",
    ("/nowhere/x.gguf",): "There is no model at /nowhere/x.gguf: name",
    ("{empty}",): "There is no model in {empty}: name",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_use_names_the_nearest_thing(
    line: CommandLine, model: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"model": str(model), "folder": str(model.parent), "empty": str(tmp_path / "empty")}
    assert line.run("plan", *(word.format(**places) for word in words)) == 2
    assert WRONG[words].format(**places) in line.err
    assert line.err.count("\n") == 1 and line.out == ""


def test_the_json_has_every_field_and_no_other(line: CommandLine, model: Path) -> None:
    found = plan(line, str(model), "--gpu", "L4")
    told = found["models"][0]["plans"][0]
    assert list(told) == [field.name for field in msgspec.structs.fields(PlanValue)]
    for speed in (told["decode"], told["decode_after_prompt"]):
        assert list(speed) == [field.name for field in msgspec.structs.fields(DecodeValue)]
    assert json.dumps(found, allow_nan=False)


def test_a_damaged_table_of_gpus_is_told(
    line: CommandLine, model: Path, asked: FakeDryRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = line.desk.program.planner.command
    monkeypatch.setattr(command, "_sources", replace(command._sources, read_table=lambda: "{"))
    assert line.run("plan", str(model)) == 0
    assert line.out.rstrip().endswith(
        "The table of GPUs that came with the program is damaged: install the program again."
    )
    assert line.run("plan", str(model), "--gpu", "L4") != 0
    assert "is damaged: install the program again" in line.err and "did you mean" not in line.err


def test_one_token_is_not_several(line: CommandLine, asked: FakeDryRun, large: Path) -> None:
    assert line.run("plan", str(large), "--gpu", "L4", "--prompt", "1", "--context", "1") == 0
    assert "after 1 token\n" in line.out and "1 tokens" not in line.out
