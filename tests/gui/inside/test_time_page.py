"""The part “Time” as a page: what it shows without an answer, that nothing is cut or covered, and its operations."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from app.core.commands import TimeOperations
from app.core.operations import OperationsProgress
from app.gui import theme
from app.gui.inside.timing.bar_words import pauses_sentence
from app.gui.inside.timing.gap_histogram import GapHistogram
from app.gui.inside.timing.operations_bar import NumberedPart, OperationsBar
from app.gui.inside.timing.pauses import sign_places
from app.gui.inside.timing.timeline_view import TimelineView
from app.services.operations import Operations
from app.services.timeline_values import Pause
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.looking_at_time import colours, shows_time, timed, view
from tests.made_up_operations import timed as timed_operations
from tests.services.timed_answers import ask, begin

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.mark.parametrize("width", [620, 700, 1240])
def test_nothing_is_cut_and_nothing_moves_while_bars_are_looked_at(inspector: Inspector, width: int) -> None:
    timed(inspector)
    engine = inspector.stage.desk.engine
    inspector.stage.clicks("operations_button")
    engine.say(timed_operations(engine.all(TimeOperations)[-1].request))
    inspector.stage.settle()
    part = inspector.stage.find("inside_time")
    part.setParent(None)
    part.resize(width - 2 * theme.SPACE_L, 500)
    part.show()
    inspector.stage.settle()
    scrolled = part.findChild(QScrollArea)
    assert isinstance(scrolled, QScrollArea) and scrolled.verticalScrollBar().maximum() > 0
    contents = scrolled.widget()
    assert contents is not None
    assert contents.width() <= scrolled.viewport().width(), "there is no way to what is cut"
    shown, said, below = (part.findChild(QWidget, name) for name in ("timeline", "time_bar_text", "gap_histogram"))
    assert isinstance(shown, TimelineView) and isinstance(said, QLabel) and isinstance(below, GapHistogram)
    places, layout = set(), contents.layout()
    assert layout is not None
    for place in (None, *range(len(shown.picture.bars))):
        shown.look_at(place)
        layout.activate()
        places.add(below.y())
        assert said.heightForWidth(said.width()) <= said.height(), said.text()
    assert len(places) == 1
    part.close()
    part.deleteLater()


def test_without_an_answer_it_says_what_to_do(inspector: Inspector) -> None:
    shows_time(inspector)
    assert inspector.stage.sees("time_empty") and "Ask something in the chat" in inspector.reads("time_empty")
    for name in ("timeline", "time_fit", "gap_histogram", "operations_button"):
        assert not inspector.stage.sees(name), f"{name} says nothing here"
    assert len(view(inspector).picture.bars) == 0
    view(inspector).setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_End, Qt.Key.Key_Plus):
        QTest.keyClick(view(inspector), key)
    assert view(inspector).place is None and view(inspector).grab().width() > 0
    inspector.stage.clicks("time_chat_button")
    assert not inspector.stage.sees("inside_page")
    ask(inspector.stage.desk)
    inspector.stage.clicks("inside_button")
    inspector.known()
    assert inspector.stage.sees("timeline") and not inspector.stage.sees("time_empty")


def test_a_ruler_tells_no_moments_before_there_is_one(inspector: Inspector) -> None:
    ask(inspector.stage.desk)
    shows_time(inspector)
    shown, look = view(inspector), inspector.stage.themes.current
    line = shown.picture.line
    assert line is not None and not line.end_ns
    ground = colours(shown, shown.picture.left + 2, 0, shown.width() - shown.picture.left - 4, 18)
    begin(inspector.stage.desk)
    inspector.stage.bot.waitUntil(lambda: shown.picture.scale.whole_ns > 1e9)
    after = colours(shown, shown.picture.left + 2, 0, shown.width() - shown.picture.left - 4, 18)
    assert len(ground) == 1 and look.colour("muted").name() in after


def test_marks_of_pauses_cover_no_words_and_can_be_told_apart(inspector: Inspector) -> None:
    timed(inspector)
    assert not inspector.stage.sees("time_pauses")
    shown, look = view(inspector), inspector.stage.themes.current
    line = shown.picture.line
    assert line is not None
    pauses = tuple(Pause(token, 2_000_000_000 if token < 4 else None) for token in range(2, 6))
    shown.picture.scale.show(line.drawn_ns[0], line.drawn_ns[-1])
    colour, row = look.colour("text").name(), shown.rect_of(shown.picture.bars.step_of(5) or 0)
    across = shown.picture.pause_x(5)
    places = ((across - 3, 0.0, 6.0), (across - 0.5, row.top(), 3.0))
    before = [colours(shown, left, top, width, 20) for left, top, width in places]
    shown.show_timeline(msgspec.structs.replace(line, pauses=pauses), None)
    after = [colours(shown, left, top, width, 20) for left, top, width in places]
    assert before == after, "neither the ruler's words nor those of a bar"
    assert colour in colours(shown, across - 3, row.bottom() + 1, 6, 8), "but the line goes on between the rows"
    assert sign_places([40, 3, 41, 5, 80]) == [3, 40, 80]
    said = pauses_sentence(msgspec.structs.replace(line, pauses=pauses))
    assert "held 2 ×, 4,000 ms in all" in said and "2 × time passed" in said
    said = pauses_sentence(msgspec.structs.replace(line, lost_holds_ns=3_000_000_000))
    assert "held, 3,000 ms in all" in said and "Before which tokens: –, because" in said


def test_a_hold_behind_the_last_token_has_its_sign_and_its_words_there(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    line = shown.picture.line
    assert line is not None
    end = line.first + len(line.drawn_ns)
    shown.show_timeline(msgspec.structs.replace(line, pauses=(Pause(end, 2_000_000_000),)), None)
    assert shown.picture.pause_x(end) == shown.picture.left + shown.picture.scale.x_of(line.drawn_ns[-1])
    said = shown.words_at(QPointF(shown.picture.pause_x(end), 5))
    assert said == "At its end the answer was held for 2,000 ms: that is left out."
    shown.show_timeline(msgspec.structs.replace(line, pauses=(Pause(end, None),)), None)
    assert "nobody knows for how long" in shown.words_at(QPointF(shown.picture.pause_x(end), 5))


def test_above_a_held_answer_stands_that_it_waits(inspector: Inspector) -> None:
    desk = inspector.stage.desk
    ask(desk)
    shows_time(inspector)
    begin(desk)
    desk.engine.hold()
    inspector.stage.settle()
    inspector.stage.bot.waitUntil(lambda: "is held: it waits for you" in inspector.reads("time_diagnosis"))
    desk.engine.write("a")
    inspector.stage.settle()
    inspector.stage.bot.waitUntil(lambda: "is being written" in inspector.reads("time_diagnosis"))


def test_a_step_is_taken_apart_on_request_and_its_shares_stand_in_a_table(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = inspector.stage.desk
    inspector.answers()
    shows_time(inspector)
    assert inspector.reads("operations_told").startswith("Reads 100 tokens once more, about")
    ask_button, stop = inspector.stage.find("operations_button"), inspector.stage.find("operations_cancel")
    assert not inspector.stage.sees("operations_cancel") and not inspector.stage.sees("operations_decode")
    ask_button.setFocus()
    QTest.keyClick(ask_button, Qt.Key.Key_Space)
    asked = desk.engine.all(TimeOperations)[-1]
    assert stop.hasFocus() and not ask_button.isVisible() and inspector.reads("operations_cancel") == "Cancel"
    desk.engine.say(OperationsProgress(asked.request, 64, 100))
    inspector.stage.settle()
    assert inspector.reads("operations_told") == "64 of 100 tokens"
    desk.engine.say(timed_operations(asked.request))
    inspector.stage.settle()
    assert ask_button.hasFocus() and inspector.stage.sees("operations_decode")
    first = inspector.stage.find("operation_1")
    assert inspector.reads("operation_1") == "Matrix products, Q4_1 weights: feed-forward"
    assert first.accessibleName().endswith("50.0 % of a decode step, 60.0 % of a prefill")
    logits = inspector.stage.find("operation_3").accessibleName()
    assert logits == "Matrix product, Q8_0 weights: logits: 15.0 % of a decode step, – of a prefill"
    assert "Normalisation 1.5 %" in inspector.stage.find("operations_decode").accessibleName()
    assert "1.8 times as long" in inspector.reads("operations_note")
    assert not inspector.stage.sees("operations_tensor_cores")
    with monkeypatch.context() as told:
        told.setattr(Operations, "tensor_cores_of", "NVIDIA H200")  # a GPU is known by its name some time later
        desk.program.views.operations.changed.emit()
        assert "NVIDIA H200" in inspector.reads("operations_tensor_cores")
    for ground in ("dark", "light"):
        inspector.stage.themes.choose(ground)
        bar = inspector.stage.find_as(OperationsBar, "operations_decode")
        assert sum(part.share for part in bar.parts) == pytest.approx(1)
        assert [part.number for part in bar.parts] == [1, 2, 3, 4, 5, 6, 7]
        assert len({part.colour.name() for part in bar.parts}) == 7
    other = inspector.stage.find_as(OperationsBar, "operations_prefill")
    assert [part.number for part in other.parts] == [1, 2, 4, 7, 6, 5], "the same kind has the same number in both"


def scrolled_by_a_result(looker: Inspector, height: int, back_to: int | None = None) -> tuple[QScrollArea, int]:
    """Have a step taken apart in a low window; return what scrolls, and where that was when somebody clicked."""
    stage, engine = looker.stage, looker.stage.desk.engine
    stage.window.resize(1280, height)
    shows_time(looker)
    area = stage.find("inside_time").findChild(QScrollArea)
    assert isinstance(area, QScrollArea)
    bar, asked = area.verticalScrollBar(), stage.find("operations_button")
    stage.bot.waitUntil(lambda: bar.maximum() > 0 and asked.isEnabled())
    bar.setValue(bar.maximum())
    clicked = bar.value()
    stage.clicks("operations_button")
    if back_to is not None:
        bar.setValue(back_to)
    engine.say(timed_operations(engine.all(TimeOperations)[-1].request))
    stage.settle()
    stage.bot.waitUntil(lambda: bar.maximum() > clicked)
    return area, clicked


def is_in_sight(area: QScrollArea, widget: QWidget) -> bool:
    top = widget.mapTo(area.viewport(), QPointF(0, 0)).y()
    return top >= 0 and top + widget.height() <= area.viewport().height()


def test_what_came_of_a_click_is_brought_in_sight(inspector: Inspector) -> None:
    inspector.answers()
    area, clicked = scrolled_by_a_result(inspector, 700)
    bar, first = area.verticalScrollBar(), inspector.stage.find("operations_decode")
    inspector.stage.bot.waitUntil(lambda: bar.value() > clicked)
    assert is_in_sight(area, first) and is_in_sight(area, inspector.stage.find("operation_1"))
    bar.setValue(0)
    inspector.stage.desk.program.views.operations.changed.emit()
    inspector.stage.settle()
    assert bar.value() == 0, "it is not new a second time"


def test_a_result_moves_nothing_where_somebody_reads_on_above(inspector: Inspector) -> None:
    timed(inspector)
    area, _ = scrolled_by_a_result(inspector, 560, back_to=0)
    inspector.stage.settle()
    assert area.verticalScrollBar().value() == 0 and inspector.stage.sees("operations_decode")


def test_a_result_that_came_while_another_part_was_shown_is_in_sight_behind_it(inspector: Inspector) -> None:
    inspector.answers()
    stage, engine = inspector.stage, inspector.stage.desk.engine
    stage.window.resize(1280, 700)
    shows_time(inspector)
    area = stage.find("inside_time").findChild(QScrollArea)
    assert isinstance(area, QScrollArea)
    stage.clicks("operations_button")
    stage.clicks("inside_answer_tab")
    engine.say(timed_operations(engine.all(TimeOperations)[-1].request))
    stage.settle()
    stage.clicks("inside_time_tab")
    stage.bot.waitUntil(lambda: is_in_sight(area, stage.find("operations_decode")))


def test_a_part_of_the_bar_has_its_number_where_there_is_room_in_an_ink_that_is_read(inspector: Inspector) -> None:
    themes = inspector.stage.themes
    bar = OperationsBar("bar", themes)
    inspector.stage.bot.addWidget(bar)
    bar.resize(400, bar.height())
    look = themes.current
    colour = look.colour("stage_decode")
    bar.show_parts([NumberedPart(0.5, 1, colour), NumberedPart(0.49, 2, colour), NumberedPart(0.01, 3, colour)])
    picture, boxes = bar.grab().toImage(), bar.boxes()
    inks = [
        max(
            theme.contrast(picture.pixelColor(x, y), colour)
            for x in range(round(box.left()) + 1, round(box.right()) - 1)
            for y in range(2, round(box.height()) - 2)
        )
        for box in boxes
    ]
    assert [ink > theme.LEAST_TEXT_CONTRAST for ink in inks] == [True, True, False]
    assert [round(box.width() / 400, 2) for box in boxes] == [0.5, 0.49, 0.01]


def test_a_table_of_operations_stands_under_its_own_answer_alone(inspector: Inspector) -> None:
    engine = inspector.stage.desk.engine
    inspector.answers()
    inspector.answers(question="And then?")
    shows_time(inspector)
    inspector.stage.clicks("operations_button")
    engine.say(OperationsProgress(engine.all(TimeOperations)[-1].request, 64, 100))
    inspector.service.open(inspector.turns[0])
    inspector.known()
    assert inspector.reads("operations_told") == "64 of 100 tokens of another answer"
    engine.say(timed_operations(engine.all(TimeOperations)[-1].request))
    inspector.stage.settle()
    assert not inspector.stage.sees("operations_decode")
    assert inspector.reads("operations_button") == "Take one step apart"
    inspector.service.open(inspector.turns[-1])
    inspector.known()
    assert inspector.stage.sees("operations_decode") and "behind 511 tokens" in inspector.reads("operations_note")


def test_taking_it_apart_can_be_stopped_and_says_what_went_wrong(inspector: Inspector) -> None:
    desk = inspector.stage.desk
    inspector.answers()
    shows_time(inspector)
    inspector.stage.clicks("operations_button")
    inspector.stage.clicks("operations_cancel")
    asked = desk.engine.all(TimeOperations)[-1]
    assert desk.engine.cancelled == [asked.request]
    desk.engine.fail("cancelled", asked.request)
    inspector.stage.settle()
    assert inspector.reads("operations_told").startswith("Reads 100 tokens")
    inspector.stage.clicks("operations_button")
    desk.engine.fail("memory", desk.engine.all(TimeOperations)[-1].request, "There is too little memory.")
    inspector.stage.settle()
    assert inspector.reads("operations_told") == "There is too little memory."
    assert inspector.stage.find("operations_button").isEnabled()


def test_the_first_sample_says_what_else_it_is(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    place = next(each for each in range(len(shown.picture.bars)) if shown.picture.bars[each].kind == "first_sample")
    assert "samplers made ready" in shown.said_of(place) and "processor is busy" in shown.said_of(place)
