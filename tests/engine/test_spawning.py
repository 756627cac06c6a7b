"""A started process inherits no secret and no ear for Ctrl+C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from app.engine.spawning import SECRETS, guarded_start

TELL = """
import os, signal
print(sorted(name for name in os.environ if name in %r))
print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals have no masks there")
def test_secrets_and_interrupts_stay_outside_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    with guarded_start():
        child = subprocess.Popen([sys.executable, "-c", TELL % (SECRETS,)], stdout=subprocess.PIPE, text=True)
    told, _ = child.communicate()
    assert told.split("\n")[:2] == ["[]", "True"]
    assert os.environ["HF_TOKEN"] == "secret"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_two_starts_at_once_keep_the_secrets_out_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    entered, left, seen = threading.Event(), threading.Event(), []

    def start() -> None:
        with guarded_start():
            entered.set()
            left.wait()
            seen.append(os.environ.get("HF_TOKEN"))

    second = threading.Thread(target=start)
    with guarded_start():
        second.start()
        assert not entered.wait(0.2), "two processes start at once"
    left.set()
    second.join()
    assert seen == [None]
    assert os.environ["HF_TOKEN"] == "secret"
