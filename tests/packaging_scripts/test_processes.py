"""Other programs: their outcome, their log, their exit codes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from devtools.processes import attached, logged, quiet


def test_a_quiet_program_gives_its_code_and_both_streams() -> None:
    done = quiet([sys.executable, "-c", "import sys; print('out'); sys.stderr.write('err'); sys.exit(3)"])
    assert (done.code, done.ok) == (3, False)
    assert "out" in done.output
    assert "err" in done.output


def test_a_missing_program_is_an_outcome_not_an_error() -> None:
    assert quiet(["no-such-program"]).code == 127


def test_a_program_that_hangs_is_an_outcome_too() -> None:
    done = quiet([sys.executable, "-c", "import threading; threading.Event().wait(600)"], timeout_s=0.2)
    assert done.code == 124
    assert "no answer" in done.output


def test_a_logged_program_keeps_every_line(tmp_path: Path) -> None:
    log, seen = tmp_path / "logs" / "x.log", list[str]()
    done = logged([sys.executable, "-c", "print('one'); print('zwei ü')"], log, seen.append)
    assert done.ok
    assert seen == ["one", "zwei ü"]
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("$ ")
    assert lines[1:] == seen


def test_an_interrupt_ends_the_program_and_keeps_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    program = "print('begun', flush=True)\nimport threading\nthreading.Event().wait(600)"
    with pytest.raises(KeyboardInterrupt):
        logged([sys.executable, "-c", program], log, interrupt)
    assert "begun" in log.read_text(encoding="utf-8")


def test_an_attached_program_gives_its_exit_code(tmp_path: Path) -> None:
    assert attached([sys.executable, "-c", "import sys; sys.exit(5)"], tmp_path) == 5
