"""Whoever writes about a model goes on writing about it, whatever the list, the folders and the disk do meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QPlainTextEdit, QWidget

from app.core.model_note import ModelUse
from app.core.store_events import ModelUseMeasured
from app.gui.application import keep_drafts
from app.gui.discover.library_own import OwnWords
from app.services.models import AT_ONCE
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.discover.test_library import chooses, rows
from tests.gui.discover.test_library_own import identity, kept, mine

__all__ = ["mine"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
Meanwhile = Callable[[Stage, Path], None]
FIELDS = ("library_name_line", "library_note", "library_line")


def focused(stage: Stage) -> QWidget:
    found: QWidget | None = stage.window.focusWidget()
    assert found is not None
    return found


def said(stage: Stage) -> tuple[str, str, str]:
    """Return what the name, the note and the search hold."""
    name, line = (stage.find_as(QLineEdit, each) for each in ("library_name_line", "library_line"))
    return name.text(), stage.find_as(QPlainTextEdit, "library_note").toPlainText(), line.text()


def searched(stage: Stage) -> None:
    """Let a search of the folders come to its end."""
    models, before = stage.desk.program.models, stage.desk.program.models._told_of
    models.refresh()
    stage.desk.until(lambda: models._told_of > before and not models.is_reading)
    stage.settle()


def told_anew(stage: Stage, _folder: Path) -> None:
    stage.desk.program.models.changed.emit()


def another_is_a_favourite(stage: Stage, _folder: Path) -> None:
    stage.desk.program.model_notes.star(identity(stage, "zebra"), is_favourite=True)


def an_answer_ends(stage: Stage, _folder: Path) -> None:
    notes = stage.desk.program.model_notes
    use = ModelUse(identity(stage, "zebra"), 2_000_000_000_000, 12.0, 200.0, 3, 2)
    notes.take(ModelUseMeasured(notes._request or 0, (use,)))


def many_appear(stage: Stage, folder: Path) -> None:
    for number in range(2 * AT_ONCE):
        write_tiny_llama(folder / f"a{number}.gguf")
    searched(stage)


def its_file_is_touched_among_many(stage: Stage, folder: Path) -> None:
    os.utime(folder / "zoo.gguf", (1, 1))
    many_appear(stage, folder)


def its_file_is_another_one(stage: Stage, folder: Path) -> None:
    write_tiny_llama(folder / "zoo.gguf", layers=5)
    os.utime(folder / "zoo.gguf", (1, 1))
    searched(stage)


def its_file_vanishes(stage: Stage, folder: Path) -> None:
    (folder / "zoo.gguf").unlink()
    searched(stage)


def its_drive_goes(stage: Stage, folder: Path) -> None:
    folder.rename(folder.with_name("unplugged"))
    searched(stage)


def what_is_written_is_kept(stage: Stage, _folder: Path) -> None:
    keep_drafts(stage.window)


EVENTS: tuple[Meanwhile, ...] = (
    told_anew,
    another_is_a_favourite,
    an_answer_ends,
    many_appear,
    its_file_is_touched_among_many,
    its_file_is_another_one,
    its_file_vanishes,
    its_drive_goes,
    what_is_written_is_kept,
)


@pytest.fixture
def writing(mine: Stage, tmp_path: Path) -> tuple[Stage, Path]:
    """The same, of whom the last model by name is chosen."""
    folder = tmp_path / "mine"
    write_tiny_llama(folder / "zoo.gguf", layers=4)
    searched(mine)
    listed = mine.find_as(QListView, "library_list")
    number = [row.partition("\n")[0] for row in rows(mine)].index("zoo")
    listed.setCurrentIndex(listed.model().index(number, 0))
    return mine, folder


@pytest.mark.parametrize("meanwhile", EVENTS)
@pytest.mark.parametrize("field", FIELDS)
def test_keys_go_where_they_went_before(writing: tuple[Stage, Path], field: str, meanwhile: Meanwhile) -> None:
    stage, folder = writing
    stage.find(field).setFocus()
    QTest.keyClicks(focused(stage), "zo")
    meanwhile(stage, folder)
    assert focused(stage) is stage.find(field)
    QTest.keyClicks(focused(stage), "o")
    assert said(stage) == tuple("zoo" if each == field else "" for each in FIELDS)


def test_a_file_that_is_gone_stays_as_long_as_somebody_writes_about_it(writing: tuple[Stage, Path]) -> None:
    stage, folder = writing
    mine, note = identity(stage, "zoo"), stage.find("library_note")
    QTest.keyClicks(note, "go")
    its_file_vanishes(stage, folder)
    assert stage.reads("library_title") == "zoo" and not stage.find("library_load_button").isEnabled()
    assert stage.reads("library_problem") == "This file is not there any more."
    QTest.keyClicks(note, "ne")
    chooses(stage, "apple")
    assert "zoo" not in "\n".join(rows(stage)) and said(stage)[1] == ""
    assert kept(stage) == {mine: "gone"}


def test_what_is_written_of_a_file_that_is_another_one_meanwhile_is_kept_of_both(writing: tuple[Stage, Path]) -> None:
    stage, folder = writing
    before = identity(stage, "zoo")
    stage.find("library_note").setFocus()
    QTest.keyClicks(focused(stage), "half")
    its_file_is_another_one(stage, folder)
    own = stage.find_as(OwnWords)
    QTest.keyClicks(focused(stage), " a note")
    assert own._due.isActive()
    own._due.timeout.emit()
    assert kept(stage) == {before: "half", identity(stage, "zoo"): "half a note"}


def test_where_something_is_said_of_the_new_file_that_is_shown(writing: tuple[Stage, Path]) -> None:
    stage, folder = writing
    new = write_tiny_llama(folder / "new.gguf", layers=5)
    searched(stage)
    stage.desk.program.model_notes.write(identity(stage, "new"), "the newer one")
    new.unlink()
    QTest.keyClicks(stage.find("library_note"), "the older one")
    its_file_is_another_one(stage, folder)
    assert said(stage)[1] == "the newer one"
    assert sorted(kept(stage).values()) == ["the newer one", "the older one"]


def test_another_search_lets_go_of_what_was_written_about(writing: tuple[Stage, Path]) -> None:
    stage, _folder = writing
    line = stage.find("library_line")
    QTest.keyClicks(line, "zoo")
    QTest.keyClicks(stage.find("library_note"), "x")
    keep_drafts(stage.window)
    QTest.keyClicks(line, "logical")
    assert rows(stage) == []


def test_keys_for_a_list_that_is_empty_now_write_nowhere(writing: tuple[Stage, Path]) -> None:
    stage, folder = writing
    stage.find("library_list").setFocus()
    its_drive_goes(stage, folder)
    assert not stage.sees("library_list") and focused(stage) is stage.find("library_find_button")
    QTest.keyClicks(focused(stage), "zoo")
    assert said(stage) == ("", "", "")


def test_the_key_that_takes_settings_for_a_model_does_not_forget_them_when_it_is_pressed_twice(
    writing: tuple[Stage, Path],
) -> None:
    stage, _folder = writing
    stage.desk.program.sampling.change(temperature=0.25)
    stage.find("library_sampling_take_button").setFocus()
    for _ in range(2):
        QTest.keyClick(focused(stage), Qt.Key.Key_Space)
    assert focused(stage) is stage.find("library_sampling")
    assert stage.desk.program.model_sampling.of(identity(stage, "zoo")) is not None
