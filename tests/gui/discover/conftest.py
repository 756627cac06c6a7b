from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from tests.gui.conftest import Stage
from tests.hub.keyrings import Memory
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.planned_hub import planned_hub

CARD = b"# Tiny\n\nSee [its page](https://example.org/page). ![seen](https://example.org/p.png)<script>run()</script>"


@pytest.fixture
def keys() -> Iterator[Memory]:
    """A keyring that holds nothing."""
    made, before = Memory(), keyring.get_keyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keys: Memory) -> Iterator[LoopbackHub]:
    """A hub with one repository that holds files, and names of others."""
    with planned_hub(tmp_path, monkeypatch) as made:
        made.files["mmproj-tiny-F16.gguf"] = b"x" * 100
        made.card = CARD
        told = {"gguf": {"total": 1_500_000_000, "architecture": "llama"}, "tags": ["license:mit"], "downloads": 12}
        made.info |= told
        made.found = [dict(made.info), *({"id": f"org/number-{number}", **told} for number in range(24))]
        yield made


@pytest.fixture
def discover(hub: LoopbackHub, stage: Stage) -> Stage:
    """The page Models before that hub."""
    stage.triggers("models_action")
    return stage
