"""Going on by another token from the page Inside: what is asked of the engine, what people are told, what is refused."""

from __future__ import annotations

from array import array

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.core.chat import ChatPrompt
from app.services.inspection import FORCED
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
CUT = 12


def choose_other(looker: Inspector, cut: int = CUT) -> int:
    """Look at a token and stand on the likeliest other one; return which that is."""
    looker.answers()
    looker.opens()
    looker.clicks(cut)
    rows = looker.rows.rows.rows
    row = next(row for row, each in enumerate(rows) if not each.is_taken)
    looker.rows.setFocus()
    looker.rows.setCurrentIndex(looker.rows.rows.index(row))
    return rows[row].token


def by_enter(looker: Inspector) -> None:
    QTest.keyClick(looker.rows, Qt.Key.Key_Return)


def by_the_button(looker: Inspector) -> None:
    looker.stage.clicks("go_on_from_token")


@pytest.mark.parametrize("goes", [by_enter, by_the_button])
def test_the_answer_is_cut_and_goes_on_by_the_chosen_token_as_another_version(
    inspector: Inspector, goes: object
) -> None:
    assert callable(goes)
    token = choose_other(inspector)
    first = inspector.turns[-1]
    said = inspector.reads("go_on_from_token")
    assert said.startswith("Go on from here with “")
    goes(inspector)
    inspector.stage.settle()
    command = inspector.stage.engine.question
    assert isinstance(command.prompt, ChatPrompt)
    assert command.forced == (token,) and command.first_token == CUT and command.settings.seed == first.seed
    begun = command.prompt.messages[-1]
    assert command.prompt.continue_last and begun.ids == first.ids[: CUT * 4] and first.text.startswith(begun.text)
    second = inspector.turns[-1]
    assert second is not first and second.chosen == 1 and second.ids == first.ids[: CUT * 4]
    assert inspector.service.turn is second and inspector.stage.window.page == "inside"
    assert "A new version of the answer" in inspector.reads("inside_told") and inspector.stage.sees("inside_told")
    inspector.known()
    answer = inspector.flow.answer
    assert answer is not None and answer.recorded == CUT, "what stands before keeps its record"
    inspector.stage.clicks("inside_to_chat")
    assert inspector.stage.window.page == "chat"


def test_where_nothing_comes_of_it_the_earlier_answer_is_there_again(inspector: Inspector) -> None:
    choose_other(inspector)
    first = inspector.turns[-1]
    by_enter(inspector)
    inspector.stage.settle()
    inspector.stage.desk.program.chat.stop()
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    assert inspector.turns[-1] is first
    inspector.known()
    assert inspector.service.turn is first and not inspector.stage.sees("inside_told")


def test_a_token_that_was_chosen_before_the_cut_is_counted_too(inspector: Inspector) -> None:
    choose_other(inspector)
    answer = inspector.service.answer
    assert answer is not None
    other = inspector.stage.desk.program.other_token
    marked = msgspec.structs.replace(answer, flags=(FORCED, *answer.flags[1:]))
    inspector.service._answer = marked
    assert other.go_on(inspector.turns[-1], CUT, 3)
    assert inspector.turns[-1].chosen == 2


def test_while_something_is_written_it_is_refused_with_the_reason_and_offered_again_afterwards(
    inspector: Inspector,
) -> None:
    choose_other(inspector)
    button = inspector.stage.find_as(QPushButton, "go_on_from_token")
    assert button.isEnabled()
    first = inspector.turns[-1]
    assert inspector.stage.desk.program.chat.send("And the sea?")
    inspector.stage.settle()
    inspector.service.open(first, CUT)
    inspector.known()
    row = next(row for row, each in enumerate(inspector.rows.rows.rows) if not each.is_taken)
    inspector.rows.setCurrentIndex(inspector.rows.rows.index(row))
    assert not button.isEnabled() and "written at the moment" in button.toolTip()
    by_enter(inspector)
    assert inspector.turns[1] is first
    inspector.stage.desk.answer("Because.")
    inspector.known()
    assert button.isEnabled()


def test_without_the_model_that_wrote_it_it_is_refused(inspector: Inspector) -> None:
    choose_other(inspector)
    inspector.stage.desk.program.session.unload()
    inspector.stage.settle()
    button = inspector.stage.find_as(QPushButton, "go_on_from_token")
    assert not button.isEnabled() and "No model is loaded" in button.toolTip()


def test_an_answer_is_followed_on_the_page_while_it_is_written(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    assert inspector.stage.desk.program.chat.send("And the sea?")
    inspector.stage.settle()
    inspector.known()
    answer = inspector.flow.answer
    assert inspector.service.turn is inspector.turns[-1] and (answer is None or len(answer) == 0)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write(" w7")
    inspector.stage.settle()
    inspector.known()
    answer = inspector.flow.answer
    assert answer is not None and len(answer) == len(array("i", inspector.turns[-1].ids)) > 0


def test_the_reach_of_a_cut_is_the_whole_answer(inspector: Inspector) -> None:
    choose_other(inspector, COUNT - 1)
    by_enter(inspector)
    inspector.stage.settle()
    assert inspector.stage.engine.question.first_token == COUNT - 1


@pytest.mark.parametrize("goes", [by_enter, by_the_button])
def test_the_page_stays_and_the_keyboard_goes_to_the_forced_token(inspector: Inspector, goes: object) -> None:
    assert callable(goes)
    token = choose_other(inspector)
    place = inspector.scrolls(60)
    goes(inspector)
    inspector.stage.settle()
    assert inspector.page.verticalScrollBar().value() == place and inspector.flow.hasFocus()
    inspector.stage.engine.prompt()
    inspector.stage.engine.write(" forced")
    inspector.stage.settle()
    inspector.known()
    assert inspector.service.token == CUT and inspector.flow.current == CUT and inspector.flow.is_pinned
    assert inspector.page.verticalScrollBar().value() == place and inspector.flow.hasFocus()
    assert inspector.stage.engine.question.forced == (token,)


def test_who_looks_elsewhere_meanwhile_is_left_there(inspector: Inspector) -> None:
    choose_other(inspector)
    by_enter(inspector)
    inspector.stage.settle()
    inspector.known()
    inspector.clicks(2)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write(" forced")
    inspector.stage.settle()
    inspector.known()
    assert inspector.service.token == 2


def test_keys_begin_at_the_token_that_came_and_only_a_chosen_one_is_gone_on_from(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    inspector.clicks(CUT)
    first = inspector.turns[-1]
    rows = inspector.rows.rows.rows
    taken = next(row for row, each in enumerate(rows) if each.is_taken)
    inspector.flow.setFocus()
    QTest.keyClick(inspector.flow, Qt.Key.Key_Tab)
    button = inspector.stage.find_as(QPushButton, "go_on_from_token")
    selected = [index.row() for index in inspector.rows.selectionModel().selectedIndexes()]
    assert inspector.rows.hasFocus() and selected == [taken], "people see where they are"
    assert inspector.rows.chosen is None and not button.isEnabled() and "another token" in button.text()
    QTest.keyClick(inspector.rows, Qt.Key.Key_Return)
    inspector.stage.settle()
    assert inspector.turns[-1] is first
    QTest.keyClick(inspector.rows, Qt.Key.Key_Down)
    chosen = inspector.rows.chosen
    assert chosen is not None and chosen.token == rows[taken + 1].token and button.isEnabled()


def test_a_row_that_has_the_keyboard_and_was_not_chosen_is_not_gone_on_from(inspector: Inspector) -> None:
    choose_other(inspector)
    inspector.rows.clearSelection()
    assert inspector.rows.currentIndex().isValid() and inspector.rows.chosen is None
    button = inspector.stage.find_as(QPushButton, "go_on_from_token")
    assert not button.isEnabled()
    QTest.keyClick(inspector.rows, Qt.Key.Key_Space)
    assert inspector.rows.chosen is not None and button.isEnabled()
