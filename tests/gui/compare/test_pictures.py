"""The pictures that are handed on: whole, with nothing of how the page is scrolled, and without a widget left over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget

from app.core.comparison import LETTERS
from app.gui.compare import run_picture
from app.gui.compare.branch_export import BranchHead
from app.gui.compare.branch_layout import branch_layout
from app.gui.compare.branch_measure import FontMeasure
from app.gui.compare.branch_view import BranchView
from app.gui.compare.exporting import ExportButton
from app.gui.compare.figures_table import MOST_ROWS, FiguresTable
from app.gui.compare.lane_column import LaneColumn
from app.gui.compare.lane_overlay import LaneOverlay
from app.gui.compare.marks import Marks
from app.gui.compare.picture_steps import PictureSteps
from app.gui.compare.prompt_band import PromptBand
from app.gui.compare.run_picture import SCALE, Shown, Tools, page_picture
from app.gui.widgets.buttons import IconButton
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


Kind = TypeVar("Kind", bound=QWidget)


class Made:
    """A picture of the page and the widgets that it was made of."""

    def __init__(self, insight: InsightStage) -> None:
        self._steps = steps(insight)
        self.image = next(each for each in self._steps if each is not None)

    def columns(self) -> dict[int, LaneColumn]:
        found = sorted(apart(LaneColumn), key=lambda column: column.lane.index)
        return {column.lane.index: column for column in found}

    def band(self) -> PromptBand:
        return apart(PromptBand)[0]

    def table(self) -> FiguresTable:
        return next(table for each in apart(QWidget) for table in each.findChildren(FiguresTable))

    def ends(self) -> None:
        assert next(self._steps, None) is None


def apart(kind: type[Kind]) -> list[Kind]:
    """Return what stands in no window and is not shown."""
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and not each.isVisible()]


def steps(insight: InsightStage) -> Iterator[QImage | None]:
    differences, view, run = insight.differences, insight.page.run_view, insight.comparing.shown
    assert run is not None
    marks = {lane: differences._marks_of(lane).of_lanes() for lane in differences._insights}
    header = differences.strip.figures.horizontalHeader()
    order = header.sortIndicatorSection(), header.sortIndicatorOrder()
    tools = Tools(insight.stage.themes, differences._icons, view.background)
    return page_picture(Shown(run, insight.known(), marks, order), tools)


def colours_of(image: QImage) -> set[str]:
    pixels = image.convertToFormat(QImage.Format.Format_RGB32)
    found = np.frombuffer(pixels.constBits(), np.uint32).reshape(pixels.height(), -1)[:, : pixels.width()]
    return {QColor(int(each)).name() for each in np.unique(found)}


def test_every_lane_is_as_high_as_all_of_its_text_and_nothing_is_scrolled_or_selected(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d", "e", count=150)
    live = insight.text(0)
    live.select_all()
    live.verticalScrollBar().setValue(40)
    assert live.whole_px > live.viewport().height() and live.verticalScrollBar().value() == 40
    made = Made(insight)
    for lane, column in made.columns().items():
        assert column.text.viewport().height() >= column.text.whole_px > 0, LETTERS[lane]
        assert column.text.verticalScrollBar().maximum() == 0 and not column.text.verticalScrollBar().isVisibleTo(
            column
        )
        assert column.text._selection.is_empty
    assert list(made.columns()) == [0, 1, 2, 3, 4]
    assert len({column.height() for column in made.columns().values()}) == 1
    assert made.image.height() > SCALE * max(column.height() for column in made.columns().values())
    made.ends()


def test_all_figures_are_there_in_the_order_of_the_page(insight: InsightStage) -> None:
    insight.asked().opened()
    insight.stage.clicks("set_up_duplicate_c")
    insight.ran_as_set_up()
    live = insight.stage.find_as(FiguresTable, "compare_figures")
    rows = live.figures.rowCount()
    assert rows > MOST_ROWS
    live.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    assert live.figures.lanes != sorted(live.figures.lanes)
    made = Made(insight)
    table = made.table()
    assert table.figures.lanes == live.figures.lanes and len(table.figures.lanes) == rows
    last = table.visualRect(table.figures.index(rows - 1, 0))
    assert table.viewport().rect().contains(last)
    assert not table.verticalScrollBar().isVisibleTo(table) and not table.horizontalScrollBar().isVisibleTo(table)
    assert not table.selectionModel().hasSelection()
    made.ends()


def test_all_parts_are_as_wide_as_the_lanes(insight: InsightStage) -> None:
    insight.asked().ran()
    made = Made(insight)
    columns = list(made.columns().values())
    lanes = len(columns) * (columns[0].width() + run_picture.GAP_PX) - run_picture.GAP_PX
    table = made.table().parentWidget()
    assert table is not None and made.band().width() == table.width()
    assert 0 <= made.band().width() - lanes < len(columns)
    moment = made.band().findChild(QWidget, "compare_moment_text")
    assert moment is not None and moment.property("shown") != "" and moment.width() > 40
    made.ends()


def test_there_is_nothing_to_press_but_the_pin_of_the_baseline_is_seen(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    made = Made(insight)
    baseline = insight.known().baseline
    for lane, column in made.columns().items():
        kinds: tuple[type[QAbstractButton], ...] = QPushButton, IconButton
        seen = [each for kind in kinds for each in column.findChildren(kind) if each.isVisibleTo(column)]
        assert [each.objectName() for each in seen] == [f"pin_lane_{LETTERS[lane].lower()}"] * (lane == baseline)
        assert column.text.y() == made.columns()[baseline].text.y(), "headers are alike with a pin and without"
    assert not [each for each in made.band().findChildren(QPushButton) if each.isVisibleTo(made.band())]
    made.ends()


def test_lanes_are_marked_as_on_the_page(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d", "e")
    made = Made(insight)
    lane = next(each for each in range(4, -1, -1) if each != insight.known().baseline)
    column = made.columns()[lane]
    overlay = column.text.findChildren(LaneOverlay)[0]
    assert overlay.marks == insight.overlay(lane).marks != Marks()
    painted = column.text.viewport().grab().toImage()
    place, ratio = overlay.place_of(overlay.marks.tokens[0].span), painted.devicePixelRatio()
    mark = painted.copy(QRect(place.topLeft() * ratio, place.size() * ratio))
    assert insight.lane_colour(lane) in colours_of(mark)
    at = QPoint(run_picture.MARGIN_PX, run_picture.MARGIN_PX + made.band().height() + run_picture.GAP_PX)
    whole = made.image.copy(QRect(at * SCALE, (made.image.size() - made.image.size() * 0.2)))
    assert insight.lane_colour(lane) in colours_of(whole)
    made.ends()


def test_a_text_without_an_end_says_so(insight: InsightStage, monkeypatch: pytest.MonkeyPatch) -> None:
    insight.asked().ran("a", "c", count=150)
    monkeypatch.setattr(run_picture, "MOST_HIGH_PX", 300)
    made = Made(insight)
    for column in made.columns().values():
        said = column.findChild(QLabel, "lane_goes_on")
        assert said is not None and said.text().startswith("… The text goes on") and said.isVisibleTo(column)
        assert column.height() == 300 and said.y() >= column.text.y() + column.text.height()
    made.ends()


def test_no_widget_is_left_over_also_where_the_window_goes_before_the_picture_is_there(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    Made(insight).ends()
    begun = steps(insight)
    for _ in range(5):
        assert next(begun) is None
    drawing, done = insight.differences._drawing, list[QImage | None]()
    drawing.start(begun, done.append)
    drawing.stop()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not apart(LaneColumn) and not apart(PromptBand) and done == []


def test_pictures_of_the_page_and_of_the_branches_are_saved(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked().ran("a", "c")
    button = insight.stage.find_as(ExportButton, "compare_export_button")
    button.save("png", tmp_path / "page.png")
    assert button.text() == "Exporting…" and not any(each.isEnabled() for each in button.menu().actions())
    insight.exported()
    page = QImage(str(tmp_path / "page.png"))
    assert page.width() >= SCALE * run_picture.LEAST_PX and page.height() > 400
    insight.stage.clicks("compare_branches_tab")
    button.save("png", tmp_path / "tree.png")
    insight.exported()
    assert QImage(str(tmp_path / "tree.png")).width() >= 2 * 1100
    assert insight.reads("compare_said_text") == f"Saved as {tmp_path / 'tree.png'}"


def test_branches_say_what_was_asked_of_which_model_and_what_each_letter_is(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    run = insight.comparing.shown
    assert run is not None
    run.question.text = "Why is\nthe sky blue?"
    head = BranchHead(run, 900)
    said = head.words.splitlines()
    assert said[:2] == ["Why is", "the sky blue?"]
    assert said[2].startswith(f"{run.lanes[0].turn.author} · ") and "Same seed (7)" in said[3]
    assert said[4:] == ["A Temperature 0", "B Temperature 0.4", "C Temperature 0.8"]
    image = insight.differences.branches.picture(run, 1.0)
    top = image.copy(0, 0, image.width(), round(head.height) + 16)
    assert {insight.lane_colour(lane) for lane in range(3)} <= colours_of(top), "each with its line"


def test_no_lane_of_the_branches_loses_words_because_the_window_is_low(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d", "e", count=100)
    run, analysis = insight.comparing.shown, insight.known()
    assert run is not None
    insight.stage.clicks("compare_branches_tab")
    view = insight.differences.branches
    assert any(line.endswith("…") or not place.text for place in view._layout.places for line in place.text or [""])
    image = view.picture(run, 1.0)
    whole = branch_layout(analysis.tree, FontMeasure(), 1100, 100_000)
    head = BranchHead(run, 1000)
    assert image.height() > head.height + whole.height
    assert not any(line.endswith("…") for place in whole.places for line in place.text)


def test_a_long_prompt_ends_in_an_ellipsis_over_the_branches(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    run = insight.comparing.shown
    assert run is not None
    run.question.text = "why " * 2000
    said = BranchHead(run, 500).words.splitlines()
    assert said[11].endswith("…") and said[12].startswith(f"{run.lanes[0].turn.author} · ")


@pytest.mark.parametrize("view", ["page", "branches"])
def test_a_picture_that_cannot_be_made_is_told_of_once_and_can_be_asked_for_again(
    insight: InsightStage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    view: str,
) -> None:
    insight.asked().ran("a", "c")
    if view == "branches":
        insight.stage.clicks("compare_branches_tab")
    tries = []

    def breaks(*_given: object) -> object:
        tries.append(view)
        raise RuntimeError("a widget broke")

    with monkeypatch.context() as patched:
        if view == "page":
            patched.setattr(run_picture, "_figures", breaks)
        else:
            patched.setattr(BranchView, "picture", breaks)
        button = insight.stage.find_as(ExportButton, "compare_export_button")
        button.save("png", tmp_path / "a.png")
        insight.exported()
    assert tries == [view] and "a widget broke" in caplog.text
    assert insight.desk.notice.sentence.english() == "The file a.png could not be made; the log has the details."
    assert not (tmp_path / "a.png").exists() and all(action.isEnabled() for action in button.menu().actions())
    button.save("png", tmp_path / "b.png")
    insight.exported()
    assert (tmp_path / "b.png").exists()


def test_steps_that_end_without_a_picture_end(insight: InsightStage, caplog: pytest.LogCaptureFixture) -> None:
    found: list[QImage | None] = []
    steps = PictureSteps(insight.stage.window)
    steps.start(iter([None, None]), found.append)
    insight.stage.bot.waitUntil(lambda: bool(found))
    assert found == [None] and "could not be made" in caplog.text
