"""The command `doctor` on this machine, and on builds of llama.cpp that cannot run here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.bootstrap import Options, assemble
from app.cli.doctor import run_doctor
from app.cli.terminal import Terminal
from app.core.commands import Command, ListDevices
from app.core.events import DevicesListed, Event, Unloaded
from app.core.library_fault import FOLDER_VARIABLE
from app.core.ports import EnginePort
from app.engine.client import EngineClient
from app.engine.dry_run_client import DryRunClient
from app.services.program import Program
from app.system.gpus import fault_report
from tests import broken_libraries
from tests.broken_libraries import Break, needs_linux, real_folder
from tests.cli.conftest import CommandLine
from tests.cli.test_stories import GUARD_S, ROOT, environment, run
from tests.services.surroundings_of_tests import LIBRARY, PROCESSOR, healthy

__all__ = ["environment"]
SET_UP, UNSET = "python3 packaging/dev.py setup", "unset LLAMA_CPP_LIB_PATH"


def test_this_machine_works_and_says_what_it_has(environment: dict[str, str]) -> None:
    done = run(environment, "doctor")
    told = done.stdout.decode("utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    for part in (
        "Program",
        "Processor and memory",
        "llama.cpp",
        "Graphics processors",
        "Window",
        "Files",
        "Findings",
    ):
        assert f"\n{part}\n" in f"\n{told}"
    assert "  backends" in told
    assert "  platform  offscreen" in told
    assert "problem" not in told
    assert not Path(environment["TOKENLIGHT_HOME"], "settings.json").exists()


def test_json_is_one_object_with_the_figures(environment: dict[str, str]) -> None:
    done = run(environment, "doctor", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["engine_works"], found["exit_code"]) == (True, 0)
    assert "CPU" in found["engine"]["library"]["backends"]
    assert found["engine"]["shares_clock"] is True
    assert found["memory"]["total"] > 0
    assert found["qt"]["platform"] == "offscreen"
    assert {"section", "state", "sentence", "command", "reason"} == set(found["findings"][0])
    assert found["gpus"]["fault"] is None or isinstance(found["gpus"]["reason"], str)


def test_it_runs_where_qt_cannot_be_loaded(environment: dict[str, str], tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "PySide6"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libEGL.so.1: cannot open shared object file')\n")
    environment["PYTHONPATH"] = os.pathsep.join([str(broken.parent), str(ROOT)])
    done = run(environment, "doctor")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "problem  The window cannot open" in done.stdout.decode("utf-8")


@needs_linux
@pytest.mark.parametrize(
    ("broken", "words", "command"),
    [
        (broken_libraries.without_driver, "driver is missing on this machine (libcuda.so.1)", SET_UP),
        (broken_libraries.without_runtime, "libraries of CUDA are missing on this machine", SET_UP),
        (broken_libraries.without_dependency, "libtokenlight-absent.so.3", SET_UP),
        (broken_libraries.without_part, "LLAMA_CPP_LIB_PATH points to", UNSET),
        (broken_libraries.truncated, "where there is no usable llama.cpp", UNSET),
        (broken_libraries.illegal, "built for another processor", SET_UP),
    ],
)
def test_a_build_that_cannot_run_is_one_problem_with_its_command(
    environment: dict[str, str], tmp_path: Path, broken: Break, words: str, command: str
) -> None:
    environment[FOLDER_VARIABLE] = str(broken(tmp_path / "lib"))
    done = run(environment, "doctor")
    told = done.stdout.decode("utf-8")
    assert (done.returncode, done.stderr) == (4, b"")
    problem = told[told.index("\n  problem") :]
    assert words in problem
    assert f"\n           {command}\n" in problem
    assert "does not start" in told
    if broken is not broken_libraries.illegal:  # whose process ends before it can tell
        assert f"  libraries  {tmp_path / 'lib'}\n" in told


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder of Linux, and Qt takes X11 there")
def test_a_home_and_a_screen_that_are_not_there_are_named(environment: dict[str, str]) -> None:
    environment.update(TOKENLIGHT_HOME="/proc/tokenlight", DISPLAY=":65000")
    environment.pop("QT_QPA_PLATFORM", None)
    environment.pop("WAYLAND_DISPLAY", None)
    done = run(environment, "doctor")
    told = done.stdout.decode("utf-8")
    assert done.returncode == 0
    assert "Nothing can be kept in /proc/tokenlight, which TOKENLIGHT_HOME names" in told
    assert "\n           unset TOKENLIGHT_HOME\n" in told
    assert "are free for models" not in told
    assert "put a .gguf file" not in told
    assert "DISPLAY names “:65000”, where no screen answers" in told
    assert "  platform  none that starts\n" in told


@pytest.fixture
def with_plain_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Program]]:
    """Return what makes a program with the real libraries to fall back on."""
    monkeypatch.setenv("TOKENLIGHT_HOME", str(tmp_path / "home"))
    made: list[Program] = []

    def engine(sink: Callable[[Event], None], log: str) -> EnginePort:
        return EngineClient(sink, log_path=log, plain_folder=str(real_folder()))

    def make() -> Program:
        made.append(assemble(Options(), engine, DryRunClient))
        return made[-1]

    yield make
    for program in made:
        program.stop()


@needs_linux
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (
            broken_libraries.without_driver,
            "The CUDA build of llama.cpp cannot run here because its driver is missing",
        ),
        (broken_libraries.illegal, "uses instructions that this one lacks; a plain build is used instead"),
        (broken_libraries.truncated, "a plain build for the processor is used instead"),
    ],
)
def test_a_plain_build_that_stands_in_is_a_note_and_the_program_works(
    with_plain_build: Callable[[], Program],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    broken: Break,
    words: str,
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(broken(tmp_path / "lib")))
    assert run_doctor(with_plain_build(), Terminal(), as_json=False) == 0
    told = capsys.readouterr().out
    assert "\n  note     " in told
    assert words in told
    assert f"libraries         {real_folder()}" in told


def test_an_engine_that_says_nothing_is_ended_after_the_limit(line: CommandLine) -> None:
    program, engine = line.desk.program, line.desk.engine
    engine.close = lambda: engine.say(Unloaded())  # type: ignore[method-assign]
    assert run_doctor(program, Terminal(), as_json=False, limit_seconds=0.01) == 4


def test_findings_are_aligned_with_their_commands(line: CommandLine) -> None:
    def answer(command: Command) -> None:
        if isinstance(command, ListDevices):
            line.desk.engine.say(DevicesListed(command.request, LIBRARY, (PROCESSOR,)))

    line.desk.engine.on_command = answer
    assert line.run("doctor") == 0
    assert "\nFindings\n" in line.out
    assert "\n  ok       No GPU" in line.out or "\n  note     No GPU" in line.out
    assert line.run("doctor", "--json") == 0
    answered: Any = line.lines()[0]
    assert answered["engine"]["library"]["instead"] is None


def test_both_sentences_of_a_finding_are_read(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(command: Command) -> None:
        if isinstance(command, ListDevices):
            line.desk.engine.say(DevicesListed(command.request, LIBRARY, (PROCESSOR,)))

    around = msgspec.structs.replace(healthy(), gpus=fault_report("driver_mismatch"))
    monkeypatch.setattr(line.desk.program.doctor, "look_around", lambda: around)
    line.desk.engine.on_command = answer
    assert line.run("doctor") == 0
    assert "\n  note     No GPU is used. NVIDIA's driver was updated while it was running." in line.out


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")
def test_an_interrupt_ends_it_quietly(environment: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from app.services.doctor import Doctor; from app.__main__ import main\n"
        "begin = Doctor.begin\n"
        f"def interrupted(self): begin(self); os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "Doctor.begin = interrupted; sys.argv = ['tokenlight', 'doctor']\n"
        "if __name__ == '__main__': sys.exit(main())\n"
    )
    script = tmp_path / "interrupted.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, env=environment, capture_output=True, timeout=GUARD_S, check=False
    )
    assert (done.returncode, done.stderr) == (130, b"")
