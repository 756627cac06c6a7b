"""What people set for thinking: their own tags, and whether it is unfolded while it is written."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.preferences.tags_line import read_tags
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def opened(ready: Stage) -> Stage:
    """Return the stage with the preferences open."""
    ready.clicks("preferences_button")
    return ready


def kept(stage: Stage) -> tuple[str, ...]:
    return stage.desk.program.settings.values.thinking_tags


def line(stage: Stage) -> QLineEdit:
    return stage.find_as(QLineEdit, "thinking_tags_option")


def problem(stage: Stage) -> str:
    said = stage.find_as(QLabel, "thinking_tags_problem")
    return said.text() if said.isVisible() else ""


def thinking_is_folded(stage: Stage, index: int) -> bool | None:
    """Return whether the thinking of an answer is folded; None where it has none."""
    body = stage.window.parts.chat_page.transcript.turns.blocks[index].body
    assert isinstance(body, ThoughtfulText)
    return body.thinking.is_folded if body.thinking is not None else None


def thinks(stage: Stage, *texts: str) -> None:
    stage.sends("Hi")
    stage.engine.prompt()
    for text in texts:
        stage.engine.write(text)
        stage.settle()


def test_tags_are_kept_as_they_are_typed_each_once(opened: Stage) -> None:
    QTest.keyClicks(line(opened), "reflection, <scratchpad>  reflection")
    assert kept(opened) == ("reflection", "<scratchpad>")
    assert problem(opened) == ""


@pytest.mark.parametrize("wrong", ["</scratchpad>", "<a>b", "no/tag", "<<x>>"])
def test_what_cannot_be_a_tag_is_said_in_one_sentence_and_not_kept(opened: Stage, wrong: str) -> None:
    QTest.keyClicks(line(opened), f"reflection {wrong}")
    assert problem(opened) == ""  # it may still become one
    QTest.keyClick(line(opened), Qt.Key.Key_Return)
    assert problem(opened).startswith(f"“{wrong}” cannot be a tag: type its name")
    assert line(opened).accessibleDescription() == problem(opened)
    assert kept(opened) == ("reflection",)
    for _ in range(len(wrong) + 1):
        QTest.keyClick(line(opened), Qt.Key.Key_Backspace)
    assert problem(opened) == ""
    assert line(opened).accessibleDescription().startswith("For models whose chat template")


def test_a_tag_that_is_too_long_is_said_with_the_number(opened: Stage) -> None:
    line(opened).setText("")
    QTest.keyClicks(line(opened), "x" * 65)
    QTest.keyClick(line(opened), Qt.Key.Key_Return)
    assert problem(opened) == "A tag has at most 64 characters."
    assert kept(opened) == ()


def test_the_hint_stands_right_under_the_tags_until_there_is_a_problem(opened: Stage) -> None:
    opened.settle()
    hint = next(each for each in opened.window.findChildren(QLabel) if each.text().startswith("For models whose"))
    gap = hint.geometry().top() - line(opened).geometry().bottom()
    box = opened.find("reduce_motion_option")
    said = next(each for each in opened.window.findChildren(QLabel) if each.text().startswith("Panels appear"))
    assert gap == said.geometry().top() - box.geometry().bottom()
    QTest.keyClicks(line(opened), "no/tag")
    QTest.keyClick(line(opened), Qt.Key.Key_Return)
    opened.settle()
    problem = opened.find("thinking_tags_problem").geometry()
    assert line(opened).geometry().bottom() < problem.top() < problem.bottom() < hint.geometry().top()


def test_tags_that_were_kept_are_shown_and_go_with_the_defaults(ready: Stage) -> None:
    ready.desk.program.settings.change(thinking_tags=("reflection", "<scratchpad>"), unfold_thinking=True)
    ready.clicks("preferences_button")
    assert line(ready).text() == "reflection <scratchpad>"
    ready.clicks("defaults_button")
    assert line(ready).text() == ""
    assert kept(ready) == ()
    assert not ready.desk.program.settings.values.unfold_thinking


def test_own_tags_part_the_next_answer(opened: Stage) -> None:
    QTest.keyClicks(line(opened), "reflection")
    thinks(opened, "<reflection>All colours.", "</reflection>Blue.")
    opened.engine.finish()
    opened.settle()
    assert opened.desk.program.chat.turns[-1].thoughts is not None
    assert opened.desk.program.chat.turns[-1].thoughts.said == "Blue."


def test_thinking_is_folded_while_it_is_written_unless_somebody_wants_to_see_it(opened: Stage) -> None:
    thinks(opened, "<think>All", " colours")
    assert thinking_is_folded(opened, 1) is True
    opened.engine.write("</think>Blue.")
    opened.engine.finish()
    opened.settle()
    QTest.keyClick(opened.find("unfold_thinking_option"), Qt.Key.Key_Space)
    assert opened.desk.program.settings.values.unfold_thinking
    thinks(opened, "<think>All", " colours")
    assert thinking_is_folded(opened, 1) is True
    assert thinking_is_folded(opened, 3) is False
    opened.engine.write("</think>Blue.")
    opened.engine.finish()
    opened.settle()
    assert thinking_is_folded(opened, 3) is False  # nothing jumps when it ends
    first = opened.desk.program.conversations.open_id
    opened.triggers("new_chat_action")
    opened.desk.program.conversations.open(first)
    assert thinking_is_folded(opened, 3) is True


def test_thinking_that_is_unfolded_as_it_comes_can_be_folded(opened: Stage) -> None:
    QTest.keyClick(opened.find("unfold_thinking_option"), Qt.Key.Key_Space)
    thinks(opened, "<think>All")
    body = opened.window.parts.chat_page.transcript.turns.blocks[1].body
    assert isinstance(body, ThoughtfulText)
    body.toggle_fold()
    opened.engine.write(" colours")
    opened.settle()
    assert thinking_is_folded(opened, 1) is True


def test_the_choice_holds_at_the_next_start(ready: Stage) -> None:
    ready.desk.program.settings.change(unfold_thinking=True)
    ready.clicks("preferences_button")
    assert ready.find("unfold_thinking_option").property("checked") is True


@pytest.mark.parametrize(
    ("text", "names"), [("", ()), (" , ", ()), ("a,b", ("a", "b")), ("a\tb  a", ("a", "b")), ("<a>, b", ("<a>", "b"))]
)
def test_names_stand_between_spaces_or_commas(text: str, names: tuple[str, ...]) -> None:
    assert read_tags(text) == names
