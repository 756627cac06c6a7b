"""Stories with the real engine and the real model, told by processes."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.program import (
    GUARD_SECONDS,
    Program,
    engine_of,
    events,
    is_one_plain_sentence,
    wait_for_engine,
)
from tests.engine.test_opening import bad_files
from tests.ggufs import copy_with, write_tiny_llama

QUESTION = "Explain why the sky is blue."
FIELDS = {
    "text", "ids", "ttft_ms", "ttft_parts_ms", "prompt_tokens", "prompt_tokens_from_cache", "prefill_tokens_per_s",
    "decode_tokens_per_s", "sampled_tokens", "itl_ms", "kv", "memory", "traffic_gb_per_s", "stop_reason", "seed",
    "settings", "model",
}  # fmt: skip


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path / "home")


def ask(model: Path, *more: str) -> tuple[str, ...]:
    return ("ask", QUESTION, "--model", str(model), "--context", "1024", "--threads", "2", *more)


def test_a_question_is_answered_and_every_figure_is_told(program: Program, starter_model: Path) -> None:
    done = program.run(*ask(starter_model, "--json", "--seed", "7", "--max-tokens", "40"))
    assert (done.returncode, done.stderr) == (0, "")
    told = events(done.stdout)
    assert [
        event["type"] for event in told if event["type"] not in ("tokens", "prefill_progress", "load_progress")
    ] == [
        "prompt",
        "finished",
    ]
    assert len({event["request"] for event in told if event["type"] != "load_progress"}) == 1
    last = told[-1]
    assert last.keys() >= FIELDS
    assert last["text"] == "".join(event["text"] for event in told if event["type"] == "tokens")
    assert last["ids"] == [token for event in told if event["type"] == "tokens" for token in event["ids"]]
    assert last["seed"] == 7
    assert last["sampled_tokens"] == len(last["ids"]) <= 40
    parts = [value for value in last["ttft_parts_ms"].values() if value is not None]
    assert sum(parts) == pytest.approx(last["ttft_ms"], rel=0.2, abs=5)
    assert last["kv"]["cells"] == 1024
    assert last["kv"]["bytes"] == last["kv"]["cells_used"] * 23_040
    assert last["itl_ms"]["p50"] <= last["itl_ms"]["p95"] <= last["itl_ms"]["p99"]


def test_the_same_seed_is_the_same_answer_in_another_process(program: Program, starter_model: Path) -> None:
    texts = {program.run(*ask(starter_model, "--seed", "3", "--max-tokens", "24")).stdout for _ in range(2)}
    assert len(texts) == 1
    assert texts != {program.run(*ask(starter_model, "--seed", "4", "--max-tokens", "24")).stdout}


def test_an_engine_that_is_killed_costs_no_word_that_was_written(program: Program, starter_model: Path) -> None:
    with program.start(*ask(starter_model, "--json")) as process:
        assert process.stdout is not None and process.stderr is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if '"tokens"' in line and len(lines) > 6:
                engine_of(process).kill()
                break
        rest, errors = process.communicate(timeout=GUARD_SECONDS)
    told = events("".join(lines) + rest)
    assert process.returncode == 4
    assert "".join(event["text"] for event in told if event["type"] == "tokens")
    assert told[-1]["type"] == "failed"
    assert is_one_plain_sentence(errors)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C cannot be sent to one process there")
@pytest.mark.parametrize("early", [True, False])
def test_ctrl_c_prints_what_was_written_and_ends_everything(
    program: Program, starter_model: Path, early: bool
) -> None:
    with program.start(*ask(starter_model)) as process:
        assert process.stdout is not None
        first = "" if early else process.stdout.read(1)
        engine = wait_for_engine(process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group gets it
        rest, errors = process.communicate(timeout=GUARD_SECONDS)
    assert process.returncode == 130
    assert early or (first + rest).strip()
    assert "Traceback" not in errors
    assert "KeyboardInterrupt" not in errors
    assert not engine.is_running()


@pytest.mark.parametrize("name", ["sp ace", "ümlaut", "日本 😀", "it's 100%"])
def test_models_and_homes_of_every_alphabet_work(tmp_path: Path, starter_model: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    model = folder / f"{name}.gguf"
    os.link(starter_model, model) if folder.stat().st_dev == starter_model.stat().st_dev else shutil.copy(
        starter_model, model
    )
    done = Program(folder / "home").run(*ask(model, "--max-tokens", "8"), LC_ALL="C", LANG="C")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_every_unusable_file_ends_with_its_sentence_and_exit_code_3(
    program: Program, tmp_path: Path, starter_model: Path
) -> None:
    sentences = []
    for path in bad_files(tmp_path, starter_model).values():
        done = program.run("ask", "Hi", "--model", str(path))
        assert done.returncode == 3, (path.name, done.stderr)
        assert done.stdout == ""
        assert is_one_plain_sentence(done.stderr), (path.name, done.stderr)
        sentences.append(done.stderr)
    assert len(set(sentences)) >= len(sentences) - 1


def test_a_file_that_only_llama_refuses_ends_with_its_reason_and_the_lines_of_its_log(
    program: Program, tmp_path: Path
) -> None:
    tiny = write_tiny_llama(tmp_path / "tiny.gguf")
    model = copy_with(tiny, tmp_path / "odd.gguf", set={"llama.block_count": 3})
    done = program.run("ask", "Hi", "--json", "--model", str(model))
    assert done.returncode == 3
    assert "blk.2.attn_norm.weight" in done.stderr and "download the file again" in done.stderr
    assert is_one_plain_sentence(done.stderr)
    assert any("blk.2.attn_norm.weight" in line for line in events(done.stdout)[-1]["details"])


def test_a_model_without_a_template_says_so_and_answers_with_a_chosen_one(program: Program, tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path / "base.gguf", chat_template=None)
    refused = program.run("ask", "Hi", "--model", str(model), "--max-tokens", "3")
    assert refused.returncode in (2, 3)
    assert "template" in refused.stderr and is_one_plain_sentence(refused.stderr)
    chosen = program.run("ask", "Hi", "--model", str(model), "--max-tokens", "3", "--template", "chatml")
    assert chosen.returncode == 0


def test_a_template_that_never_ends_is_stopped_with_a_sentence(program: Program, tmp_path: Path) -> None:
    hostile = "{% for a in range(90000) %}{% for b in range(90000) %}{% set c = b %}{% endfor %}{% endfor %}x"
    model = write_tiny_llama(tmp_path / "hostile.gguf", chat_template=hostile)
    done = program.run("ask", "Hi", "--model", str(model))
    assert done.returncode in (2, 3)
    assert "template" in done.stderr and is_one_plain_sentence(done.stderr)


def test_a_prompt_that_is_too_long_says_so_with_the_numbers(program: Program, starter_model: Path) -> None:
    done = program.run("ask", "word " * 2000, "--model", str(starter_model), "--context", "512")
    assert done.returncode == 2
    assert "512" in done.stderr and is_one_plain_sentence(done.stderr)


def test_a_refusing_template_still_gets_the_system_prompt(program: Program, tmp_path: Path) -> None:
    refusing = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
        "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    )
    model = write_tiny_llama(tmp_path / "refusing.gguf", chat_template=refusing)
    words = ("ask", "Hi", "--system", "Be brief", "--model", str(model), "--max-tokens", "3", "--json")
    done = program.run(*words)
    assert done.returncode == 0
    prompt = next(event for event in events(done.stdout) if event["type"] == "prompt")
    assert prompt["notes"]


def test_an_end_token_of_another_name_still_ends_the_answer(
    program: Program, tmp_path: Path, starter_model: Path
) -> None:
    model = copy_with(starter_model, tmp_path / "other-end.gguf", set={"tokenizer.ggml.eos_token_id": 0})
    done = program.run(*ask(model, "--json", "--max-tokens", "400", "--temperature", "0"))
    last = events(done.stdout)[-1]
    assert last["stop_reason"] in ("end", "length")
    assert "<|im_end|>" not in last["text"]
