"""The comparison as a picture: its columns have room for what stands in them, and it tells of no earlier export."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QFontMetrics, QImage
from PySide6.QtWidgets import QApplication

from app.gui import theme
from app.gui.planner.comparison import part as comparison_part
from app.gui.planner.comparison.picture import MOST_PIXELS, WIDE_PX, PictureTable, column_widths, comparison_picture
from app.services.plan_values import Wanted
from tests.gui.planner.beside import Beside

INNER = WIDE_PX - 2 * theme.SPACE_XL


def test_nothing_in_the_table_of_the_picture_is_cut(beside: Beside) -> None:
    beside.choose("rtx-4070-ti-super", "h100-sxm", "rx-7900-xtx", wanted=Wanted(tokens_per_s=28), users=8)
    beside.waits(lambda: len(beside.table.rows.rows) == 3)
    table, metrics = beside.table.in_words(), QFontMetrics(theme.font(theme.SMALL_PX))
    widths = column_widths(table, metrics, INNER)
    assert sum(widths) == pytest.approx(INNER)
    for cells in (table.titles, *(cells for _, cells, _ in table.rows)):
        cut = [
            cell
            for cell, wide in zip(cells, widths, strict=True)
            if metrics.horizontalAdvance(cell) > wide - theme.SPACE_S
        ]
        assert cut == []


def test_the_widest_columns_give_way_first(qapp: QApplication) -> None:
    assert qapp is not None, "measuring text needs it"
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    table = PictureTable(("GPU", "Fits?"), (("A", ("a very long name " * 40, "less context"), ""),))
    name, fits = column_widths(table, metrics, INNER)
    assert name + fits == pytest.approx(INNER)
    assert fits == pytest.approx(metrics.horizontalAdvance("less context") + 2 * theme.SPACE_S)


@pytest.mark.parametrize("count", [3, 41, 200])
def test_every_row_is_in_the_picture(beside: Beside, count: int) -> None:
    charts = (beside.part.speeds.drawing, beside.part.roofs.drawing, beside.part.legend.drawing)
    table = beside.table.in_words()
    cells = table.rows[0][1]

    def picture(rows: int, last: str) -> QImage:
        names = [("", (f"Model {number}", *cells[1:]), "meets it") for number in range(rows - 1)]
        ending = ("", (last, *cells[1:]), "meets it")
        look = beside.part._themes.paper
        return comparison_picture(("Answer", "Use"), PictureTable(table.titles, (*names, ending)), charts, look)

    last, other = picture(count, "The last"), picture(count, "Another")
    assert last.size() == other.size() and last != other, "the last row is seen"
    fewer = picture(count - 1, "The last")
    assert last.height() / last.devicePixelRatio() > fewer.height() / fewer.devicePixelRatio()
    assert last.width() * last.height() <= 1.01 * MOST_PIXELS and last.width() >= WIDE_PX


def test_a_picture_says_nothing_of_the_file_before(
    beside: Beside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.md"
    beside.part.export.save("md", path)
    beside.waits(lambda: f"Saved as {path}" in beside.says("plan_comparison_use"))
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(comparison_part, "comparison_picture", lambda said, *_: told.append(said))
    beside.part.picture()()
    assert told and "Saved as" not in told[0][1] and told[0][1].startswith("Context of ")


def test_a_picture_that_stands_alone_says_what_is_wanted_and_how_to_read_it(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = beside.part._comparison
    comparison.choose(replace(comparison.chosen, wanted=Wanted(first_token_s=2.0, tokens_per_s=20.0)))
    beside.waits(lambda: comparison.worked is not None and comparison.worked.chosen == comparison.chosen)
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(comparison_part, "comparison_picture", lambda said, *_: told.append(said))
    beside.part.picture()()
    assert told[0][1].startswith("Wanted: first token within 2 s. Wanted: at least 20 tok/s each. Context of ")
    assert told[0][1].endswith("≈ is an estimate: no file of it was read.")


def test_where_a_file_is_is_said_until_something_else_is_shown(beside: Beside, tmp_path: Path) -> None:
    path = tmp_path / "rows.md"
    beside.part.export.save("md", path)
    beside.waits(lambda: f"Saved as {path}" in beside.says("plan_comparison_use"))
    beside.choose("rtx-4090", context=4096)
    beside.waits(lambda: "Context of 4,096" in beside.says("plan_comparison_use"))
    assert "Saved as" not in beside.says("plan_comparison_use")
    beside.part.export.save("md", path)
    beside.waits(lambda: f"Saved as {path}" in beside.says("plan_comparison_use"))
    beside.stage.window.page_wanted.emit("chat")
    beside.stage.window.page_wanted.emit("planner")
    beside.waits(lambda: "Saved as" not in beside.says("plan_comparison_use"))
