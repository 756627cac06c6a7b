"""What is seen of a hit: the match is in sight whatever stands before it, and no letter is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QFont, QFontMetrics, QTextCharFormat

from app.core.literal_text import needle, snippet_of
from app.gui import theme
from app.gui.history.found_piece import laid_out

WIDTH = 180
CHINESE = "这是一个关于物理学的很长很长的句子里面有很多很多的字在我们要找的词之前所以它看不见了然后是量子力学的解释"
LONG = "a phrase that somebody typed in full because it was remembered word for word from long ago and far away"


def seen(text: str, typed: str, width: float = WIDTH) -> str:
    """Return what of a text stands in the lines."""
    look = QTextCharFormat()
    look.setFontWeight(QFont.Weight.Bold)
    layout = laid_out(snippet_of(text, needle(typed)), theme.font(theme.SMALL_PX), look, width)
    last = layout.lineAt(layout.lineCount() - 1)
    return layout.text()[: last.textStart() + last.textLength()]


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("text", "typed"),
    [
        (CHINESE, "量子"),
        ("W" * 60 + " llama", "llama"),
        (f"{'WWWWWW ' * 9}llama and more", "llama"),
        ("A sentence of ordinary words leads to the llama, which is the thing that is looked for", "llama"),
        ("\N{GRINNING FACE} " * 30 + "llama", "llama"),
    ],
)
def test_a_match_is_in_sight_whatever_stands_before_it(text: str, typed: str) -> None:
    assert typed in seen(text, typed)


@pytest.mark.usefixtures("qapp")
def test_of_a_long_match_as_much_is_seen_as_there_is_room_for() -> None:
    shown = seen(f"Once upon a time there was somebody who said {LONG}", LONG)
    assert shown.startswith("…a phrase that")


@pytest.mark.usefixtures("qapp")
def test_what_has_room_is_not_cut() -> None:
    assert seen("Tell me of llamas", "llama") == "Tell me of llamas"


@pytest.mark.usefixtures("qapp")
@settings(max_examples=60, deadline=None)
@given(before=st.text("aW 量é\N{GRINNING FACE}", max_size=90), after=st.text("b 子", max_size=90))
def test_any_text_shows_its_match(before: str, after: str) -> None:
    assert "llama" in seen(f"{before}llama{after}", "llama")


@pytest.mark.usefixtures("qapp")
def test_letters_of_another_font_move_no_line_out_of_the_row() -> None:
    font = theme.font(theme.SMALL_PX)
    metrics = QFontMetrics(font)
    layout = laid_out(snippet_of("A llama g\u2028" + "量g" * 40, "llama"), font, QTextCharFormat(), WIDTH)
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    assert [line.y() + line.ascent() for line in lines] == [
        number * metrics.lineSpacing() + metrics.ascent() for number in range(2)
    ]
