"""What is drawn beside an edge is whole: the names of stages with their scissors, and the ring of a check box."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from app.core.sampling import STAGES
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside import alternatives
from app.gui.next_token.candidate_row import RowPainter
from app.gui.next_token.candidates_model import CandidatesModel
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.stage_words import cutter_words
from app.services.next_token import CandidateRow
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.inside.conftest import Inspector, inspector

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
CUTTERS = ("grammar", *STAGES)
WIDTH, BESIDE = 280, 40


@pytest.mark.parametrize("width", [300, 348])
def test_the_table_has_room_for_scissors_and_the_name_of_each_stage(stage: Stage, width: int) -> None:
    _text, bars, raw, last = alternatives._columns(QRect(0, 0, width, 30))
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    for cutter in CUTTERS:
        words = metrics.horizontalAdvance(cutter_words(cutter))
        assert last.right() - words - alternatives._SCISSORS_PX - alternatives._SCISSORS_GAP_PX > raw.right(), cutter
    assert bars.width() > 20 and last.right() < width


def test_in_next_token_the_name_of_a_stage_ends_before_its_row_does(stage: Stage, icons: Icons) -> None:
    painting = RowPainter(icons, CandidatesModel())
    painting.show_theme(stage.themes.current)
    for cutter in CUTTERS:
        assert WIDTH - 40 < last_inked(painting, cutter) < WIDTH - 2, cutter


def last_inked(painting: RowPainter, cutter: str) -> int:
    """Return where the row of a token ends that a stage cut."""
    picture = QImage(WIDTH + BESIDE, 34, QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    row = CandidateRow(1, "a", 1, 0.5, 0.0, cutter, is_drawn=False)
    painting.paint(painter, QRect(0, 0, WIDTH, 34), row, focus=False, apart=False)
    painter.end()
    return max(x for x in range(picture.width()) if any(picture.pixelColor(x, y).alpha() for y in range(34)))


@pytest.mark.parametrize(("height", "part"), [(800, "prompt"), (600, "prompt"), (600, "answer")])
def test_the_laboratory_gives_way_where_tokens_have_little_room(inspector: Inspector, height: int, part: str) -> None:
    inspector.answers(count=60)
    inspector.opens()
    inspector.stage.window.resize(960 if height == 600 else 1280, height)
    inspector.stage.clicks(f"inside_{part}_tab")
    inspector.stage.bot.waitUntil(lambda: inspector.page.lower_part.count() == 1)
    inspector.stage.settle()
    field = inspector.chips if part == "prompt" else inspector.flow
    assert not inspector.stage.sees("lab_cards") and inspector.stage.sees("lab_fold")
    inspector.stage.bot.waitUntil(lambda: field.height() >= 240)
    assert inspector.page.verticalScrollBar().maximum() == 0, "all of it is seen at once"
    inspector.stage.clicks("lab_fold")
    assert inspector.stage.sees("lab_cards") and inspector.stage.sees("lab_use")
    other = "answer" if part == "prompt" else "prompt"
    inspector.stage.clicks(f"inside_{other}_tab")
    inspector.stage.clicks(f"inside_{part}_tab")
    assert inspector.stage.sees("lab_cards"), "as somebody wanted it"


@pytest.mark.parametrize("width", [900, 1280])
def test_the_line_about_the_laboratory_is_whole(inspector: Inspector, width: int) -> None:
    inspector.answers(count=60)
    inspector.opens()
    inspector.stage.window.resize(width, 800)
    inspector.stage.bot.waitUntil(lambda: inspector.page.lower_part.count() == 1)
    about = inspector.stage.find_as(FixedText, "lab_about")
    for _folded in range(2):
        inspector.stage.settle()
        assert about.shown.endswith("is drawn."), about.shown
        inspector.stage.clicks("lab_fold")
