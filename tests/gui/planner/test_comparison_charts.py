"""What the charts of a comparison draw: lines that are told apart, all GPUs that are compared, and one that many know."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter

from app.gui import theme
from app.gui.planner.comparison.chart import Drawing, DrawnRow
from app.gui.planner.comparison.legend import LegendDrawing, _beside, fitted_name, row_name
from app.gui.planner.comparison.line_marks import MARK_PX, MOST_LINES, SAMPLE_PX, line_colour, line_pen
from app.gui.planner.comparison.picture import WIDE_PX
from app.gui.planner.comparison.speed_chart import SpeedDrawing
from app.gui.theme import Theme, Themes
from app.services.plan_values import Wanted
from tests.gui.planner.beside import Beside

GPUS = ("rtx-3060", "rtx-4090", "l4", "a100-40", "l40s")


def colours_of(image: QImage) -> set[str]:
    """Return every colour that is in a picture."""
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def painted(drawing: Drawing, look: Theme) -> QImage:
    """Return a chart on the ground of a theme."""
    image = QImage(420, 260, QImage.Format.Format_RGB32)
    image.fill(QColor(look.colour("surface")))
    painter = QPainter(image)
    drawing.paint_at(painter, image.rect().toRectF(), look)
    painter.end()
    return image


def drawn(beside: Beside) -> list[DrawnRow]:
    return list(beside.part.speeds.drawing.rows)


def test_lines_differ_in_pattern_colour_and_letter(beside: Beside) -> None:
    beside.choose(*GPUS)
    themes = beside.stage.window.findChild(Themes) or beside.part._themes
    for look in (themes.current, themes.paper):
        pens = [line_pen(number, look) for number in range(MOST_LINES)]
        assert (
            len({pen.color().name() for pen in pens}) == len({str(pen.dashPattern()) for pen in pens}) == MOST_LINES
        )
        drawing = beside.part.speeds.drawing
        assert isinstance(drawing, SpeedDrawing)
        wanted = {line_colour(drawn.number, look).name() for drawn in drawing.rows}
        assert len(wanted) == len(GPUS) and wanted <= colours_of(painted(drawing, look))


@pytest.mark.parametrize("size", [(900, 600), (1280, 800)])
def test_the_legend_names_model_and_gpu_of_every_line_whole(beside: Beside, size: tuple[int, int]) -> None:
    beside.stage.window.resize(1920, 1080)
    beside.choose("rtx-4090", "a100-80-sxm", models=("", "Q5_K_M"))
    rows = [
        each._replace(row=replace(each.row, model="Mistral-Small-3.2-24B-Instruct-2506")) for each in drawn(beside)
    ]
    legend, font = beside.part.legend, QFontMetrics(theme.font(theme.SMALL_PX))
    legend.show_rows(rows)
    beside.waits(lambda: 0 < legend.height() <= 2 * (font.height() + theme.SPACE_XS))
    beside.stage.window.resize(*size)
    beside.waits(lambda: legend.height() >= legend.drawing.height(legend.width()) > font.height())
    assert legend.accessibleName().count("Mistral-Small-3.2-24B-Instruct-2506 · ") == 4
    columns = LegendDrawing(rows)._columns(legend.width())
    room = legend.width() / columns - theme.SPACE_L - _beside()
    names = [fitted_name(each, font, room) for each in rows]
    assert names == [row_name(each) for each in rows] and "≈ Q5_K_M · A100 80 GB SXM" in names[-1]


def test_of_a_name_that_is_too_long_the_model_gives_way_but_stays(beside: Beside) -> None:
    beside.choose("rtx-4090")
    (row,), font = drawn(beside), QFontMetrics(theme.font(theme.SMALL_PX))
    row = row._replace(row=replace(row.row, model="a-model-" * 20))
    room = font.horizontalAdvance("a-model-a-model · F16 · RTX 4090")
    name = fitted_name(row, font, room)
    assert name.startswith("a-mo") and "…" in name and name.endswith(" · F16 · RTX 4090")
    assert font.horizontalAdvance(name) <= room
    assert fitted_name(row, font, 30).startswith("a"), "whatever room there is"


def test_the_legend_is_as_high_as_its_rows_and_stands_in_the_picture(beside: Beside) -> None:
    beside.choose("rtx-4090")
    one, least = beside.part.picture()().height(), beside.part.legend.drawing.height(400)
    beside.choose("rtx-4090", "l4", "t4", models=("", "Q5_K_M"))
    legend = beside.part.legend.drawing
    assert least > 0 and legend.height(200) == 6 * least and legend.height(4000) == least
    rows = 5 * 2 * (QFontMetrics(theme.font(theme.SMALL_PX)).height() + theme.SPACE_S)
    more = 2 * (legend.height(WIDE_PX - 2 * theme.SPACE_XL) - least)
    assert beside.part.picture()().height() == one + rows + more > one + rows
    paper, picture = beside.part._themes.paper, beside.part.picture()()
    high = 2 * (legend.height(WIDE_PX - 2 * theme.SPACE_XL) + theme.SPACE_XL)
    marks = {line_colour(each.number, paper).name() for each in legend.rows}
    assert len(marks) == 6 and marks <= colours_of(picture.copy(0, picture.height() - high, picture.width(), high))


@pytest.mark.parametrize("wide", [SAMPLE_PX, MARK_PX - theme.SPACE_XS])
def test_each_pattern_is_told_apart_beside_its_letter(beside: Beside, wide: int) -> None:
    seen = set()
    for number in range(MOST_LINES):
        image = QImage(wide, 3, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        painter.setPen(line_pen(number, beside.part._themes.paper))
        painter.drawLine(QPointF(0, 1), QPointF(wide, 1))
        painter.end()
        runs = "".join("x" if image.pixelColor(x, 1).lightness() < 250 else " " for x in range(wide)).split()
        assert len(runs) > 1 or number == 0, (number, runs)
        seen.add(tuple(map(len, runs)))
    assert len(seen) == MOST_LINES


def test_the_roofline_has_every_gpu_and_one_that_many_know_beside_them(beside: Beside) -> None:
    beside.choose(*GPUS, models=("", "Q8_0", "Q6_K"), wanted=Wanted(tokens_per_s=1.0))
    roofs = beside.part.roofs.drawing
    assert {each.row.gpu for each in roofs.rows} == {gpu.name for gpu in beside.service.gpus if gpu.id in GPUS}
    assert len(roofs.rows) == len(GPUS)
    assert "beside them NVIDIA H100 SXM: at most 989 TFLOPS from 295" in beside.part.roofs.accessibleName()
    beside.choose(*GPUS, "h100-sxm")
    assert beside.part.roofs.drawing.reference is None
    assert "H100 SXM: at most" in beside.part.roofs.accessibleName()


def test_it_is_said_which_rows_are_drawn_and_how_to_choose_others(beside: Beside) -> None:
    assert "Select some to draw them alone" in beside.says("plan_comparison_drawn")
    beside.choose(*GPUS, models=("", "Q8_0"))
    assert "8 of 10 rows, those with letters. Select others" in beside.says("plan_comparison_drawn")
    beside.table.selectRow(9)
    assert beside.says("plan_comparison_drawn") == "Drawn below: the rows that are selected."
    assert [each.row.gpu for each in beside.part.roofs.drawing.rows] == ["NVIDIA L40S"]
