from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.hub import download_run
from tests.hub.download_hub import CONTENT, NAME, DownloadHub


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_run, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(download_run, "TELL_EVERY_S", 0.0)


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[DownloadHub]:
    """A hub with one file, or with those that the module names, all of the same bytes."""
    names: tuple[str, ...] = getattr(request.module, "NAMES", (NAME,))
    with DownloadHub(dict.fromkeys(names, CONTENT)) as made:
        yield made
