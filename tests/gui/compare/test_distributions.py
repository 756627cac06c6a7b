"""The two distributions where lanes part: tokens are shown whole where there is room, and the bars keep theirs."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.compare.distributions import Distributions
from app.services.lane_analysis import Contender, Share
from tests.gui.conftest import Stage

LONG, LONGER = " mysterious", " incomprehensibilities of nature"


def contender(token: int, text: str) -> Contender:
    return Contender(token, text, 0.5, 1, Share(0.5), Share(0.4))


def test_a_long_token_gets_the_room_that_it_needs(ready: Stage, qtbot: QtBot) -> None:
    shown = Distributions(ready.themes)
    qtbot.addWidget(shown)
    shown.resize(370, 200)
    rows = [contender(1, LONG), contender(2, " a")]
    shown.show_rows(rows, (0, 1), (rows[0], rows[1]))
    needed = QFontMetricsF(theme.font(theme.BASE_PX, bold=True)).horizontalAdvance(LONG)
    assert shown.token_px >= needed
    short = [contender(2, " a"), contender(3, " b")]
    shown.show_rows(short, (0, 1), (short[0], short[1]))
    assert shown.token_px < needed


def test_the_bars_keep_their_room_beside_the_longest_token(ready: Stage, qtbot: QtBot) -> None:
    shown = Distributions(ready.themes)
    qtbot.addWidget(shown)
    shown.resize(370, 200)
    rows = [contender(1, LONGER)]
    shown.show_rows(rows, (0, 1), (rows[0], None))
    assert shown.token_px <= shown.width() * 0.4
