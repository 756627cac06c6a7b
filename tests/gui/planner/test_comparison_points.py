"""The points of the charts of a comparison: told under the pointer and by keys, with the figures of the table."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QColor,
    QHelpEvent,
    QKeyEvent,
    QPainter,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from app.gui import theme
from app.gui.planner.comparison.chart import ChartPoint, DrawnRow
from app.gui.planner.comparison.point_card import MARK_PX, card_place
from app.gui.planner.comparison.pointed_chart import NEAR_PX, PointedChart
from app.gui.planner.comparison.points import MOVES, Move, chart_keys, moved, nearest
from app.gui.planner.comparison.roof_chart import RoofDrawing
from app.gui.planner.comparison.rows_model import EACH, LIMIT, SMALL_ROLE
from app.gui.planner.comparison.speed_chart import SpeedDrawing
from app.gui.widgets.words import hint_under
from app.services.plan_values import Band, ComparedRow, Roof, RoofDot
from app.system.settings_file import Theme
from tests.gui.planner.beside import Beside

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.qt_log_ignore("^This plugin does not support")]
GPUS = ("rtx-3060", "rtx-4090", "l4")
PLACE = QRectF(0, 0, 420, 260)


def made_row(
    gpu: str, line: tuple[tuple[int, float], ...] = (), roof: Roof | None = None, fits: int | None = None
) -> ComparedRow:
    """Return a row with a line of figures."""
    return ComparedRow(
        *("tiny", "F16", False, gpu, 8, "fits", 1, 2, None, None, None, None, None, None, None, "layers"),
        line=tuple((context, Band(rate, rate * 0.9, rate * 1.1)) for context, rate in line),
        fits_up_to=fits,
        roof=roof,
    )


def crossing() -> SpeedDrawing:
    """Return two lines that cross, and one that nothing is known of."""
    rows = (
        made_row("fast", ((256, 90.0), (1024, 60.0), (4096, 20.0)), fits=1024),
        made_row("unknown"),
        made_row("steady", ((256, 50.0), (1024, 45.0), (4096, 40.0))),
    )
    return SpeedDrawing([DrawnRow(number, row) for number, row in enumerate(rows)])


def leads(points: tuple[ChartPoint, ...], *moves: Move) -> tuple[str, int | str]:
    """Return the GPU and what the point stands for to which keys lead from none."""
    current: ChartPoint | None = None
    for move in moves:
        current = moved(points, current, move)
    assert current is not None
    return current.drawn.row.gpu, current.what


def test_keys_lead_along_a_line_and_to_the_line_that_lies_above_or_below() -> None:
    points = crossing().points(PLACE)
    assert leads(points, "right") == leads(points, "up") == ("fast", 256)
    assert leads(points, "left") == leads(points, "right", "last") == ("fast", 4096)
    assert leads(points, "right", "left") == ("fast", 256), "there is nothing before the first"
    assert leads(points, "right", "right") == ("fast", 1024)
    assert leads(points, "right", "right", "down") == ("steady", 1024)
    assert leads(points, "right", "right", "down", "down") == ("steady", 1024), "nor below the lowest"
    assert leads(points, "left", "up") == ("steady", 4096), "where the lines have crossed it lies above"
    assert leads(points, "left", "up", "first") == ("steady", 256)
    assert moved((), None, "right") is None


def test_equal_lines_are_reached_one_after_the_other() -> None:
    line = ((256, 50.0), (1024, 45.0))
    points = SpeedDrawing([DrawnRow(number, made_row(str(number), line)) for number in range(3)]).points(PLACE)
    downs: tuple[Move, ...] = ("down", "down", "down")
    assert [leads(points, "right", *downs[:steps])[0] for steps in range(4)] == ["0", "1", "2", "2"]


def test_the_nearest_point_is_found_and_none_that_is_too_far_away() -> None:
    points = crossing().points(PLACE)
    for point in points:
        assert nearest(points, point.at + QPointF(3, -2), 24) == point
        assert nearest(points, point.at + QPointF(0, 24), 24) is not None
    assert nearest(points, QPointF(0, 0), 24) is None and nearest((), QPointF(0, 0), 24) is None


def test_a_point_tells_the_figures_of_its_context_and_whether_that_has_room() -> None:
    drawing = crossing()
    said = {point.what: drawing.figures(point) for point in drawing.points(PLACE) if point.drawn.row.gpu == "fast"}
    assert said[1024] == ("60.0 tok/s each (54.0–66.0)", "1,024 tokens in the cache")
    assert said[4096][2:] == ("There is room for 1,024 tokens at most.",)


def test_a_dot_tells_what_it_reaches_of_its_roof_and_what_limits_it() -> None:
    roof = Roof(300.0, 120.0, 400.0, RoofDot(1000.0, 60.0), RoofDot(2.0, 0.4))
    drawing = RoofDrawing([DrawnRow(0, made_row("l4", roof=roof))])
    decode, prefill = drawing.points(PLACE)
    assert (decode.what, prefill.what) == ("decode", "prefill") and decode.at.x() < prefill.at.x()
    assert drawing.figures(decode) == (
        *("Decode: 2.00 operations a byte read", "0.40 TFLOPS reached; its roof there is at 0.60"),
        "Limited by work per layer",
    )
    assert drawing.figures(prefill) == (
        *("Prefill: 1,000 operations a byte read", "60.0 TFLOPS reached; its roof there is at 120"),
        "Compute is what bounds it there",
    )
    low = RoofDrawing([DrawnRow(0, made_row("l4", roof=replace(roof, prefill=RoofDot(100.0, 20.0), decode=None)))])
    (only,) = low.points(PLACE)
    assert low.figures(only)[2] == "Bandwidth is what bounds it there"


@pytest.mark.parametrize("at", [(0, 0), (210, 20), (210, 130), (420, 240), (5, 255), (415, 5)])
def test_the_card_stands_within_the_chart_and_not_over_its_point(at: tuple[int, int]) -> None:
    card = card_place(PLACE, QPointF(*at), (180, 80))
    assert PLACE.adjusted(-1, -1, 1, 1).contains(card)
    assert not card.adjusted(-MARK_PX, -MARK_PX, MARK_PX, MARK_PX).contains(QPointF(*at))


def chart_with(beside: Beside, name: str) -> PointedChart:
    """Return a chart that can be seen, with three rows that are drawn."""
    beside.stage.window.resize(1920, 1400)
    beside.choose(*GPUS, context=700)
    chart = beside.stage.find_as(PointedChart, name)
    beside.waits(lambda: chart.points and chart.height() > 100 and chart.place.right() > chart.points[-1].at.x())
    return chart


def moves_to(chart: PointedChart, at: QPointF) -> None:
    QTest.mouseMove(chart, QPoint(1, chart.height() - 1))
    QTest.mouseMove(chart, at.toPoint())


def told(chart: PointedChart) -> str:
    return chart.words_of(chart.told) if chart.told is not None else ""


def test_the_chart_tells_the_speed_that_the_table_has(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    model = beside.table.rows
    for place, row in enumerate(model.rows):
        point = next(each for each in chart.points if each.key == (row.key, row.context))
        cell = model.index(place, EACH)
        assert f"{cell.data()} tok/s each ({cell.data(SMALL_ROLE)}). 700 tokens in the cache" in chart.words_of(point)
        assert f", {row.shown_model} on {row.gpu}. " in chart.words_of(point)


def test_a_roof_says_of_decode_the_limit_that_the_table_has(beside: Beside) -> None:
    chart = chart_with(beside, "plan_roof_chart")
    model = beside.table.rows
    decodes = [point for point in chart.points if point.what == "decode"]
    assert len(decodes) == len(GPUS)
    for point in decodes:
        place = [row.key for row in model.rows].index(point.drawn.row.key)
        assert chart.words_of(point).endswith(f"Limited by {model.index(place, LIMIT).data()}.")


@pytest.mark.parametrize("name", ["plan_speed_chart", "plan_roof_chart"])
def test_the_point_under_the_pointer_is_marked_and_told_until_it_leaves(beside: Beside, name: str) -> None:
    chart = chart_with(beside, name)
    plain = chart.grab().toImage()
    point = chart.points[1]
    moves_to(chart, point.at)
    assert chart.told is not None and chart.told.drawn.row.gpu and chart.told.at.toPoint() == point.at.toPoint()
    assert chart.grab().toImage() != plain
    far = theme.scaled(NEAR_PX) + 2
    QTest.mouseMove(chart, QPoint(2, chart.height() - far // 8))
    assert chart.told is None and chart.grab().toImage() == plain
    moves_to(chart, point.at)
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    assert chart.told is None and chart.grab().toImage() == plain


def test_moving_the_pointer_works_nothing_out_but_which_point_is_nearest(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    points = chart.points
    worked_out: list[QRectF] = []

    def works_out(_drawing: SpeedDrawing, place: QRectF) -> tuple[ChartPoint, ...]:
        worked_out.append(place)
        return points

    def paints(_drawing: SpeedDrawing, _painter: QPainter, place: QRectF, _look: object) -> None:
        worked_out.append(place)

    chart.grab()
    monkeypatch.setattr(SpeedDrawing, "points", works_out)
    monkeypatch.setattr(SpeedDrawing, "paint_at", paints)
    for point in points:
        moves_to(chart, point.at)
        assert chart.told is not None and chart.told.at.toPoint() == point.at.toPoint()
    assert not worked_out
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))


def test_a_click_keeps_a_point_and_escape_lets_it_go_before_it_stops_an_answer(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    point = chart.points[3]
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=point.at.toPoint())
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    assert chart.hasFocus() and chart.told is not None and chart.accessibleDescription() == told(chart)

    def is_taken() -> bool:
        event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        chart.event(event)
        return event.isAccepted()

    assert is_taken()
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.told is None and chart.accessibleDescription() == hint_under(chart)
    assert not is_taken(), "what is not looked at keeps no key from others"


@pytest.mark.parametrize("name", ["plan_speed_chart", "plan_roof_chart"])
def test_keys_walk_over_all_points_and_each_is_read_aloud(
    beside: Beside, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = chart_with(beside, name)
    said: list[str] = []

    def take(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", take)
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Home)
    line = [point for point in chart.points if point.drawn.number == chart.points[0].drawn.number]
    for _step in line[1:]:
        QTest.keyClick(chart, Qt.Key.Key_Right)
    assert said == [chart.words_of(point) for point in line] and chart.accessibleDescription() == said[-1]
    for _line in GPUS:
        QTest.keyClick(chart, Qt.Key.Key_Up)
    reached = {told(chart)[0]}
    for _line in GPUS[1:]:
        QTest.keyClick(chart, Qt.Key.Key_Down)
        reached.add(told(chart)[0])
    assert reached == {"A", "B", "C"}, "each line is reached"
    interface = QAccessible.queryAccessibleInterface(chart)
    assert interface.text(QAccessible.Text.Description) == told(chart)


def test_the_keys_that_are_listed_are_those_that_move() -> None:
    listed = {key.toString() for _words, keys in chart_keys() for key in keys}
    assert listed == {key for keys in MOVES.values() for key in keys}


def test_the_hint_names_the_keys_and_gives_way_to_the_figures(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    for key in ("Left and Right", "Up and Down", "Home and End", "Esc"):
        assert key in hint_under(chart) and key in chart.accessibleDescription()

    def asks_for_a_hint() -> None:
        place = QPoint(4, 4)
        QApplication.sendEvent(chart, QHelpEvent(QEvent.Type.ToolTip, place, chart.mapToGlobal(place)))

    moves_to(chart, chart.points[0].at)
    asks_for_a_hint()
    assert not QToolTip.isVisible(), "it would lie over them"
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    asks_for_a_hint()
    assert QToolTip.isVisible()
    QToolTip.hideText()
    beside.waits(lambda: not QToolTip.isVisible())


def test_who_looks_at_a_point_goes_on_to_while_it_is_there(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    chart.look_at(next(point for point in chart.points if point.drawn.row.gpu_id == "l4" and point.what == 1024))
    one = told(chart)
    beside.choose(*GPUS, context=1024, users=8)
    assert chart.told is not None and chart.told.drawn.row.gpu_id == "l4" and chart.told.what == 1024
    assert chart.accessibleDescription() == told(chart) != one, "with the figures that hold now"
    beside.choose("rtx-4090")
    assert chart.told is None and chart.accessibleDescription() == hint_under(chart)


def test_the_place_follows_the_width(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    chart.look_at(chart.points[-1])
    before = chart.points[-1].at.x()
    chart.resize(chart.width() - 100, chart.height())
    assert chart.told is chart.points[-1] and before - 110 < chart.points[-1].at.x() < before - 50


@pytest.mark.parametrize("look", ["light", "dark", "contrast"])
def test_ring_and_mark_are_seen_in_every_look(beside: Beside, look: Theme) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    beside.stage.themes.choose(look)
    beside.stage.settle()
    colours = beside.stage.themes.current
    chart.look_at(None)
    chart.setFocus()
    chart.look_at(chart.points[2])
    assert chart.told is not None
    image, at = chart.grab().toImage(), chart.told.at.toPoint()
    scale = image.width() / chart.width()

    def colour(x: int, y: int) -> QColor:
        return image.pixelColor(round(x * scale), round(y * scale))

    assert colour(chart.width() // 2, 0) == colours.colour("accent")
    ring = {colour(at.x() + x, at.y()).name() for x in range(theme.scaled(MARK_PX) - 2, theme.scaled(MARK_PX) + 2)}
    assert colours.colour("text").name() in ring


def test_a_chart_without_a_speed_has_no_points_and_keeps_no_keys(beside: Beside) -> None:
    chart = chart_with(beside, "plan_speed_chart")
    chart.show_rows([DrawnRow(0, made_row("nothing"))])
    chart.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_End, Qt.Key.Key_Escape):
        QTest.keyClick(chart, key)
    moves_to(chart, QPointF(chart.width() / 2, chart.height() / 2))
    assert chart.points == () and chart.told is None
    assert "Nothing is known of the speed" in chart.accessibleName()
