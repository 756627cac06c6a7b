"""Where tokens stand in the flow: rows within the width, words whole, line ends shown and broken, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gui.inside.token_layout import GAP_PX, TokenLayout

PER_CHARACTER = 10.0


def laid(texts: list[str | None], width: float = 100.0) -> TokenLayout:
    layout = TokenLayout(lambda text: PER_CHARACTER * len(text), width)
    layout.extend(list(enumerate(texts)))
    return layout


def rows_of(layout: TokenLayout) -> list[str]:
    return ["".join(layout.texts[piece] for piece in layout.pieces(row)) for row in range(layout.rows)]


def test_a_word_goes_to_the_next_row_as_a_whole() -> None:
    assert rows_of(laid(["The", " sky", " un", "able"])) == ["The sky", "unable"]


def test_a_word_that_is_wider_than_a_row_is_broken_between_its_tokens() -> None:
    assert rows_of(laid(["abcdef", "ghij", "kl"])) == ["abcdef", "ghijkl"]


def test_a_token_that_is_wider_than_a_row_goes_on_in_the_next() -> None:
    layout = laid(["-" * 25, "x"])
    assert rows_of(layout) == ["-" * 10, "-" * 10, "-----x"]
    assert [len(layout.pieces_of(token)) for token in (0, 1)] == [3, 1]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", ".\n", "b"], ["a.↵", "b"]),
        (["a\n\n", "b"], ["a↵", "↵", "b"]),
        (["a", "\n"], ["a↵"]),
        (["a\nb", "c"], ["a↵", "bc"]),
        (["a\r\n", "b"], ["a↵", "b"]),
    ],
)
def test_line_ends_are_shown_and_end_their_row(texts: list[str | None], expected: list[str]) -> None:
    assert rows_of(laid(texts)) == expected


def test_half_characters_and_unknown_tokens_are_written_out() -> None:
    assert rows_of(laid(["<0xD7>", None, ""])) == ["<0xD7>[1]", "[2]"]


def test_tokens_are_found_where_they_stand() -> None:
    layout = laid(["The", " sky", " unable", " x"])
    for token in range(4):
        row, middle = layout.row_of(token), layout.middle_of(token)
        assert layout.token_at(row, middle) == layout.nearest(row, middle) == token
    assert layout.token_at(0, 99) is None and layout.token_at(9, 1) is None and layout.nearest(0, 500) == 1


PARTS = st.one_of(st.none(), st.text(st.sampled_from("ab \n\té"), max_size=14))


@given(st.lists(PARTS, max_size=40), st.integers(20, 160), st.integers(0, 40))
def test_whatever_comes_nothing_is_lost_and_every_row_fits(texts: list[str | None], width: int, first: int) -> None:
    whole = laid(texts, width)
    wanted = "".join("".join(laid([text], 1e6).texts) if text else f"[{n}]" for n, text in enumerate(texts))
    shown = "".join(whole.texts)
    assert shown.replace(" ", "") == wanted.replace(" ", ""), "spaces alone are left out, one where a row begins"
    assert 0 <= len(wanted) - len(shown) < max(whole.rows, 1)
    assert whole.owners == sorted(whole.owners) and set(whole.owners) == set(range(len(texts)))
    for row in range(whole.rows):
        pieces = whole.pieces(row)
        assert len(pieces) > 0
        rights = [whole.lefts[piece] + whole.widths[piece] for piece in pieces]
        assert rights[-1] <= whole.width + 1e-6 or len(pieces) == 1
        lefts = [whole.lefts[piece] for piece in pieces]
        assert lefts[0] == 0 and lefts[1:] == pytest.approx([right + GAP_PX for right in rights[:-1]])
    grown = laid(texts[:first], width)
    grown.extend(list(enumerate(texts))[first:])
    assert (grown.texts, grown.lefts, grown.starts) == (whole.texts, whole.lefts, whole.starts)


def test_rows_that_go_on_begin_at_the_same_place_as_the_first() -> None:
    layout = TokenLayout(lambda text: 10.0 * len(text), 104.0)
    layout.extend(list(enumerate(["One", " two", " three", " fo", "ur", " five", "\n", "  in", " a", "   ", "row"])))
    assert rows_of(layout) == ["One two", "three four", "five↵", "  in a", "   row"], "an indent stays"
    assert laid([" One"]).texts == [" One"], "nothing was before it"
    assert all(layout.lefts[layout.pieces(row)[0]] == 0 for row in range(layout.rows))
    widths = [10.0 * len(text) for text in layout.texts]
    assert layout.widths == widths
