from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.stops import StopWatch, control_stops, usable_stops
from tests.engine.tiny_vocabulary import END, START, TinyVocabulary

SHORT_TEXT = st.text("ab😀", max_size=14)
STOPS = st.lists(st.text("ab😀", min_size=1, max_size=4), max_size=4)


def watch(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    """Return what a stream of pieces shows, and whether a stop ended it."""
    stop_watch = StopWatch(stops)
    shown = ""
    for piece in pieces:
        visible, stopped = stop_watch.step(piece)
        shown += visible
        if stopped:
            break
    shown += stop_watch.flush()
    return shown, stop_watch.stopped


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(edges)]


def before_earliest_stop(text: str, stops: list[str]) -> tuple[str, bool]:
    found = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(found)], True) if found else (text, False)


@given(STOPS, SHORT_TEXT, st.lists(st.integers(0, 20), max_size=8))
def test_the_answer_is_cut_before_the_earliest_stop_however_it_comes_in(
    stops: list[str], text: str, cuts: list[int]
) -> None:
    assert watch(stops, pieces_of(text, cuts)) == before_earliest_stop(text, stops)


@given(STOPS, SHORT_TEXT)
def test_only_the_longest_tail_that_may_become_a_stop_is_withheld(stops: list[str], text: str) -> None:
    stop_watch = StopWatch(stops)
    shown = ""
    for end, character in enumerate(text, 1):
        visible, stopped = stop_watch.step(character)
        shown += visible
        seen = text[:end]
        if stopped or any(stop in seen for stop in stops):
            break
        tails = [seen[start:] for start in range(len(seen) + 1)]
        withheld = next(tail for tail in tails if any(stop.startswith(tail) for stop in stops) or not tail)
        assert shown == seen.removesuffix(withheld)


@pytest.mark.parametrize(
    ("stops", "pieces", "shown"),
    [
        (["STOP"], ["one ST", "OP two"], "one "),
        (["STOP"], ["one S", "T", "O", "P"], "one "),
        (["STOP"], ["STOP"], ""),
        (["STOP"], ["one STO", "ne"], "one STOne"),
        (["STOP"], ["SSTOP"], "S"),
        (["ab", "abc"], ["xab", "c"], "x"),
        (["abcd", "bc"], ["xabc", "d"], "x"),
        (["abcd", "bc"], ["xabc", "e"], "xa"),
        (["abcd", "bc"], ["xabc"], "xa"),
        (["👍🏽"], ["yes 👍", "🏽 more"], "yes "),
        (["👍🏽"], ["yes 👍", " more"], "yes 👍 more"),
        (["\n\n"], ["a\n", "b\n", "\nc"], "a\nb"),
        ([], ["a", "", "b"], "ab"),
    ],
)
def test_stops_are_found_across_tokens(stops: list[str], pieces: list[str], shown: str) -> None:
    expected_stop = shown != "".join(pieces)
    assert watch(stops, pieces) == (shown, expected_stop)


def test_nothing_is_shown_after_a_stop() -> None:
    stop_watch = StopWatch(["x"])
    assert stop_watch.step("ax") == ("a", True)
    assert stop_watch.step("more") == ("", True)
    assert stop_watch.flush() == ""


def test_held_text_is_looked_at_once_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    class Counted(dict[str, int]):
        def __contains__(self, key: object) -> bool:
            nonlocal looks
            looks += 1
            return super().__contains__(key)

    length = 2000
    stop_watch = StopWatch(["a" * length + "b"])
    stop_watch._states._next = [Counted(each) for each in stop_watch._states._next]
    shown = sum(len(stop_watch.step("a")[0]) for _ in range(3 * length))
    assert shown == 2 * length
    assert looks <= 2 * 3 * length


def test_blank_stops_are_dropped_with_a_hint() -> None:
    kept, notes = usable_stops(["", "  ", "\t", "STOP", "\n", "STOP"])
    assert kept == ("STOP", "\n")
    assert [note.english() for note in notes] == [
        "Blank stop strings are ignored. Remove them or give them some text."
    ]


def test_good_stops_bring_no_hint() -> None:
    assert usable_stops(["STOP", "END"]) == (("STOP", "END"), ())
    assert usable_stops([]) == ((), ())


def test_a_stop_with_half_a_character_cannot_crash_anything() -> None:
    assert usable_stops(["\ud83d", "a\x00b"])[0] == ("\N{REPLACEMENT CHARACTER}", "ab")


def test_control_tokens_named_as_stops_are_known_by_their_ids() -> None:
    vocabulary = TinyVocabulary([(START, True), (END, True), ("<think>", False)])
    assert control_stops(["x", END, "<think>"], vocabulary) == {vocabulary.id(END)}
    assert control_stops(["x"], vocabulary) == frozenset()
