"""The tokens of an answer and what the sampler does to one of them are seen together, and nothing of the page is cut."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QSlider, QWidget

from app.core.commands import SetPace, StepOn
from app.core.sampler_cards import CardToken, StageCard
from app.core.sampling import STAGES
from app.gui.icons import Icons
from app.gui.inside.cards_row import CardsRow
from app.gui.inside.laboratory_view import LaboratoryView
from app.gui.inside.stage_picture import StagePicture
from app.gui.next_token.candidates import CandidatesChart
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_while_writing import asks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def looker(inspector: Inspector) -> Inspector:
    """Return somebody who looks at a token, and at what the sampler did to it."""
    inspector.answers()
    inspector.opens()
    views = inspector.stage.window.findChildren
    inspector.stage.bot.waitUntil(lambda: any(each.isVisible() for each in views(LaboratoryView)))
    inspector.clicks(3)
    inspector.stage.desk.until(lambda: not inspector.stage.desk.program.laboratory.is_busy)
    return inspector


def resizes(looker: Inspector, width: int, height: int) -> None:
    looker.stage.window.resize(width, height)
    looker.stage.settle()
    looker.stage.bot.waitUntil(lambda: looker.stage.window.height() == height)
    looker.stage.settle()


def place(looker: Inspector, widget: QWidget) -> QRect:
    """Return where a widget lies in what is shown of the page."""
    port = looker.page.viewport()
    return QRect(widget.mapTo(port, widget.rect().topLeft()), widget.size())


def test_tokens_and_whole_cards_fit_into_a_usual_window(looker: Inspector) -> None:
    resizes(looker, 1280, 800)
    port = looker.page.viewport().rect()
    row = looker.stage.find_as(CardsRow, "lab_cards")
    for widget in (looker.flow, row.cards["penalties"], looker.stage.find("token_card")):
        assert port.contains(place(looker, widget)), widget.objectName()
    assert looker.flow.viewport().height() >= 150


def test_the_figures_of_cards_are_seen_in_the_smallest_window_and_nothing_lies_beside_it(looker: Inspector) -> None:
    resizes(looker, looker.stage.window.minimumWidth(), looker.stage.window.minimumHeight())
    port = looker.page.viewport().rect()
    assert looker.page.horizontalScrollBar().maximum() == 0
    for name in ("lab_use", "lab_penalties_left", "inside_colouring_box"):
        assert port.contains(place(looker, looker.stage.find(name))), name


def test_cards_leave_out_their_explanations_only_where_the_window_is_low(looker: Inspector) -> None:
    row = looker.stage.find_as(CardsRow, "lab_cards")
    resizes(looker, 1280, 940)
    shown = [card.what.isVisible() for card in row.cards.values()]
    resizes(looker, 1280, 800)
    assert all(shown) and not any(card.what.isVisible() for card in row.cards.values())
    hint = row.cards["dry"].switch.toolTip()
    assert (
        row.cards["dry"].what.text() in hint.replace("<p>", "").replace("</p>", "") and not row.draw.what.isVisible()
    )


def test_the_cards_are_made_one_after_another(inspector: Inspector) -> None:
    made: list[int] = []
    inspector.answers()
    inspector.opens()
    row = inspector.stage.find("lab_cards") if inspector.stage.window.findChildren(CardsRow) else None
    assert row is None or not row.isVisible(), "nobody waits for the cards to read the tokens"
    rows = inspector.stage.window.findChildren

    def is_there() -> bool:
        made.extend(len(each.cards) for each in rows(CardsRow))
        return any(each.isVisible() for each in rows(LaboratoryView))

    inspector.stage.bot.waitUntil(is_there)
    assert made[-1] == len(STAGES)
    makes = CardsRow(inspector.stage.themes, Icons(inspector.stage.desk.program.resources))
    assert [makes.make_next() for _card in (*STAGES, None)] == [True] * len(STAGES) + [False]
    assert list(makes.cards) == list(STAGES)


def test_what_stands_on_the_card_of_a_token_is_not_squeezed(looker: Inspector) -> None:
    resizes(looker, looker.stage.window.minimumWidth(), looker.stage.window.minimumHeight())
    for name in ("token_id_value", "token_entropy_value", "token_came_value"):
        value = looker.stage.find_as(QLabel, name)
        assert value.height() >= value.fontMetrics().height(), name


def test_the_buttons_of_an_answer_that_is_written_are_never_cut(inspector: Inspector) -> None:
    asks(inspector)
    resizes(inspector, 1280, 800)
    inspector.stage.triggers("panel_action")
    inspector.stage.settle()
    assert inspector.page.horizontalScrollBar().maximum() == 0
    for name in ("inside_stop", "inside_hold", "inside_one_token"):
        button = inspector.stage.find_as(QPushButton, name)
        assert button.width() >= button.sizeHint().width(), name


def test_pictures_of_one_chain_have_one_height_and_one_scale(looker: Inspector) -> None:
    row = looker.stage.find_as(CardsRow, "lab_cards")
    assert len({card.picture.height() for card in row.cards.values()}) == 1
    titles = [card.switch for card in row.cards.values()]
    middles = {title.mapTo(row, title.rect().center()).y() for title in titles}
    draw = looker.stage.find("lab_draw_title")
    middles.add(draw.mapTo(row, draw.rect().center()).y())
    assert max(middles) - min(middles) <= 1


def test_the_same_chance_is_a_bar_of_the_same_height_whatever_else_the_card_holds(looker: Inspector) -> None:
    heights = []
    for after in (0.2, 0.8):
        picture = looker.stage.find_as(StagePicture, "lab_top_k_picture")
        tokens = (CardToken(1, 0.4, after, "left"), CardToken(2, 0.2, 0.2, "left"))
        picture.show_card(StageCard("top_k", "acts", 9, 2, tokens), {}, None, 0.8)
        image = picture.grab().toImage()
        ground = image.pixel(1, 0)
        step = picture.width() / 24
        column = [image.pixel(int(step * 1.4), y) for y in range(image.height())]
        heights.append(sum(pixel != ground for pixel in column))
    assert heights[0] == heights[1]


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_the_next_token_is_chosen_on_the_page_while_the_answer_waits(inspector: Inspector, by: str) -> None:
    asks(inspector)
    assert not inspector.stage.sees("inside_candidates")
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    chart = inspector.stage.find_as(CandidatesChart, "inside_candidates")
    assert chart.isVisible()
    wanted = chart.rows.rows[2].token
    chart.setCurrentIndex(chart.rows.index(2))
    if by == "mouse":
        where = chart.visualRect(chart.rows.index(2)).center()
        QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=where)
    else:
        chart.setFocus()
        QTest.keyClick(chart, Qt.Key.Key_Return)
    inspector.stage.settle()
    assert [each.token for each in inspector.stage.engine.all(StepOn)] == [wanted]


def test_the_speed_of_the_answer_is_set_on_the_page(inspector: Inspector) -> None:
    asks(inspector)
    slider = inspector.stage.find_as(QSlider, "inside_speed_slider")
    assert inspector.reads("inside_speed_value") == "no limit"
    slider.setValue(12)
    inspector.stage.settle()
    assert inspector.stage.engine.all(SetPace)[-1].tokens_per_s == 12
    assert inspector.reads("inside_speed_value") == "12/s" and slider.accessibleName() == "Speed, 12 tok/s"


def test_the_menu_says_that_escape_stops_an_answer_only_where_it_does(inspector: Inspector) -> None:
    stop = inspector.stage.window.actions_by_name["stop_action"]
    assert stop.shortcut().toString() == "Esc"
    inspector.answers()
    inspector.opens()
    assert stop.shortcut().isEmpty()
    inspector.stage.clicks("chat_button")
    assert stop.shortcut().toString() == "Esc"
