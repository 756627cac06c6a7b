"""The sampler laboratory as somebody uses it: sliders, switches, the order of the stages, and what the chat gets of it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QSlider, QWidget

from app.core.commands import ChangeSettings, Watch
from app.core.sampling import STAGES, SamplingSettings
from app.gui.inside.cards_row import CardsRow
from app.gui.inside.laboratory_view import LaboratoryView
from app.gui.inside.stage_card import StageCardView
from app.gui.inside.stage_keys import stage_keys
from app.gui.inside.stage_picture import BARS, StagePicture
from app.services.laboratory import Laboratory
from tests.gui.conftest import Stage

THEMES = ("light", "dark", "contrast")


@pytest.fixture
def held(ready: Stage) -> Stage:
    """Return the stage while an answer waits before its first token, with somebody on the page Inside."""
    ready.desk.program.step_mode.pause()
    ready.sends("Why?")
    ready.settle()
    ready.engine.prompt()
    ready.engine.hold()
    ready.settle()
    opens(ready)
    settle(ready)
    return ready


def opens(stage: Stage) -> None:
    """Go to the page Inside, and wait until its laboratory is there."""
    stage.triggers("inside_action")
    stage.clicks("inside_answer_tab")
    views = stage.window.findChildren
    stage.bot.waitUntil(lambda: any(each.isVisible() for each in views(LaboratoryView)))


def lab(stage: Stage) -> Laboratory:
    return stage.desk.program.laboratory


def settle(stage: Stage) -> None:
    """Let what is worked out be shown."""
    stage.desk.until(lambda: not lab(stage).is_busy)


def card(stage: Stage, name: str) -> StageCardView:
    return stage.find_as(StageCardView, f"lab_{name}_card")


def left(stage: Stage, name: str) -> str:
    return stage.reads(f"lab_{name}_left")


def drags(stage: Stage, name: str, position: int) -> None:
    stage.find_as(QSlider, f"lab_{name}_slider").setValue(position)
    settle(stage)


def order(stage: Stage) -> list[str]:
    """Return the stages as they stand from left to right."""
    cards = stage.find_as(CardsRow, "lab_cards").cards
    return sorted(cards, key=lambda name: cards[name].x())


def told(stage: Stage) -> list[SamplingSettings]:
    return [each.settings for each in stage.engine.all(ChangeSettings)]


def test_each_card_says_how_many_tokens_it_leaves(held: Stage) -> None:
    assert left(held, "top_k") == "49,152 → 40"
    assert left(held, "dry") == "49,152"
    assert held.reads("lab_dry_fact") == "without effect at this value"
    way = held.reads("lab_way")
    assert way.startswith("49,152 → 40 → ") and "token " in way.split(" → ")[-1]
    assert held.reads("lab_whose") == "waiting · token 1, not drawn yet"
    assert not held.sees("lab_reason") and held.sees("lab_way")


def test_a_moved_slider_moves_the_cards_and_leaves_the_chat_alone(held: Stage) -> None:
    drags(held, "top_k", 10)
    assert left(held, "top_k") == "49,152 → 10"
    assert held.desk.program.sampling.values.top_k == 40 and not told(held)
    drags(held, "temperature", 0)
    assert held.reads("lab_top_k_fact") == "does not run at temperature 0"
    assert held.reads("lab_draw_left") == "1 token is left"


def test_a_stage_is_switched_off_and_on_again(held: Stage) -> None:
    held.clicks("lab_top_k_switch")
    settle(held)
    assert held.reads("lab_top_k_fact") == "switched off: passes all on"
    assert lab(held).values.off == ("top_k",)
    card(held, "top_k").setFocus()
    QTest.keyClick(card(held, "top_k"), Qt.Key.Key_Space)
    settle(held)
    assert left(held, "top_k") == "49,152 → 40" and not lab(held).is_trying


@pytest.mark.parametrize("route", ["keys", "button", "mouse"])
def test_a_stage_is_moved(held: Stage, route: str) -> None:
    assert tuple(order(held)) == STAGES
    moving = card(held, "penalties")
    moving.setFocus()
    if route == "keys":
        QTest.keyClick(moving, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    elif route == "button":
        held.clicks("lab_penalties_later")
    else:
        _drag(moving, card(held, "dry").geometry().center() + QPoint(20, 0))
    settle(held)
    QApplication.sendPostedEvents()
    wanted = ("dry", "penalties", *STAGES[2:])
    assert lab(held).values.order == wanted and tuple(order(held)) == wanted
    assert held.window.focusWidget() in (moving, *moving.findChildren(QWidget))
    if route == "keys":
        QTest.keyClick(moving, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
        assert lab(held).values.order == STAGES


def test_every_key_of_the_list_does_something(held: Stage) -> None:
    moving = card(held, "dry")
    moving.setFocus()
    seen = []
    for _words, keys in stage_keys():
        for key in keys:
            QTest.keySequence(moving, key)
            seen.append((lab(held).values.order.index("dry"), lab(held).values.off))
    assert seen == [(0, ()), (1, ()), (1, ("dry",))]


def _drag(moving: StageCardView, target: QPoint) -> None:
    """Drag a card to a place of the row."""
    begin = QPoint(moving.width() // 2, 60)
    end = target - moving.pos()
    QTest.mousePress(moving, Qt.MouseButton.LeftButton, pos=begin)
    QTest.mouseMove(moving, (begin + end) / 2)
    QTest.mouseMove(moving, end)
    QTest.mouseRelease(moving, Qt.MouseButton.LeftButton, pos=end)


def test_a_card_that_is_let_go_where_it_was_stays(held: Stage) -> None:
    _drag(card(held, "dry"), card(held, "dry").geometry().center() + QPoint(30, 0))
    assert lab(held).values.order == STAGES and not lab(held).is_trying


def test_the_first_stage_goes_no_further_forward(held: Stage) -> None:
    assert not held.find("lab_penalties_earlier").isEnabled() and not held.find("lab_temperature_later").isEnabled()
    QTest.keyClick(card(held, "penalties"), Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert lab(held).values.order == STAGES


def test_a_stage_that_is_moved_stays_in_view(held: Stage) -> None:
    row = held.find_as(CardsRow, "lab_cards")
    moving = card(held, "penalties")
    moving.setFocus()
    for _ in STAGES[1:]:
        QTest.keyClick(moving, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    settle(held)
    QApplication.sendPostedEvents()
    assert order(held)[-1] == "penalties"
    inside = moving.mapTo(row.viewport(), QPoint(0, 0)).x()
    assert inside >= 0 and inside + moving.width() <= row.viewport().width()


def test_the_chat_gets_the_settings_and_the_order_when_somebody_wants_it(held: Stage) -> None:
    use = held.find_as(QAbstractButton, "lab_use")
    assert not use.isEnabled()
    drags(held, "top_k", 7)
    card(held, "temperature").setFocus()
    QTest.keyClick(card(held, "temperature"), Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    held.clicks("lab_min_p_switch")
    settle(held)
    assert use.isEnabled()
    held.clicks("lab_use")
    settle(held)
    moved = told(held)[-1]
    assert (moved.top_k, moved.order[-2:], moved.off) == (7, ("temperature", "xtc"), ("min_p",))
    assert held.desk.program.sampling.values.order == moved.order
    assert not use.isEnabled() and left(held, "top_k") == "49,152 → 7"


def test_the_keyboard_does_not_jump_to_a_card_when_the_settings_are_used(held: Stage) -> None:
    drags(held, "top_k", 7)
    use = held.find_as(QAbstractButton, "lab_use")
    use.setFocus()
    QTest.keyClick(use, Qt.Key.Key_Space)
    settle(held)
    assert not use.isEnabled() and held.find_as(LaboratoryView, "laboratory").hasFocus()


def test_back_gives_up_what_was_tried(held: Stage) -> None:
    back = held.find_as(QAbstractButton, "lab_back")
    assert not back.isEnabled()
    drags(held, "top_k", 7)
    held.clicks("lab_back")
    settle(held)
    assert left(held, "top_k") == "49,152 → 40" and not back.isEnabled()
    assert held.find_as(QSlider, "lab_top_k_slider").value() == 40


def test_without_a_step_one_sentence_says_what_to_do(ready: Stage) -> None:
    opens(ready)
    assert ready.sees("lab_reason") and "send a message" in ready.reads("lab_reason")
    assert not ready.sees("lab_way") and not ready.find("lab_use").isEnabled()
    drags(ready, "top_k", 12)
    ready.clicks("lab_use")
    assert ready.desk.program.sampling.values.top_k == 12


def test_whole_rows_are_asked_for_only_on_the_page(ready: Stage) -> None:
    def wants() -> bool:
        return [each.whole for each in ready.engine.all(Watch)][-1]

    opens(ready)
    assert wants()
    ready.clicks("chat_button")
    assert not wants()
    opens(ready)
    assert wants()
    ready.find_as(LaboratoryView, "laboratory").disconnect_services()
    assert not wants()


def test_a_pointer_on_a_bar_tells_its_token(held: Stage) -> None:
    picture = held.find_as(StagePicture, "lab_top_k_picture")
    step = picture.width() / BARS
    first, last = picture.token_at(step / 2), picture.token_at(picture.width() - step / 2)
    assert first is not None and first.token == 0 and last is not None and last.token == BARS - 1
    assert picture.token_at(picture.width() + 5) is None


def test_every_card_is_said_and_every_control_has_a_name(held: Stage) -> None:
    assert card(held, "top_k").accessibleName().startswith("Top-k: 49,152 tokens enter, 40 leave; cuts ")
    assert held.find("lab_draw_picture").accessibleName().startswith("Draw: ")
    inside = held.find("laboratory")
    unnamed = [
        child.objectName()
        for child in inside.findChildren(QWidget)
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus
        and isinstance(child, (QAbstractButton, QSlider))
        and not (child.accessibleName() or child.property("text"))
    ]
    assert unnamed == []


@pytest.mark.parametrize("name", THEMES)
def test_pictures_keep_to_the_theme(held: Stage, name: str) -> None:
    held.themes.choose(name)  # type: ignore[arg-type]  # one of the names
    drags(held, "top_k", 9)
    look = held.themes.current
    image = held.find("lab_top_k_picture").grab().toImage()
    colours = {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}
    assert {look.colour("stage_sampling").name(), look.colour("surface").name()} <= colours
    assert look.colour("border_strong").name() in colours


def test_idle_stages_are_grey(held: Stage) -> None:
    look = held.themes.current
    image = held.find("lab_dry_picture").grab().toImage()
    colours = {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}
    assert look.colour("stage_sampling").name() not in colours and look.colour("border_strong").name() in colours


def test_a_live_answer_can_be_frozen_and_followed(held: Stage) -> None:
    assert not held.sees("lab_freeze")
    held.desk.program.step_mode.run()
    held.engine.write("Because")
    held.settle()
    settle(held)
    assert held.reads("lab_whose").startswith("live · token 1") and held.reads("lab_freeze") == "Freeze"
    held.clicks("lab_freeze")
    assert held.reads("lab_whose").startswith("frozen · token 1") and held.reads("lab_freeze") == "Follow"
    held.clicks("lab_freeze")
    assert held.reads("lab_whose").startswith("live · token 1")


def test_the_last_step_is_told_to_be_of_an_answer_that_ended(held: Stage) -> None:
    held.desk.program.step_mode.run()
    held.engine.write("Because")
    held.settle()
    settle(held)
    held.clicks("lab_freeze")
    held.clicks("lab_freeze")
    held.engine.finish()
    held.settle()
    assert held.reads("lab_whose").startswith("ended · token 1") and not held.sees("lab_freeze")


def test_a_step_that_stays_says_when_it_is_of_an_earlier_answer(held: Stage) -> None:
    held.desk.program.step_mode.run()
    held.engine.write("Because")
    held.settle()
    settle(held)
    held.clicks("lab_freeze")
    held.engine.finish()
    held.settle()
    held.sends("Again?")
    held.settle()
    held.engine.prompt()
    held.settle()
    opens(held)
    settle(held)
    assert held.reads("lab_whose").startswith("frozen, of an earlier answer · token 1")
    assert held.reads("lab_freeze") == "Follow"


def test_back_says_whose_settings_come_back(held: Stage) -> None:
    assert held.find("lab_back").toolTip() == "Go back to the settings that the chat has"


def test_cards_have_a_name_before_any_answer_and_none_of_another_chat(ready: Stage) -> None:
    def names() -> tuple[str, str]:
        return card(ready, "top_k").accessibleName(), ready.find("lab_draw_card").accessibleName()

    none = ("Top-k: no token to show yet", "Draw: no token to show yet")
    opens(ready)
    settle(ready)
    assert names() == none
    ready.desk.program.step_mode.pause()
    ready.sends("Why?")
    ready.settle()
    ready.engine.prompt()
    ready.engine.hold()
    ready.settle()
    opens(ready)
    settle(ready)
    assert names() != none
    ready.desk.program.conversations.new()
    ready.settle()
    opens(ready)
    settle(ready)
    assert names() == none


def test_the_page_is_there_before_its_laboratory_is_made(ready: Stage) -> None:
    ready.triggers("inside_action")
    ready.clicks("inside_answer_tab")
    assert not ready.window.findChildren(LaboratoryView), "its cards come in a turn of their own"
    ready.clicks("chat_button")
    opens(ready)
    assert len(ready.window.findChildren(LaboratoryView)) == 1
