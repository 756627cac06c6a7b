"""The window as a process on the scripted engine: it opens, and ends in order whatever it is doing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
GUARD_S = 60

SCRIPTS = {
    "loading": {"load_seconds": 60},
    "reading the prompt": {"prefill_tokens_per_s": 1},
    "writing": {"tokens_per_s": 20, "answers": ["word " * 4000]},
    "idle": {},
    "hanging": {"fault": "hang", "fault_at": -2},
}
STARTED = """
import psutil, sys, app.gui.application as application
from PySide6.QtCore import QTimer
make = application.make_window
wanted, way = sys.argv[2:]
def make_and_watch(program, themes):
    window = make(program, themes)
    timer = QTimer(window)
    def look():
        session, chat = program.session, program.chat
        if session.phase == 'ready' and not chat.turns and wanted not in ('idle', 'loading', 'hanging'):
            chat.send('Hello there')
        state = {
            'loading': session.phase == 'loading',
            'hanging': session.phase == 'loading',
            'idle': session.phase == 'ready',
            'reading the prompt': session.phase == 'busy',
            'writing': any(turn.state == 'writing' for turn in chat.turns),
        }
        if state[wanted] and program.engine.running:
            timer.stop()
            print('there', flush=True)
            print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
            if way == 'twice':
                sys.stdin.readline()
                window.close()
                window.close()
    timer.timeout.connect(look)
    timer.start(20)
    return window
application.make_window = make_and_watch
from app.__main__ import main
sys.argv = ['tokenlight', '--fake-engine', sys.argv[1]]
sys.exit(main())
"""


@pytest.fixture
def window(tmp_path: Path, phase: str, way: str) -> Iterator[subprocess.Popen[bytes]]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPTS[phase]), encoding="utf-8")
    main = tmp_path / "start.py"
    main.write_text(f"if __name__ == '__main__':\n    exec({STARTED!r})\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(main), str(script), phase, way],
        cwd=ROOT,
        env={**os.environ, "TOKENLIGHT_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        yield process
        process.kill()


@pytest.mark.parametrize("way", ["signal", "twice"])
@pytest.mark.parametrize("phase", SCRIPTS)
def test_closing_in_any_phase_ends_everything_in_order(
    tmp_path: Path, window: subprocess.Popen[bytes], way: str
) -> None:
    process = window
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n", process.communicate()[1].decode()
    engines = [psutil.Process(int(pid)) for pid in process.stdout.readline().split()]
    assert engines
    if way == "signal":
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(b"\n", timeout=GUARD_S)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert psutil.wait_procs(engines, timeout=GUARD_S)[1] == []
    log = tmp_path / "home" / "logs" / "tokenlight.log"
    assert not log.exists() or " WARNING " not in log.read_text(encoding="utf-8")
