from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.sampling import SamplingSettings
from app.gui.compare.entropy_line import EntropyLine
from app.gui.compare.figures_model import VALUE_ROLE, FiguresModel
from app.gui.compare.figures_table import FiguresTable
from app.gui.widgets.fixed_text import FixedText
from app.services.lane_analysis import AnalysedLane, Analysis, LaneFigures
from app.services.pace import Pace
from app.services.units import UNKNOWN
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import COUNT, InsightStage, insight
from tests.services.recorded_lanes import RecordedLead, some_rows

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def table_of(insight: InsightStage) -> FiguresTable:
    return insight.stage.find_as(FiguresTable, "compare_figures")


def column(model: FiguresModel, title: str) -> int:
    titles = [model.headerData(place, Qt.Orientation.Horizontal) for place in range(model.columnCount())]
    return titles.index(title)


def test_there_is_a_row_for_each_lane_with_the_figures_of_the_analysis(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    rows = table_of(insight).figures
    assert rows.lanes == [0, 1] and insight.is_there("compare_figures")
    for row, lane in enumerate(insight.known().lanes):
        figures = lane.figures
        values = [rows.index(row, place).data(VALUE_ROLE) for place in range(1, len(rows.columns) + 1)]
        assert values[:4] == [COUNT, figures.mean_log_probability, figures.perplexity, figures.mean_entropy]
        assert values[4:] == [figures.repetition, figures.tokens_per_s, figures.itl_p50_ms]
        assert rows.index(row, rows.columnCount() - 1).data() == "length limit"
    assert str(rows.index(0, column(rows, "Mean log p")).data()).startswith("−")


def test_the_sign_of_the_order_is_not_painted_over_the_heading(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    table = table_of(insight)
    header = table.horizontalHeader()

    def painted(place: int) -> QImage:
        table.sortByColumn(place, Qt.SortOrder.DescendingOrder)
        left = header.sectionViewportPosition(place_of_it)
        return header.viewport().grab(QRect(left, 0, header.sectionSize(place_of_it), header.height())).toImage()

    place_of_it = column(table.figures, "Perplexity")
    ground = painted(0).pixel(1, 2)

    def inked(image: QImage) -> list[int]:
        rows = range(2, image.height() - 4)
        return [x for x in range(image.width()) if any(image.pixel(x, y) != ground for y in rows)]

    plain, signed = inked(painted(0)), inked(painted(place_of_it))
    words = plain[-1] - plain[0]
    assert signed[0] < plain[0] - 8, "the heading gave way"
    gap = [x for x in range(signed[0] + words - 2, signed[-1]) if x not in signed]
    assert gap and signed[-1] > gap[-1] > signed[0] + words - 2
    assert table.figures.headerData(place_of_it, Qt.Orientation.Horizontal) == "Perplexity"


def test_a_click_on_a_heading_sorts_and_another_one_turns_the_order_round(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d", "e")
    table = table_of(insight)
    place = column(table.figures, "Perplexity")
    header = table.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(place) + 10, header.height() // 2)

    def values() -> list[float]:
        return [table.figures.index(row, place).data(VALUE_ROLE) for row in range(5)]

    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    first = values()
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert first == sorted(first, reverse=first[0] > first[-1]) and values() == first[::-1] != first


def test_what_is_not_known_is_a_dash_that_says_why_and_comes_last(qapp: QApplication) -> None:
    model = FiguresModel()
    lanes = tuple(
        AnalysedLane(index, 10 + index, SamplingSettings(), "", figures)
        for index, figures in enumerate((LaneFigures(5, 0, stop_reason="end"), LaneFigures(5, 5, perplexity=2.0)))
    )
    model.show_analysis(Analysis(1, 0, lanes, (None, None), (), is_whole=False), [(0, "a"), (1, "b")])
    place = column(model, "Perplexity")
    assert model.index(0, place).data() == UNKNOWN
    assert "No probabilities were recorded" in model.index(0, place).data(Qt.ItemDataRole.ToolTipRole)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        model.sort(place, order)
        assert model.lanes == [1, 0]
    speed = column(model, "tok/s")
    assert "once the lane has ended" in model.index(0, speed).data(Qt.ItemDataRole.ToolTipRole)


def test_each_column_has_as_many_decimals_in_every_row(qapp: QApplication) -> None:
    model = FiguresModel()
    figures = (
        LaneFigures(5, 5, perplexity=1.5, repetition=0.0, tokens_per_s=9.876, itl_p50_ms=9.5),
        LaneFigures(5, 5, perplexity=1234.5, repetition=0.00758, tokens_per_s=101.0, itl_p50_ms=120.0),
        LaneFigures(5, 5, perplexity=12.0, repetition=0.561, tokens_per_s=40.0, itl_p50_ms=25.25),
    )
    lanes = tuple(AnalysedLane(index, index, SamplingSettings(), "", each) for index, each in enumerate(figures))
    names = [(index, "") for index in range(3)]
    model.show_analysis(Analysis(1, 0, lanes, (None,) * 3, (), is_whole=True), names)

    def shown(title: str) -> list[str]:
        return [model.index(row, column(model, title)).data() for row in range(3)]

    assert shown("Repetition") == ["0.0 %", "0.8 %", "56.1 %"]
    assert shown("Perplexity") == ["1.50", "1,234.50", "12.00"]
    assert shown("tok/s") == ["9.9", "101.0", "40.0"]
    assert {len(each.partition(".")[2]) for each in shown("p50 ms")} == {1}


def test_a_lane_that_was_interrupted_says_so_and_has_the_same_figures_in_its_header(insight: InsightStage) -> None:
    insight.asked().begun("a", "c").planned()
    insight.lead = RecordedLead(insight.desk, some_rows(COUNT))
    insight.lead.draw(0, 20)
    insight.lead.draw(1, 20)
    insight.desk.engine.die(insight.lead.asked.request)
    insight.stage.settle()
    insight.known()
    shown = insight.comparing.shown
    assert shown is not None
    for each in insight.page.run_view.columns:
        each.lane.pace = Pace()  # as it is after a start
        each.show_figures()
    rows = table_of(insight).figures
    assert rows.index(0, rows.columnCount() - 1).data() == "interrupted"
    assert rows.index(0, column(rows, "tok/s")).data() in insight.reads("lane_rate_a")
    assert UNKNOWN not in insight.reads("lane_gap_a")
    state = insight.stage.find_as(FixedText, "lane_state_a")
    state.setFixedWidth(state.fontMetrics().horizontalAdvance("Interrupted") + 4)
    assert state.shown == "Interrupted"
    assert state.property("hint") == state.property("text") != "Interrupted"


def test_enter_on_a_row_leads_to_its_lane(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    table = table_of(insight)
    table.setFocus()
    table.selectRow(2)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert insight.text(2).hasFocus()


def test_the_strip_leaves_the_room_to_the_lanes_while_they_are_written(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    assert not insight.is_there("compare_figures")
    insight.writes(0, "one")
    insight.ends()
    insight.known()
    assert insight.is_there("compare_figures")
    insight.stage.clicks("compare_strip_fold")
    assert not insight.is_there("compare_figures")


def test_each_header_has_a_line_of_entropies_on_one_scale(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    lines = [insight.stage.find_as(EntropyLine, f"lane_entropy_{letter}") for letter in "ab"]
    known = insight.known()
    assert [line._values for line in lines] == [lane.entropies for lane in known.lanes]
    assert f"Entropy of {COUNT} tokens" in lines[0].accessibleName()
    lanes = tuple(
        msgspec.structs.replace(lane, entropies=(0.5, None, high))
        for lane, high in zip(known.lanes, (1.0, 4.0), strict=True)
    )
    for each in insight.differences._insights.values():
        each.show_analysis(msgspec.structs.replace(known, lanes=lanes))
    heights = [min(point.y() for point in line._points(16.5)) for line in lines]
    assert heights[1] == 2 and heights[0] == pytest.approx(16.5 - 14.5 / 4)
