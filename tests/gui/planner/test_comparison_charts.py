"""What the charts of a comparison draw: lines that are told apart, all GPUs that are compared, and one that many know."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter

from app.gui.planner.comparison.chart import DrawnRow
from app.gui.planner.comparison.line_marks import MOST_LINES, line_colour, line_pen
from app.gui.planner.comparison.speed_chart import SpeedDrawing, _names
from app.gui.theme import Theme, Themes
from app.services.plan_values import Wanted
from tests.gui.planner.beside import Beside

GPUS = ("rtx-3060", "rtx-4090", "l4", "a100-40", "l40s")


def colours_of(image: QImage) -> set[str]:
    """Return every colour that is in a picture."""
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def painted(drawing: SpeedDrawing, look: Theme) -> QImage:
    """Return a chart on the ground of a theme."""
    image = QImage(420, 260, QImage.Format.Format_RGB32)
    image.fill(QColor(look.colour("surface")))
    painter = QPainter(image)
    drawing.paint_at(painter, image.rect().toRectF(), look)
    painter.end()
    return image


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


def test_a_label_that_is_too_wide_leaves_the_model_to_the_letter(beside: Beside) -> None:
    beside.choose("rtx-4090", "a100-80-sxm", models=("", "Q5_K_M"))
    rows, font = list(beside.part.speeds.drawing.rows), QFontMetrics(QFont())
    long = [DrawnRow(each.number, replace(each.row, model=each.row.model * (each.number + 9))) for each in rows]
    room = font.horizontalAdvance("≈ Q5_K_M · A100 80 GB SXM")
    names = _names(long, font, room)
    assert names[-1] == "≈ Q5_K_M · A100 80 GB SXM" and max(map(font.horizontalAdvance, names)) <= room
    assert _names(long, font, 9_999)[-1] == f"{long[-1].row.model} · {names[-1]}"
    assert _names(long, font, room - 1)[-1] == "A100 80 GB SXM"


def test_the_roofline_has_every_gpu_and_one_that_many_know_beside_them(beside: Beside) -> None:
    beside.choose(*GPUS, models=("", "Q8_0", "Q6_K"), wanted=Wanted(tokens_per_s=1.0))
    drawn = beside.part.roofs.drawing
    assert {each.row.gpu for each in drawn.rows} == {gpu.name for gpu in beside.service.gpus if gpu.id in GPUS}
    assert len(drawn.rows) == len(GPUS)
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
