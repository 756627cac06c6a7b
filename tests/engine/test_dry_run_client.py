"""Dry runs in processes of their own: what a hostile file may do there, and that nothing stays behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from app.core.commands import MeasureMemory
from app.core.devices import Device
from app.core.events import PROTOCOL_VERSION, EngineGone, Failed, FailureKind, Hello
from app.core.library_fault import LibraryFault
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.core.words import translate
from app.engine.client import EngineClient
from app.engine.dry_run_client import MOST_IDLE
from app.engine.entry import BACKGROUND_NICENESS, LIBRARY_MISSING
from app.engine.incarnation import BackendKind
from app.engine.scripted import Script
from tests.engine.dry_runs import LONG, Make, Runs
from tests.engine.harness import GUARD_SECONDS, Engine, write_script
from tests.ggufs import copy_with, write_tiny_llama, write_tiny_mixture


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Runs] = []

    def new(backend: BackendKind = "llama", **seconds: float) -> Runs:
        made.append(Runs(backend, **seconds))
        return made[-1]

    yield new
    for runs in made:
        runs.client.close()


def script(folder: Path, name: str, **fields: object) -> str:
    (folder / name).mkdir()
    return write_script(folder / name, Script(**fields))  # type: ignore[arg-type]


def test_a_model_is_measured_while_another_process_answers(make: Make, starter_model: Path, tmp_path: Path) -> None:
    runs = make()
    with Engine() as engine:
        engine.load(starter_model, context=512, threads=1)
        question = engine.start("Count to a hundred.")
        found = runs.measured(starter_model, context=8192)
        assert found.path == str(starter_model)
        assert found.context == 8192 and found.layers == 30
        assert [use.kv for use in found.memory] == [180 << 20]
        assert found.options == LoadOptions(context=8192)
        assert found.devices[0].kind == "cpu"
        engine.cancel(question)


def test_one_process_serves_a_file_and_ends_when_nobody_asks_any_more(make: Make, tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf")
    runs = make(keep_seconds=LONG)
    runs.measured(path, context=256)
    (process,) = runs.client.process_ids
    runs.measured(path, context=512)
    assert runs.client.process_ids == (process,)

    short = make(keep_seconds=0.02)
    short.measured(path, context=256)
    assert short.gone() == str(path)
    assert short.client.process_ids == ()
    assert short.measured(path, context=512).context == 512


def test_every_file_has_its_own_process_and_few_wait_for_more(make: Make, tmp_path: Path) -> None:
    runs = make("scripted", keep_seconds=LONG)
    paths = [script(tmp_path, f"script-{number}") for number in range(MOST_IDLE + 1)]
    for path in paths:
        runs.measured(path)
    assert runs.gone() == paths[0]
    assert len(set(runs.client.process_ids)) == MOST_IDLE


def test_a_file_that_breaks_llama_cpp_costs_a_sentence_about_it(make: Make, tmp_path: Path) -> None:
    mixture = write_tiny_mixture(tmp_path / "fine.gguf")
    odd_groups = {"llama.expert_group_count": 3, "llama.expert_gating_func": 2}
    hostile = copy_with(mixture, tmp_path / "hostile.gguf", set=odd_groups)
    runs = make()
    failed = runs.failed(hostile)
    assert failed.kind == "model"
    assert "“hostile.gguf”" in failed.sentence.english()
    assert "SIGABRT" in failed.sentence.english()
    assert runs.measured(mixture, context=256).context == 256


def test_a_death_fails_every_open_question_about_that_file_alone(make: Make, tmp_path: Path) -> None:
    runs = make("scripted")
    hanging = script(tmp_path, "hanging", fault="hang", fault_at=-2)
    fine = script(tmp_path, "fine")
    requests = {runs.ask(hanging), runs.ask(hanging)}
    assert runs.begun.get(timeout=GUARD_SECONDS) == hanging
    runs.measured(fine)
    process = runs.process(fine)
    psutil.Process(runs.process(hanging)).kill()
    answers = [runs.answer(), runs.answer()]
    assert {answer.request for answer in answers} == requests
    assert all(isinstance(answer, Failed) and "SIGKILL" in answer.sentence.english() for answer in answers)
    assert runs.gone() == hanging
    assert runs.measured(fine).path == fine
    assert runs.client.process_ids == (process,)


def test_a_file_that_never_ends_is_given_up(make: Make, tmp_path: Path) -> None:
    runs = make("scripted", longest_seconds=0.5)
    failed = runs.failed(script(tmp_path, "hanging", fault="hang", fault_at=-2))
    assert failed.kind == "engine"
    assert "nobody knows what it takes" in failed.sentence.english()
    assert runs.client.process_ids == ()


def test_a_file_that_is_not_there_is_a_sentence(make: Make, tmp_path: Path) -> None:
    failed = make().failed(tmp_path / "nothing.gguf")
    assert "nothing.gguf" in failed.sentence.english()


def test_closing_leaves_no_process_and_takes_no_more_questions(make: Make, tmp_path: Path) -> None:
    runs = make("scripted")
    hanging = script(tmp_path, "hanging", fault="hang", fault_at=-2)
    runs.ask(hanging)
    fine = script(tmp_path, "fine")
    runs.measured(fine)
    processes = runs.client.process_ids
    runs.client.close()
    assert {runs.gone(), runs.gone()} == {hanging, fine}
    assert not any(psutil.pid_exists(process) for process in processes)
    assert runs.client.process_ids == ()
    answer = runs.answer()
    assert isinstance(answer, Failed) and answer.kind == "cancelled"
    runs.ask(hanging)
    runs.client.close()
    assert runs.inbox.empty()


def test_a_kill_that_is_seen_before_the_end_of_closing_is_a_cancel_too(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = make("scripted")
    runs.ask(script(tmp_path, "hanging", fault="hang", fault_at=-2))
    runs.begun.get(timeout=GUARD_SECONDS)
    kill = EngineClient.kill

    def kill_and_wait(this: EngineClient) -> None:
        kill(this)
        runs.gone()

    monkeypatch.setattr(EngineClient, "kill", kill_and_wait)
    runs.client.close()
    answer = runs.answer()
    assert isinstance(answer, Failed) and answer.kind == "cancelled"


def test_a_script_tells_memory_for_windows_tests(make: Make, tmp_path: Path) -> None:
    memory = (DeviceMemory("CUDA0", 5 << 30, 1 << 30, None),)
    found = make("scripted").measured(script(tmp_path, "gpu", memory=memory, gpu_layers=21))
    assert found.memory == memory
    assert found.options.gpu_layers == 21


@pytest.mark.parametrize(
    ("greeted", "code", "fault", "kind", "words"),
    [
        (True, -6, None, "model", "damaged or made to do harm"),
        (True, -11, None, "model", "damaged or made to do harm"),
        (True, -8, None, "model", "damaged or made to do harm"),
        (True, 0xC0000005, None, "model", "damaged or made to do harm"),
        (True, -9, None, "engine", "nobody knows what it takes"),
        (True, 0, None, "engine", "nobody knows what it takes"),
        (False, -11, None, "engine", "The engine said so."),
        (True, -11, LibraryFault("processor"), "engine", "The engine said so."),
        (True, LIBRARY_MISSING, None, "engine", "The engine said so."),
    ],
)
def test_only_a_breakdown_of_a_process_that_was_up_speaks_against_its_file(
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
    greeted: bool,
    code: int,
    fault: LibraryFault | None,
    kind: FailureKind,
    words: str,
) -> None:
    sent: list[object] = []
    monkeypatch.setattr(EngineClient, "send", lambda _client, command: sent.append(command))
    runs = make("scripted")
    request = runs.ask("some.gguf")
    assert [type(command) for command in sent] == [MeasureMemory]
    run = runs.client._runs["some.gguf"]
    if greeted:
        runs.client.take(run, Hello(PROTOCOL_VERSION, 1, 0, ()))
    said = translate("Test", "The engine said so.")
    runs.client.take(run, EngineGone(code, (request,), said, ("a line",), fault))
    failed = runs.answer()
    assert isinstance(failed, Failed)
    assert (failed.request, failed.kind, failed.details) == (request, kind, ("a line",))
    assert words in failed.sentence.english()


def test_the_details_of_a_death_are_of_that_file_alone(make: Make, tmp_path: Path) -> None:
    runs = make("scripted")
    failed = {}
    asked = {runs.ask(script(tmp_path, name, fault="abort", fault_at=-2)): name for name in ("one", "two")}
    for _ in asked:
        answer = runs.answer()
        assert isinstance(answer, Failed)
        failed[answer.request] = answer.details
    for details in failed.values():
        assert sum("Fatal Python error" in line for line in details) == 1
    logs = [Path(run.log_path) for run in runs.client._runs.values()]
    assert len(set(logs)) == 2 and all(log.is_file() for log in logs)
    runs.client.close()
    assert not any(log.exists() for log in logs)


def test_a_process_that_nobody_asks_again_ends_with_its_answer(make: Make, tmp_path: Path) -> None:
    runs = make("scripted", keep_seconds=LONG)
    fine = script(tmp_path, "fine")
    runs.measured(fine)
    assert runs.client.process_ids
    runs.keep = False
    runs.measured(fine)
    assert runs.gone() == fine
    assert runs.client.process_ids == ()


@pytest.mark.skipif(os.name == "nt", reason="there are classes of priority there")
def test_a_dry_run_leaves_the_processor_to_the_engine(make: Make, tmp_path: Path) -> None:
    runs = make("scripted", keep_seconds=LONG)
    fine = script(tmp_path, "fine")
    runs.measured(fine)
    most = 19
    expected = min(most, psutil.Process().nice() + BACKGROUND_NICENESS)
    assert psutil.Process(runs.process(fine)).nice() == expected


def test_the_same_question_is_answered_without_a_process_as_long_as_the_file_is_the_same(
    make: Make, tmp_path: Path
) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf")
    os.utime(path, (1_000_000, 1_000_000))
    runs = make(keep_seconds=0.02)
    first = runs.measured(path, context=256)
    assert runs.gone() == str(path)
    again = runs.measured(path, context=256)
    assert again == msgspec.structs.replace(first, request=again.request)
    assert runs.begun.qsize() == 1 and runs.client.process_ids == ()
    assert runs.measured(path, context=512).context == 512
    assert runs.gone() == str(path)
    write_tiny_llama(path, layers=3)
    os.utime(path, (1_000_000, 2_000_000))
    assert runs.measured(path, context=256).layers == 3
    assert runs.begun.qsize() == 3


def test_with_a_gpu_only_sizes_are_said_again_without_a_process(make: Make, tmp_path: Path) -> None:
    gpu = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 << 30, 20 << 30)
    path = script(tmp_path, "gpu", memory=(DeviceMemory("CUDA0", 5 << 30, 1 << 30, None),), devices=(gpu,))
    os.utime(path, (1_000_000, 1_000_000))
    runs = make("scripted", keep_seconds=0.02)
    for sizes_only, begun in ((False, 1), (False, 2), (True, 2)):
        runs.sizes_only = sizes_only
        assert runs.measured(path).devices == (gpu,)
        assert sizes_only or runs.gone() == path
        assert runs.begun.qsize() == begun


def test_an_answer_about_a_file_that_was_just_changed_is_not_kept(make: Make, tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf")
    os.utime(path, (1 << 33, 1 << 33))
    runs = make(keep_seconds=0.02)
    for _ in range(2):
        runs.measured(path, context=256)
        assert runs.gone() == str(path)
    assert runs.begun.qsize() == 2
