from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that stands for the one for temporary files."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr("app.store.refuge.temporary_folders", lambda: (folder / "missing", folder))
    return folder
