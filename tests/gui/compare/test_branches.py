from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.gui.compare.branch_layout import branch_layout, fitting_zoom, thickness
from app.gui.compare.branch_picture import paint_branches
from app.gui.compare.branch_view import BranchView
from app.services.lane_analysis import Analysis, BranchNode
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight

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


def chain(lanes: int, tokens: int) -> list[BranchNode]:
    """Return a tree in which one lane after another leaves, each with so many tokens."""
    nodes: list[BranchNode] = []
    for number in range(lanes - 1):
        start = number * 3
        parent = 2 * number - 2 if number else None
        children = (2 * number + 2, 2 * number + 1) if number < lanes - 2 else (2 * number + 1, 2 * number + 2)
        rest = tuple(range(number, lanes))
        nodes.append(BranchNode(start, start + 3, rest, None, "w " * 3, parent, children, (), 0.5, (), None))
        leaf = BranchNode(
            start + 3, tokens, (number,), None, "word " * tokens, 2 * number, (), (number,), 0.1, (), None
        )
        nodes.append(leaf)
    nodes.append(
        BranchNode(3, tokens, (lanes - 1,), None, "word " * tokens, 2 * lanes - 4, (), (lanes - 1,), 0.4, (), None)
    )
    return nodes


def test_eight_lanes_of_300_tokens_fit_into_the_window_and_no_two_lie_over_one_another() -> None:
    tree = chain(8, 300)
    zoom = fitting_zoom(tree, 1000)
    layout = branch_layout(tree, zoom)
    assert layout.width <= 1000 and layout.height < 500
    for number, one in enumerate(layout.places):
        assert one.right - one.left >= 25, "its text has some room"
        for other in layout.places[number + 1 :]:
            apart = one.right <= other.left or other.right <= one.left
            assert apart or abs(one.y - other.y) >= 36


def test_rows_lie_closer_where_the_room_is_low_and_no_closer_than_can_be_read() -> None:
    tree = chain(8, 300)
    assert branch_layout(tree, 1.5).height > 440 >= branch_layout(tree, 1.5, 440).height
    ys = sorted({place.y for place in branch_layout(tree, 1.5, 10).places})
    assert min(later - first for first, later in pairwise(ys)) >= 40


def test_likelier_branches_are_thicker_and_the_likeliest_goes_straight_on() -> None:
    tree = chain(4, 60)
    layout = branch_layout(tree)
    assert thickness(tree[1]) < thickness(tree[3 - 1]) or tree[1].probability == tree[2].probability
    for number, node in enumerate(tree):
        if node.children:
            assert layout.places[node.children[0]].y == layout.places[number].y
            assert layout.places[node.children[1]].y > layout.places[number].y


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
    turned = QWheelEvent(
        QPointF(50, 50),
        QPointF(50, 50),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), turned)
    assert view.zoom == pytest.approx(larger)
    view.zoom_by(9)
    assert view.zoom > larger and view.horizontalScrollBar().maximum() > 0
    QTest.keyClick(view, Qt.Key.Key_0)
    assert view.zoom == before and view.horizontalScrollBar().maximum() == 0
    insight.stage.clicks("branches_larger")
    assert view.zoom > before


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
        layout = branch_layout(analysis.tree)
        image = QImage(round(layout.width), round(layout.height), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        paint_branches(painter, analysis, layout, look)
        painter.end()
        return image

    assert painted((1, 2), (1, 2)) == painted((), ()) != painted((1, 2), ())
