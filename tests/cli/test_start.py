"""The start of the program where parts of its surroundings are missing."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_stories import GUARD_S, ROOT, environment

__all__ = ["environment"]

MISSING = (
    "A part of Tokenlight is missing ({name}): run `python3 packaging/dev.py setup`, then `.venv/bin/tokenlight`.\n"
)


def in_python(environment: dict[str, str], code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=GUARD_S,
        check=False,
    )


@pytest.mark.parametrize("words", [[], ["--version"], ["models"]])
def test_a_python_without_the_dependencies_is_one_sentence(environment: dict[str, str], words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "app", *words],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=GUARD_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == MISSING.format(name="msgspec")


@pytest.mark.parametrize("name", ["psutil", "platformdirs"])
@pytest.mark.parametrize("words", [[], ["models"]])
def test_any_part_that_is_missing_is_named(environment: dict[str, str], name: str, words: list[str]) -> None:
    code = (
        f"import sys; sys.modules[{name!r}] = None; sys.argv = ['tokenlight', *{words}]\n"
        "from app.__main__ import main; sys.exit(main())"
    )
    done = in_python(environment, code)
    assert (done.returncode, done.stderr) == (2, MISSING.format(name=name))


def test_an_error_that_nobody_expected_needs_no_dependency_to_be_told(environment: dict[str, str]) -> None:
    code = (
        "import sys, app.__main__ as start\n"
        "def broken(words): sys.modules['msgspec'] = None; raise ZeroDivisionError\n"
        "start._run = broken; sys.exit(start.main())"
    )
    done = in_python(environment, code)
    assert (done.returncode, done.stderr) == (2, MISSING.format(name="msgspec"))


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "<&-"])
def test_standard_files_that_are_closed_are_never_the_engines_pipes(
    environment: dict[str, str], model: Path, closed: str
) -> None:
    command = f"{shlex.quote(sys.executable)} -m app ask Hi --json --fake-engine --model {shlex.quote(str(model))}"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {closed}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        timeout=GUARD_S,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "finished"


@pytest.mark.parametrize("closed", [(0, 1, 2), (2,), (0, 2)])
def test_the_numbers_of_standard_files_are_taken_first(environment: dict[str, str], closed: tuple[int, ...]) -> None:
    code = (
        f"import os, app.__main__ as start\nfor n in {closed}: os.close(n)\n"
        "start._run = lambda _words: int(all(map(os.get_inheritable, range(3))) and os.open(os.devnull, 0) > 2)\n"
        "os._exit(start.main() + 40)"
    )
    assert in_python(environment, code).returncode == 41
