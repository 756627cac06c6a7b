"""Stop, with the real engine: it ends what it does in every phase, and then does nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.remote_window import GUARD_SECONDS, RemoteWindow

READY = "program.session.phase == 'ready'"
DONE = "not program.chat.busy"
LONG = "Write a very long story about a lighthouse keeper, with every detail. "
LOOK_S = 0.05


@pytest.fixture
def window(tmp_path: Path, starter_model: Path) -> Iterator[RemoteWindow]:
    with RemoteWindow(tmp_path / "home", str(starter_model)) as opened:
        opened.until(READY)
        opened.ask("program.sampling.use_preset('Greedy')")
        yield opened


def states(process: psutil.Process) -> set[str]:
    """Return what the threads of a process do."""
    return {psutil.Process(thread.id).status() for thread in process.threads()}


@pytest.mark.skipif(not psutil.LINUX, reason="only there a thread's state is told")
@pytest.mark.parametrize("phase", ["waiting", "writing"])
def test_after_a_stop_every_thread_of_the_engine_sleeps(window: RemoteWindow, phase: str) -> None:
    window.sends(LONG * (20 if phase == "waiting" else 1))
    window.until(f"program.chat.turns and program.chat.turns[-1].state == {phase!r}")
    window.clicks("stop_button")
    window.until(DONE)
    shown, engine, pause = window.turns(), window.engine, threading.Event()
    # What OpenMP's threads wait for they look for busily at first.
    for _ in range(int(GUARD_SECONDS / LOOK_S)):
        if states(engine) == {psutil.STATUS_SLEEPING}:
            break
        pause.wait(LOOK_S)
    assert states(engine) == {psutil.STATUS_SLEEPING}
    assert window.turns() == shown
    assert not window.ask("[n.level for n in [program.notices.latest] if n and n.level == 'error']")
    assert window.close() == (0, "")
