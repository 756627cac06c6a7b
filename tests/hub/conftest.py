from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.core.errors import UserError
from app.core.hub_model import HubModel, HubReference
from app.hub.reading import HubReader
from tests.ggufs import write_tiny_llama
from tests.hub.loopback_hub import GUARD_S, LoopbackHub

MIB = 1 << 20


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_tiny_llama(tmp_path_factory.mktemp("hub") / "tiny.gguf").read_bytes()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def hub(tiny: bytes) -> Iterator[LoopbackHub]:
    with LoopbackHub({"tiny.F16.gguf": tiny}) as made:
        yield made


def reader(hub: LoopbackHub, **environment: str) -> HubReader:
    return HubReader({"HF_ENDPOINT": hub.endpoint, **environment}, deadline_s=8)


def only(hub: LoopbackHub, file: str = "", **environment: str) -> tuple[HubReader, HubModel]:
    """Return what reads, and the one model that is there."""
    reading = reader(hub, **environment)
    (model,) = reading.models(HubReference(hub.repository, file))
    return reading, model


def told(hub: LoopbackHub, **environment: str) -> str:
    """Return what people are told when the header is read, which may not take long, nor many bytes."""
    begun = time.monotonic()

    def read() -> None:
        reading, model = only(hub, **environment)
        reading.headers(model)

    with pytest.raises(UserError) as caught:
        read()
    assert time.monotonic() - begun < GUARD_S
    assert hub.delivered < 100 * MIB
    text = caught.value.sentence.english()
    assert text.endswith(".") and "\n" not in text and len(text) < 320
    return text
