"""Dialogs begin in a folder that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths

from app.gui.widgets.documents_folder import documents_folder


def test_where_there_are_no_documents_dialogs_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = tmp_path / "Documents"
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _which: str(documents))
    assert documents_folder() == Path.home()
    documents.mkdir()
    assert documents_folder() == documents
