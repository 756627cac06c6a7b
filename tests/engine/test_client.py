"""The engine as a process: it answers, it is cancelled, it dies, and the next one starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import ChangeSettings, Generate, Load, Render, Tokenize, Watch
from app.core.events import (
    EngineGone,
    Failed,
    Finished,
    Hello,
    LoadProgress,
    PrefillProgress,
    PromptReady,
    Rendered,
    Step,
    Tokenized,
    Tokens,
    Unloaded,
)
from app.core.sampling import PRESETS
from app.engine.scripted import Script
from tests.engine.harness import (
    GREEDY,
    GUARD_SECONDS,
    Engine,
    assert_same_answer,
    ids_of,
    records_of,
    user,
    write_script,
)
from tests.ggufs import copy_with, write_tiny_llama

SHORT = msgspec.structs.replace(GREEDY, max_tokens=24)
LONG = "Sunlight is a mixture of all colours. " * 40


def test_a_real_model_answers_through_the_process(starter_model: Path) -> None:
    with Engine() as engine:
        loaded = engine.load(starter_model, context=1024, threads=2)
        assert loaded.model.architecture == "llama"
        assert loaded.model.parameters == 134_515_008
        assert any(isinstance(event, LoadProgress) and event.percent == 100 for event in engine.seen)
        done = engine.ask("What is the capital of France?", SHORT)
        assert len(done.text.split()) > 3
        assert done.text == "".join(event.text for event in engine.tokens(done.request))


def test_the_first_message_tells_the_protocol_the_clock_and_the_modules() -> None:
    with Engine("scripted") as engine:
        engine.load("any")
        hello = engine.seen[0]
        assert isinstance(hello, Hello)
        assert not {"PySide6", "shiboken6", "sqlite3", "huggingface_hub"} & set(hello.modules)
        assert {"llama_cpp", "numpy"} <= set(hello.modules)
        assert abs(hello.clock_ns - time.perf_counter_ns()) < GUARD_SECONDS * 1e9


@pytest.mark.skipif(os.name == "nt", reason="niceness and environments are read from /proc")
def test_the_process_has_a_lower_priority_and_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    with Engine("scripted") as engine:
        engine.load("any")
        process = psutil.Process(engine.client.process_id)
        assert process.nice() == psutil.Process().nice() + 5
        assert "secret" not in process.environ().values()


PARENT = """
import sys
from app.core.commands import Load
from app.engine.client import EngineClient

if __name__ == "__main__":
    told = []
    client = EngineClient(lambda event: print(client.process_id, flush=True), backend=sys.argv[1])
    client.send(Load(1, sys.argv[2]))
    sys.stdin.read()
"""


@pytest.mark.parametrize("phase", ["idle", "loading", "hanging"])
def test_the_process_ends_when_its_parent_is_gone(tmp_path: Path, phase: str) -> None:
    scripts = {"idle": Script(), "loading": Script(load_seconds=1e6), "hanging": Script(fault="hang", fault_at=-2)}
    parent = tmp_path / "parent.py"
    parent.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, str(parent), "scripted", write_script(tmp_path, scripts[phase])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as program:  # fmt: skip
        assert program.stdout is not None
        engine = psutil.Process(int(program.stdout.readline()))
        program.kill()
        program.wait()
        engine.wait(GUARD_SECONDS)
    assert not engine.is_running()


def test_a_killed_engine_is_reported_and_the_next_request_starts_a_fresh_one(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=(LONG,), tokens_per_s=200))
    with Engine("scripted") as engine:
        engine.load(script)
        first = engine.client.process_id
        request = engine.start("Why?")
        while len(engine.tokens(request)) < 3:
            engine.wait(Tokens)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        gone = engine.wait(EngineGone)
        assert gone.requests == (request,)
        assert "SIGKILL" in gone.sentence.english() or os.name == "nt"
        partial = "".join(event.text for event in engine.tokens(request))
        assert len(partial) >= 3 and LONG.startswith(partial)
        assert not engine.client.running
        engine.load(script)
        assert engine.client.process_id != first
        assert engine.ask("Again?", msgspec.structs.replace(GREEDY, max_tokens=8)).text == LONG[:8]


@pytest.mark.parametrize(("fault", "at"), [("abort", 5), ("exit", 5), ("abort", -1), ("abort", -2)])
def test_every_death_is_an_event(tmp_path: Path, fault: str, at: int) -> None:
    script = write_script(tmp_path, Script(answers=(LONG,), fault=fault, fault_at=at))  # type: ignore[arg-type]
    log = tmp_path / "engine.log"
    with Engine("scripted", str(log)) as engine:
        if at == -2:
            request = engine.client.new_request()
            engine.send(Load(request, script))
        else:
            engine.load(script)
            request = engine.start("Why?")
        gone = engine.wait(EngineGone)
        assert request in gone.requests
        assert gone.exit_code != 0
        if fault == "abort":
            assert any("strike" in line for line in gone.details)


def test_running_out_of_memory_in_mid_answer_keeps_the_process(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=(LONG,), fault="memory", fault_at=5))
    with Engine("scripted", str(tmp_path / "engine.log")) as engine:
        engine.load(script)
        request = engine.start("Why?")
        failed = engine.wait(Failed, request=request)
        assert failed.kind == "engine"
        assert engine.client.running


def test_an_engine_that_hangs_is_ended_by_force(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(fault="hang", fault_at=-2))
    with Engine("scripted") as engine:
        request = engine.client.new_request()
        engine.send(Load(request, script))
        engine.wait(LoadProgress)
        process = psutil.Process(engine.client.process_id)
        engine.client.unload()
        assert engine.wait(Failed, request=request).kind == "cancelled"
        engine.wait(Unloaded)
        assert not process.is_running()


def test_an_unloaded_engine_is_gone_and_says_so(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        engine.load("any")
        process = psutil.Process(engine.client.process_id)
        engine.client.unload()
        engine.wait(Unloaded)
        assert not process.is_running()
        request = engine.start("Why?")
        assert "No model is loaded" in engine.wait(Failed, request=request).sentence.english()


def test_a_hundred_cancels_and_new_prompts_in_a_row(tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path / "tiny.gguf", layers=8)
    with Engine() as engine:
        engine.load(model, context=1024, threads=2)
        before = engine.ask("What is the capital of France?", SHORT)
        for number in range(100):
            request = engine.start(f"Count to {number}.")
            if number % 3:
                engine.wait(*((Tokens,) if number % 3 == 1 else (PromptReady,)), request=request)
            engine.cancel(request)
            done = engine.wait(Finished, Failed, request=request)
            assert isinstance(done, Finished) and done.stop_reason in ("cancelled", "end")
        after = engine.ask("What is the capital of France?", SHORT)
        assert_same_answer(records_of(engine.seen, before.request), records_of(engine.seen, after.request))


def test_a_cancel_ends_a_load(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(load_seconds=GUARD_SECONDS))
    with Engine("scripted") as engine:
        request = engine.client.new_request()
        engine.send(Load(request, script))
        engine.cancel(request)
        assert engine.wait(Failed, request=request).kind == "cancelled"


def test_a_cancel_ends_a_prefill_and_the_cache_stays_good(starter_model: Path) -> None:
    with Engine() as engine:
        engine.load(starter_model, context=4096, threads=2, batch=64, micro_batch=64)
        before = engine.ask("What is the capital of France?", SHORT)
        request = engine.start("word " * 3000)
        engine.wait(PrefillProgress, request=request)
        engine.cancel(request)
        done = engine.wait(Finished, request=request)
        assert done.stop_reason == "cancelled"
        assert done.metrics.kv.cells_used < 3000
        after = engine.ask("What is the capital of France?", SHORT)
        assert_same_answer(records_of(engine.seen, before.request), records_of(engine.seen, after.request))


def test_a_request_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=(LONG,), tokens_per_s=100))
    with Engine("scripted") as engine:
        engine.load(script)
        running, waiting = engine.start("One"), engine.start("Two")
        engine.cancel(waiting)
        engine.cancel(running)
        assert engine.wait(Finished).request == running
        done = engine.wait(Finished)
        assert (done.request, done.stop_reason, done.text) == (waiting, "cancelled", "")


def test_a_moved_slider_reaches_the_running_answer(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(answers=(LONG,), tokens_per_s=300))
    with Engine("scripted") as engine:
        engine.load(script)
        request = engine.start("Why?", PRESETS["Balanced"])
        engine.wait(Tokens, request=request)
        engine.send(ChangeSettings(request, PRESETS["Precise"]))
        done = engine.wait(Finished, request=request)
        assert [change.settings for change in done.settings] == [PRESETS["Balanced"], PRESETS["Precise"]]
        assert 0 < done.settings[1].token < len(LONG)


def test_tokens_are_counted_while_a_prompt_is_prefilled(tmp_path: Path, starter_model: Path) -> None:
    script = write_script(tmp_path, Script(prefill_tokens_per_s=100))
    with Engine("scripted") as engine:
        engine.load(script)
        request = engine.start("x" * 2000)
        engine.wait(PromptReady, request=request)
        counted = engine.client.new_request()
        engine.send(Tokenize(counted, "four"))
        assert ids_of(engine.wait(Tokenized, request=counted).ids) == [ord(letter) for letter in "four"]
        engine.cancel(request)
        engine.wait(Finished, request=request)


def test_a_conversation_is_rendered_without_being_run(starter_model: Path) -> None:
    with Engine() as engine:
        engine.load(starter_model, context=512, threads=1)
        request = engine.client.new_request()
        prompt = ChatPrompt((PromptMessage("user", "Hi"),))
        engine.send(Render(request, prompt))
        rendered = engine.wait(Rendered, request=request)
        assert rendered.text.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
        done = engine.ask(prompt, msgspec.structs.replace(GREEDY, max_tokens=1))
        ready = next(event for event in engine.seen if isinstance(event, PromptReady))
        assert ready.ids == rendered.ids
        assert done.metrics.prompt_tokens == len(ids_of(rendered.ids))


def test_the_latest_step_comes_only_while_somebody_looks(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(tokens_per_s=200))
    with Engine("scripted") as engine:
        engine.load(script)
        engine.ask("Why?")
        assert not [event for event in engine.seen if isinstance(event, Step)]
        engine.send(Watch(True))
        done = engine.ask("Why?")
        steps = [event for event in engine.seen if isinstance(event, Step)]
        assert steps[-1].token == done.metrics.sampled_tokens - 1
        assert len(steps) < done.metrics.sampled_tokens


def test_whole_rows_come_with_every_step_only_while_somebody_wants_them(tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(tokens_per_s=60))
    with Engine("scripted") as engine:
        engine.load(script)
        for whole in (True, False):
            engine.send(Watch(True, whole))
            before = len(engine.seen)
            engine.ask("Why?")
            steps = [event for event in engine.seen[before:] if isinstance(event, Step)]
            assert len(steps) > 1
            assert [event.ids == b"" for event in steps] == [whole] * (len(steps) - 1) + [True]


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be stopped there")
def test_closing_ends_an_engine_that_reads_nothing_any_more(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        engine.load("any")
        process = psutil.Process(engine.client.process_id)
        process.suspend()
        engine.send(Tokenize(engine.client.new_request(), "x" * 2_000_000))
        engine.client.close()
        assert not process.is_running()


def test_half_a_character_is_sent_as_the_sign_for_one_that_cannot_be_read() -> None:
    with Engine("scripted") as engine:
        engine.load("any")
        request = engine.client.new_request()
        engine.send(Tokenize(request, "o\ud83dk"))
        assert bytes(ids_of(engine.wait(Tokenized, request=request).ids)).decode() == "o\ufffdk"


def test_a_long_text_without_a_break_does_not_end_the_process(tmp_path: Path) -> None:
    model = copy_with(
        write_tiny_llama(tmp_path / "plain.gguf"), tmp_path / "regex.gguf", set={"tokenizer.ggml.pre": "tekken"}
    )
    with Engine() as engine:
        engine.load(model, context=256, threads=1)
        request = engine.client.new_request()
        engine.send(Tokenize(request, "a" * 60_000))
        assert len(ids_of(engine.wait(Tokenized, request=request).ids)) > 0
        request = engine.start("a" * 60_000)
        failed = engine.wait(Failed, request=request)
        assert failed.kind == "prompt_too_long"
        assert failed.tokens is not None and failed.tokens > 256, "a context that holds it can be offered"


def test_a_template_that_writes_more_tokens_than_any_cell_is_refused_before_they_are_made(tmp_path: Path) -> None:
    model = write_tiny_llama(
        tmp_path / "tiny.gguf", chat_template="{{ '<think>' * 150000 }}{{ messages[0].content }}"
    )
    with Engine() as engine:
        engine.load(model, context=256, threads=1)
        request = engine.start("Hi")
        assert engine.wait(Failed, request=request).kind == "prompt_too_long"


def test_a_request_number_that_comes_twice_ends_both(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        engine.load("any")
        for _ in range(2):
            engine.send(Generate(77, user("Why?"), SHORT, time.perf_counter_ns()))
        assert [engine.wait(Finished).request for _ in range(2)] == [77, 77]
