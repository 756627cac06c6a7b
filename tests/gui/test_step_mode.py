"""Step mode as somebody uses it: buttons and keys, the list to choose from, the bar that comes and goes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QSlider

from app.core.commands import SetPace, StepOn
from app.core.events import GrammarMask
from app.gui.chat import footer
from app.gui.next_token.candidates import ROW_PX, CandidatesChart
from app.services.step_mode import MOST_SPEED
from tests.gui.conftest import Stage
from tests.gui.test_accessible_transcript import announced

THEMES = ("light", "dark", "contrast")


@pytest.fixture
def asked(ready: Stage) -> Stage:
    """Return the stage while an answer is written."""
    ready.sends("Why?")
    ready.settle()
    ready.engine.prompt()
    ready.engine.write("Because")
    ready.settle()
    return ready


@pytest.fixture
def held(asked: Stage) -> Stage:
    """Return the stage while an answer waits before its second token."""
    asked.clicks("pause_button")
    hold(asked)
    return asked


def hold(stage: Stage) -> None:
    stage.engine.hold()
    stage.settle()


def chart(stage: Stage) -> CandidatesChart:
    return stage.find_as(CandidatesChart, "candidates_chart")


def press(stage: Stage, keys: str) -> None:
    QTest.keySequence(stage.window, QKeySequence(keys))


def click_row(stage: Stage, row: int) -> None:
    place = QPoint(40, row * ROW_PX + ROW_PX // 2)
    QTest.mouseClick(chart(stage).viewport(), Qt.MouseButton.LeftButton, pos=place)


def steps(stage: Stage) -> list[tuple[int | None, int | None]]:
    """Return which tokens were chosen for which places; None is one that is drawn."""
    return [(each.token, each.place) for each in stage.engine.all(StepOn)]


def paces(stage: Stage) -> list[float | None]:
    return [each.tokens_per_s for each in stage.engine.all(SetPace)]


def last_line(stage: Stage) -> str:
    return footer.line(stage.desk.program.chat.turns[-1])


def test_nothing_of_it_is_there_until_somebody_wants_it(ready: Stage) -> None:
    assert not ready.sees("step_bar") and not ready.sees("pause_button")
    ready.sends("Why?")
    ready.settle()
    assert ready.sees("pause_button") and not ready.sees("step_bar")
    ready.desk.answer("Because")
    assert not ready.sees("pause_button")


def test_a_paused_answer_says_that_it_waits_and_what_can_be_done(held: Stage) -> None:
    assert paces(held) == [0.0]
    assert held.sees("step_bar") and not held.sees("pause_button")
    assert held.reads("hold_button") == "Run on"
    assert held.find("step_status").accessibleName() == "Token 2, waiting"
    assert last_line(held) == "Waits for you before its next token"
    assert held.reads("candidates_whose") == "next, not drawn yet"
    assert held.composer.isEnabled()
    held.types("Meanwhile")
    assert held.composer.toPlainText() == "Meanwhile"


def test_a_grammar_that_was_not_counted_is_told_above_the_candidates_that_it_may_rule_out(held: Stage) -> None:
    assert not held.sees("candidates_not_counted")
    held.engine.hold(GrammarMask())
    held.settle()
    told = "The grammar was in force here; how many tokens it rules out was not counted, as that takes too long"
    assert held.sees("candidates_not_counted") and held.reads("candidates_not_counted").startswith(told)
    assert held.reads("candidates_left") == "left: unknown"
    said = chart(held).rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "% raw, after the chain: not known" in said and "0.0" not in said
    assert held.reads("candidates_whose") == "next, not drawn yet"
    hold(held)
    assert not held.sees("candidates_not_counted") and held.reads("candidates_left").endswith("tokens left")


def test_those_who_listen_hear_once_that_an_answer_is_held(asked: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    said = announced(monkeypatch)
    asked.clicks("pause_button")
    hold(asked)
    press(asked, "F7")
    asked.engine.write(" it")
    hold(asked)
    assert [each for each in said if each.endswith(", waiting")] == ["Token 2, waiting"]


def test_that_it_waits_stands_under_what_is_written_and_moves_nothing(asked: Stage) -> None:
    press(asked, "Shift+F6")  # the bar is there before
    asked.settle()
    transcript = asked.find("transcript")
    running = transcript.grab().toImage()
    asked.clicks("hold_button")
    assert transcript.grab().toImage() == running, "it is not held yet"
    hold(asked)
    waits = transcript.grab().toImage()
    assert waits.size() == running.size() and waits != running
    press(asked, "F7")
    asked.settle()
    assert transcript.grab().toImage() == waits, "nothing flickers while a step is taken"


@pytest.mark.parametrize("route", ["button", "key", "menu"])
def test_one_token_at_a_time(held: Stage, route: str) -> None:
    for place in (1, 2):
        if route == "button":
            held.clicks("one_token_button")
        elif route == "key":
            press(held, "F7")
        else:
            held.triggers("one_token_action")
        held.engine.write(" it")
        hold(held)
        assert steps(held)[-1] == (None, place)
    assert held.find("step_status").accessibleName() == "Token 4, waiting"
    assert "Because it it" in held.transcript_text()


@pytest.mark.parametrize("route", ["button", "key", "menu"])
def test_it_runs_on_to_its_end(held: Stage, route: str) -> None:
    if route == "button":
        held.clicks("hold_button")
    elif route == "key":
        press(held, "F6")
    else:
        held.triggers("pause_action")
    assert paces(held) == [0.0, None]
    assert held.reads("hold_button") == "Pause" and last_line(held) == ""
    held.engine.write(" of it")
    held.engine.finish()
    held.settle()
    assert "chosen" not in last_line(held) and held.sees("step_bar")
    held.clicks("step_bar_close_button")
    assert not held.sees("step_bar")


def test_a_click_on_a_candidate_chooses_it(held: Stage) -> None:
    tokens = [row.token for row in chart(held).rows.rows]
    click_row(held, 3)
    assert steps(held) == [(tokens[3], 1)]
    click_row(held, 2)  # the list is not the next one's yet
    assert len(steps(held)) == 1
    held.engine.write(" light", token=tokens[3])
    hold(held)
    held.clicks("hold_button")
    held.engine.finish()
    held.settle()
    assert "1 chosen by hand" in last_line(held)
    click_row(held, 0)
    assert len(steps(held)) == 1, "nothing waits any more"


def test_the_keyboard_chooses_and_begins_at_the_top_of_the_next_list(held: Stage) -> None:
    here = chart(held)
    held.window.activateWindow()
    held.bot.waitUntil(held.window.isActiveWindow)
    here.setFocus()
    for _ in range(3):
        QTest.keyClick(here, Qt.Key.Key_Down)
    chosen = here.rows.rows[here.currentIndex().row()]
    assert here.currentIndex().row() > 0
    QTest.keyClick(here, Qt.Key.Key_Return)
    assert steps(held) == [(chosen.token, 1)]
    held.engine.write(" light", token=chosen.token)
    hold(held)
    assert here.currentIndex().row() == 0
    QTest.keyClick(here, Qt.Key.Key_Enter)
    assert steps(held)[-1] == (here.rows.rows[0].token, 2)


def test_a_candidate_says_that_it_can_be_chosen_only_while_it_can(held: Stage) -> None:
    rows = chart(held).rows
    assert rows.sentence(rows.rows[0]).endswith("a click or Enter chooses it")
    held.clicks("one_token_button")
    held.engine.write(" it", token=rows.rows[0].token)
    held.settle()
    assert rows.sentence(rows.rows[0]).endswith("this one was drawn")


def test_a_moved_slider_shows_what_it_leaves_of_the_token_that_is_not_drawn_yet(held: Stage) -> None:
    held.desk.program.sampling.change(top_k=1)
    assert held.reads("candidates_left") == "1 token left"
    assert held.reads("candidates_whose") == "next, not drawn yet"


def test_the_speed_goes_from_one_token_a_second_to_as_fast_as_it_goes(asked: Stage) -> None:
    press(asked, "Shift+F6")
    slider = asked.find_as(QSlider, "speed_slider")
    assert asked.sees("step_bar") and asked.reads("speed_value") == "as fast as it goes"
    assert slider.accessibleName() == "Speed, as fast as it goes"
    QTest.keyClick(slider, Qt.Key.Key_Left)
    assert paces(asked) == [MOST_SPEED] and asked.reads("speed_value") == "60 tok/s"
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert paces(asked)[-1] == 1.0 and slider.accessibleName() == "Speed, 1 tok/s"
    asked.clicks("hold_button")
    asked.clicks("hold_button")
    assert paces(asked)[-2:] == [0.0, 1.0], "it runs on at the speed that was set"
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert paces(asked)[-1] is None
    asked.engine.finish()
    asked.settle()
    QTest.keyClick(slider, Qt.Key.Key_Home)
    asked.sends("More")
    asked.settle()
    assert asked.engine.question.tokens_per_s == 1.0


def test_who_leaves_step_mode_lets_the_answer_run_and_keeps_the_keyboard(held: Stage) -> None:
    held.find("one_token_button").setFocus()
    press(held, "Shift+F6")
    assert paces(held) == [0.0, None]
    assert not held.sees("step_bar") and held.sees("pause_button")
    assert held.window.focusWidget() is held.composer
    held.find("pause_button").setFocus()
    press(held, "F6")
    assert held.sees("step_bar") and held.window.focusWidget() is held.composer


def test_esc_ends_an_answer_that_is_held(held: Stage) -> None:
    held.presses(Qt.Key.Key_Escape)
    held.engine.finish("cancelled")
    held.settle()
    assert "stopped by you" in last_line(held)
    assert held.find("step_status").accessibleName() == "Next answer by steps"
    assert held.find_as(QPushButton, "hold_button").text() == "No steps", "nothing is there to run on"
    assert not held.find("one_token_button").isEnabled()
    assert held.reads("candidates_whose") == "", "nothing is going to be drawn from it"


def test_held_before_its_first_word_it_says_so_in_its_place(ready: Stage) -> None:
    press(ready, "F6")
    ready.sends("Why?")
    ready.settle()
    assert ready.find("step_status").accessibleName() == "Waits at its next token"
    ready.engine.prompt()
    hold(ready)
    assert not ready.sees("prefill_progress")
    assert "Reading" not in ready.find("composer_status").accessibleName()
    turn = ready.desk.program.chat.turns[-1]
    assert footer.waiting(turn) == "Waits for you before its first word"
    press(ready, "F7")
    ready.engine.write("Because")
    ready.settle()
    assert footer.line(turn) == "Waits for you before its next token"


def test_in_another_chat_nothing_waits_and_the_bar_stays(held: Stage) -> None:
    first = held.desk.program.chat.conversation_id
    held.clicks("new_chat_button")
    assert held.find("step_status").accessibleName() == "Next answer by steps"
    held.desk.program.conversations.open(first)
    hold(held)
    assert last_line(held) == "Waits for you before its next token"


@pytest.mark.parametrize("theme", THEMES)
def test_it_can_be_read_in_every_theme(held: Stage, theme: str) -> None:
    held.triggers(f"{theme}_theme_action")
    for name in ("hold_button", "one_token_button", "speed_value", "step_status"):
        part = held.find(name)
        picture = part.grab().toImage()
        colours = {
            picture.pixelColor(x, y).lightness() for x in range(picture.width()) for y in range(picture.height())
        }
        assert max(colours) - min(colours) > 90, name


def test_what_is_under_the_pointer_is_marked_while_it_can_be_chosen(held: Stage) -> None:
    here = chart(held)
    before = here.grab().toImage()
    QTest.mouseMove(here.viewport(), QPoint(40, 2 * ROW_PX + 9))
    marked = here.grab().toImage()
    assert marked != before
    assert here.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
    press(held, "F6")
    held.engine.write(" it")
    held.settle()
    assert here.viewport().cursor().shape() is Qt.CursorShape.ArrowCursor
