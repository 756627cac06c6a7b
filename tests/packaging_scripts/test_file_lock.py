"""The lock between processes: one holder at a time, free again however its holder ends."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from devtools import file_lock

PACKAGING = Path(file_lock.__file__).parents[1]
HOLD = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from devtools import file_lock
with file_lock.held(Path(sys.argv[2]), lambda: None):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(PACKAGING), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_waits_and_is_told_so(tmp_path: Path) -> None:
    path, entered, told = tmp_path / "x.lock", threading.Event(), threading.Event()

    def enter() -> None:
        with file_lock.held(path, told.set):
            entered.set()

    with holder(path) as process:
        thread = threading.Thread(target=enter)
        thread.start()
        assert told.wait(30)
        assert not entered.is_set()
        process.communicate()
    thread.join(30)
    assert entered.is_set()


def test_a_killed_holder_leaves_the_lock_free(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with holder(path) as process:
        process.kill()
        process.communicate()
    told: list[str] = []
    with file_lock.held(path, lambda: told.append("waiting")):
        assert told == []


def test_a_free_lock_is_had_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.lock"
    for _ in range(3):
        with file_lock.held(path, lambda: None):
            assert path.exists()
