"""What waits for a hub holds up nothing else: neither the keyring nor the work in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.core.hub_search import HubQuery
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.hub.hanging import Hanging
from tests.hub.loopback_hub import GUARD_S, LoopbackHub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackHub({"tiny-Q8_0.gguf": b"x"}) as made:
        made.found = [{"id": "org/tiny-GGUF"}]
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


@pytest.fixture
def there(hub: LoopbackHub, desk: Desk) -> Desk:
    """A program with that hub, which ends before the hub does, and with a model in its folder."""
    desk.program.paths.models.mkdir(parents=True)
    write_tiny_llama(desk.program.paths.models / "tiny.F16.gguf")
    return desk


def folders_are_scanned(desk: Desk) -> bool:
    """Have the folders scanned, and wait for the model that lies in them."""
    models = desk.program.models
    models.refresh()
    desk.until(lambda: models.found)
    return True


def waiting_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith(("hub-", "keyring-"))]


def test_a_hub_that_answers_nothing_holds_up_nothing_else(hub: LoopbackHub, there: Desk) -> None:
    program = there.program
    hub.searching, hub.describing, hub.listing = hangs = (Hanging(), Hanging(), Hanging())
    program.discovering.search(HubQuery("tiny"))
    program.discovering.open("org/tiny-GGUF")
    program.planner.models.hub.read("hub:org/tiny-GGUF")
    for each in hangs:
        assert each.begun.wait(GUARD_S), "each is asked while the others hang"
    program.hub_token.look()
    there.until(lambda: not program.hub_token.is_busy)
    assert program.hub_token.state is not None and program.hub_token.state.place == "none"
    assert folders_are_scanned(there)
    assert program.discovering.is_searching and program.discovering.is_reading
    assert program.planner.models.hub.get("hub:org/tiny-GGUF").state == "reading"


def test_the_end_of_the_program_leaves_no_thread_that_waits(hub: LoopbackHub, there: Desk) -> None:
    hanging = hub.searching = Hanging()
    there.program.discovering.search(HubQuery("tiny"))
    there.program.hub_token.look()
    assert hanging.begun.wait(GUARD_S) and waiting_threads()
    there.program.stop()
    assert hanging.gone.wait(GUARD_S) and waiting_threads() == []
