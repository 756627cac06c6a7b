"""A window is started while one is open: the first comes to the front, and the later one ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.system.instance import ADDRESS_NAME, Instance
from tests.e2e.program import GUARD_SECONDS, Program, is_one_plain_sentence
from tests.ggufs import write_tiny_llama

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a window is closed by a signal here")


def until(is_so: Callable[[], object], *lives: subprocess.Popen[str]) -> None:
    """Wait until something is so, while these windows are open."""
    waited = threading.Event()
    for _ in range(int(GUARD_SECONDS * 50)):
        if is_so():
            return
        for window in lives:
            assert window.poll() is None, window.communicate()
        waited.wait(0.02)
    raise AssertionError("it never came to that")


def last_model(home: Path) -> str:
    with contextlib.suppress(OSError):
        return str(json.loads((home / "settings.json").read_bytes()).get("last_model", ""))
    return ""


def close(window: subprocess.Popen[str]) -> tuple[int, str]:
    """Close a window as the session does when somebody logs out."""
    window.send_signal(signal.SIGTERM)
    _, errors = window.communicate(timeout=GUARD_SECONDS)
    return window.returncode, errors


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_tiny_llama(tmp_path / "tiny.gguf")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return write_tiny_llama(tmp_path / "other.gguf", seed=2)


@pytest.fixture
def window(home: Path, model: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a window that has a model."""
    with Program(home).start(str(model)) as process:
        try:
            until(lambda: last_model(home) == str(model), process)
            yield process
        finally:
            process.kill()


def test_a_later_start_ends_at_once_without_qt_and_hands_its_model_to_the_window(
    home: Path, window: subprocess.Popen[str], other: Path
) -> None:
    later = Program(home).run(str(other), PYTHONPROFILEIMPORTTIME="1")
    assert later.returncode == 0
    assert "app.system.instance" in later.stderr and "PySide6" not in later.stderr
    until(lambda: last_model(home) == str(other), window)
    assert close(window) == (0, "")


def test_a_window_that_was_killed_bars_nobody(home: Path, window: subprocess.Popen[str], other: Path) -> None:
    window.kill()
    window.wait()
    with Program(home).start(str(other)) as again:
        until(lambda: last_model(home) == str(other), again)
        assert close(again) == (0, "")


def test_of_five_starts_at_once_one_window_stays(home: Path, model: Path) -> None:
    with contextlib.ExitStack() as stack:
        starts = [stack.enter_context(Program(home).start(str(model))) for _ in range(5)]
        until(lambda: sum(start.poll() is not None for start in starts) == 4)
        (stays,) = (start for start in starts if start.poll() is None)
        gone = [(start.returncode, start.communicate()[1]) for start in starts if start is not stays]
        until(lambda: last_model(home) == str(model), stays)
        assert gone == [(0, "")] * 4
        assert close(stays) == (0, "")


def test_a_window_that_is_closed_and_started_again_at_once_opens_again(
    home: Path, window: subprocess.Popen[str], other: Path
) -> None:
    window.send_signal(signal.SIGTERM)
    until(lambda: not (home / ADDRESS_NAME).exists())
    with Program(home).start(str(other)) as again:
        until(lambda: last_model(home) == str(other), again)
        assert window.wait(GUARD_SECONDS) == 0
        assert close(again) == (0, "")


def test_a_window_that_hangs_is_told_in_a_sentence(home: Path, window: subprocess.Popen[str]) -> None:
    window.send_signal(signal.SIGSTOP)
    later = Program(home).run()
    window.send_signal(signal.SIGCONT)
    assert later.returncode == 2
    assert "does not answer" in later.stderr and is_one_plain_sentence(later.stderr)


def test_windows_of_two_homes_stand_side_by_side(
    home: Path, window: subprocess.Popen[str], model: Path, tmp_path: Path
) -> None:
    second_home = tmp_path / "second"
    with Program(second_home).start(str(model)) as second:
        until(lambda: last_model(second_home) == str(model), second)
        assert close(second) == (0, "")
    assert window.poll() is None


def test_commands_need_no_window_to_be_closed(home: Path) -> None:
    held = Instance(home)
    assert held.acquire()
    held.hang_up()
    done = Program(home).run("models")
    held.close()
    assert (done.returncode, done.stderr) == (0, "")
