"""The bars, the legend and the chart that are painted by ourselves: what they show is what they are told."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.gui.charts.gap_chart import SLOTS, GapChart
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.gauge import Gauge, Segment, lightness_step
from app.gui.widgets.legend import Legend, LegendItem
from app.system.resources import find_resources

RED, GREEN, GREY = QColor("#B01E55"), QColor("#2B7A3B"), QColor("#D9D9D2")
BLUE = QColor("#1A5FA8")
WHITE = QColor("#FFFFFF")


def picture(widget: QWidget, width: int = 280) -> QImage:
    """Return what a widget paints."""
    widget.resize(width, widget.height())
    image = QImage(widget.size(), QImage.Format.Format_ARGB32)
    image.fill(WHITE)
    widget.render(image)
    return image


def colours(image: QImage, row: int) -> list[str]:
    """Return the colours along a row, each once, from the left."""
    names = [image.pixelColor(x, row).name() for x in range(image.width())]
    return [name for index, name in enumerate(names) if index == 0 or name != names[index - 1]]


def test_parts_lie_side_by_side_and_leave_the_track(qtbot: QtBot) -> None:
    gauge = Gauge("bar")
    qtbot.addWidget(gauge)
    gauge.set_track(GREY)
    gauge.set_segments([Segment(0.25, RED), Segment(0.0, BLUE), Segment(0.25, GREEN)])
    image = picture(gauge, 200)
    assert gauge.share == pytest.approx(0.5)
    row = colours(image, 4)
    assert [name for name in row if name in (RED.name(), GREEN.name(), BLUE.name())] == [RED.name(), GREEN.name()]
    assert image.pixelColor(48, 4) == RED and image.pixelColor(49, 4) == GREY
    assert image.pixelColor(50, 4) == GREEN and image.pixelColor(150, 4) == GREY


def test_a_part_that_is_hardly_there_can_still_be_seen(qtbot: QtBot) -> None:
    gauge = Gauge("bar")
    qtbot.addWidget(gauge)
    gauge.set_track(GREY)
    gauge.set_segments([Segment(0.5, RED), Segment(0.0001, GREEN)])
    image = picture(gauge, 200)
    assert image.pixelColor(100, 4) == GREEN


def test_no_share_is_more_than_the_whole(qtbot: QtBot) -> None:
    gauge = Gauge("bar")
    qtbot.addWidget(gauge)
    gauge.set_segments([Segment(0.8, RED), Segment(0.9, GREEN)])
    assert gauge.share == 1.0
    gauge.set_segments([])
    assert gauge.share == 0.0


def contrast(one: QColor, other: QColor) -> float:
    """Return how far two colours are apart, as WCAG counts it."""

    def luminance(colour: QColor) -> float:
        parts = [colour.redF(), colour.greenF(), colour.blueF()]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
@pytest.mark.parametrize("hue", ["stage_kv", "amber", "red", "muted"])
def test_parts_of_a_hue_can_be_told_apart_from_their_neighbours_and_from_the_surface(name: str, hue: str) -> None:
    look = {
        key: QColor(value) for key, value in json.loads(find_resources().read_text(f"themes/{name}.json")).items()
    }
    steps = [lightness_step(look[hue], number, look["text"], look["surface"]) for number in range(7)]
    template, system, history, _thinking, _files, prompt, answer = steps
    assert min(contrast(step, look["surface"]) for step in steps) >= 3
    for neighbours in ((template, system, history, prompt, answer), (template, history), (template, prompt)):
        assert min(contrast(first, second) for first, second in pairwise(neighbours)) >= 1.25
    assert contrast(system, prompt) >= 1.2


def test_a_legend_names_every_part_and_keeps_the_room_it_once_took(qtbot: QtBot) -> None:
    legend = Legend((1, 1, 1))
    qtbot.addWidget(legend)
    legend.resize(280, legend.height())
    one_row = legend.height()
    legend.set_items([LegendItem(f"part {number}", RED) for number in range(5)])
    assert legend.accessibleName() == "part 0 · part 1 · part 2 · part 3 · part 4"
    assert legend.height() == 2 * one_row
    legend.set_items([LegendItem("part 0", GREEN)])
    assert legend.height() == 2 * one_row
    image = picture(legend)
    assert image.pixelColor(2, one_row // 2) == GREEN


def test_the_legend_moves_what_does_not_fit_to_the_next_row(qtbot: QtBot) -> None:
    legend = Legend((1, 1))
    qtbot.addWidget(legend)
    legend.resize(280, legend.height())
    one_row = legend.height()
    legend.set_items([LegendItem("other programs and the driver of this card 6.4 GiB", RED), LegendItem("free", RED)])
    assert legend.height() == 2 * one_row


def lefts(image: QImage, row_px: int, colour: QColor) -> list[int]:
    """Return where squares begin, of all rows."""
    middles = range(row_px // 2, image.height(), row_px)
    starts = []
    for y in middles:
        row = [image.pixelColor(x, y) == colour for x in range(image.width())]
        starts += [x for x in range(len(row)) if row[x] and (x == 0 or not row[x - 1])]
    return starts


@pytest.mark.parametrize("width", [241, 273])
def test_the_parts_of_a_legend_stand_in_a_fixed_grid(qtbot: QtBot, width: int) -> None:
    legend = Legend(rows=3)
    qtbot.addWidget(legend)
    legend.resize(width, legend.height())
    row_px = legend.height() // 3
    parts = ("weights 1.10", "KV 90.0", "compute 299", "output 0.6", "others 12.4", "free 11.2")
    legend.set_items([LegendItem(f"{part} GiB", RED) for part in parts])
    second = width * 6 // 11
    assert lefts(picture(legend, width), row_px, RED) == [0, second] * 3
    legend.set_items([LegendItem("the programs of everybody else 12.4 GiB", RED), *(LegendItem("free", RED),) * 2])
    assert lefts(picture(legend, width), row_px, RED) == [0, 0, second]


def chart(qtbot: QtBot) -> GapChart:
    made = GapChart("chart")
    qtbot.addWidget(made)
    made.set_colours(BLUE, GREEN, RED)
    picture(made, SLOTS + 88)  # the size is told to a hidden widget when it is first painted
    return made


def line_height(image: QImage, x: int) -> int | None:
    """Return where the line is at a column."""
    return next((y for y in range(image.height()) if image.pixelColor(x, y) == BLUE), None)


def test_the_newest_gap_is_on_the_right_and_a_longer_one_is_higher(qtbot: QtBot) -> None:
    made = chart(qtbot)
    made.show_gaps([10.0] * 30 + [18.0] * 10, 40, 10.0, 18.0)
    image = picture(made, SLOTS + 88)
    low, high = line_height(image, SLOTS - 20), line_height(image, SLOTS - 5)
    assert low is not None and high is not None and high < low
    assert line_height(image, SLOTS - 60) is None


def test_a_new_gap_moves_the_line_as_drawing_it_anew_does(qtbot: QtBot) -> None:
    gaps = [10.0 + (number * 7) % 5 for number in range(150)]
    grown, fresh = chart(qtbot), chart(qtbot)
    for count in range(1, 151, 3):
        grown.show_gaps(gaps[max(0, count - 120) : count], count, 12.0, 14.0)
    fresh.show_gaps(gaps[28:148], 148, 12.0, 14.0)
    assert picture(grown, SLOTS + 88) == picture(fresh, SLOTS + 88)


def test_another_answer_begins_a_new_line(qtbot: QtBot) -> None:
    made, fresh = chart(qtbot), chart(qtbot)
    made.show_gaps([10.0] * 5, 5, 12.0, 14.0)
    for each in (made, fresh):
        each.show_gaps([14.0, 13.0, 12.0, 11.0, 10.0, 9.0], 6, 12.0, 14.0)
    assert picture(made, SLOTS + 88) == picture(fresh, SLOTS + 88)


@pytest.mark.parametrize(
    ("p95", "top"), [(15.0, 20.0), (16.0, 30.0), (40.0, 75.0), (7.7, 20.0), (0.5, 0.75), (None, 1.0)]
)
def test_the_scale_takes_round_steps(qtbot: QtBot, p95: float | None, top: float) -> None:
    made = chart(qtbot)
    made.show_gaps([1.0], 1, p95, p95)
    assert made.top_ms == pytest.approx(top)


def test_no_gaps_and_gaps_of_nothing_are_painted_without_harm(qtbot: QtBot) -> None:
    made = chart(qtbot)
    picture(made, SLOTS + 88)
    made.show_gaps([0.0, 0.0], 2, None, None)
    assert line_height(picture(made, SLOTS + 88), SLOTS - 2) == made.height() - 2


def test_a_text_grows_with_what_it_shows_and_does_not_shrink(qtbot: QtBot) -> None:
    text = FixedText(room_for="000", name="text")
    qtbot.addWidget(text)
    width = text.width()
    text.set_text("12")
    assert text.width() == width
    text.set_text("123,456 tok/s")
    wide = text.width()
    assert wide > width
    text.set_text("1")
    assert (text.width(), text.property("text")) == (wide, "1")
