"""The command that downloads, in a process of its own without a terminal: to the end, stopped, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hub.download_hub import DownloadHub

ROOT = Path(__file__).resolve().parents[2]
CONTENT = b"GGUF" + bytes(range(256)) * 8_000
HALF = len(CONTENT) // 2


def start(hub: DownloadHub, home: Path, name: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.Popen(
        [sys.executable, "-m", "app", "models", "download", name],
        cwd=ROOT,
        env={**environment, "HF_ENDPOINT": hub.endpoint, "TOKENLIGHT_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_stopped_or_killed_goes_on_with_the_same_command(tmp_path: Path, how: signal.Signals) -> None:
    with DownloadHub({"tiny.Q8_0.gguf": CONTENT}) as hub:
        hub.hang_at = HALF
        stopped = start(hub, tmp_path, "org/tiny-GGUF:Q8_0")
        assert hub.at_hold.wait(30)
        goal = tmp_path / "models" / "org" / "tiny-GGUF" / "tiny.Q8_0.gguf"
        part = goal.with_name(goal.name + ".part")
        while not part.exists() or part.stat().st_size < HALF:
            assert stopped.poll() is None
        stopped.send_signal(how)
        _, said = stopped.communicate(timeout=30)
        if how == signal.SIGINT:
            assert stopped.returncode == 130 and "the same command goes on from there" in said
        assert not goal.exists()
        hub.hang_at = None
        done = start(hub, tmp_path, "org/tiny-GGUF:Q8_0")
        out, said = done.communicate(timeout=30)
        assert (done.returncode, out) == (0, f"{goal}\n"), said
        assert goal.read_bytes() == CONTENT and hub.ranges()[-1] == f"bytes={HALF}-"
        assert hub.delivered == len(CONTENT)
        unknown = start(hub, tmp_path, "org/tiny-GGUF:Q2_K")
        assert "holds no “Q2_K”" in unknown.communicate(timeout=30)[1] and unknown.returncode == 2
