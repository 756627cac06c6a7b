"""A started process inherits no secret and no ear for Ctrl+C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

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
