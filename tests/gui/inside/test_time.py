"""The part “Time” of the page Inside: its picture, what the keyboard and the pointer tell of it, and what is missing."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from app.core.commands import TimeOperations
from app.core.operations import OperationsProgress
from app.gui import theme
from app.gui.inside.timing.bar_words import pauses_sentence
from app.gui.inside.timing.gap_histogram import GapHistogram
from app.gui.inside.timing.pauses import sign_places
from app.gui.inside.timing.timeline_view import TimelineView
from app.gui.widgets.gauge import Gauge
from app.services.timeline_values import Pause
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.made_up_operations import timed as timed_operations
from tests.services.timed_answers import FIRST_US, GAPS_US, ask, begin, figures, finish, whole_answer, write

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def view(looker: Inspector) -> TimelineView:
    return looker.stage.find_as(TimelineView, "timeline")


def shows_time(looker: Inspector) -> None:
    """Go to the part, and wait until it shows what is known."""
    looker.opens()
    looker.stage.clicks("inside_time_tab")
    looker.known()


def timed(looker: Inspector) -> None:
    """Have a question answered whose moments are known, and look at them."""
    whole_answer(looker.stage.desk)
    shows_time(looker)


def wheels(shown: TimelineView) -> None:
    """Turn the wheel one step over the middle of the picture."""
    middle = QPointF(shown.width() / 2, shown.height() / 2)
    event = QWheelEvent(
        middle,
        shown.mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(shown, event)


def colours(widget: QWidget, left: float, top: float, width: float, height: float) -> set[str]:
    image: QImage = widget.grab().toImage()
    scale = image.width() / widget.width()
    return {
        image.pixelColor(round((left + x) * scale), round((top + y) * scale)).name()
        for x in range(1, max(int(width) - 1, 2))
        for y in range(2, int(height) - 2, 4)
    }


def test_every_part_of_the_answer_has_a_bar_in_the_colour_of_its_stage(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    assert [bar.kind for bar in shown.picture.bars if bar.kind != "step"] == [
        *("save", "queue", "template", "tokenise", "prefill", "prefill", "prefill", "first_sample", "held_back")
    ]
    look = inspector.stage.themes.current
    for kind, token in (
        ("template", "stage_tokens"),
        ("prefill", "stage_prefill"),
        ("first_sample", "stage_sampling"),
    ):
        place = next(each for each in range(len(shown.picture.bars)) if shown.picture.bars[each].kind == kind)
        shown.fit()
        if kind == "template":  # its neighbour would lie in the same pixel
            bar = shown.picture.bars[place]
            shown.picture.scale.show(bar.start_ns - bar.ns, bar.end_ns + bar.ns)
        rect = shown.rect_of(place)
        seen = colours(shown, rect.left(), rect.top(), rect.width(), rect.height())
        assert look.colour(token).name() in seen, f"{kind} is seen, however short it is"


def test_the_arrow_keys_tell_each_bar_from_the_first_to_the_last(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    shown.setFocus()
    QTest.keyClick(shown, Qt.Key.Key_Home)
    assert inspector.reads("time_bar_text").startswith("Save · starts at 0.00 ms")
    said = [inspector.reads("time_bar_text")]
    for _bar in range(len(shown.picture.bars) - 1):
        QTest.keyClick(shown, Qt.Key.Key_Right)
        said.append(inspector.reads("time_bar_text"))
        assert shown.accessibleDescription() == said[-1]
    assert len(set(said)) == len(shown.picture.bars) and said[-1].startswith("Held back")
    assert said[-1].endswith("part of a letter or of a stop string"), "text waits for either"
    assert "tokens 77 to 140 of the prompt" in said[5]
    steps = [each for each in said if each.startswith("Decode step to token")]
    assert len(steps) == len(GAPS_US) and "takes 99.0 ms" in steps[4] and "a draw takes 0.20 ms" in steps[4]
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    assert shown.place is None and "arrow keys" in inspector.reads("time_bar_text")


def test_up_and_down_go_to_the_nearest_bar_of_another_row(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    shown.setFocus()
    for _row in range(5):
        QTest.keyClick(shown, Qt.Key.Key_Down)
    assert shown.place is not None and shown.picture.bars[shown.place].row == "sampling"
    QTest.keyClick(shown, Qt.Key.Key_Up)
    assert shown.picture.bars[shown.place].kind == "step"
    QTest.keyClick(shown, Qt.Key.Key_Up)
    assert shown.picture.bars[shown.place].kind == "prefill" and shown.picture.bars[shown.place].end == 141


def test_keys_zoom_around_the_bar_that_is_looked_at_and_zero_shows_all_again(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    shown.setFocus()
    QTest.keyClick(shown, Qt.Key.Key_End)
    whole = shown.picture.scale.span_ns
    for _step in range(12):
        QTest.keyClick(shown, Qt.Key.Key_Plus)
    assert shown.picture.scale.span_ns < whole / 50 and not shown.picture.scale.is_fit
    assert shown.place is not None
    rect = shown.rect_of(shown.place)
    assert rect.right() > 0 and rect.left() < shown.width(), "it is still in the picture"
    start = shown.picture.scale.start_ns
    QTest.keyClick(shown, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert shown.picture.scale.start_ns < start
    QTest.keyClick(shown, Qt.Key.Key_Home)
    assert shown.picture.scale.start_ns == 0, "the first bar was brought into the picture"
    QTest.keyClick(shown, Qt.Key.Key_Minus)
    QTest.keyClick(shown, Qt.Key.Key_0)
    assert shown.picture.scale.is_fit and shown.picture.scale.span_ns == whole


def test_buttons_zoom_and_show_what_came_before_the_first_text(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    inspector.stage.clicks("time_zoom_in")
    assert not shown.picture.scale.is_fit
    inspector.stage.clicks("time_zoom_out")
    assert shown.picture.scale.is_fit
    inspector.stage.clicks("time_beginning")
    last = max(bar.end_ns for bar in shown.picture.bars if bar.kind == "held_back")
    assert shown.picture.scale.start_ns == 0 and last <= shown.picture.scale.end_ns < shown.picture.scale.whole_ns
    inspector.stage.clicks("time_fit")
    assert shown.picture.scale.is_fit


def test_a_click_chooses_a_bar_and_dragging_moves_the_picture(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    shown.look_at(None)
    inspector.stage.clicks("time_beginning")
    for _step in range(3):
        inspector.stage.clicks("time_zoom_in")
    start = shown.picture.scale.start_ns
    at = QPointF(shown.width() / 2, shown.height() - 20).toPoint()
    QTest.mousePress(shown, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(shown, at + QPointF(120, 0).toPoint())
    QTest.mouseRelease(shown, Qt.MouseButton.LeftButton, pos=at + QPointF(120, 0).toPoint())
    assert shown.picture.scale.start_ns < start and shown.place is None
    inspector.stage.clicks("time_fit")
    longest = next(each for each in range(len(shown.picture.bars)) if shown.picture.bars[each].kind == "queue")
    QTest.mouseClick(shown, Qt.MouseButton.LeftButton, pos=shown.rect_of(longest).center().toPoint())
    assert shown.place == longest and inspector.reads("time_bar_text").startswith("Queue")


def test_of_bars_that_lie_together_the_shortest_one_is_told(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    bars = shown.picture.bars
    short, long = (
        next(each for each in range(len(bars)) if bars[each].kind == kind) for kind in ("template", "tokenise")
    )
    place = shown.rect_of(short).center()
    assert bars[short].ns < bars[long].ns and shown.at(place) == short
    assert shown.words_at(place).startswith("Template"), "it would be hidden by its neighbour otherwise"
    assert shown.at(QPointF(2, place.y())) is None, "words of a row are no bar"


def test_the_wheel_zooms_where_the_keyboard_is_and_scrolls_the_page_elsewhere(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    inspector.stage.find("inside_time_tab").setFocus()
    wheels(shown)
    assert shown.picture.scale.is_fit
    shown.setFocus()
    wheels(shown)
    assert not shown.picture.scale.is_fit


def test_the_histogram_counts_every_gap_and_tells_each_bar(inspector: Inspector) -> None:
    timed(inspector)
    shown = inspector.stage.find_as(GapHistogram, "gap_histogram")
    assert shown.accessibleName().startswith(f"{len(GAPS_US)} gaps between neighbouring tokens")
    shown.setFocus()
    QTest.keyClick(shown, Qt.Key.Key_End)
    assert inspector.reads("gap_text") == f"97.5 to 100 ms: 1 of {len(GAPS_US)} gaps"
    QTest.keyClick(shown, Qt.Key.Key_Home)
    assert inspector.reads("gap_text").endswith("gaps") and shown.accessibleDescription() == inspector.reads(
        "gap_text"
    )


def test_it_grows_while_the_answer_is_written_and_marks_what_is_left_out(inspector: Inspector) -> None:
    looker, desk = inspector, inspector.stage.desk
    ask(desk)
    shows_time(looker)
    assert "is being written" in looker.reads("time_diagnosis")
    read_us = begin(desk)
    last_us = write(desk, read_us + FIRST_US, GAPS_US[:2])
    shown = view(looker)
    looker.stage.bot.waitUntil(lambda: shown.picture.bars.steps_in(0, 1e12) != range(0))
    write(desk, last_us + 13_000, GAPS_US[3:], first=3, held_ns=5_000_000_000)
    looker.stage.bot.waitUntil(lambda: len(shown.picture.bars.steps_in(0, 1e12)) == len(GAPS_US))
    assert "held for 5,000 ms" in shown.words_at(QPointF(shown.picture.pause_x(3), 5))
    looker.stage.bot.waitUntil(lambda: looker.stage.sees("time_pauses"))
    assert looker.reads("time_pauses") == "The answer was held 1 ×, 5,000 ms in all: that time is left out."
    finish(desk, figures())
    looker.known()
    looker.stage.bot.waitUntil(lambda: "Waiting took" in looker.reads("time_diagnosis"))


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
    shown.show_timeline(msgspec.structs.replace(line, pauses=pauses), ())
    after = [colours(shown, left, top, width, 20) for left, top, width in places]
    assert before == after, "neither the ruler's words nor those of a bar"
    assert colour in colours(shown, across - 3, row.bottom() + 1, 6, 8), "but the line goes on between the rows"
    assert sign_places([40, 3, 41, 5, 80]) == [3, 40, 80]
    said = pauses_sentence(msgspec.structs.replace(line, pauses=pauses))
    assert "held 2 ×, 4,000 ms in all" in said and "2 × time passed" in said


def test_what_is_not_known_is_said_with_the_reason(inspector: Inspector) -> None:
    inspector.answers("off", 20)
    desk = inspector.stage.desk
    desk.program.views.timeline._kept.clear()
    shows_time(inspector)
    said = inspector.reads("time_unknown")
    assert "Single decode steps: –, because" in said and "Single chunks of the prefill: –, because" in said
    assert "unknown until an answer has two tokens" in inspector.reads("gap_text")
    assert [bar.kind for bar in view(inspector).picture.bars if bar.row == "decode"] == ["decode"]


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


def test_the_first_sample_says_what_else_it_is(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    place = next(each for each in range(len(shown.picture.bars)) if shown.picture.bars[each].kind == "first_sample")
    assert "samplers made ready" in shown.said_of(place) and "processor is busy" in shown.said_of(place)


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


def test_the_sentence_in_live_leads_to_the_timeline(inspector: Inspector) -> None:
    whole_answer(inspector.stage.desk)
    inspector.stage.settle()
    sentence = inspector.stage.find("diagnosis_text")
    inspector.stage.bot.waitUntil(lambda: "Waiting took" in inspector.reads("diagnosis_text"))
    assert "timeline" in sentence.property("hint")
    sentence.setFocus()
    QTest.keyClick(sentence, Qt.Key.Key_Return)
    inspector.known()
    assert inspector.page.part == "time" and inspector.stage.sees("timeline")
    assert inspector.service.turn is inspector.turns[-1]


def test_a_step_is_taken_apart_on_request_and_its_shares_stand_in_a_table(inspector: Inspector) -> None:
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
    for ground in ("dark", "light"):
        inspector.stage.themes.choose(ground)
        gauge = inspector.stage.find_as(Gauge, "operations_decode")
        assert sum(segment.share for segment in gauge.segments) == pytest.approx(1)
        assert len({segment.colour.name() for segment in gauge.segments}) == 7


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
