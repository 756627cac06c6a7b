"""The command that downloads, in a process of its own without a terminal: to the end, stopped, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import ExitCode
from tests.cli.conftest import CommandLine
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
        assert "cannot be used to chat: This model is in version" in said
        unknown = start(hub, tmp_path, "org/tiny-GGUF:Q2_K")
        assert "holds no “Q2_K”" in unknown.communicate(timeout=30)[1] and unknown.returncode == 2


def test_a_model_of_which_parts_are_missing_is_not_fetched(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    names = ("m-Q4_0-00001-of-00003.gguf", "m-Q4_0-00003-of-00003.gguf")
    with DownloadHub(dict.fromkeys(names, CONTENT)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert line.run("models", "download", "org/tiny-GGUF:Q4_0") == ExitCode.MODEL_UNUSABLE
        assert "holds only 2 of the 3 parts of m-Q4_0-00001-of-00003.gguf" in line.err and line.out == ""
        assert not hub.ranges() and not list(tmp_path.rglob("m-Q4_0*"))


def test_what_is_read_later_says_each_step_once(tmp_path: Path) -> None:
    with DownloadHub({"tiny.Q8_0.gguf": CONTENT}) as hub:
        _, said = start(hub, tmp_path, "org/tiny-GGUF:Q8_0").communicate(timeout=30)
    assert said.count(": 0% of ") == 1, said
