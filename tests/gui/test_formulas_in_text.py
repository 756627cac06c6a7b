"""Formulas on their lines, in tables and by themselves: where they stand, in which colour, and which characters they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from PySide6.QtCore import QRectF

from app.gui import theme
from app.gui.chat.formula_view import FormulaView
from app.gui.chat.shown_runs import FORMULA_SHARE, ShownRuns
from app.gui.chat.table_view import TableView
from app.gui.chat.text_view import TextView
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Formula, Paragraph, Place, Run, Runs, Table
from tests.gui.formula_pictures import (
    BLACK,
    BROKEN,
    FRACTION,
    HIGH,
    LETTER,
    LINE_PX,
    WIDE,
    alone,
    colours,
    ink_rows,
    painted,
    rich,
)
from tests.gui.transcripts import themes

__all__ = ["themes"]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_formula_has_the_colour_of_the_text(themes: theme.Themes, name: Literal["light", "dark"]) -> None:
    themes.choose(name)
    look = themes.current
    text = rich(Run("Let "), BLACK)
    seen = colours(painted(text, look), text._placed[0].box)
    assert look.colour("text").name() in seen
    assert look.colour("muted").name() not in seen


def test_a_formula_stands_on_the_baseline_of_its_line(themes: theme.Themes) -> None:
    text = rich(Run("xx "), LETTER, Run(" xx"))
    look = themes.current
    image, box = painted(text, look), text._placed[0].box
    formula = ink_rows(image, int(box.left()), int(box.right()) + 1, look.colour("surface"))
    letters = ink_rows(image, 0, int(box.left()) - 3, look.colour("surface"))
    assert abs(formula.stop - letters.stop) <= 1
    assert formula.start >= box.top()


def test_a_line_grows_as_far_as_its_formula_reaches_and_others_stay(themes: theme.Themes) -> None:
    words = Run("word " * 40)
    plain, high = rich(words, width=200), rich(words, HIGH, Run(" end"), width=200)
    lines = round(plain.height / LINE_PX)
    grown = high.height - plain.height
    box = high._placed[0].box
    assert grown > 10
    assert box.top() >= (lines - 1) * LINE_PX
    assert box.bottom() <= high.height
    assert rich(words, LETTER, width=200).height == plain.height
    look = themes.current
    above = QRectF(0, 0, 200, (lines - 2) * LINE_PX)
    assert colours(painted(high, look), above) == colours(painted(plain, look), above)


def test_a_formula_is_never_broken_and_moves_to_the_next_line_as_a_whole() -> None:
    long = Run("$" + WIDE[:40] + "$", formula=WIDE[:40].rstrip("_{0123456789+a"))
    for width in range(220, 330, 9):
        text = rich(Run("Some words and "), long, Run(", then more."), width=width)
        boxes = [placed.box for placed in text._placed]
        assert len(boxes) == 1
        assert boxes[0].right() <= width + 1
        assert boxes[0].width() == pytest.approx(text._placed[0].picture.width * 15 * FORMULA_SHARE, abs=0.6)
        comma = text._shown.signs[0].shown_start + 1
        assert text._layout is not None
        line_of = text._layout.lineForTextPosition
        assert line_of(comma).lineNumber() == line_of(comma - 1).lineNumber()


def test_a_formula_wider_than_the_text_is_drawn_smaller_and_one_much_wider_is_its_source() -> None:
    latex = WIDE[:40].rstrip("_{0123456789+a")
    run = Run("$" + latex + "$", formula=latex)
    natural = rich(run, width=900)._placed[0].box.width()
    smaller = rich(run, width=natural * 0.7)
    assert smaller._placed[0].box.width() == pytest.approx(natural * 0.7, abs=0.6)
    assert smaller.natural_width == pytest.approx(natural, abs=0.6)
    much = rich(run, width=natural * 0.5)
    assert much._placed == []
    assert not much.is_waiting
    assert much.height > LINE_PX
    much.lay_out(900)
    assert len(much._placed) == 1


def test_places_and_characters_agree_on_both_sides_of_a_formula() -> None:
    before, behind = "Let ", " be 🎲 so."
    text = rich(Run(before), FRACTION, Run(behind))
    box, source = text._placed[0].box, FRACTION.text
    middle = LINE_PX / 2
    assert text.offset_at(0, middle) == 0
    assert text.offset_at(box.left() + 1, middle) == len(before)
    assert text.offset_at(box.right() - 1, middle) == len(before + source)
    assert text.offset_at(400, middle) == len(text.text)
    found = [text.offset_at(x, middle) for x in range(400)]
    assert found == sorted(found)
    assert set(found) == {*range(len(before) + 1), *range(len(before + source), len(text.text) + 1)}


def test_shown_and_written_characters_map_onto_each_other() -> None:
    shown = ShownRuns((Run("ab"), LETTER, LETTER, Run("cd"), FRACTION), Formulas())
    starts = [0, 1, 2, 5, 8, 9, 10]
    assert [shown.shown_at(offset) for offset in starts] == list(range(7))
    assert [shown.written_at(offset) for offset in range(8)] == [*starts, 10 + len(FRACTION.text)]
    assert [shown.shown_at(offset) for offset in (3, 4, 6, 11)] == [2, 2, 3, 6]
    assert shown.text.startswith("ab¦¦cd¦")


def test_a_selected_formula_is_inverted_and_only_as_a_whole(themes: theme.Themes) -> None:
    look = themes.current
    text = rich(Run("Let "), FRACTION, Run(" be"))
    box = text._placed[0].box
    accent = look.colour("accent").name()
    assert accent not in colours(painted(text, look, (0, 4)), box.adjusted(1, 0, -1, 0))
    for selected in ((0, 6), (6, 7), (4, len(text.text))):
        seen = colours(painted(text, look, selected), box)
        assert seen[accent] > box.width() * box.height() / 4
        assert look.colour("text").name() not in seen
    assert accent not in colours(painted(text, look, (0, 6)), QRectF(box.right() + 1, 0, 30, 30))


def test_the_ink_of_a_selected_formula_is_that_of_selected_text(themes: theme.Themes) -> None:
    look = themes.current
    for text in (rich(BLACK), alone(BLACK.formula)):
        seen = colours(painted(text, look, (0, 6)))
        assert seen[look.colour("on_accent").name()] > 100
        assert look.colour("text").name() not in seen


def test_what_nobody_can_draw_is_its_source_in_the_font_of_code(themes: theme.Themes) -> None:
    look = themes.current
    text = rich(BROKEN)
    assert text._placed == []
    assert not text.is_waiting
    assert look.colour("muted").name() in colours(painted(text, look))
    assert text.offset_at(400, 5) == len(BROKEN.text)
    as_code = rich(Run(BROKEN.text, code=True))
    assert text.natural_width == as_code.natural_width


def test_a_link_around_a_formula_is_found_where_it_is_drawn() -> None:
    run = Run(FRACTION.text, target="https://example.org", formula=FRACTION.formula)
    text = rich(Run("See "), run, Run(" and "), Run("here", target="https://example.com"))
    first, second = text.spots()
    assert (first.value, second.value) == ("https://example.org", "https://example.com")
    assert first.rect.left() == pytest.approx(text._placed[0].box.left(), abs=0.1)
    assert first.rect.width() == pytest.approx(text._placed[0].box.width(), abs=0.1)
    assert second.rect.left() > first.rect.right()


def test_a_raised_run_is_small_and_stands_high(themes: theme.Themes) -> None:
    look = themes.current
    plain, raised = (rich(Run("H"), Run("1", raised=is_raised)) for is_raised in (False, True))
    assert raised.natural_width < plain.natural_width
    assert raised.height == plain.height
    start = int(rich(Run("H")).natural_width)
    paper = look.colour("surface")
    low = ink_rows(painted(plain, look), start, start + 12, paper)
    high = ink_rows(painted(raised, look), start, start + 12, paper)
    assert len(high) < len(low)
    assert high.stop < low.stop - 2


ARABIC = "هذه فقرة عربية "


@pytest.mark.parametrize(
    ("runs", "from_right"),
    [
        ((Run(ARABIC),), True),
        ((LETTER, Run(" " + ARABIC)), True),
        ((Run("12. " + ARABIC),), True),
        ((Run("Words " + ARABIC),), False),
        ((Run(ARABIC + "english"),), True),
        ((Run("Words"),), False),
    ],
)
def test_a_paragraph_runs_as_its_first_letter_does(themes: theme.Themes, runs: Runs, from_right: bool) -> None:
    look = themes.current
    image = painted(rich(*runs), look)
    columns = [x for x in range(400) if any(image.pixelColor(x, y) != look.colour("surface") for y in range(LINE_PX))]
    assert (min(columns) > 200) == from_right
    assert (max(columns) > 390) == from_right


def test_a_formula_in_a_text_from_the_right_is_selected_and_pointed_at_where_it_lies(themes: theme.Themes) -> None:
    text = rich(Run(ARABIC), FRACTION, Run(" نص"))
    box, start = text._placed[0].box, len(ARABIC)
    assert box.left() > 200
    assert text.offset_at(box.right() - 1, LINE_PX / 2) == start
    assert text.offset_at(box.left() + 1, LINE_PX / 2) == start + len(FRACTION.text)
    seen = colours(painted(text, themes.current, (start, start + 1)), box)
    assert themes.current.colour("accent").name() in seen


def test_cells_take_the_room_and_the_height_of_their_formulas(themes: theme.Themes) -> None:
    plain = Run(HIGH.text)
    rows = (((Run("name"),), (Run("formula"),)), ((Run("sum"),), (HIGH,)))
    with_source = (rows[0], ((Run("sum"),), (plain,)))
    drawn, written = (TableView(Table(each, ("left", "left")), Formulas()) for each in (rows, with_source))
    for view in (drawn, written):
        view.lay_out(700)
    assert drawn.height > written.height + 10
    assert sum(drawn._columns) < sum(written._columns)
    assert drawn.text == written.text


def test_a_formula_of_its_own_lines_stands_in_the_middle(themes: theme.Themes) -> None:
    look = themes.current
    view = alone(r"\frac{a}{b}")
    image = painted(view, look)
    columns = [
        x for x in range(400) if any(image.pixelColor(x, y) != look.colour("surface") for y in range(image.height()))
    ]
    assert (min(columns) + max(columns)) / 2 == pytest.approx(200, abs=3)
    assert view.spots() == []
    assert view.offset_at(10, 5) == 0
    assert view.offset_at(390, 5) == len(view.text) == view.length


def test_a_wide_formula_is_scrolled_sideways(themes: theme.Themes) -> None:
    view = alone(WIDE)
    (bar,) = view.spots()
    assert bar.kind == "scroll"
    assert bar.sideways is not None
    at_first = painted(view, themes.current)
    assert bar.sideways.scroll_to(100)
    assert view.is_scrolled
    assert painted(view, themes.current) != at_first
    view.release()
    view.lay_out(400)
    assert view.is_scrolled


def test_a_block_that_cannot_be_drawn_shows_its_source(themes: theme.Themes) -> None:
    view = alone(r"\frac{a}")
    assert themes.current.colour("muted").name() in colours(painted(view, themes.current))
    assert view.offset_at(400, 5) == view.length
    assert not view.is_unfinished


def test_a_formula_that_is_still_written_is_not_drawn_with_every_word() -> None:
    asked: list[Callable[[], None]] = []
    formulas = Formulas(asked.append)
    view = FormulaView(Formula("a+", "$$a+"), formulas, is_open=True)
    view.lay_out(400)
    assert (asked, view.is_unfinished) == ([], False)
    assert alone("a+b", formulas=formulas, is_open=True).is_unfinished
    assert len(asked) == 1


def test_a_block_in_a_list_counts_its_marker() -> None:
    view = FormulaView(Formula("x", "$$x$$", Place(("item",), "1.")), Formulas(), is_open=False)
    view.lay_out(400)
    assert view.text == "1. $$x$$"
    assert (view.offset_at(0, 5), view.offset_at(400, 5)) == (3, 8)


def test_a_marker_stands_on_the_line_of_its_item_where_a_formula_makes_that_lower() -> None:
    view = TextView(Paragraph((HIGH, Run(" words"))), Formulas())
    view.lay_out(400)
    flat = TextView(Paragraph((LETTER, Run(" words"))), Formulas())
    flat.lay_out(400)
    assert view.drop > 5
    assert flat.drop == 0
