from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.terminal import Terminal
from app.core.chat import ChatPrompt, PromptMessage, TextPrompt
from app.core.commands import Command, Generate, Load
from app.core.events import Event, FailureKind, Finished, Tokens
from app.core.model import LoadOptions
from app.core.words import translate
from app.system.hardware import decode_threads
from tests.cli.conftest import CommandLine


def test_an_answer_is_printed_as_text_and_nothing_else(line: CommandLine, model: Path) -> None:
    assert line.run("ask", "Hi", "--model", str(model)) == 0
    assert (line.out, line.err) == ("Hello there\n", "")
    assert line.desk.engine.question.prompt == ChatPrompt((PromptMessage("user", "Hi"),))


def test_text_is_printed_as_it_comes(
    line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    dispatch = line.desk.program.session.take

    def note(event: Event) -> None:
        dispatch(event)
        if isinstance(event, Tokens):
            printed.append(capsys.readouterr().out)

    monkeypatch.setattr(line.desk.program.session, "take", note)
    line.run("ask", "Hi", "--model", str(model))
    assert printed == ["Hello", " there"]


def test_the_system_prompt_and_the_load_options_go_along(line: CommandLine, model: Path) -> None:
    line.run("ask", "Hi", "--model", str(model), "--system", "Be brief.", "--context", "512", "--seed", "3")
    engine = line.desk.engine
    assert engine.chat.messages[0] == PromptMessage("system", "Be brief.")
    assert engine.question.settings.seed == 3
    assert engine.load.options == LoadOptions(context=512, threads=decode_threads())


def test_a_question_keeps_nothing(line: CommandLine, model: Path) -> None:
    line.run("ask", "Hi", "--model", str(model), "--context", "512")
    assert line.desk.program.settings.values.last_model is None
    assert not line.desk.program.paths.settings_file.exists()


def test_raw_text_is_continued_without_a_template(line: CommandLine, model: Path) -> None:
    line.run("ask", "Once upon", "--raw", "--model", str(model))
    assert line.desk.engine.question.prompt == TextPrompt("Once upon")


def test_a_dash_reads_standard_input(line: CommandLine, model: Path, feed: Callable[[bytes], None]) -> None:
    feed("Grüße \xff".encode() + b"\xff\x00")
    line.run("ask", "-", "--model", str(model))
    assert line.desk.engine.chat.messages[0].text == "Grüße ÿ\ufffd"


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_prompt_is_wrong_use(line: CommandLine, model: Path, prompt: str) -> None:
    assert line.run("ask", prompt, "--model", str(model)) == 2
    assert line.err == "The prompt is empty: type a question.\n"
    assert line.desk.engine.sent == []


def test_json_prints_one_object_for_each_event(line: CommandLine, model: Path) -> None:
    assert line.run("ask", "Hi", "--json", "--model", str(model)) == 0
    lines = line.lines()
    assert [each["type"] for each in lines] == [
        "load_progress",
        "prompt",
        "prefill_progress",
        "tokens",
        "tokens",
        "finished",
    ]
    assert {each["request"] for each in lines[1:]} == {line.desk.engine.question.request}
    assert lines[1]["ids"] == list(range(40))
    assert [each["text"] for each in lines[3:5]] == ["Hello", " there"]
    assert "record" not in lines[3]


@pytest.mark.parametrize("dropped", [(), (1, 2)])
def test_the_prompt_names_the_messages_that_were_dropped(
    line: CommandLine, model: Path, dropped: tuple[int, ...]
) -> None:
    def answer() -> None:
        line.desk.engine.prompt(dropped=dropped)
        line.desk.engine.finish()

    line.answer = answer
    line.run("ask", "Hi", "--json", "--model", str(model))
    prompt = next(each for each in line.lines() if each["type"] == "prompt")
    assert prompt["dropped"] == list(dropped)
    assert line.desk.engine.question.when_full == "stop"


def test_the_last_object_holds_every_figure_of_the_answer(line: CommandLine, model: Path) -> None:
    line.run("ask", "Hi", "--json", "--model", str(model))
    finished = line.lines()[-1]
    assert finished["text"] == "Hello there"
    assert finished["ids"] == [0, 1]
    assert finished["prompt_tokens"] == 40
    assert finished["prompt_tokens_from_cache"] == 12
    assert finished["prefill_tokens_per_s"] == 131.2
    assert finished["decode_tokens_per_s"] == 77.6
    assert finished["sampled_tokens"] == 2
    assert finished["itl_ms"] == {"p50": 13.0, "p95": 15.0, "p99": 19.0}
    assert finished["kv"] == {
        "cells_used": 42,
        "cells": 4096,
        "bytes": 42 * 23_040,
        "window_cells_used": None,
        "window_cells": None,
        "checkpoints": 0,
        "checkpoint_bytes": 0,
    }
    assert finished["traffic_gb_per_s"] == 7.6
    assert finished["stop_reason"] == "end"
    assert finished["seed"] == 7
    assert finished["settings"][0]["settings"]["temperature"] == 0.8
    assert finished["model"]["path"] == str(model)
    assert finished["memory"] == []
    assert finished["ttft_parts_ms"]["prefill"] == 96.0


def test_the_time_to_the_first_token_ends_with_the_first_byte_written(line: CommandLine, model: Path) -> None:
    began = time.perf_counter_ns()
    line.run("ask", "Hi", "--json", "--model", str(model))
    took_ms = (time.perf_counter_ns() - began) / 1e6
    assert 0 < line.lines()[-1]["ttft_ms"] < took_ms


def test_what_is_unknown_is_null(line: CommandLine, model: Path) -> None:
    line.answer = lambda: line.desk.answer("x")
    line.run("ask", "Hi", "--json", "--model", str(model))
    finished = line.lines()[-1]
    assert (finished["decode_tokens_per_s"], finished["itl_ms"]) == (None, None)


def test_a_failure_is_an_object_too_and_a_sentence(line: CommandLine, model: Path) -> None:
    line.answer = lambda: line.desk.engine.fail("prompt_too_long", text="3,031 of 1,024 tokens.")
    assert line.run("ask", "Hi", "--json", "--model", str(model)) == 2
    failed = line.lines()[-1]
    assert (failed["type"], failed["kind"]) == ("failed", "prompt_too_long")
    assert failed["sentence"].startswith("3,031 of 1,024 tokens.")
    assert line.err == failed["sentence"] + "\n"


@pytest.mark.parametrize(
    ("kind", "code"), [("model", 3), ("template_missing", 3), ("engine", 4), ("wrong_use", 2), ("prompt_too_long", 2)]
)
def test_the_exit_code_says_what_failed(line: CommandLine, model: Path, kind: FailureKind, code: int) -> None:
    line.answer = lambda: line.desk.engine.fail(kind)
    assert line.run("ask", "Hi", "--model", str(model)) == code
    assert line.err.startswith("It does not work.")
    assert line.err.count("\n") == 1


def test_a_dead_engine_leaves_what_was_written_and_says_so(line: CommandLine, model: Path) -> None:
    def die() -> None:
        line.desk.engine.write("Half an ans")
        line.desk.engine.die(line.desk.engine.question.request)

    line.answer = die
    assert line.run("ask", "Hi", "--model", str(model)) == 4
    assert line.out == "Half an ans\n"
    assert line.err == "The engine stopped (SIGKILL). Your chat is safe.\n"


def test_a_file_that_is_no_model_is_said_before_an_engine_starts(line: CommandLine, tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<!doctype html>")
    assert line.run("ask", "Hi", "--model", str(page)) == 3
    assert "web page" in line.err
    assert line.desk.engine.sent == []


def test_a_template_that_does_not_exist_is_wrong_use(line: CommandLine, model: Path) -> None:
    assert line.run("ask", "Hi", "--model", str(model), "--template", "no-such") == 2
    assert "no-such" in line.err


def test_a_question_that_cannot_be_asked_is_an_object_too(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line.desk.program.models, "_folders", (Path("none"),))
    assert line.run("ask", "Hi", "--json") == 3
    (failed,) = line.lines()
    assert (failed["type"], failed["request"], failed["kind"]) == ("failed", None, "model")
    assert failed["sentence"] == line.err.strip()


def test_ctrl_c_cancels_and_prints_what_was_written(line: CommandLine, model: Path) -> None:
    engine = line.desk.engine

    def interrupt() -> None:
        engine.write("Half")
        engine.on_command = lambda _command: engine.finish("cancelled")
        signal.raise_signal(signal.SIGINT)

    line.answer = interrupt
    before = signal.getsignal(signal.SIGINT)
    assert line.run("ask", "Hi", "--model", str(model)) == 130
    assert (line.out, line.err) == ("Half\n", "")
    assert engine.cancelled == [engine.question.request]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_answer_that_ended_before_ctrl_c_was_noticed_is_done(line: CommandLine, model: Path) -> None:
    def finish() -> None:
        line.desk.answer("all of it")
        signal.raise_signal(signal.SIGINT)

    line.answer = finish
    told: list[object] = []
    line.desk.program.ask.told.connect(told.append)
    assert line.run("ask", "Hi", "--model", str(model)) == 0
    assert isinstance(told[-1], Finished)


def test_text_that_cannot_be_encoded_does_not_end_the_command(line: CommandLine, model: Path) -> None:
    line.answer = lambda: line.desk.answer("a\ud800b")
    assert line.run("ask", "Hi", "--model", str(model)) == 0
    assert line.out == "a?b\n"


def test_text_that_the_end_brings_is_printed_too(line: CommandLine, model: Path) -> None:
    def held_back() -> None:
        line.desk.engine.write("one ")
        line.desk.engine.finish(rest="two")

    line.answer = held_back
    line.run("ask", "Hi", "--model", str(model))
    assert line.out == "one two\n"


@pytest.mark.parametrize(
    ("kind", "step"),
    [("template_missing", "--template chatml"), ("template", "--template"), ("prompt_too_long", "--context N")],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_failure_names_a_step_that_can_be_typed(
    line: CommandLine, model: Path, kind: FailureKind, step: str, form: list[str]
) -> None:
    line.answer = lambda: line.desk.engine.fail(kind, text="It does not fit.")
    line.run("ask", "Hi", "--model", str(model), *form)
    assert line.err.startswith("It does not fit. ")
    assert step in line.err
    assert kind == "prompt_too_long" or "vicuna" in line.err
    assert not form or line.lines()[-1]["sentence"] == line.err.strip()


@pytest.mark.parametrize("held_back", [False, True])
def test_the_parts_of_the_time_to_the_first_token_add_up(line: CommandLine, model: Path, held_back: bool) -> None:
    def answer() -> None:
        if not held_back:
            line.desk.engine.write("Hello")
        line.desk.engine.finish(rest="Hello" if held_back else "")

    line.answer = answer
    line.run("ask", "Hi", "--json", "--model", str(model))
    finished = line.lines()[-1]
    assert finished["ttft_ms"] != 112.4
    assert finished["ttft_parts_ms"]["paint"] is not None
    assert sum(part or 0 for part in finished["ttft_parts_ms"].values()) == pytest.approx(finished["ttft_ms"])


def test_an_answer_without_text_has_no_first_byte(line: CommandLine, model: Path) -> None:
    line.answer = line.desk.engine.finish
    line.run("ask", "Hi", "--json", "--model", str(model))
    assert line.lines()[-1]["ttft_parts_ms"]["paint"] is None


@pytest.mark.parametrize("held_back", [False, True])
def test_the_figures_under_a_text_run_to_its_first_byte(
    line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch, held_back: bool
) -> None:
    def answer() -> None:
        sent = line.desk.engine.question.sent_ns
        monkeypatch.setattr("app.cli.first_byte.time.perf_counter_ns", lambda: sent + 4_321_000_000)
        if not held_back:
            line.desk.engine.write("Hello")
        line.desk.engine.finish(rest="Hello" if held_back else "")

    monkeypatch.setattr(Terminal, "shows_figures", True)
    line.answer = answer
    line.run("ask", "Hi", "--model", str(model))
    assert "TTFT 4,321 ms" in line.err


@pytest.mark.parametrize("kind", ["engine", "model", "wrong_use", "cancelled"])
def test_what_fails_after_ctrl_c_was_interrupted(line: CommandLine, model: Path, kind: FailureKind) -> None:
    def interrupt() -> None:
        line.desk.engine.on_command = lambda _command: line.desk.engine.fail(kind)
        signal.raise_signal(signal.SIGINT)

    line.answer = interrupt
    assert line.run("ask", "Hi", "--model", str(model)) == 130
    assert line.err == ""


def with_remark(line: CommandLine) -> None:
    """Let the engine say something of the load."""

    def react(command: Command) -> None:
        if isinstance(command, Load):
            line.desk.engine.loaded(remarks=(translate("Test", "{layers} of 33 layers.", layers=12),))
        elif isinstance(command, Generate):
            line.answer()

    line.desk.engine.on_command = react


def test_what_people_should_know_of_a_load_goes_to_standard_error(line: CommandLine, model: Path) -> None:
    with_remark(line)
    assert line.run("ask", "Hi", "--model", str(model)) == 0
    assert (line.out, line.err) == ("Hello there\n", "12 of 33 layers.\n")


def test_json_tells_of_a_load_with_the_model_and_in_words(line: CommandLine, model: Path) -> None:
    with_remark(line)
    assert line.run("ask", "Hi", "--json", "--model", str(model)) == 0
    assert line.lines()[-1]["model"]["remarks"] == ["12 of 33 layers."]
    assert line.err == ""


def test_the_order_that_was_typed_reaches_the_engine_and_the_last_object(line: CommandLine, model: Path) -> None:
    typed = ("--order", "temperature,penalties", "--without", "min_p")
    assert line.run("ask", "Hi", "--json", "--model", str(model), *typed) == 0
    sent = line.desk.engine.question.settings
    assert (sent.order[:2], sent.off) == (("temperature", "penalties"), ("min_p",))
    [told] = line.lines()[-1]["settings"]
    assert told["settings"]["order"] == list(sent.order)
    assert told["settings"]["off"] == ["min_p"]
