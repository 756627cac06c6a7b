"""The part “Time” of the page Inside: its picture, what the keyboard and the pointer tell of it, and what is missing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from app.gui.inside.timing.gap_histogram import GapHistogram
from app.gui.inside.timing.timeline_view import TimelineView
from app.gui.widgets.diagnosis_details import DiagnosisDetails
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.looking_at_time import colours, shows_time, timed, view
from tests.services.timed_answers import FIRST_US, GAPS_US, ask, begin, figures, finish, whole_answer, write

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def wheels(shown: TimelineView, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> bool:
    """Turn the wheel one step over the middle of the picture; return whether it took that for itself."""
    middle = QPointF(shown.width() / 2, shown.height() / 2)
    event = QWheelEvent(
        middle,
        shown.mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    shown.wheelEvent(event)
    return event.isAccepted()


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


def test_the_wheel_zooms_with_ctrl_and_scrolls_the_page_without_also_after_a_click(inspector: Inspector) -> None:
    timed(inspector)
    shown = view(inspector)
    assert not wheels(shown) and shown.picture.scale.is_fit
    QTest.mouseClick(shown, Qt.MouseButton.LeftButton, pos=QPoint(shown.width() // 2, shown.height() // 2))
    shown.setFocus()
    assert shown.hasFocus() and not wheels(shown) and shown.picture.scale.is_fit
    assert wheels(shown, Qt.KeyboardModifier.ControlModifier) and not shown.picture.scale.is_fit
    assert not wheels(shown), "nor in a part of the answer"


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
    assert looker.stage.find_as(DiagnosisDetails, "time_why").rows == (("Waited for its turn", "60.0 s"),)


def test_what_is_not_known_is_said_with_the_reason(inspector: Inspector) -> None:
    inspector.answers("off", 20)
    desk = inspector.stage.desk
    desk.program.views.timeline._kept.clear()
    shows_time(inspector)
    said = inspector.reads("time_unknown")
    assert "Single decode steps: –, because" in said and "Single chunks of the prefill: –, because" in said
    assert "unknown until an answer has two tokens" in inspector.reads("gap_text")
    assert [bar.kind for bar in view(inspector).picture.bars if bar.row == "decode"] == ["decode"]


def test_the_sentence_in_live_leads_to_the_timeline(inspector: Inspector) -> None:
    whole_answer(inspector.stage.desk)
    inspector.stage.settle()
    sentence = inspector.stage.find("diagnosis_text")
    inspector.stage.bot.waitUntil(lambda: "Waiting took" in inspector.reads("diagnosis_text"))
    assert "timeline" in sentence.property("hint")
    sentence.setFocus()
    QTest.keyClick(sentence, Qt.Key.Key_Return)
    inspector.stage.clicks("diagnosis_timeline")
    inspector.known()
    assert inspector.page.part == "time" and inspector.stage.sees("timeline")
    assert inspector.service.turn is inspector.turns[-1]
