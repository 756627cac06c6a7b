"""A message with files is changed with its files apart: they stay, can be removed, and others join them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QToolButton, QWidget

from app.core.attached_files import framed
from app.gui.chat import turn_editor
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.widgets.labels import NamedLabel
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage
from tests.gui.counting import counts
from tests.gui.test_attaching import chooses, data_of, drops
from tests.gui.test_composer import rows

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
FRAME, NEW = framed("notes.md", "from a file"), framed("more.txt", "other words")


@pytest.fixture
def editing(ready: Stage) -> Stage:
    """Return the stage with a question of a file and words being changed."""
    ready.window.parts.chat_page.composer.give_back(f"{FRAME}\n\nWhat is this?")
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("It is text.")
    edit(ready)
    return ready


@pytest.fixture
def more(tmp_path: Path) -> Path:
    path = tmp_path / "more.txt"
    path.write_text("other words", "utf-8")
    return path


def edit(stage: Stage) -> None:
    stage.window.parts.chat_page.turn_actions.edit(stage.desk.program.chat.turns[0])


def field(stage: Stage) -> QPlainTextEdit:
    return stage.find_as(QPlainTextEdit, "turn_editor_text")


def chips(stage: Stage) -> list[str]:
    """Return what the rows in the editor say, up to their counts."""
    shown = [row for row in stage.find("turn_editor").findChildren(QFrame, "pasted_text") if not row.isHidden()]
    labels = [row.findChild(NamedLabel, "pasted_facts") for row in shown]
    return [label.text().split(" · ")[0] for label in labels if label is not None]


def button(stage: Stage, name: str) -> QToolButton:
    found = stage.find("turn_editor").findChild(QToolButton, name)
    assert found is not None
    return found


def question(stage: Stage) -> str:
    return stage.desk.program.chat.turns[0].text


def by_button(stage: Stage, path: Path) -> None:
    QTest.mouseClick(button(stage, "turn_editor_attach"), Qt.MouseButton.LeftButton)
    chooses(stage, path)


def by_action(stage: Stage, path: Path) -> None:
    stage.triggers("attach_action")
    chooses(stage, path)


def by_paste(stage: Stage, path: Path) -> None:
    QGuiApplication.clipboard().setMimeData(data_of(path))
    QTest.keySequence(field(stage), QKeySequence(QKeySequence.StandardKey.Paste))


def test_the_files_of_a_message_stand_apart_and_stay_when_its_words_are_changed(editing: Stage) -> None:
    assert (chips(editing), field(editing).toPlainText()) == (["notes.md"], "What is this?")
    assert not editing.find("turn_editor_use").isEnabled()
    QTest.keyClicks(field(editing), " Tell me")
    editing.clicks("turn_editor_use")
    assert question(editing) == f"{FRAME}\n\nWhat is this? Tell me"


def test_a_file_can_be_looked_at_and_removed(editing: Stage) -> None:
    QTest.mouseClick(button(editing, "show_pasted_button"), Qt.MouseButton.LeftButton)
    viewer = editing.find("turn_editor").findChild(PasteViewer)
    assert viewer is not None and viewer.windowTitle() == "notes.md"
    viewer.close()
    QTest.mouseClick(button(editing, "remove_pasted_button"), Qt.MouseButton.LeftButton)
    assert chips(editing) == []
    editing.clicks("turn_editor_use")
    assert question(editing) == "What is this?"


@pytest.mark.parametrize("way", [by_button, by_action, by_paste, drops])
def test_another_file_joins_the_message_in_every_way(
    editing: Stage, more: Path, way: Callable[[Stage, Path], None]
) -> None:
    QTest.keyClicks(field(editing), "?")
    way(editing, more)
    assert not editing.find("turn_editor_use").isEnabled()  # it is not asked without what is still being read
    editing.desk.until(lambda: len(chips(editing)) == 2)
    assert [row for row in rows(editing) if row.startswith("more")] and chips(editing) == ["notes.md", "more.txt"]
    assert editing.window.parts.chat_page.composer.written.pasted == ()
    editing.clicks("turn_editor_use")
    assert question(editing) == f"{FRAME}\n\n{NEW}\n\nWhat is this??"


def test_who_leaves_changes_nothing_and_finds_what_was_changed_again(editing: Stage, more: Path) -> None:
    QTest.mouseClick(button(editing, "remove_pasted_button"), Qt.MouseButton.LeftButton)
    by_paste(editing, more)
    editing.clicks("turn_editor_cancel")
    assert editing.desk.program.attaching.reading_for(editing.desk.program.chat.turns[0].message) == ()
    assert question(editing) == f"{FRAME}\n\nWhat is this?"
    edit(editing)
    assert (chips(editing), field(editing).toPlainText()) == ([], "What is this?")


def test_a_file_of_a_message_that_is_changed_is_not_one_that_the_draft_waits_for(editing: Stage, more: Path) -> None:
    attaching, message = editing.desk.program.attaching, editing.desk.program.chat.turns[0].message
    by_paste(editing, more)
    assert [each.path for each in attaching.reading_for(message)] == [more]
    assert attaching.reading == ()
    editing.desk.until(lambda: not attaching.reading_for(message))


def test_the_same_file_is_told_and_not_taken_twice(editing: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("from a file", "utf-8")
    by_paste(editing, tmp_path / "notes.md")
    editing.desk.until(lambda: editing.desk.program.notices.latest is not None)
    assert "“notes.md” is attached already." in editing.desk.told
    assert chips(editing) == ["notes.md"]


def test_a_file_that_makes_the_message_too_long_is_not_taken(
    editing: Stage, more: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_editor, "MAX_CHARACTERS", 100)
    by_paste(editing, more)
    editing.desk.until(lambda: editing.desk.program.notices.latest is not None)
    assert f"“{more.name}” does not fit into the message" in editing.desk.told
    assert chips(editing) == ["notes.md"]


def test_files_go_to_the_draft_while_somebody_writes_there(editing: Stage, more: Path) -> None:
    editing.composer.setFocus()
    drops(editing, more)
    editing.desk.until(lambda: editing.window.parts.chat_page.composer.written.pasted)
    assert chips(editing) == ["notes.md"]


def test_an_answer_that_is_changed_has_no_files(editing: Stage) -> None:
    page = editing.window.parts.chat_page
    page.turn_actions.edit(editing.desk.program.chat.turns[1])
    assert (chips(editing), field(editing).toPlainText()) == ([], "It is text.")
    attach = editing.find_as(QWidget, "turn_editor_attach")
    assert not attach.isVisibleTo(editing.window)


def test_files_that_stay_keep_their_counts_in_the_editor(ready: Stage) -> None:
    ready.window.parts.chat_page.composer.give_back(f"{FRAME}\n\n{NEW}\n\nWhat is this?")
    ready.presses(Qt.Key.Key_Return)
    ready.engine.prompt(files=(12, 34))
    ready.engine.write("It is text.")
    ready.engine.finish()
    ready.settle()
    edit(ready)
    said = [each.text().rpartition(" · ")[2] for each in ready.find("turn_editor").findChildren(NamedLabel)]
    assert said == ["12 tokens", "34 tokens"]


def test_whoever_removes_a_file_goes_on_writing_in_the_message(editing: Stage) -> None:
    remove = button(editing, "remove_pasted_button")
    remove.setFocus()
    QTest.keyClick(remove, Qt.Key.Key_Space)
    focus = editing.window.focusWidget()
    assert focus is field(editing)
    QTest.keyClicks(focus, " Tell me")
    QTest.keyClick(focus, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert question(editing) == "What is this? Tell me"


def counted(stage: Stage, tokens: int, prompt: int) -> None:
    """Let the engine count what stands in the editor once nobody types; what is too long it refuses."""
    stage.bot.waitUntil(lambda: not stage.window.parts.chat_page.turn_actions.editor._settles.isActive())
    counts(stage, tokens, prompt)


def test_a_message_that_is_changed_says_how_long_it_is_before_it_is_asked(editing: Stage, more: Path) -> None:
    counted(editing, 12, 57)
    said = [each.text().rpartition(" · ")[2] for each in editing.find("turn_editor").findChildren(NamedLabel)]
    assert said == ["12 tokens"]
    assert editing.find("turn_editor_status").accessibleName() == "+16 tokens · 41 already read · 4,039 left of 4,096"
    by_paste(editing, more)
    editing.desk.until(lambda: len(chips(editing)) == 2)
    counted(editing, CONTEXT, CONTEXT + 20)
    use = editing.find("turn_editor_use")
    assert editing.find("turn_editor_status").accessibleName().startswith("Too long by 21 tokens")
    assert not use.isEnabled()
    assert "a larger context" in use.accessibleDescription()
    QTest.keyClick(field(editing), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert question(editing) == f"{FRAME}\n\nWhat is this?"
    QTest.mouseClick(button(editing, "remove_pasted_button"), Qt.MouseButton.LeftButton)
    counted(editing, 12, 57)
    assert use.isEnabled()


def test_an_answer_that_is_changed_has_no_count(editing: Stage) -> None:
    counted(editing, 12, 57)
    page = editing.window.parts.chat_page
    page.turn_actions.edit(editing.desk.program.chat.turns[1])
    counted(editing, 12, CONTEXT + 20)
    QTest.keyClicks(field(editing), "!")
    assert not editing.find_as(QWidget, "turn_editor_status").isVisibleTo(editing.window)
    assert editing.find("turn_editor_use").isEnabled()
