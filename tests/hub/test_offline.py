"""Offline means that no socket is opened, whatever is asked: an audit hook of the interpreter sees every one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import os, sys
from pathlib import Path
seen = []
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto"):
        seen.append((event, str(arguments[1:])))
sys.addaudithook(hook)
from app.core.errors import UserError
from app.core.hub_model import HubModel, HubFile, HubReference
from app.core.hub_search import HubQuery
from app.hub.hub import Hub
home = Path(sys.argv[1])
hub = Hub(os.environ, home / "cache", home)
asks = (
    lambda: hub.search(HubQuery("x")),
    lambda: hub.describe("org/x"),
    lambda: hub.models(HubReference("org/x")),
    lambda: hub.headers(HubModel("org/x", (HubFile("x.gguf", 9),))),
    lambda: hub.connect(),
)
for ask in asks:
    try:
        ask()
    except UserError as error:
        print(error.sentence.template.split(":")[0])
hub.token()
print(seen)
"""


@pytest.mark.parametrize("variable", ["TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"])
def test_nothing_that_a_hub_can_be_asked_opens_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    told = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout.splitlines() == ["Tokenlight is offline because {variable} is set"] * 5 + ["[]"]


def test_the_hook_sees_what_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name in ("TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    told = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "socket.connect" in told.stdout
