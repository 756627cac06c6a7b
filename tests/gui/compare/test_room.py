"""Lanes keep the room that they need, and show all of what was written whatever else was looked at meanwhile."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEventLoop, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.gui.chat.turn_block import GAP_PX
from app.gui.compare.divergence_card import DivergenceCard
from app.gui.compare.figures_table import FiguresTable
from app.gui.compare.lower_strip import LowerStrip
from app.gui.icons import Icons
from tests.gui.compare.conftest import CompareStage, desk, model, stage
from tests.gui.compare.insight import InsightStage, insight
from tests.services.recorded_lanes import RecordedLead, some_rows

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def text_of(comparer: CompareStage, lane: int) -> str:
    return comparer.page.run_view.columns[lane].text.turns.blocks[0].text


def resized(comparer: CompareStage, width: int, height: int) -> None:
    comparer.stage.window.resize(width, height)
    for _step in range(3):  # scroll bars come and go one after another
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()


def strip_of(comparer: CompareStage) -> LowerStrip:
    return comparer.stage.find_as(LowerStrip, "compare_strip")


def test_what_is_written_while_the_branches_are_shown_is_all_there_afterwards(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "one")
    comparer.stage.clicks("compare_branches_tab")
    comparer.writes(0, " two")
    comparer.writes(1, "new")
    comparer.writes(1, " words")
    comparer.stage.clicks("compare_lanes_tab")
    comparer.quiet()
    assert (text_of(comparer, 0), text_of(comparer, 1)) == ("one two", "new words")
    comparer.writes(0, " three")
    assert text_of(comparer, 0) == "one two three"
    comparer.stage.clicks("compare_branches_tab")
    comparer.writes(1, " end")
    comparer.ends()
    comparer.stage.clicks("compare_lanes_tab")
    comparer.quiet()
    assert text_of(comparer, 1) == "new words end"


def test_in_a_low_window_the_lanes_keep_their_room_and_the_page_scrolls_for_what_somebody_opens(
    comparer: CompareStage,
) -> None:
    comparer.asked().begun("a", "b").planned()
    resized(comparer, 900, 600)
    comparer.writes(0, "words")
    comparer.ends()
    resized(comparer, 900, 601)
    area = comparer.page.run_view.area
    assert strip_of(comparer).page == "" and area.height() >= area.minimumHeight() > 200
    comparer.stage.clicks("compare_what_if_tab")
    resized(comparer, 900, 600)
    assert strip_of(comparer).page == "what_if" and area.height() >= area.minimumHeight()
    around = comparer.page.run_view.visibleRegion().boundingRect()
    bottom = strip_of(comparer).geometry().bottom()
    assert comparer.page.run_view.height() > around.height() and around.bottom() >= bottom
    for column in comparer.page.run_view.columns:
        assert column.height() >= column.minimumSizeHint().height()


def test_the_figures_come_where_there_is_room_for_them(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "words")
    resized(comparer, 1280, 900)
    assert strip_of(comparer).page == ""
    comparer.ends()
    analysis = comparer.desk.program.comparison_analysis
    comparer.desk.until(lambda: not analysis.is_busy)
    assert strip_of(comparer).page == "figures"
    resized(comparer, 900, 600)
    assert strip_of(comparer).page == ""
    resized(comparer, 1280, 900)
    assert strip_of(comparer).page == "figures"


def test_another_comparison_begins_with_a_strip_that_is_closed(insight: InsightStage) -> None:
    resized(insight, 1280, 900)
    insight.asked().ran("a", "c")
    insight.stage.clicks("compare_what_if_tab")
    assert strip_of(insight).page == "what_if"
    insight.stage.clicks("compare_again_button")
    insight.stage.settle()
    assert strip_of(insight).page == ""


def test_headings_of_figures_are_whole_in_a_narrow_window(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    insight.stage.clicks("compare_figures_tab")
    resized(insight, 900, 700)
    table = insight.stage.find_as(FiguresTable, "compare_figures")
    header = table.horizontalHeader()
    metrics = QFontMetrics(header.font())
    for place in range(1, header.count()):
        title = str(table.figures.headerData(place, Qt.Orientation.Horizontal))
        assert header.sectionSize(place) >= metrics.horizontalAdvance(title) + 16, title


def test_a_text_that_fits_has_no_scroll_bar(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "A line.\n\n" * 4)
    view = comparer.text(0)
    needed, frame = view.turns.total - GAP_PX, view.height() - view.viewport().height()
    view.setFixedHeight(needed + frame)
    resized(comparer, 1200, 801)
    assert view.viewport().height() == needed and view.verticalScrollBar().maximum() == 0
    view.setFixedHeight(needed + frame - 10)
    resized(comparer, 1200, 800)
    assert view.verticalScrollBar().maximum() == 10


def test_while_lanes_are_written_it_is_said_where_they_part_and_how_undecided_the_model_is(
    insight: InsightStage,
) -> None:
    insight.lead = RecordedLead(insight.desk, some_rows(20))
    insight.desk.program.sampling.change(seed=7)
    resized(insight, 1280, 900)
    insight.asked().begun("a", "e")
    insight.lead.begin()
    insight.lead.draw(0, 8)
    insight.page.run_view._show_figures()
    line = insight.stage.find("lane_entropy_a")
    assert line.accessibleName().startswith("Entropy of 8 tokens")
    insight.lead.draw(1, 8)
    insight.page.run_view._show_figures()
    one, other = (insight.lead.drawn[lane].tokens.tolist() for lane in (0, 1))
    first = next(place for place in range(8) if one[place] != other[place])
    baseline = insight.comparing.shown.comparison.baseline if insight.comparing.shown is not None else 0
    words = f"Leaves {'AB'[baseline]} at token {first + 1}"
    resized(insight, 1280, 901)
    assert insight.link(1 - baseline).accessibleName() == words
    assert insight.link(1 - baseline).text() == words
    assert not insight.link(1 - baseline).isEnabled()


def test_a_scroll_bar_goes_once_all_of_a_lane_has_room_again(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    for lane in range(2):
        comparer.writes(lane, "A few words in each of some lines of text. " * 16)
    comparer.ends()
    comparer.stage.clicks("compare_close_button")
    comparer.stage.clicks("compared_link")
    text = comparer.text(1)
    bar = text.verticalScrollBar()
    resized(comparer, 1200, 1300)
    high = text.height()
    for height, is_needed in ((high, False), (100, True), (high, False)):
        text.resize(text.width(), height)
        QApplication.sendPostedEvents()
        assert (bar.maximum() > 0, bar.isVisibleTo(text)) == (is_needed, is_needed)


def test_what_stays_below_the_set_up_stands_under_the_rest_where_that_scrolls(comparer: CompareStage) -> None:
    comparer.asked().opened()
    resized(comparer, 960, 600)
    start, add = comparer.stage.find("compare_start_button"), comparer.stage.find("add_lane_button")
    area = comparer.stage.find_as(QScrollArea, "compare_set_up_area")
    assert area.verticalScrollBar().isVisible()
    right = {each.mapTo(comparer.stage.window, each.rect().topRight()).x() for each in (start, add)}
    assert len(right) == 1


def test_a_card_lies_in_the_part_of_its_page_that_is_seen(comparer: CompareStage, qtbot: QtBot) -> None:
    window, page = QScrollArea(), QWidget()
    page.resize(700, 1500)
    window.setWidget(page)
    window.resize(700, 500)
    card = DivergenceCard(page, comparer.stage.themes, Icons(comparer.stage.desk.program.resources))
    with qtbot.waitExposed(window):
        window.show()
    window.verticalScrollBar().setValue(400)
    for y in (0, 200, 480):
        at = QRect(window.viewport().mapToGlobal(QPoint(100, y)), QSize(20, 20))
        card.resize(card.width(), 300)
        card._place(at)
        assert window.viewport().rect().contains(QRect(card.mapTo(window.viewport(), QPoint()), card.size()))
    window.close()


def test_lanes_get_another_size_once_when_the_strip_opens_and_once_when_it_closes(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "words")
    comparer.ends()
    resized(comparer, 1280, 900)
    strip, area = strip_of(comparer), comparer.page.run_view.area
    assert strip.page == "figures"
    heights = [area.height()]
    area.laid_out.connect(lambda: heights.append(area.height()))
    strip.choose("")
    resized(comparer, 1280, 900)
    strip.choose("figures")
    resized(comparer, 1280, 900)
    low, *rest = heights
    assert rest == [max(heights), low] and max(heights) > low
