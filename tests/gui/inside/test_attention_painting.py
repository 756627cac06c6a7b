"""What the pictures of attention paint: bars as high and where the words say, cells that fit, and no more than changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage

from app.core.model import ModelRef
from app.gui import theme
from app.gui.inside.attention.grid import Cell, GridArea, HeadGrid
from app.gui.inside.attention.strongest import StrongestTokens
from app.gui.inside.shades import shades, step_of_share
from app.services.attention_rows import AttentionRows
from app.services.attention_text import AttentionText
from tests.gui.conftest import Stage
from tests.made_up_attention import attention

TOKENS = 12
MODEL = ModelRef(1, "made-up")
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def read(layers: int, heads: int) -> tuple[AttentionText, AttentionRows]:
    """Return a text and what its last token looked at in so many layers."""
    texts = tuple(f" {token}" for token in range(TOKENS))
    text = AttentionText(tuple(range(TOKENS)), texts, MODEL, "m", TOKENS)
    return text, AttentionRows(attention(1, TOKENS, layers, heads=heads), TOKENS)


class _Counting(HeadGrid):
    """Counts the cells that it paints."""

    painted = 0

    def _cells_in(self, area: QRect) -> Iterator[Cell]:
        for cell in super()._cells_in(area):
            self.painted += 1
            yield cell


@pytest.fixture
def cells(stage: Stage) -> _Counting:
    """A grid of its own."""
    made = _Counting(stage.themes)
    stage.bot.addWidget(made)
    return made


def bar_of(picture: QImage, box: QRectF, colour: QColor) -> QRectF:
    """Return where a colour is within a box; empty where it is nowhere."""
    inside = box.toAlignedRect()
    found = [
        (x, y)
        for x in range(inside.left(), inside.right() + 1)
        for y in range(inside.top(), inside.bottom() + 1)
        if picture.pixelColor(x, y) == colour
    ]
    if not found:
        return QRectF()
    xs, ys = [x for x, _ in found], [y for _, y in found]
    return QRectF(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)


def test_a_bar_is_as_high_as_its_share_and_stands_where_the_words_say(stage: Stage, cells: _Counting) -> None:
    text, rows = read(6, 3)
    cells.show_rows(text, rows)
    picture, ramp = cells.grab().toImage(), shades(stage.themes.current, "attention")
    places: dict[str, float] = {}
    for layer in range(6):
        for head in (None, 0, 1, 2):
            box, found = cells.place_of((layer, head)), rows.strongest(layer, head)
            assert found is not None
            bar = bar_of(picture, box, ramp[step_of_share(found.share)].line)
            assert abs(bar.height() - box.height() * found.share) <= 1.5, (layer, head)
            assert abs(bar.bottom() - box.bottom()) <= 1.0
            place = (bar.center().x() - box.left()) / box.width()
            assert places.setdefault(found.goal, place) == pytest.approx(place, abs=0.05)
    order = [places[goal] for goal in ("first", "other", "before", "itself")]
    assert all(left < right for left, right in pairwise(order))
    assert order[0] < 0.2 and order[-1] > 0.8


@pytest.mark.parametrize(("width", "shown"), [(560, True), (700, True), (120, False)])
def test_all_layers_are_in_view_down_to_cells_that_can_be_hit(cells: _Counting, width: int, shown: bool) -> None:
    cells.show_rows(*read(30, 9))
    usual = cells.place_of((0, 0)).width()
    cells.fit(width)
    cell = cells.place_of((29, 8))
    assert (cells.width() <= width) is shown and cell.right() < cells.width()
    assert theme.scaled(9) <= cell.width() <= usual
    assert cells.cell_at(cell.center()) == (29, 8)


def test_another_choice_paints_two_cells_and_a_large_model_only_what_is_in_view(
    stage: Stage, cells: _Counting
) -> None:
    area = GridArea(cells)
    stage.bot.addWidget(area)
    area.resize(1000, 220)
    cells.show_rows(*read(80, 64))
    with stage.bot.waitExposed(area):
        area.show()
    stage.settle()
    cells.painted = 0
    cells.repaint()
    step = cells.place_of((1, None)).left() - cells.place_of((0, None)).left()
    assert 0 < cells.painted <= (1000 / step + 2) * (220 / step + 2)
    cells.show_choice(3, 2)
    cells.repaint()
    cells.painted = 0
    cells.show_choice(4, 2)
    stage.bot.waitUntil(lambda: cells.painted > 0)
    area.takeWidget()
    assert 2 <= cells.painted <= 18, "the cell that was chosen, the one that is, and the edges of their neighbours"


def test_the_bar_of_a_token_is_its_share_of_the_whole_track(stage: Stage) -> None:
    tokens = StrongestTokens(stage.themes)
    stage.bot.addWidget(tokens)
    text, _ = read(1, 1)
    tokens.resize(400, 200)
    tokens.show_found(text, ((3, 0.5), (1, 0.25)))
    picture, look = tokens.grab().toImage(), stage.themes.current
    high = theme.scaled(24)
    wide = []
    for row in range(2):
        line = [picture.pixelColor(x, round(high * (row + 0.5))) for x in range(picture.width())]
        bar = sum(colour == look.colour("stage_kv") for colour in line)
        track = bar + sum(colour == look.colour("sunken") for colour in line)
        wide.append(bar / track)
    assert wide == pytest.approx([0.5, 0.25], abs=0.02)
