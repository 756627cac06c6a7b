"""The rows of a comparison: nothing in them is cut, nothing scrolls sideways, and those of one model are one group."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from app.core.own_gpu import OwnGpu
from app.gui import theme
from app.gui.planner.comparison.line_marks import MARK_PX
from app.gui.planner.comparison.row_sizes import name_font, row_heights, small_font
from app.gui.planner.comparison.rows_model import (
    EACH,
    FIRST,
    FIRST_TOKEN,
    FITS,
    GROUP_ROLE,
    LIMIT,
    SMALL_ROLE,
    TOGETHER,
)
from app.gui.planner.comparison.rows_table import RowsTable
from app.gui.planner.comparison.words import limit_words
from app.gui.widgets.figures_header import FiguresHeader
from app.services.plan_values import Chosen, ModelChoice, Wanted
from app.services.units import rate
from tests.ggufs import add_bpe_tokenizer
from tests.gui.planner.beside import Beside
from tests.sparse_models import DENSE

GPUS = (
    "rtx-3060-ti",
    "rtx-4070-ti-super",
    "l4",
    "h100-sxm",
    "rx-7900-xtx",
    "a100-80-sxm",
    "rtx-6000-ada",
    "my-own-very-long-card-of-many-words-with-64-gb",
)
WIDTHS = (1280, 960)
"""A small screen, and one of 1920 points at twice the size."""


def cut(table: RowsTable) -> list[str]:
    """Return every heading, figure and name that has less room than it needs."""
    found = []
    header, rows = table.horizontalHeader(), table.rows
    assert isinstance(header, FiguresHeader)
    pads = 2 * table.pad_px
    for place in range(rows.columnCount()):
        if table.isColumnHidden(place):
            continue
        room = table.columnWidth(place) - pads
        heading = header.heading(place, str(rows.headerData(place, Qt.Orientation.Horizontal)))
        metrics = QFontMetrics(header.font())
        lines = heading.split("\n")
        if max(map(metrics.horizontalAdvance, lines)) > room or len(lines) * metrics.height() > header.height():
            found.append(heading)
        for row in range(rows.rowCount() if place != FIRST else 0):
            index = rows.index(row, place)
            words, small = str(index.data()), str(index.data(SMALL_ROLE) or "")
            widest = QFontMetrics(name_font()).horizontalAdvance(words)
            if not small:  # words alone may stand in two lines
                widest = max(map(QFontMetrics(name_font()).horizontalAdvance, words.split()))
            if max(widest, QFontMetrics(small_font()).horizontalAdvance(small)) > room:
                found.append(words)
    names = table.columnWidth(FIRST) - pads - theme.scaled(MARK_PX)
    for row, height in enumerate(row_heights(rows, names)):
        if table.rowHeight(row) < height:
            found.append(rows.rows[row].gpu)
        longest = QFontMetrics(theme.font(theme.BASE_PX, bold=True)).horizontalAdvance(rows.rows[row].model)
        if longest > table.viewport().width() - pads:
            found.append(rows.rows[row].model)
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("users", "wanted"), [(1, Wanted()), (1, Wanted(tokens_per_s=30.0)), (4, Wanted(0.5, 900.0))]
)
def test_nothing_is_cut_and_nothing_scrolls_sideways(beside: Beside, width: int, users: int, wanted: Wanted) -> None:
    beside.service.own_gpus.keep("My own very long card of many words with 64 GB", OwnGpu(64, 900, 100))
    beside.stage.window.resize(width, 800 if width > 1000 else 540)
    here = beside.table.rows.rows[0].gpu
    keys = [gpu.id for gpu in beside.service.gpus if gpu.name == here]
    beside.choose(*keys, *GPUS, models=("", "Q5_K_M"), users=users, context=32_768, wanted=wanted)
    beside.waits(lambda: len(beside.table.rows.rows) == 2 * (len(GPUS) + 1))
    assert beside.table.isColumnHidden(TOGETHER) is (users == 1) or width < 1280
    assert all(beside.needs()) or wanted == Wanted()
    bar = beside.table.horizontalScrollBar()
    beside.waits(lambda: bar.maximum() == 0)
    assert cut(beside.table) == []
    beside.table.sortByColumn(EACH, Qt.SortOrder.DescendingOrder)
    beside.waits(lambda: bar.maximum() == 0)
    assert cut(beside.table) == []


@pytest.mark.parametrize("width", [800, 860, 960, 1000, 1100])
def test_where_there_is_no_room_for_a_column_its_words_stand_under_the_names(beside: Beside, width: int) -> None:
    beside.stage.window.resize(width, 540)
    beside.choose(*GPUS, models=("", "Q5_K_M"), users=2, context=32_768, wanted=Wanted(0.5, 900.0, room=True))
    bar, table = beside.table.horizontalScrollBar(), beside.table
    beside.waits(lambda: bar.maximum() == 0)
    assert cut(table) == []
    small = str(table.rows.index(0, FIRST).data(SMALL_ROLE))
    row = table.rows.rows[0]
    assert row.together is not None and row.limited_by is not None
    assert (f"{rate(row.together.value)} tok/s together" in small) is table.isColumnHidden(TOGETHER)
    assert (f"limited by {limit_words(row)}" in small) is table.isColumnHidden(LIMIT)
    beside.stage.window.resize(1600, 800)
    beside.waits(lambda: not table.isColumnHidden(TOGETHER) and not table.isColumnHidden(LIMIT))
    assert "together" not in str(table.rows.index(0, FIRST).data(SMALL_ROLE))
    beside.choose(*GPUS, users=1)
    assert table.isColumnHidden(TOGETHER)


def test_rows_of_one_model_stand_together_under_its_name(beside: Beside, tmp_path: Path) -> None:
    other = DENSE["smollm2-135m"]().write(tmp_path / "second.gguf", add_bpe_tokenizer)
    models = (*beside.service.chosen.models, ModelChoice(str(other)))
    chosen = Chosen(models, ("rtx-3060", "rtx-4090", "l4"))
    beside.service.choose(chosen)
    beside.waits(lambda: len(beside.table.rows.rows) == 6)

    def groups() -> list[str]:
        return [beside.table.rows.index(row, 0).data(GROUP_ROLE) for row in range(6)]

    assert groups() == ["tiny", "", "", "second", "", ""]
    heights = [beside.table.rowHeight(row) for row in range(6)]
    assert heights[0] == heights[3] > heights[1]
    beside.table.sortByColumn(FIRST, Qt.SortOrder.DescendingOrder)
    assert groups()[1:3] == groups()[4:] == ["", ""] and {groups()[0], groups()[3]} == {"tiny", "second"}
    sizes = [row.gpu_memory for row in beside.table.rows.rows]
    assert sizes[:3] == sizes[3:] == sorted(sizes[:3], reverse=True)
    assert [beside.table.rowHeight(row) for row in range(6)] == heights


def test_the_table_says_which_prompt_the_first_token_is_of(beside: Beside) -> None:
    beside.choose("rtx-4090", prompt=2048)
    title = beside.table.rows.headerData(FIRST_TOKEN, Qt.Orientation.Horizontal)
    hint = str(beside.table.rows.headerData(FIRST_TOKEN, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole))
    assert title == "First token of 2,048" and "one prompt of 2,048 tokens by itself" in hint


def test_a_row_that_fits_with_less_context_says_which_plan_its_figures_are_of(beside: Beside, tmp_path: Path) -> None:
    large = DENSE["llama-3.1-8b"]().write(tmp_path / "large.gguf", add_bpe_tokenizer)
    beside.service.choose(Chosen((ModelChoice(str(large)),), ("rtx-3070",), context=65_536))
    beside.waits(lambda: [row.gpu for row in beside.table.rows.rows] == ["NVIDIA GeForce RTX 3070"])
    (row,) = beside.table.rows.rows
    assert row.verdict == "less_context" and row.context == row.largest_context
    assert "all figures of the row are for the context that fits" in beside.says("plan_comparison_use")
    hint = str(beside.table.rows.index(0, FITS).data(Qt.ItemDataRole.ToolTipRole))
    assert f"All figures of this row are for a context of {row.context:,} tokens." in hint


def test_a_first_token_that_is_not_known_has_its_reason_below_the_table(beside: Beside) -> None:
    here = beside.table.rows.rows[0].gpu
    said = beside.says("plan_comparison_missing")
    assert said.startswith("First token “–”: ") and said.count("–") == 1
    assert f"How fast {here} reads a prompt is not known yet: ask a model something." in said
    beside.service.own_gpus.keep("My card", OwnGpu(16, 500))
    beside.choose("rtx-4090", "my-card")
    assert "My card computes is not known" in beside.says("plan_comparison_missing")
    beside.choose("rtx-4090")
    assert not beside.part.missing.isVisible()


def test_a_speed_says_on_hover_what_it_is_judged_by(beside: Beside) -> None:
    beside.choose("h200")
    hint = str(beside.table.rows.index(0, EACH).data(Qt.ItemDataRole.ToolTipRole))
    assert "In published runs llama.cpp read 1,650 of the 4,800 GB/s" in hint
