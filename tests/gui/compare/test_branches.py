from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from app.gui.compare import branch_view, differences
from app.gui.compare.branch_layout import MOST_ZOOM, BranchLayout, branch_layout
from app.gui.compare.branch_legend import LegendStrip
from app.gui.compare.branch_measure import FontMeasure
from app.gui.compare.branch_picture import BranchPicture
from app.gui.compare.branch_view import BranchView
from app.services.lane_analysis import Analysis, BranchNode, TextSpan
from tests.gui.compare.branch_trees import tree_of
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight
from tests.services.recorded_lanes import RecordedLead, some_rows

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def opened(insight: InsightStage) -> BranchView:
    insight.stage.clicks("compare_branches_tab")
    view = insight.stage.find_as(BranchView, "compare_branches")
    layout = insight.page.run_view.layout()
    assert layout is not None
    layout.activate()  # as before the next picture
    view.setFocus()
    return view


def turn(view: BranchView, at: QPointF, by: QPoint) -> None:
    """Turn the wheel with Ctrl."""
    button, modifier = Qt.MouseButton.NoButton, Qt.KeyboardModifier.ControlModifier
    wheel = QWheelEvent(at, at, QPoint(), by, button, modifier, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(view.viewport(), wheel)


def test_the_tree_has_a_child_for_each_stretch_that_says_all_of_it(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view, tree = opened(insight), insight.known().tree
    assert insight.is_there("compare_branches") and not insight.is_there("compare_lanes")
    assert len(view._nodes) == len(tree) > 2
    for widget, node in zip(view._nodes, tree, strict=True):
        said = widget.accessibleName()
        assert " ".join(node.text.split()) in said
        assert f"tokens {node.start + 1} to {node.end}" in said
        assert not node.ends or "ends here" in said


def test_arrows_walk_the_stretches_and_enter_leads_to_the_lane(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d")
    view, tree = opened(insight), insight.known().tree
    QTest.keyClick(view, Qt.Key.Key_Right)
    first = tree[0].children[0]
    assert view.focused == first
    QTest.keyClick(view, Qt.Key.Key_Down)
    below = view.focused
    assert below != first and view._layout.places[below].y > view._layout.places[first].y
    assert view.accessibleDescription() == view._nodes[below].accessibleName()
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.focused == tree[below].parent
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.focused == 0
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert insight.is_there("compare_lanes") and not insight.is_there("compare_branches")
    assert insight.text(tree[first].lanes[0]).hasFocus()


def test_enter_on_a_stretch_frames_its_first_token_in_its_lane(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d")
    view, tree = opened(insight), insight.known().tree
    number, node = next((n, each) for n, each in enumerate(tree) if each.parent and not each.children)
    view._focus(number)
    QTest.keyClick(view, Qt.Key.Key_Return)
    lane = node.lanes[0]
    known = insight.known().lane(lane)
    assert known is not None and node.start > 0
    framed = insight.overlay(lane).looked_at
    assert framed == TextSpan(known.token_starts[node.start], known.token_starts[node.start + 1])
    place = insight.overlay(lane).place_of(framed)
    assert insight.text(lane).viewport().rect().contains(place)
    other = next(n for n, each in enumerate(tree) if each.parent and not each.children and each.lanes[0] != lane)
    insight.stage.clicks("compare_branches_tab")
    view._focus(other)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert insight.overlay(tree[other].lanes[0]).looked_at is not None
    assert insight.overlay(lane).looked_at is None, "one token is looked at"


def test_it_is_zoomed_with_keys_and_with_the_wheel_and_fits_again(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view = opened(insight)
    before = view.zoom
    for _step in range(2):
        QTest.keyClick(view, Qt.Key.Key_Plus)
    larger = view.zoom
    assert larger > before
    QTest.keyClick(view, Qt.Key.Key_Minus)
    assert before < view.zoom < larger
    turn(view, QPointF(50, 50), QPoint(0, 120))
    assert view.zoom == pytest.approx(larger)
    turn(view, QPointF(50, 50), QPoint(120, 0))
    turn(view, QPointF(50, 50), QPoint(0, 0))
    assert view.zoom == pytest.approx(larger), "to the side is no step"
    view.zoom_by(9)
    assert view.zoom == MOST_ZOOM
    assert view.zoom > larger and view.horizontalScrollBar().maximum() > 0
    QTest.keyClick(view, Qt.Key.Key_0)
    assert view.zoom == before and view.horizontalScrollBar().maximum() == 0
    insight.stage.clicks("branches_larger")
    assert view.zoom > before
    insight.stage.clicks("branches_fit")
    assert view.zoom == before
    insight.stage.clicks("branches_smaller")
    assert view.zoom < before


def test_it_is_panned_with_the_mouse(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view = opened(insight)
    for _step in range(4):
        QTest.keyClick(view, Qt.Key.Key_Plus)
    bar = view.horizontalScrollBar()
    assert bar.maximum() > 150
    bar.setValue(100)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 8))
    at, held = QPointF(250, 8), Qt.MouseButton.LeftButton
    moved = QMouseEvent(
        QMouseEvent.Type.MouseMove, at, at, Qt.MouseButton.NoButton, held, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(view.viewport(), moved)
    assert bar.value() == 150
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(250, 8))


def test_before_there_is_a_tree_it_is_said_when_there_will_be_one(insight: InsightStage) -> None:
    insight.asked().begun("a", "c").planned()
    view = opened(insight)
    assert view.accessibleDescription() == "The tree of the lanes is drawn as soon as one of them has ended."
    insight.stage.settle()
    image = view.viewport().grab().toImage()
    middle = [image.pixel(x, image.height() // 2) for x in range(image.width())]
    assert len(set(middle)) > 1, "the sentence is painted"


def test_lanes_that_have_not_begun_do_not_end_at_the_root(insight: InsightStage) -> None:
    look = insight.stage.themes.current

    def painted(ends: tuple[int, ...], waiting: tuple[int, ...]) -> QImage:
        root = BranchNode(0, 0, (0, 1, 2), None, "", None, (1,), ends, None, (), None, open=waiting)
        leaf = BranchNode(0, 3, (0,), None, "some words here", 0, (), (0,), 0.5, (), None)
        analysis = Analysis(1, 0, (), (), (root, leaf), is_whole=False)
        layout = branch_layout(analysis.tree, FontMeasure(), 600, 200)
        image = QImage(round(layout.width), round(layout.height), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        BranchPicture(analysis, layout, FontMeasure()).paint(painter, look)
        painter.end()
        return image

    assert painted((1, 2), (1, 2)) == painted((1, 2), ()) == painted((), ()), "nor do those that never began"


def legend(insight: InsightStage) -> LegendStrip:
    return insight.stage.find_as(LegendStrip, "branch_legend")


def test_a_legend_under_the_tree_says_what_length_and_width_stand_for(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view, shown = opened(insight), legend(insight)
    assert shown.accessibleName() == (
        "Length: tokens on the ruler, stretched where lanes fork. Width: raw probability of a branch’s first token"
    )
    for _step in range(3):
        assert shown.isVisibleTo(view) and shown.width() == view.viewport().width()
        bottom = view.viewport().geometry().bottom()
        assert shown.geometry().top() == bottom + 1, "nothing lies between the two, and no scroll bar over it"
        assert shown.geometry().bottom() < view.height()
        QTest.keyClick(view, Qt.Key.Key_Plus)
        insight.stage.settle()
    painted = shown.grab().toImage()
    assert len({painted.pixel(x, y) for x in range(painted.width()) for y in range(painted.height())}) > 2


def test_there_is_no_legend_before_there_is_a_tree(insight: InsightStage) -> None:
    insight.asked().begun("a", "c").planned()
    view = opened(insight)
    assert not legend(insight).isVisibleTo(view)


def test_the_token_under_the_pointer_stays_there_when_the_wheel_zooms(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view = opened(insight)
    view.zoom_by(3)
    at = QPointF(view.viewport().width() * 0.6, 60)

    def token() -> float:
        axis = view._layout.axis
        assert axis is not None
        return axis.token(at.x() + view.horizontalScrollBar().value())

    before, zoom = token(), view.zoom
    for turned in (120, 120, -120):
        turn(view, at, QPoint(0, turned))
        assert token() == pytest.approx(before, abs=0.5)
    assert view.zoom > zoom


def test_each_step_lays_the_tree_out_once_though_scroll_bars_come_and_go(
    insight: InsightStage, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    view = BranchView(insight.stage.themes)
    qtbot.addWidget(view)
    view.resize(900, 500)
    view.show()
    tree = tree_of([(0,) * 300] + [(0,) * 10 * lane + (lane,) * 200 for lane in range(1, 6)])
    view.show_analysis(Analysis(1, 0, (), (), tree))
    QApplication.sendPostedEvents()
    before = view.viewport().size()
    made: list[float] = []

    def counted(*given: Any) -> BranchLayout:
        made.append(given[4])
        return branch_layout(*given)

    monkeypatch.setattr(branch_view, "branch_layout", counted)
    for step in range(1, 4):
        turn(view, QPointF(50, 50), QPoint(0, 120))
        QApplication.sendPostedEvents()
        assert len(made) == step
    seen = view.viewport().size()
    assert seen.width() < before.width() and seen.height() < before.height(), "both bars have come"
    view.fit()
    QApplication.sendPostedEvents()
    assert len(made) == 4 and view.viewport().size() == before


def test_painting_lays_no_text_out_again(insight: InsightStage, monkeypatch: pytest.MonkeyPatch) -> None:
    insight.asked().ran("a", "b", "c")
    view = opened(insight)
    view.window().grab()  # layouts that are due are made
    asked: list[str] = []
    for name in ("lines", "width", "small", "elided"):
        monkeypatch.setattr(FontMeasure, name, lambda *_given, name=name: asked.append(name))
    view.viewport().grab()
    assert asked == []
    view.horizontalScrollBar().setValue(5)
    view.viewport().grab()
    assert asked == []


def test_the_exported_picture_has_the_legend_below_the_tree(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    view, run = opened(insight), insight.comparing.shown
    assert run is not None
    image = view.picture(run, 1.0)
    ground = QColor(insight.stage.themes.current.colour("surface")).rgb()
    top = image.height() - 18
    below = {image.pixel(x, y) for x in range(image.width()) for y in range(top, image.height())}
    assert below - {ground}


def test_the_keyboard_goes_with_the_view_from_a_lane_that_is_hidden(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    window = insight.stage.window
    insight.stage.find("lane_text_a").setFocus()
    assert insight.stage.find("lane_text_a").isAncestorOf(window.focusWidget())
    insight.stage.find_as(QAbstractButton, "compare_branches_tab").click()  # as an assistive technology presses it
    view = insight.stage.find_as(BranchView, "compare_branches")
    assert view.isAncestorOf(window.focusWidget())


def test_branches_that_somebody_looks_at_grow_while_lanes_are_written(
    insight: InsightStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "REFRESH_MS", 0)
    insight.lead = RecordedLead(insight.desk, some_rows(20))
    insight.asked().begun("a", "b")
    insight.lead.begin()
    insight.lead.draw(0, 3)
    insight.lead.draw(1, 3)
    insight.quiet()
    analysis = insight.desk.program.comparison_analysis
    assert analysis.shown is None, "nobody looks"
    insight.stage.clicks("compare_branches_tab")

    def tokens() -> int:
        insight.desk.settle()
        return analysis.shown.lanes[0].figures.length if analysis.shown is not None else 0

    insight.stage.bot.waitUntil(lambda: tokens() == 3, timeout=60_000)
    insight.lead.draw(0, 5)
    insight.stage.bot.waitUntil(lambda: tokens() == 8, timeout=60_000)
    insight.lead.finish_drawn(0)
    insight.lead.finish_drawn(1)
    insight.lead.end()
    insight.known()
