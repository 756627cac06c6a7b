"""Looking at the tokens of an answer on the page Inside: how people come there, what they point at, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from app.core.commands import RecordKind
from app.gui.inside.shades import COLOURINGS
from app.gui.widgets.boxes import ChoiceBox
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage
from tests.gui.test_turn_actions import choose
from tests.services import recorded_answers
from tests.services.recorded_lanes import BLOCK
from tests.services.recorded_lanes import blocks_of as whole_blocks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def by_the_tab(looker: Inspector) -> None:
    looker.stage.clicks("inside_button")


def by_the_key(looker: Inspector) -> None:
    QTest.keyClick(
        looker.stage.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )


def by_the_menu(looker: Inspector) -> None:
    choose(looker.stage, 1, "Look inside")


@pytest.mark.parametrize(("opens", "part"), [(by_the_tab, "loop"), (by_the_key, "loop"), (by_the_menu, "answer")])
def test_every_way_leads_to_the_newest_answer(
    inspector: Inspector, opens: Callable[[Inspector], None], part: str
) -> None:
    lane = inspector.answers()
    opens(inspector)
    inspector.known()
    answer = inspector.flow.answer
    assert inspector.stage.window.page == "inside" and inspector.page.part == part
    assert answer is not None and list(answer.ids) == lane.tokens.tolist() and answer.recorded == COUNT
    about = inspector.stage.find("inside_about").accessibleName()
    assert "“Why?”" in about and f"{COUNT} tokens" in about
    assert inspector.flow.accessibleName() == "Tokens of the answer"


def test_a_question_offers_nothing_to_look_into(inspector: Inspector) -> None:
    inspector.answers()
    menu = QMenu(inspector.stage.window)
    inspector.stage.window.parts.chat_page.turn_actions.add_to(menu, inspector.turns[0])
    assert menu.findChild(QAction, "look_inside_action") is None
    menu.deleteLater()


def test_without_an_answer_it_says_what_to_do_and_leads_to_the_chat(inspector: Inspector) -> None:
    inspector.opens()
    assert inspector.stage.sees("inside_empty") and "no answer here yet" in inspector.reads("inside_empty")
    inspector.stage.clicks("inside_chat_button")
    assert inspector.stage.window.page == "chat" and inspector.stage.composer.hasFocus()


@pytest.mark.parametrize(("record", "said"), [("off", "Nothing was recorded"), ("chosen", "Only the chosen")])
def test_what_was_not_recorded_is_said_with_how_it_would_be(
    inspector: Inspector, record: RecordKind, said: str
) -> None:
    inspector.answers(record)
    inspector.opens()
    assert said in inspector.reads("inside_remark")
    inspector.clicks(3)
    assert "“All likely candidates”" in inspector.reads("alternatives_hint")
    assert inspector.stage.sees("alternatives_list") == (record == "chosen")
    inspector.stage.clicks("inside_record_button")
    dialog = inspector.stage.find("preferences")
    assert dialog.isVisible()
    dialog.close()


@pytest.mark.usefixtures("caplog")  # a damage is logged
def test_a_damaged_record_is_told_as_one_and_no_setting_is_named(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blocks_of(*of: Any, **more: Any) -> list[bytes]:
        first, *others = whole_blocks(*of, **more)
        return [first[:60], *others]

    monkeypatch.setattr(recorded_answers, "blocks_of", blocks_of)
    inspector.answers()
    inspector.opens()
    assert f"damaged: of {BLOCK} of {COUNT} tokens" in inspector.reads("inside_remark")
    assert not inspector.stage.sees("inside_record_button")
    inspector.clicks(3)
    assert "damaged" in inspector.reads("alternatives_hint") and "Save" not in inspector.reads("alternatives_hint")
    inspector.clicks(BLOCK + 3)
    assert inspector.stage.sees("alternatives_list") and inspector.reads("token_rank_value") != "–"


def test_a_click_pins_a_token_and_the_card_says_what_is_known_of_it(inspector: Inspector) -> None:
    lane = inspector.answers()
    inspector.opens()
    inspector.clicks(7)
    records = lane.records
    assert records is not None and inspector.flow.is_pinned and inspector.service.token == 7
    assert inspector.reads("token_place") == f"Token 8 of {COUNT}"
    assert inspector.reads("token_id_value") == str(lane.tokens[7])
    assert inspector.reads("token_rank_value") == str(records.rank[7])
    assert inspector.reads("token_log_value") == f"{records.log_probability[7]:.3f}"
    assert inspector.reads("token_entropy_value") == f"{records.entropy[7]:.2f} nats"
    assert inspector.reads("token_time_value") == "13 ms"
    assert inspector.reads("token_came_value") == "drawn"
    said = inspector.flow.accessibleName()
    assert said.startswith(f"Token 8 of {COUNT}: “") and f"rank {records.rank[7]}" in said
    rows = inspector.rows.rows
    taken = [row for row in range(len(rows.rows)) if rows.rows[row].is_taken]
    assert len(taken) == 1 and "this one came" in rows.sentence(taken[0])
    assert rows.rowCount() == len(rows.rows) + 1 and rows.sentence(len(rows.rows)).startswith("All other tokens")


def test_a_pointer_that_rests_on_a_token_looks_at_it_until_one_is_pinned(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    inspector.points_at(5)
    inspector.stage.bot.waitUntil(lambda: inspector.service.token == 5)
    assert not inspector.flow.is_pinned
    inspector.clicks(5)
    inspector.points_at(9)
    assert not inspector.flow._resting.isActive() and inspector.service.token == 5
    inspector.flow.setFocus()
    inspector.presses("Escape")
    assert inspector.service.token is None and not inspector.flow.is_pinned
    inspector.points_at(9)
    inspector.stage.bot.waitUntil(lambda: inspector.service.token == 9)


def test_keys_go_from_token_to_token_and_from_row_to_row(inspector: Inspector) -> None:
    inspector.answers(count=400)
    inspector.opens()
    flow = inspector.flow
    flow.setFocus()
    last = 399
    for keys, expected in (("Right", 0), ("Right", 1), ("Right", 2), ("Left", 1), ("End", last), ("Right", last)):
        inspector.presses(keys)
        assert inspector.service.token == expected, keys
    inspector.presses("Home")
    inspector.presses("Left")
    assert (inspector.token, flow.verticalScrollBar().value()) == (0, 0)
    inspector.presses("Down")
    below = inspector.token
    assert below > 0 and flow.place_of(below).top() > flow.place_of(0).top()
    inspector.presses("Up")
    assert inspector.token == 0
    inspector.presses("PgDown")
    far = inspector.token
    assert far > 4 * below
    assert 0 <= flow.place_of(far).top() <= flow.viewport().height()
    inspector.presses("PgUp")
    assert 0 <= inspector.token < below


def test_escape_frees_a_token_before_it_stops_an_answer(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    assert inspector.stage.desk.program.chat.send("And the sea?")
    inspector.stage.settle()
    inspector.service.open(inspector.turns[1])
    inspector.known()
    inspector.clicks(3)
    inspector.flow.setFocus()
    inspector.presses("Escape")
    assert inspector.service.token is None and inspector.stage.desk.program.chat.busy
    assert not [each for each in inspector.stage.engine.sent if type(each).__name__ == "Cancel"]


def test_colours_change_and_the_legend_says_what_they_stand_for(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    box = inspector.stage.find_as(ChoiceBox, "inside_colouring_box")
    seen = set()
    for row, colouring in enumerate(COLOURINGS):
        box.setCurrentIndex(row)
        box.activated.emit(row)
        assert inspector.flow.colouring == colouring
        picture = inspector.flow.viewport().grab().toImage()
        seen.add(bytes(picture.constBits()))
        said = inspector.stage.find("token_legend").accessibleName()
        assert "chosen by hand" in said and ("not recorded" in said) == (colouring != "none")
    assert len(seen) == len(COLOURINGS), "each paints something else"


def test_another_answer_is_chosen_in_the_head_and_a_chat_that_is_opened_leaves_the_page(inspector: Inspector) -> None:
    first = inspector.answers(question="One?")
    inspector.answers(count=9, question="Two?")
    inspector.opens()
    box = inspector.stage.find_as(ChoiceBox, "inside_answer_box")
    assert [box.itemText(row) for row in range(box.count())] == ["1. One?", "2. Two?"] and box.currentIndex() == 1
    box.setCurrentIndex(0)
    box.activated.emit(0)
    inspector.known()
    answer = inspector.flow.answer
    assert answer is not None and list(answer.ids) == first.tokens.tolist()
    inspector.stage.triggers("new_chat_action")
    inspector.stage.settle()
    assert inspector.stage.window.page == "chat" and inspector.service.turn is None


def test_nothing_is_looked_at_while_the_page_is_hidden(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    inspector.clicks(4)
    inspector.stage.clicks("chat_button")
    assert inspector.service.answer is None
    inspector.opens()
    assert inspector.service.answer is not None and inspector.flow.answer is not None
    assert inspector.service.token == 4, "who comes back stands where they were"


def test_everything_on_the_page_can_be_named_and_reached(inspector: Inspector) -> None:
    inspector.answers()
    inspector.answers(question="Two?")
    inspector.opens()
    inspector.clicks(2)
    for widget in inspector.page.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled():
            assert widget.objectName() and (widget.accessibleName() or widget.property("text")), widget


def test_another_answer_is_shown_from_the_top_of_the_page(inspector: Inspector) -> None:
    inspector.answers(question="One?")
    inspector.answers(question="Two?")
    inspector.opens()
    place, bar = inspector.scrolls(60), inspector.page.verticalScrollBar()
    inspector.stage.clicks("chat_button")
    inspector.opens()
    assert bar.value() == place, "who comes back to the same answer stands where they were"
    inspector.service.open(inspector.turns[1])
    inspector.known()
    assert bar.value() == 0
