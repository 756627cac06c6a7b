"""The arguments of `dev.py`: which are its own, which are passed on, and what each command needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devtools import freeze, interpreter, setup_steps, tasks
from devtools.command_line import COMMANDS, main, read
from devtools.console import Problem
from devtools.setup_steps import Request


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Return what the commands asked the set-up for; nothing is set up or run."""
    found: list[Request] = []
    monkeypatch.setattr(interpreter, "runs_inside", lambda layout: False)
    monkeypatch.setattr(setup_steps, "ensure", lambda layout, request: found.append(request))
    for name in ("run", "bench", "test", "lint"):
        monkeypatch.setattr(tasks, name, lambda *arguments: 0)
    return found


def test_pytest_gets_what_is_not_ours_in_its_order() -> None:
    options, passed_on = read(["test", "--system", "tests/core", "-k", "a or b", "-x"])
    assert options.system
    assert not options.all
    assert passed_on == ["tests/core", "-k", "a or b", "-x"]


def test_after_two_dashes_nothing_is_ours() -> None:
    options, passed_on = read(["run", "--backend", "cpu", "--", "ask", "--system", "Be brief."])
    assert options.backend == "cpu"
    assert not options.system
    assert passed_on == ["ask", "--system", "Be brief."]


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["lint", "app"], ["setup", "--backend", "tpu"], ["clean", "--all"]]
)
def test_wrong_use_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(arguments)
    assert ended.value.code == 2
    assert "usage: dev.py" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "extras", "opens_window"),
    [
        ("run", (), True),
        ("test", ("dev",), True),
        ("setup", ("dev",), False),
        ("lint", ("dev",), False),
        ("bench", ("dev",), False),
    ],
)
def test_each_command_asks_for_what_it_needs(
    requests: list[Request], command: str, extras: tuple[str, ...], opens_window: bool
) -> None:
    assert main([command]) == 0
    again = command == "setup"
    assert requests == [Request(None, extras, system=False, opens_window=opens_window, again=again)]


@pytest.mark.parametrize(
    ("typed", "passed_on"),
    [
        (["run"], []),
        (["run", "my.gguf"], ["my.gguf"]),
        (["run", "--", "ask", "Why?", "--system", "Be brief."], ["ask", "Why?", "--system", "Be brief."]),
        (["test", "-k", "a or b", "-x"], [False, "-k", "a or b", "-x"]),
        (["test", "--all", "tests/core"], [True, "tests/core"]),
        (["bench", "--json"], ["--json"]),
    ],
)
def test_what_follows_a_command_reaches_what_it_runs(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, typed: list[str], passed_on: list[str | bool]
) -> None:
    got: list[Any] = []

    def note(layout: Any, *given: Any) -> int:
        got.extend([*given[:-1], *given[-1]])
        return 3

    monkeypatch.setattr(tasks, typed[0], note)
    assert main(typed) == 3
    assert got == passed_on


def test_freezing_needs_no_tools_of_developers_and_takes_two_folders(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[Any] = []

    def note(layout: Any, *given: Any) -> int:
        got.append(given)
        return 0

    monkeypatch.setattr(freeze, "run", note)
    assert main(["freeze"]) == 0
    assert main(["freeze", "--output", "out", "--libraries", "lib"]) == 0
    assert requests == [Request(None, (), system=False, opens_window=False)] * 2
    assert got == [(None, None), (Path("out"), Path("lib"))]


def test_cleaning_sets_nothing_up(requests: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "clean", lambda layout, models: 0)
    assert main(["clean", "--models"]) == 0
    assert requests == []


def test_a_problem_is_said_without_a_traceback(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(layout: Any, request: Request) -> None:
        raise Problem("The disk is full: free some space.")

    monkeypatch.setattr(setup_steps, "ensure", fail)
    assert main(["setup"]) == 1
    assert capsys.readouterr().err == "The disk is full: free some space.\n"


def test_an_interrupt_is_an_exit_code_and_a_sentence(
    requests: list[Request], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(layout: Any, request: Request) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(setup_steps, "ensure", interrupt)
    assert main(["setup"]) == 130
    assert "Stopped" in capsys.readouterr().err


def test_the_environments_own_python_hands_over_to_the_one_that_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(interpreter, "runs_inside", lambda layout: True)
    monkeypatch.setattr(interpreter, "base_python", lambda: Path("/usr/bin/python3"))

    def call(command: list[str]) -> int:
        called.append(command)
        return 7

    monkeypatch.setattr("devtools.command_line.subprocess.call", call)
    assert main(["test", "-x"]) == 7
    assert called[0][0] == str(Path("/usr/bin/python3"))
    assert called[0][2:] == ["test", "-x"]


def test_every_command_has_a_description() -> None:
    assert {"run", "test", "setup", "bench", "lint", "clean", "desktop", "freeze", "gpu-pack"} == set(COMMANDS)
