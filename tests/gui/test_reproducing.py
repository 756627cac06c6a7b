"""Reproducing an answer from its menu: what is under it while that goes on, and what came of it."""

from __future__ import annotations

from array import array

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QProgressBar

from app.core.commands import Cancel, Reproduce
from app.core.events import PrefillProgress, PromptReady, Tokens
from app.core.metrics import KVUse
from app.core.replay_events import Difference, Reproduced
from app.gui.chat.reproduction_card import ReproductionCard
from app.gui.widgets.words import hint_of
from tests.gui.conftest import Stage
from tests.gui.test_turn_actions import choose, hover, say

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def answered(ready: Stage) -> Stage:
    """Return the stage with an answer."""
    ready.desk.program.conversations.start()
    say(ready, "One", "1")
    return ready


def entry(stage: Stage, place: int, words: str = "Reproduce") -> QAction:
    """Open the menu of a turn and return an entry of it; the menu is closed again."""
    hover(stage, place)
    bar = stage.window.parts.chat_page.turn_actions.bars.bar_of(stage.desk.program.chat.turns[place])
    assert bar is not None
    QTest.mouseClick(bar.more_button, Qt.MouseButton.LeftButton)
    menu = bar.findChild(QMenu)
    assert menu is not None
    found = next(action for action in menu.actions() if action.text() == words)
    menu.close()
    return found


def asked(stage: Stage) -> Reproduce:
    return stage.engine.all(Reproduce)[-1]


def reads(stage: Stage, done: int) -> None:
    stage.engine.say(PromptReady(asked(stage).request, asked(stage).prompt, (), 0, 0))
    stage.engine.say(PrefillProgress(asked(stage).request, done, 40, 0, 0))
    stage.settle()


def ends(stage: Stage, **changes: object) -> None:
    found = Reproduced(asked(stage).request, 0, 1, None, "end", KVUse(41, 4096, None))
    stage.engine.say(msgspec.structs.replace(found, **changes))
    stage.settle()


def said(stage: Stage) -> str:
    return stage.find_as(QLabel, "reproduction_text").text()


def cards(stage: Stage) -> list[ReproductionCard]:
    """Return the cards that are seen."""
    return [each for each in stage.window.findChildren(ReproductionCard) if each.isVisibleTo(stage.window)]


def card(stage: Stage) -> ReproductionCard:
    (found,) = cards(stage)
    return found


def test_an_answer_is_reproduced_from_its_menu_and_the_result_stands_under_it(answered: Stage) -> None:
    turn = answered.desk.program.chat.turns[1]
    choose(answered, 1, "Reproduce")
    answered.settle()
    assert asked(answered).ids == turn.ids
    assert said(answered) == "Reproduce: waits for its turn"
    reads(answered, 20)
    assert said(answered) == "Reproduce: reading the prompt, 20 of 40 tokens"
    progress = answered.find_as(QProgressBar, "reproduction_progress")
    assert (progress.value(), progress.maximum(), progress.accessibleName()) == (20, 40, "Reproduce")
    answered.engine.say(
        Tokens(asked(answered).request, 0, 1, array("i", [0]).tobytes(), "1", b"", 41, last_ns=0, first_ns=0)
    )
    answered.settle()
    assert said(answered) == "Reproduce: 1 of 1 tokens is the same"
    assert answered.sees("reproduction_cancel") and not answered.sees("reproduction_close")
    ends(answered)
    assert said(answered) == card(answered).accessibleName() == "Identical: the one token that the model wrote."
    assert not answered.sees("reproduction_progress") and not answered.sees("reproduction_cancel")
    answered.clicks("reproduction_close")
    assert cards(answered) == []


def test_the_card_has_room_of_its_own_between_the_figures_and_the_buttons(answered: Stage) -> None:
    transcript = answered.window.parts.chat_page.transcript
    block = transcript.turns.blocks[1]
    height, footer_top = block.height, block.footer_top
    choose(answered, 1, "Reproduce")
    answered.settle()
    place, shown = transcript.places.turn(1), card(answered).geometry()
    assert block.height > height and block.footer_top == footer_top
    assert place.top() + block.footer_top < shown.top() and shown.bottom() <= place.bottom()
    assert shown.bottom() < transcript.places.bar(1).top()
    assert transcript.is_at_end
    ends(answered, difference=Difference(0, 5, 6, 0.5, 0.4, 0.3), compared=0)
    layout = card(answered).layout()
    assert layout is not None and card(answered).height() >= layout.totalHeightForWidth(card(answered).width())
    answered.clicks("reproduction_close")
    assert block.height == height


def test_it_is_cancelled_where_it_is_shown(answered: Stage) -> None:
    choose(answered, 1, "Reproduce")
    answered.settle()
    reads(answered, 20)
    answered.clicks("reproduction_cancel")
    assert answered.engine.all(Cancel)[-1].request == asked(answered).request
    ends(answered, compared=0, stop_reason="cancelled")
    assert said(answered) == "Stopped before a token was compared."


def test_a_difference_is_told_whole(answered: Stage) -> None:
    choose(answered, 1, "Reproduce")
    answered.settle()
    ends(answered, difference=Difference(0, 5, 6, 0.006, 0.004, None), compared=0)
    assert "0.004 apart in log-probability then, 0.006 now. That is as close as a tie" in said(answered)


def test_the_card_is_there_again_when_its_chat_is_shown_again(answered: Stage) -> None:
    program = answered.desk.program
    choose(answered, 1, "Reproduce")
    answered.settle()
    ends(answered)
    first = program.chat.conversation_id
    program.conversations.new()
    assert cards(answered) == []
    program.conversations.open(first)
    answered.settle()
    assert "Identical" in card(answered).text


def test_what_cannot_be_reproduced_is_grey_and_says_why(answered: Stage) -> None:
    assert entry(answered, 1).isEnabled()
    answered.desk.program.branches.edit(answered.desk.program.chat.turns[1], "Mine")
    action = entry(answered, 1)
    assert not action.isEnabled()
    assert action.statusTip() == "A person wrote or changed this answer, so no draw leads to it."
    assert action.toolTip() == hint_of(action.statusTip())
    with pytest.raises(StopIteration):
        entry(answered, 0)


def test_a_context_that_is_too_small_offers_a_larger_one(answered: Stage) -> None:
    turn = answered.desk.program.chat.turns[1]
    turn.ids = array("i", range(4090)).tobytes()
    choose(answered, 1, "Reproduce")
    answered.settle()
    assert "load the model with a larger one" in said(answered)
    assert answered.reads("reproduction_offer") == "Larger context…"
    answered.clicks("reproduction_offer")
    answered.find("context_box")


def test_a_card_that_has_the_keyboard_gives_it_back(answered: Stage) -> None:
    choose(answered, 1, "Reproduce")
    answered.settle()
    ends(answered)
    close = answered.find("reproduction_close")
    close.setFocus()
    QTest.keyClick(close, Qt.Key.Key_Space)
    assert answered.find("transcript").hasFocus()


def test_a_button_that_goes_hands_the_keyboard_to_the_one_that_comes(answered: Stage) -> None:
    choose(answered, 1, "Reproduce")
    answered.settle()
    reads(answered, 20)
    cancel = answered.find("reproduction_cancel")
    cancel.setFocus()
    QTest.keyClick(cancel, Qt.Key.Key_Space)
    ends(answered, compared=0, stop_reason="cancelled")
    assert answered.find("reproduction_close").hasFocus()
    QTest.keyClick(answered.find("reproduction_close"), Qt.Key.Key_Space)
    assert answered.find("transcript").hasFocus()


def test_what_came_of_it_while_another_chat_was_shown_is_told(answered: Stage) -> None:
    program = answered.desk.program
    choose(answered, 1, "Reproduce")
    answered.settle()
    reads(answered, 20)
    first = program.chat.conversation_id
    program.conversations.new()
    answered.settle()
    assert cards(answered) == []
    ends(answered)
    program.conversations.open(first)
    answered.settle()
    assert "Identical" in card(answered).text
    buttons = {
        each.objectName(): each.isVisibleTo(card(answered)) for each in card(answered).findChildren(QAbstractButton)
    }
    assert buttons == {"reproduction_offer": False, "reproduction_cancel": False, "reproduction_close": True}


def test_a_chat_that_is_deleted_meanwhile_takes_its_card_along(answered: Stage) -> None:
    program = answered.desk.program
    choose(answered, 1, "Reproduce")
    answered.settle()
    reads(answered, 20)
    program.conversations.delete(program.chat.conversation_id)
    answered.settle()
    assert answered.engine.all(Cancel)[-1].request == asked(answered).request
    assert cards(answered) == []
    ends(answered, compared=0, stop_reason="cancelled")
    program.conversations.undo_delete()
    answered.settle()
    assert card(answered).text == "Stopped before a token was compared."
