"""The picture of the loop keeps its place and its room: nothing is cut, crossed, or moved away under the pointer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.loop.faces import Face, face_of
from app.gui.inside.loop.loop_map import LEAST_PX, LoopMap
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.stage_box import StageBox, figure_font, wrapped
from app.gui.inside.loop.tour_words import stops
from app.gui.inside.page import InsidePart
from app.services.loop_example import example
from app.services.loop_values import STAGES, StageName
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def made_map(looker: Inspector, width: int, *, is_turned: bool = False) -> LoopMap:
    made = LoopMap(looker.stage.themes, Icons(looker.stage.desk.program.resources))
    if is_turned:
        made.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    made.resize(width, 300)
    looker.stage.bot.addWidget(made)
    with looker.stage.bot.waitExposed(made):
        made.show()
    return made


def crosses(one: tuple[QPointF, QPointF], other: tuple[QPointF, QPointF]) -> bool:
    """Return whether two lines that are level or upright share a point."""
    first, second = (QRect(a.toPoint(), b.toPoint()).normalized() for a, b in (one, other))
    spans = (
        (first.left(), first.right(), second.left(), second.right()),
        (first.top(), first.bottom(), second.top(), second.bottom()),
    )
    return all(max(a, c) <= min(b, d) for a, b, c, d in spans)


HIGH_PX = 2000


class Lines(QWidget):
    """As high as many lines in whatever width."""

    def heightForWidth(self, width: int) -> int:  # noqa: N802  Qt's name
        """Be high."""
        return HIGH_PX


class HighPart(InsidePart):
    """A part that is higher than every window of these tests: by its lines, or anyhow."""

    is_whole = True

    def __init__(self, *, by_lines: bool) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        if by_lines:
            lines = Lines()
            policy = lines.sizePolicy()
            policy.setHeightForWidth(True)
            lines.setSizePolicy(policy)
            column.addWidget(lines)
        else:
            column.addSpacing(HIGH_PX)


def has_room(part: LoopPart) -> bool:
    """Return whether the card of the tour is laid out, with no line cut."""
    layout, labels = part.tour.layout(), (part.tour._text, part.tour.number)
    is_whole = layout is not None and part.tour.height() >= layout.totalHeightForWidth(part.tour.width())
    return is_whole and all(each.height() >= each.heightForWidth(each.width()) for each in labels)


def sees(looker: Inspector, widget: QWidget) -> bool:
    """Return whether all of a widget is in sight."""
    view = looker.page.viewport()
    return view.rect().contains(QRect(widget.mapTo(view, QPoint(0, 0)), widget.size()))


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("width", [2100, 1000, 640])
def test_the_arrow_back_crosses_no_other_and_no_box(inspector: Inspector, width: int, is_turned: bool) -> None:
    made = made_map(inspector, width, is_turned=is_turned)
    way = made.way_back()
    lines = list(pairwise(way))
    others = [made._between(one, other) for one, other in pairwise(STAGES)]
    assert not [other for other in others for line in lines if crosses(line, (other[0], other[1]))]
    assert all(made.rect().contains(point.toPoint()) for point in way)
    middle = [QRect(a.toPoint(), b.toPoint()).normalized() for a, b in lines[1:-1]]
    assert not [box for box in made.boxes.values() for line in middle if box.geometry().intersects(line)]


def test_a_box_that_moved_away_under_the_pointer_is_not_grey(inspector: Inspector) -> None:
    part = looks(inspector)
    box = part.map.boxes["kv"]
    inside = QPointF(box.rect().center())
    QCursor.setPos(box.mapToGlobal(box.rect().center()))
    QApplication.sendEvent(box, QEnterEvent(inside, inside, inside))
    box.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    assert box.is_pointed_at
    QCursor.setPos(box.mapToGlobal(QPoint(-200, -200)))
    box.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    assert box.underMouse() and not box.is_pointed_at
    QApplication.sendEvent(box, QEvent(QEvent.Type.Leave))


def test_no_word_is_cut_where_a_stage_runs(inspector: Inspector) -> None:
    part = looks(inspector)
    box = StageBox("sampling", inspector.stage.themes, Icons(inspector.stage.desk.program.resources))
    box.resize(theme.scaled(LEAST_PX), box.sizeHint().height())
    chain = "top-k → top-p → min-p → temperature"
    lines = box.lines_of(Face("15 left", (chain,), state="running"), box.width() - 12)
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    assert " ".join(lines) == chain and all(metrics.horizontalAdvance(line) <= box.width() - 12 for line in lines)
    assert len(wrapped(chain, metrics, box.width() - 20, 2)) < len(lines), "two lines are not enough"
    assert len(lines) == 3 and part.isVisible()
    two = Face("30 layers", ("9 heads, 3 for KV", "feed-forward 1,536"))
    assert all(metrics.horizontalAdvance(line) <= box.width() - 12 for line in box.lines_of(two, box.width() - 12))
    bottom, foot = box.places(lines=3)
    assert bottom <= foot, "the word below has its own line"
    box.deleteLater()


@pytest.mark.parametrize("stage_name", STAGES)
def test_no_line_of_a_whole_run_is_cut_in_the_narrowest_box(inspector: Inspector, stage_name: StageName) -> None:
    box = StageBox(stage_name, inspector.stage.themes, Icons(inspector.stage.desk.program.resources))
    inspector.stage.bot.addWidget(box)
    room = theme.scaled(LEAST_PX) - 12
    lines = box.lines_of(face_of(stage_name, example()), room)
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    assert [line for line in lines if metrics.horizontalAdvance(line) > room] == []


def test_the_buttons_of_the_tour_stay_where_they_are(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tour_button")
    for width in (1280, 900):
        inspector.stage.window.resize(width, 800)
        catch_up(part)
        heights, places = set(), set()
        for step in range(len(stops())):
            part.tour.go(step)
            inspector.stage.bot.waitUntil(lambda: has_room(part))
            heights.add(part.tour.height())
            places.add(part.tour.on.mapTo(part.tour, part.tour.on.rect().bottomRight()).toTuple())
        assert len(heights) == len(places) == 1


def test_the_lit_stage_and_the_tour_are_seen_in_a_small_window(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.window.resize(900, 600)
    inspector.stage.clicks("loop_tour_button")
    inspector.stage.settle()
    bar = inspector.page.verticalScrollBar()
    inspector.stage.bot.waitUntil(lambda: bar.maximum() > 0 and has_room(part))

    def both() -> bool:
        return sees(inspector, part.map.boxes[part.map.stage]) and sees(inspector, part.tour)

    away = 0
    for step in range(len(stops())):
        for end in (0, bar.maximum()):
            bar.setValue(end)
            part.tour.go(step)
            away += not both()
            inspector.stage.bot.waitUntil(both)
    assert away > len(stops()), "they are brought in sight where they are not"


@pytest.mark.parametrize("by_lines", [True, False])
def test_no_part_needs_the_height_of_another(inspector: Inspector, by_lines: bool) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.window.resize(1280, 800)
    layout, bar = part.layout(), inspector.page.verticalScrollBar()
    assert layout is not None
    inspector.page._makers["cache"] = lambda: HighPart(by_lines=by_lines)
    inspector.stage.clicks("inside_cache_tab")
    inspector.stage.bot.waitUntil(lambda: bar.maximum() > 0)
    inspector.stage.clicks("inside_loop_tab")
    inspector.stage.bot.waitUntil(lambda: bar.maximum() == 0)
    assert asks(inspector) is part
    assert part.height() >= layout.totalHeightForWidth(part.width())


def test_the_words_of_a_stage_that_is_chosen_are_seen_in_a_low_window_with_its_box(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.window.resize(900, 600)
    inspector.stage.settle()
    bar = inspector.page.verticalScrollBar()
    inspector.stage.bot.waitUntil(lambda: bar.maximum() > 0)

    def both() -> bool:
        return sees(inspector, part.map.boxes[part.map.stage]) and sees(inspector, part.sheet)

    away = 0
    chosen: tuple[StageName, ...] = ("prompt", "kv", "stop")
    for name in chosen:
        bar.setValue(0)
        inspector.stage.clicks(f"loop_{name}")
        inspector.stage.bot.waitUntil(both)
        away += bar.value() > 0
    assert away == len(chosen), "they were not in sight at first"
    bar.setValue(0)
    QTest.keyClick(part.map.boxes["stop"], Qt.Key.Key_Home)
    inspector.stage.bot.waitUntil(lambda: both() and part.map.stage == "prompt")


@pytest.mark.parametrize("figure", ["8,191 of 8,192", "131,071 of 131,072", "≥\u00a0151,936 left"])
def test_no_number_is_cut_in_the_narrowest_box(inspector: Inspector, figure: str) -> None:
    room = theme.scaled(LEAST_PX) - 18
    assert QFontMetrics(figure_font(figure, room)).horizontalAdvance(figure) <= room
    usual = theme.font(theme.FIGURE_PX, bold=True)
    assert figure_font("30 layers", room) == usual, "what has room keeps its size"
    assert figure_font("“Repeat after me: a", room) == usual, "words are cut, and stay readable"
