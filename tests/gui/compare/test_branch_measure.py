"""Texts of the tree in the window's fonts: however long they are, no more of them is measured than is shown."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QTextLayout

from app.gui.compare import branch_measure
from app.gui.compare.branch_layout import MOST_CHARACTERS, branch_layout
from app.gui.compare.branch_measure import FontMeasure
from tests.gui.compare.branch_trees import WORDS, tree_of

pytestmark = pytest.mark.usefixtures("qapp")
TEXTS = (
    "".join(WORDS) * 60,
    "i" * 4000,
    "W" * 4000,
    "光の散乱が空を青く見せる。" * 200,
    "e\u0301\u0302\u0303 " * 900,
    "so 🌍 it 👩‍👩‍👧 is " * 200,
)


class Counted(FontMeasure):
    """Counts the characters that it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def width(self, text: str) -> float:
        self.characters += len(text)
        return super().width(text)

    def small(self, text: str) -> float:
        self.characters += len(text)
        return super().small(text)

    def elided(self, text: str, width: float) -> str:
        self.characters += len(text)
        return super().elided(text, width)


def measured(monkeypatch: pytest.MonkeyPatch, tokens: int, zoom: float) -> int:
    """Return how many characters are measured for eight lanes of so many tokens."""
    broken: list[int] = []

    def layout(text: str, font: QFont) -> QTextLayout:
        broken.append(len(text))
        return QTextLayout(text, font)

    lanes = [(0,) * tokens] + [(0,) * (tokens // 8 * lane) + (lane,) * (tokens // 2) for lane in range(1, 8)]
    counted = Counted()
    with monkeypatch.context() as patch:
        patch.setattr(branch_measure, "QTextLayout", layout)
        branch_layout(tree_of(lanes), counted, 1000, 500, zoom)
    return counted.characters + sum(broken)


def test_no_more_of_long_texts_is_measured_than_the_view_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = FontMeasure()
    holds = 1000 / (measure.width("".join(WORDS)) / len("".join(WORDS))) * 500 / measure.line_px
    for tokens in (1000, 8000, 30_000):
        assert measured(monkeypatch, tokens, 1.0) < 3 * holds
    assert measured(monkeypatch, 30_000, 8.0) < 2.5 * MOST_CHARACTERS


@pytest.mark.parametrize("text", TEXTS, ids=("words", "narrow", "wide", "without spaces", "accents", "pictures"))
@pytest.mark.parametrize("width", [60.0, 333.0, 1000.0])
def test_the_first_lines_of_a_text_are_the_same_however_much_follows(text: str, width: float) -> None:
    measure = FontMeasure()
    whole = measure.lines(text, width, 9999)
    assert "".join("".join(whole).split()) == "".join(text.split()) or width == 60.0
    for most in (1, 2, 5):
        assert measure.lines(text, width, most) == whole[:most]
