"""The guards of every test catch what they are there for; a small suite that breaks each rule runs in its own pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CONFTEST = """
from tests.conftest import _no_leftovers, _no_processes_at_the_end, _no_unexpected_logs
import tests.guards
tests.guards.ENDS_BY_ITSELF_S = 0.2
"""

SUITE = """
import logging, multiprocessing, subprocess, sys, threading, time, warnings
import pytest
from PySide6.QtWidgets import QWidget

kept = []

def test_thread():
    event = threading.Event()
    kept.append(event)
    threading.Thread(target=event.wait, name="forgotten", daemon=True).start()

def test_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_spawned_process():
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True)
    child.start()
    kept.append(child)

def test_window(qtbot):
    window = QWidget()
    window.setObjectName("lost")
    window.show()
    kept.append(window)

def test_log():
    logging.getLogger("app.engine").warning("strange")

def test_warning():
    warnings.warn("old habit")

@pytest.fixture(scope="module")
def helper():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate(b"\\n")

def test_tidy(qtbot, caplog, helper):
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    subprocess.run([sys.executable, "-c", ""], check=True)
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    logging.getLogger("app.engine").warning("expected")
    assert helper.poll() is None and "expected" in caplog.text
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what pytest says about the suite that breaks the rules."""
    folder = tmp_path_factory.mktemp("careless")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_careless.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\nqt_api = pyside6\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-rA",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "no:randomly",
            folder,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("test", "sentence"),
    [
        (
            "test_thread",
            r"left behind: thread 'forgotten', started at .*test_careless\.py:\d+ in test_thread",
        ),
        ("test_process", r"left behind: process \d+, started at .*test_careless\.py:\d+ in test_process"),
        (
            "test_spawned_process",
            r"left behind: process \d+, started at .*test_careless\.py:\d+ in test_spawned_process",
        ),
        ("test_window", r"left behind: window QWidget 'lost'"),
        ("test_log", r"Logged unexpectedly: WARNING app\.engine: strange"),
    ],
)
def test_what_a_test_leaves_behind_fails_it_and_is_named(report: str, test: str, sentence: str) -> None:
    assert re.search(rf"ERROR test_careless\.py::{test}\b", report), report
    assert re.search(sentence, report), report


def test_a_warning_fails_the_test(report: str) -> None:
    assert re.search(r"FAILED test_careless\.py::test_warning\b", report), report


def test_a_tidy_test_passes(report: str) -> None:
    assert "PASSED test_careless.py::test_tidy" in report, report
    assert "ERROR test_careless.py::test_tidy" not in report, report
