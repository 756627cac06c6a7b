from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.fuzzy import folded, matcher


def shown(query: str, text: str) -> str | None:
    """Return a text with the letters that fit in brackets; None where it does not fit."""
    found = matcher(query)(folded(text))
    if found is None:
        return None
    return "".join(f"[{letter}]" if place in found.places else letter for place, letter in enumerate(text))


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("chat", "New chat", "New [c][h][a][t]"),
        ("nc", "New chat", "[N]ew [c]hat"),
        ("chat new", "New chat", "[N][e][w] [c][h][a][t]"),
        ("NEW", "New chat", "[N][e][w] chat"),
        ("uber", "Über Nacht", "[Ü][b][e][r] Nacht"),
        ("ber", "Über Nacht", "Ü[b][e][r] Nacht"),
        ("strasse", "Straße", "[S][t][r][a][ß][e]"),
        ("天空", "为什么天空是蓝色的", "为什么[天][空]是蓝色的"),
        ("lesi", "Load: see its size", None),
        ("losiz", "Load: see its size", "[L][o]ad: see its [s][i][z]e"),
        ("xyz", "New chat", None),
        ("nwc", "New chat", None),
        ("c++", "Write C++ code", "Write [C][+][+] code"),
        ("50%", "Only 50% of it", "Only [5][0][%] of it"),
        (".*", "Anything", None),
        ("", "Anything", "Anything"),
        ("   ", "Anything", "Anything"),
    ],
)
def test_what_is_typed_fits_by_words_first_letters_and_beginnings(query: str, text: str, fits: str | None) -> None:
    assert shown(query, text) == fits


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("chat", "Chat", "New chat"),
        ("new", "New chat", "Renew it"),
        ("nc", "New chat", "Concordance"),
        ("pl", "Planner", "People like"),
    ],
)
def test_the_beginning_of_a_word_counts_for_more(query: str, better: str, worse: str) -> None:
    match = matcher(query)
    first, second = match(folded(better)), match(folded(worse))
    assert first is not None and (second is None or first.score > second.score)


@given(st.text(max_size=30), st.text(max_size=30))
def test_letters_that_fit_stand_in_the_text(query: str, text: str) -> None:
    found = matcher(query)(folded(text))
    if found is not None:
        assert list(found.places) == sorted(set(found.places))
        assert all(0 <= place < len(text) for place in found.places)


@given(st.text(min_size=1, max_size=30), st.data())
def test_every_piece_of_a_text_fits_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    assert matcher(text[start : data.draw(st.integers(start, len(text)))])(folded(text)) is not None
