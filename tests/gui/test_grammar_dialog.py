"""The grammar in the window: the row in the section, and the dialog in which it is written and checked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPlainTextEdit, QPushButton, QToolButton

from app.core.grammar import LONGEST_GRAMMAR, Grammar
from app.core.grammar_check import check
from app.core.sampling import SamplingSettings
from app.gui.chat import footer
from app.gui.compare.lane_words import lane_name, setting_value, shared_words
from app.gui.sampling.grammar_dialog import GrammarDialog
from app.gui.sampling.grammar_examples import examples
from app.gui.widgets.labels import ElidedLabel
from app.services.lane_starts import differing
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off
from tests.gui.sampling.stand import opens_more

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
YES_OR_NO, LIST, PERSON = (example.grammar for example in examples())


def opens(stage: Stage) -> GrammarDialog:
    opens_more(stage)  # type: ignore[arg-type]
    stage.clicks("grammar_button")
    return stage.find_as(GrammarDialog, "grammar_dialog")


def closed(stage: Stage) -> bool:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return not stage.window.findChildren(GrammarDialog)


def text(stage: Stage) -> QPlainTextEdit:
    return stage.find_as(QPlainTextEdit, "grammar_text")


def chooses(stage: Stage, kind: int) -> None:
    """Choose none, a grammar or a schema with the keyboard."""
    box = stage.find_as(QComboBox, "grammar_kind_box")
    while box.currentIndex() != kind:
        QTest.keyClick(box, Qt.Key.Key_Up if box.currentIndex() > kind else Qt.Key.Key_Down)


def settles(stage: Stage) -> None:
    """Wait until what is written was checked."""
    dialog = stage.find_as(GrammarDialog, "grammar_dialog")
    stage.bot.waitUntil(lambda: not dialog._settled.isActive())
    stage.desk.until(lambda: stage.reads("grammar_state") != "Checking…")


def begins_with(stage: Stage, example: int) -> None:
    menu = stage.find_as(QToolButton, "grammar_examples_button").menu()
    menu.actions()[example].trigger()
    settles(stage)


def test_a_grammar_is_written_checked_and_used(ready: Stage) -> None:
    assert not ready.sees("grammar_in_force_row")
    opens(ready)
    assert ready.reads("grammar_state") == "Answers can be anything."
    assert not text(ready).isEnabled()
    assert not ready.find("grammar_use_button").isEnabled()
    chooses(ready, 1)
    assert ready.find_as(QComboBox, "grammar_kind_box").currentText() == "Grammar (GBNF)"
    QTest.keyClicks(text(ready), 'root ::= "yes" | no')
    settles(ready)
    problem = "Line 1, column 18: there is no rule “no”"
    assert ready.reads("grammar_problem").startswith(problem)
    assert text(ready).accessibleDescription().startswith(problem)
    assert not ready.find("grammar_use_button").isEnabled()
    (mark,) = text(ready).extraSelections()
    assert mark.cursor.selectedText() == "no"
    assert mark.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline
    assert ready.reads("grammar_caret") == "Line 1, column 20"
    ready.clicks("grammar_go_button")
    assert ready.reads("grammar_caret") == "Line 1, column 18"
    QTest.keyClicks(text(ready), '"')
    QTest.keyClick(text(ready), Qt.Key.Key_End)
    QTest.keyClicks(text(ready), '"')
    settles(ready)
    assert ready.reads("grammar_state") == "It can be used."
    assert not ready.sees("grammar_problem")
    assert text(ready).extraSelections() == []
    QTest.keyClick(text(ready), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert closed(ready)
    grammar = Grammar("gbnf", 'root ::= "yes" | "no"')
    assert ready.desk.program.sampling.values.grammar == grammar
    assert ready.find_as(ElidedLabel, "grammar_name").text() == "root"
    assert ready.sees("grammar_row")
    assert not ready.sees("grammar_in_force_row")  # it is told once
    ready.clicks("sampling_more_button")
    assert not ready.sees("grammar_row")
    assert ready.sees("grammar_in_force_row")
    assert ready.find_as(ElidedLabel, "grammar_in_force_name").text() == "root"
    ready.clicks("sampling_more_button")
    assert ready.sees("grammar_row")
    assert not ready.sees("grammar_in_force_row")
    ready.clicks("sampling_more_button")
    ready.sends("Well?")
    ready.settle()
    assert ready.engine.question.settings.grammar == grammar


def test_what_is_typed_stays_until_it_is_used_and_none_switches_it_off(ready: Stage) -> None:
    opens(ready)
    begins_with(ready, 2)
    assert ready.find_as(QComboBox, "grammar_kind_box").currentIndex() == 2
    assert text(ready).toPlainText() == PERSON.text
    chooses(ready, 1)
    assert text(ready).toPlainText() == ""
    assert ready.reads("grammar_state") == "Write one, or begin with an example."
    QTest.keyClicks(text(ready), "ro")
    QTest.keyClick(ready.find("grammar_dialog"), Qt.Key.Key_Escape)
    assert closed(ready)
    assert ready.desk.program.sampling.values.grammar is None
    opens(ready)
    chooses(ready, 1)
    assert text(ready).toPlainText() == "ro"
    chooses(ready, 2)
    settles(ready)
    ready.clicks("grammar_use_button")
    assert closed(ready)
    assert ready.desk.program.sampling.values.grammar == PERSON
    assert ready.find_as(ElidedLabel, "grammar_name").text() == "A person"
    assert ready.reads("sampling_more_button") == "More · 1 changed"
    ready.clicks("sampling_more_button")
    ready.clicks("grammar_in_force_button")
    settles(ready)
    assert ready.reads("grammar_state") == "This is in force."
    assert not ready.find("grammar_use_button").isEnabled()
    chooses(ready, 0)
    assert ready.find_as(QPushButton, "grammar_use_button").text() == "Use none"
    ready.clicks("grammar_use_button")
    assert closed(ready)
    assert ready.desk.program.sampling.values.grammar is None
    assert not ready.sees("grammar_in_force_row")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_grammar_in_force_is_shown_after_another_was_looked_at(ready: Stage, line_end: str) -> None:
    first = Grammar("gbnf", f"# first{line_end}root ::= [a-z]")
    ready.desk.program.sampling.change(grammar=first)
    opens(ready)
    settles(ready)
    assert ready.reads("grammar_state") == "This is in force."
    ready.find_as(GrammarDialog, "grammar_dialog").reject()
    assert closed(ready)
    ready.desk.program.sampling.show(SamplingSettings(grammar=YES_OR_NO))
    opens(ready)
    settles(ready)
    assert text(ready).toPlainText() == YES_OR_NO.text
    assert ready.reads("grammar_state") == "This is in force."
    assert not ready.find("grammar_use_button").isEnabled()


def test_a_grammar_that_was_used_is_no_draft(ready: Stage) -> None:
    opens(ready)
    chooses(ready, 1)
    QTest.keyClicks(text(ready), 'root ::= "a"')
    settles(ready)
    ready.clicks("grammar_use_button")
    assert closed(ready)
    ready.desk.program.sampling.show(SamplingSettings(grammar=YES_OR_NO))
    opens(ready)
    assert text(ready).toPlainText() == YES_OR_NO.text


def test_an_example_is_undone_with_one_key(ready: Stage) -> None:
    opens(ready)
    chooses(ready, 1)
    QTest.keyClicks(text(ready), "mine")
    begins_with(ready, 1)
    assert text(ready).toPlainText() == LIST.text
    QTest.keyClick(text(ready), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert text(ready).toPlainText() == "mine"


def test_what_is_too_long_to_be_a_grammar_is_not_pasted(ready: Stage) -> None:
    opens(ready)
    chooses(ready, 1)
    QTest.keyClicks(text(ready), "a")
    QGuiApplication.clipboard().setText("x" * LONGEST_GRAMMAR)
    text(ready).paste()
    assert text(ready).toPlainText() == "a"
    assert (
        ready.reads("grammar_problem")
        == "A grammar or a schema has at most 65,536 characters: make this one shorter."
    )
    assert ready.sees("grammar_problem")
    QGuiApplication.clipboard().setText("bc")
    text(ready).paste()
    settles(ready)
    assert text(ready).toPlainText() == "abc"
    assert ready.reads("grammar_problem").startswith("Line 1, column 4")


def test_the_examples_can_be_used() -> None:
    for example in examples():
        check(example.grammar)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_in_the_dialog_is_cut(ready: Stage, theme: str) -> None:
    ready.themes.choose(theme)  # type: ignore[arg-type]
    dialog = opens(ready)
    begins_with(ready, 0)
    text(ready).setPlainText("root ::= " + "a-rule-with-a-very-long-name" * 6)
    settles(ready)
    assert "no rule" in ready.reads("grammar_problem")
    assert cut_off(dialog) == []
    for label in dialog.findChildren(QLabel):
        assert label.isHidden() or label.height() >= label.heightForWidth(label.width())


def test_an_editor_counts_characters_and_lines_as_the_check_does(ready: Stage) -> None:
    opens(ready)
    chooses(ready, 1)
    text(ready).setPlainText('root ::= "😀" x\n# é')
    settles(ready)
    assert ready.reads("grammar_problem").startswith("Line 1, column 14:")
    ready.clicks("grammar_go_button")
    assert ready.reads("grammar_caret") == "Line 1, column 14"
    (mark,) = text(ready).extraSelections()
    assert mark.cursor.selectedText() == "x"
    text(ready).setPlainText('root ::= "x"\n\n  | "y"')
    settles(ready)
    ready.clicks("grammar_go_button")
    assert ready.reads("grammar_caret") == "Line 3, column 3"
    text(ready).setPlainText("root ::= (")
    settles(ready)
    (mark,) = text(ready).extraSelections()
    assert mark.cursor.selectedText() == "("


def test_what_is_wrong_in_a_schema_is_marked_and_gone_to(ready: Stage) -> None:
    opens(ready)
    chooses(ready, 2)
    text(ready).setPlainText('{\n "items": {"type": "integer", "exclusiveMinimum": 3}\n}')
    settles(ready)
    assert ready.reads("grammar_problem").startswith("Line 2, column 31 (/items): “exclusiveMinimum”")
    (mark,) = text(ready).extraSelections()
    assert mark.cursor.selectedText() == '"exclusiveMinimum"'
    ready.clicks("grammar_go_button")
    assert ready.reads("grammar_caret") == "Line 2, column 31"


def test_grammars_are_told_where_settings_are_told() -> None:
    plain, fitting = SamplingSettings(seed=1), SamplingSettings(seed=1, grammar=PERSON)
    assert ("grammar", "A person") in footer.active_settings(fitting)
    assert all(name != "grammar" for name, _ in footer.active_settings(plain))
    differs = differing([plain, fitting])
    assert [lane_name(each, differs) for each in (plain, fitting)] == ["no grammar", "grammar “A person”"]
    assert setting_value(fitting, "grammar") == "A person"
    assert "grammar “A person”" in shared_words(fitting, ())
    assert "grammar" not in shared_words(plain, ())
