"""A chat with a model that is here needs no network: no socket for one is opened, and none is missed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.remote_window import ROOT, RemoteWindow
from tests.ggufs import write_tiny_llama

HOOK = """
import socket, sys
def hook(event, arguments):
    if event == "socket.__new__" and arguments[1] in (socket.AF_INET, socket.AF_INET6, -1):
        tell(event, arguments[1:])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        tell(event, arguments)
def tell(event, arguments):
    with open({told!r}, "a") as file:
        print(event, *arguments, file=file)
sys.addaudithook(hook)
with open({told!r}, "a") as file:
    print("watched", file=file)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "models"
    folder.mkdir(parents=True)
    return write_tiny_llama(folder / "tiny.F16.gguf")


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where every Python process from now on says which sockets it opens."""
    told = tmp_path / "told.txt"
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(HOOK.format(told=str(told)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "hooks"), str(ROOT)]))
    for name in ("TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return told


def test_nothing_is_asked_of_a_network_that_nobody_wanted(tmp_path: Path, model: Path, told: Path) -> None:
    with RemoteWindow(tmp_path / "home", str(model)) as window:
        window.until("program.session.phase == 'ready'")
        window.triggers("models_action")
        window.until("window.page == 'models' and bool(program.models.found)")
        window.triggers("chat_page_action")
        window.ask("program.sampling.change(max_tokens=4)")
        window.sends("Hello")
        window.until("not program.chat.busy and len(program.chat.turns) == 2")
        assert window.turns()[1][2] == "done"
        assert window.close() == (0, "")
    lines = told.read_text().splitlines()
    assert set(lines) == {"watched"} and len(lines) >= 2, "the window's process and the engine's"


def test_the_hook_sees_what_is_opened(told: Path) -> None:
    code = "import socket; socket.socket().close()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert len(told.read_text().splitlines()) == 2


def without_a_network() -> list[str]:
    """Return the words that run a command where there is no network at all; empty where this system has none."""
    words = ["unshare", "--map-root-user", "--net"]
    has_it = (
        shutil.which("unshare") and not subprocess.run([*words, "true"], capture_output=True, check=False).returncode
    )
    return words if has_it else []


@pytest.mark.skipif(sys.platform != "linux", reason="a process without a network is a matter of Linux")
def test_without_any_network_a_question_is_answered(tmp_path: Path, model: Path) -> None:
    words = without_a_network()
    if not words:
        pytest.skip("this system gives nobody a network of their own")
    done = subprocess.run(
        [*words, sys.executable, "-m", "app", "ask", "--model", str(model), "--max-tokens", "4", "Hello"],
        cwd=ROOT,
        env={**os.environ, "TOKENLIGHT_HOME": str(tmp_path / "home")},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
