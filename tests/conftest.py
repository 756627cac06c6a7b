"""What every test stands on: a home of its own, no window on a screen, no leftovers, no unexpected log records.

A test that expects log records asks for `caplog` and asserts on them; everything else that is logged as a warning fails.
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import examples
from tests.guards import Leaks, Origins, UnexpectedLogs, end_processes

ROOT = Path(__file__).resolve().parents[1]
STARTER_MODEL = ROOT / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
# Set before anything of Qt or of the application is imported; child processes inherit it.
HOME = tempfile.mkdtemp(prefix="tokenlight-tests-")
os.environ["TOKENLIGHT_HOME"] = HOME
os.environ["TOKENLIGHT_OWN_MODELS_ONLY"] = "1"  # what other programs keep here is nobody's test
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("HF_TOKEN", None)
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"  # never that of whoever runs the tests
# Hundreds of processes are started here: what they import is compiled once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Several engines share the cores here: one that spins while it waits would only slow the others down.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# None may claim a core either: what evaluates in a test's own process would bind that, and all that it starts.
os.environ.setdefault("OMP_PROC_BIND", "false")

# No example may fail for being slow on a busy machine; CI runs the same examples every time.
settings.register_profile(
    "tokenlight",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tokenlight")

ORIGINS = Origins()
ORIGINS.watch()


def pytest_configure(config: pytest.Config) -> None:
    """Try every example only where the slow tests run, too."""
    examples.keep_one_in(3 if config.option.markexpr == "not slow" else 1)


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later look for garbage: thousands of tests, which stay to the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Remove the home of these tests."""
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _no_processes_at_the_end() -> Iterator[None]:
    """Fail the run if a process that a wider fixture started outlives that fixture."""
    yield
    left = end_processes(ORIGINS.processes)
    if left:
        pytest.fail("The session left behind: " + "; ".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _no_leftovers() -> Iterator[None]:
    """Fail a test that leaves a thread, a child process or a window behind, and say where it came from."""
    leaks = Leaks(ORIGINS)
    yield
    left = leaks.found()
    if left:
        pytest.fail("The test left behind: " + "; ".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _no_unexpected_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which a warning was logged that it did not ask for."""
    handler = UnexpectedLogs()
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)
    if handler.lines and "caplog" not in request.fixturenames:
        pytest.fail("Logged unexpectedly: " + "; ".join(handler.lines), pytrace=False)


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """Return the real model that engine tests and stories run on."""
    if not STARTER_MODEL.is_file():
        pytest.fail("The starter model is missing: run `python3 packaging/dev.py setup`.", pytrace=False)
    return STARTER_MODEL
