"""The sampler laboratory with an answer: what a grammar masks of it, and whose steps are shown while it is written."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.core.events import GrammarMask
from app.core.grammar import Grammar
from app.core.sampler_cards import DrawCard, DrawToken
from app.gui.inside.draw_picture import DrawPicture
from app.gui.inside.token_flow import TokenFlow
from app.gui.widgets.words import render
from app.services.divergence_words import GRAMMAR_UNKNOWN
from tests.gui.conftest import Stage
from tests.gui.test_laboratory import THEMES, card, held, lab, left, opens, order, settle

__all__ = ["held"]
VOCABULARY = 49_152


def _mask(*fitting: int) -> GrammarMask:
    """Return a grammar's mask of the whole vocabulary that lets these tokens through."""
    fits = bytearray(VOCABULARY // 8)
    for token in fitting:
        fits[token // 8] |= 1 << token % 8
    return GrammarMask(VOCABULARY - len(fitting), bytes(fits))


def test_a_grammar_is_the_first_card_with_the_number_of_tokens_it_masks(held: Stage) -> None:
    assert not held.sees("lab_grammar_card")
    held.engine.hold(_mask(1, 2, 5))
    held.settle()
    settle(held)
    QApplication.sendPostedEvents()
    assert held.sees("lab_grammar_card") and left(held, "grammar") == "49,152 → 3"
    assert held.reads("lab_grammar_fact") == "masks 49,149 tokens"
    assert left(held, "penalties") == "3" and held.reads("lab_way").startswith("49,152 → 3 → ")
    assert held.find("lab_grammar_card").x() < card(held, order(held)[0]).x()
    assert held.find("lab_grammar_card").accessibleName() == "Grammar: masks 49,149 tokens; 3 of 49,152 are left"
    card(held, "penalties").setFocus()
    QTest.keyClick(card(held, "penalties"), Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    settle(held)
    QApplication.sendPostedEvents()
    assert held.find("lab_grammar_card").x() < card(held, "dry").x() < card(held, "penalties").x()


def test_a_grammar_that_was_not_counted_is_told_and_no_stage_behind_it(held: Stage) -> None:
    held.engine.hold(GrammarMask())
    held.settle()
    settle(held)
    QApplication.sendPostedEvents()
    words = "In force; how many tokens it masks was not counted: that takes too long."
    assert held.sees("lab_grammar_card") and left(held, "grammar") == ""
    assert held.sees("lab_grammar_unknown") and held.reads("lab_grammar_unknown") == words
    assert held.find("lab_grammar_card").accessibleName() == f"Grammar: {words}"
    assert left(held, "penalties") == "" and not held.sees("lab_way")
    assert held.reads("lab_reason").startswith("The grammar was in force here; how many tokens it rules out was not")


def test_a_grammar_has_its_card_before_any_step(ready: Stage) -> None:
    opens(ready)
    assert not ready.sees("lab_grammar_card")
    ready.desk.program.sampling.change(grammar=Grammar("gbnf", 'root ::= "a"*'))
    assert ready.sees("lab_grammar_card") and left(ready, "grammar") == ""
    assert ready.find("lab_grammar_card").accessibleName() == "Grammar: no token to show yet"


def test_a_reason_is_shown_whole_in_a_narrow_window(ready: Stage) -> None:
    opens(ready)
    ready.window.resize(900, 800)
    QApplication.sendPostedEvents()
    reason = ready.find_as(QLabel, "lab_reason")
    reason.setText(f"{render(GRAMMAR_UNKNOWN)} " * 3)
    ready.settle()
    QApplication.sendPostedEvents()
    room = QRect(0, 0, reason.width(), 10_000)
    needed = reason.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, reason.text())
    assert reason.wordWrap() and needed.height() > 2 * reason.fontMetrics().lineSpacing()
    assert reason.height() >= needed.height() and reason.isVisible()


def test_the_mouse_brings_the_laboratory_back_to_the_answer_that_is_written(held: Stage) -> None:
    held.desk.program.step_mode.run()
    for _ in range(3):
        held.engine.write("word ")
        held.settle()
    held.desk.until(lambda: not held.desk.program.inspecting.is_busy)
    held.desk.until(lambda: held.find_as(TokenFlow, "token_inspector").answer is not None)
    flow = held.find_as(TokenFlow, "token_inspector")
    assert held.reads("lab_whose").startswith("live")
    QTest.mouseClick(flow.viewport(), Qt.MouseButton.LeftButton, pos=flow.place_of(0).center().toPoint())
    settle(held)
    assert held.reads("lab_whose").startswith("from the record · token 1") and held.reads("lab_freeze") == "Follow"
    held.clicks("lab_freeze")
    settle(held)
    assert held.reads("lab_whose").startswith("live") and held.reads("lab_freeze") == "Freeze"
    assert not flow.is_pinned
    flow.looked_at.emit(0)
    assert held.reads("lab_whose").startswith("live") and held.desk.program.inspecting.token == 0


def test_an_answer_that_is_stopped_while_it_waits_says_so_no_longer(held: Stage) -> None:
    held.desk.program.step_mode.run()
    held.engine.write("Because")
    held.settle()
    held.desk.program.step_mode.pause()
    held.engine.hold()
    held.settle()
    settle(held)
    assert held.reads("lab_whose") == "waiting · token 2, not drawn yet"
    held.desk.program.chat.stop()
    held.engine.finish("cancelled")
    held.settle()
    settle(held)
    assert held.reads("lab_whose") == "ended before token 2 was drawn" and not held.sees("lab_freeze")


def _figure_colours(stage: Stage, name: str) -> set[str]:
    image = stage.find(f"lab_{name}_left").grab().toImage()
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}


def test_a_figure_keeps_whether_its_stage_acts_when_the_theme_changes(held: Stage) -> None:
    for name in THEMES:
        held.themes.choose(name)  # type: ignore[arg-type]  # one of the names
        pink = held.themes.current.colour("stage_sampling").name()
        assert pink in _figure_colours(held, "top_k") and pink not in _figure_colours(held, "dry")


def test_beside_live_stands_that_the_answer_uses_other_settings(held: Stage) -> None:
    held.desk.program.step_mode.run()
    held.engine.write("Because")
    held.settle()
    assert "trial" not in held.reads("lab_whose")
    held.clicks("lab_top_k_switch")
    settle(held)
    assert held.reads("lab_whose").endswith("your trial: the answer uses other settings")
    held.clicks("lab_back")
    settle(held)
    assert "trial" not in held.reads("lab_whose")


def test_at_temperature_0_the_choice_stays_behind_all_cards(held: Stage) -> None:
    lab(held).move_stage("temperature", 0)
    settle(held)
    QApplication.sendPostedEvents()
    assert order(held)[0] == "temperature"
    lab(held).change(temperature=0.0)
    settle(held)
    QApplication.sendPostedEvents()
    assert order(held)[-1] == "temperature"
    for name, enabled in (("temperature_earlier", False), ("temperature_later", False), ("xtc_later", False)):
        assert held.find(f"lab_{name}").isEnabled() is enabled
    way = held.reads("lab_way").split(" → ")
    assert way[:2] == ["49,152", "1"], way


def test_the_chosen_token_is_marked_in_the_picture_of_the_draw(held: Stage) -> None:
    picture = held.find_as(DrawPicture, "lab_draw_picture")
    tokens = DrawToken(4, 0.0, 0.5, 0.5), DrawToken(5, 0.5, 1.0, 0.5)
    card = DrawCard(tokens, 2, True, 0.7, tokens[1])
    marked = []
    for chosen in (None, 4, 9):  # the last one was cut, so that it has no stretch
        picture.show_card(card, {}, chosen)
        marked.append(picture.marked)
    assert marked == [tokens[1], tokens[0], None]
