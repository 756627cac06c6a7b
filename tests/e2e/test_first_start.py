"""Somebody without any model: one is recommended, downloaded, loaded, and answers; also where the program is killed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.remote_window import GUARD_SECONDS, RemoteWindow
from tests.hub.catalogue_of_one import catalogue_of
from tests.hub.loopback_hub import LoopbackHub, Request

NAME = "starter.gguf"
HALF = 40 << 20
READY = "program.session.phase == 'ready'"
OFFERED = "sees('first_model_card') and find('first_model_title').text() == 'Starter'"


class Delivery:
    """Sends the model from where it is asked for, at first no more than half of it."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.starts: list[int] = []
        self.is_held = threading.Event()
        self.goes_on = threading.Event()

    def send(self, request: Request) -> None:
        """Answer one request."""
        start = int(request.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        told: dict[str, object] = {"Content-Length": len(self._content) - start, "ETag": '"one"'}
        if start:
            told["Content-Range"] = f"bytes {start}-{len(self._content) - 1}/{len(self._content)}"
        self.starts.append(start)
        request.begin(206 if start else 200, told)
        if not self.goes_on.is_set():
            request.send(self._content[start:HALF])
            self.is_held.set()
            self.goes_on.wait(GUARD_SECONDS)
            start = HALF
        request.send(self._content[start:])
        request.close_connection = True


@pytest.fixture
def delivery(starter_model: Path) -> Delivery:
    return Delivery(starter_model.read_bytes())


@pytest.fixture
def words(tmp_path: Path, starter_model: Path, delivery: Delivery) -> Iterator[dict[str, str]]:
    """What the program is told of its surroundings: a hub on this machine, and a catalogue with the starter model."""
    content = starter_model.read_bytes()
    catalogue = tmp_path / "catalogue.toml"
    catalogue.write_text(catalogue_of(NAME, content))
    with LoopbackHub({NAME: content}) as hub:
        hub.delivering = delivery.send
        yield {
            "HF_ENDPOINT": hub.endpoint,
            "CATALOGUE_OF_THE_TEST": str(catalogue),
            "TOKENLIGHT_OWN_MODELS_ONLY": "1",
        }
        delivery.goes_on.set()


def test_from_no_model_at_all_to_an_answer_through_a_kill_in_mid_download(
    tmp_path: Path, delivery: Delivery, words: dict[str, str]
) -> None:
    home = tmp_path / "home"
    with RemoteWindow(home, **words) as window:
        window.until(OFFERED)
        assert window.ask("find('welcome_title').text()") == "Get a model to begin"
        window.clicks("first_model_download_button")
        assert delivery.is_held.wait(GUARD_SECONDS)
        (part,) = home.rglob("*.part")
        while part.stat().st_size < HALF:
            window.ask("0")
        assert window.ask("find('first_model_download_state').text()").startswith("It is among the downloads")
        window.kill()
    assert not list(home.rglob("*.gguf")), "half a file is no model"
    delivery.goes_on.set()
    with RemoteWindow(home, **words) as window:
        window.until(READY)
        assert not window.ask("sees('first_model_card')")
        assert delivery.starts[0] == 0 and 0 < delivery.starts[-1] <= HALF, "it goes on where it was"
        window.ask("program.sampling.change(max_tokens=12)")
        window.sends("Say hello.")
        window.until("not program.chat.busy and len(program.chat.turns) == 2")
        ((_, _, _), (_, answer, state)) = window.turns()
        assert state == "done" and answer
        assert window.close() == (0, "")
    with RemoteWindow(home, **words) as window:
        window.until(READY)
        assert window.ask("program.session.name")
        assert window.close() == (0, "")
