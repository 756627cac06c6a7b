"""A library of thousands of files: the rows in sight are judged, not all of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QListView

from app.core.job_events import ModelsListed
from app.gui.discover.library_part import LibraryPart
from app.services.fit_badges import FitBadges
from app.services.model_check import check_model
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MANY = 2000


def test_whether_it_fits_is_asked_of_the_rows_in_sight_and_of_the_one_that_is_chosen(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny_llama(tmp_path / "m.gguf")
    one, _ = check_model(tmp_path / "m.gguf")
    program, asked = stage.desk.program, list[list[str]]()
    monkeypatch.setattr(program.models, "refresh", lambda: None)
    monkeypatch.setattr(
        FitBadges, "want", lambda _fits, _who, paths: asked.append([Path(each).name for each in paths])
    )
    many = (msgspec.structs.replace(one, path=f"/m/{n:04}.gguf", name=f"m {n:04}") for n in range(MANY))
    program.models.take(ModelsListed(tuple(many), 0, 0))
    stage.triggers("models_action")
    stage.settle()
    listed = stage.find_as(QListView, "library_list")
    assert listed.model().rowCount() == MANY
    assert asked[-1][0] == "0000.gguf" and 5 < len(asked[-1]) < 40
    listed.setCurrentIndex(listed.model().index(1, 0))
    listed.scrollToBottom()
    assert f"{MANY - 1}.gguf" in asked[-1] and "0001.gguf" in asked[-1] and len(asked[-1]) < 40
    before = len(asked)
    program.models.changed.emit()
    assert len(asked) == before, "nothing is asked twice"
    part = stage.find_as(LibraryPart)
    part.hide()
    part.show()
    assert len(asked) == before + 1, "who looks again asks again"
