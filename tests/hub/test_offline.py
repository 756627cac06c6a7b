"""Offline means that no socket is opened, whatever is asked: an audit hook of the interpreter sees every one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.system.offline_switch import VARIABLES

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
from app.hub.limits import Limits
from app.system.offline_switch import OfflineSwitch
from app.system.settings_file import SettingsFile
home = Path(sys.argv[1])
offline = OfflineSwitch(os.environ, SettingsFile(home / "settings.json", lambda *_: None))
hub = Hub(os.environ, home / "cache", home, offline)
web, address = (None, "") if offline.is_on else hub.connect()
if "set" in sys.argv:
    offline.set(True)
asks = (
    lambda: hub.search(HubQuery("x")),
    lambda: hub.describe("org/x"),
    lambda: hub.models(HubReference("org/x")),
    lambda: hub.headers(HubModel("org/x", (HubFile("x.gguf", 9),))),
    lambda: hub.connect() if web is None else web.get(address, Limits(8)),
)
for ask in asks:
    try:
        ask()
    except UserError as error:
        print(error.sentence.template.split(":")[0])
hub.token()
print(seen)
"""


def told_by_all(home: Path, *words: str) -> list[str]:
    """Return how each question was refused, and last which sockets were opened."""
    command = [sys.executable, "-c", CODE, str(home), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment says to stay offline."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("online")
@pytest.mark.parametrize("variable", VARIABLES)
def test_nothing_that_a_hub_can_be_asked_opens_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    assert told_by_all(tmp_path) == ["Tokenlight is offline because {variable} is set"] * 5 + ["[]"]


@pytest.mark.usefixtures("online")
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept in the settings", "set while it runs"])
def test_the_switch_in_the_settings_forbids_the_same(tmp_path: Path, is_kept: bool) -> None:
    if is_kept:
        (tmp_path / "settings.json").write_text('{"offline": true}')
    told = told_by_all(tmp_path, *([] if is_kept else ["set"]))
    assert told == ["Tokenlight is offline because “Stay offline” is on"] * 5 + ["[]"]


@pytest.mark.usefixtures("online")
def test_the_hook_sees_what_is_opened(tmp_path: Path) -> None:
    assert "socket.connect" in told_by_all(tmp_path)[-1]
