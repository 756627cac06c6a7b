"""The words in which two texts differ, in any script, in a time that no text can make long.

Longest common subsequence of words, a bit for each word: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
Must not know where the texts come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

Kind = Literal["equal", "insert", "delete", "replace"]

MOST_WORDS = 20_000
"""Of the part in which two texts differ; longer ones are told as one replaced stretch."""

# Scripts that are written without spaces: a word is one character with its marks.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
_SIGNS = "!-/:-@\\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_WORD = f"[^\\s{_SPACELESS}{_SIGNS}]+"
_PIECE = f"({_WORD}(?:['’]{_WORD})*|[{_SPACELESS}][{_MARKS}]*|[{_SIGNS}]|\\n)[^\\S\\n]*|[^\\S\\n]+"  # compiled when first used


class WordSpan(msgspec.Struct, frozen=True):
    """A stretch of both texts, in characters; of an insertion the first is empty, of a deletion the second."""

    kind: Kind
    first_start: int
    first_end: int
    second_start: int
    second_end: int


class _Words(msgspec.Struct, frozen=True):
    """The words of a text without the spaces behind them, and where each begins; at the end, where the text ends."""

    texts: list[str]
    starts: list[int]


def word_difference(first: str, second: str) -> tuple[WordSpan, ...]:
    """Return stretches that cover both texts in order; how many spaces stand behind a word makes no difference."""
    one, other = _words(first), _words(second)
    start = _common_start(one.texts, other.texts)
    end = _common_start(one.texts[start:][::-1], other.texts[start:][::-1])
    sizes = len(one.texts), len(other.texts)
    middle = one.texts[start : sizes[0] - end], other.texts[start : sizes[1] - end]
    pairs = [(place, place) for place in range(start)]
    pairs += [(start + left, start + right) for left, right in _matches(*middle)]
    pairs += [(sizes[0] - back, sizes[1] - back) for back in range(end, 0, -1)]
    return tuple(_spans(_without_islands(_runs(pairs, sizes)), one, other))


def _words(text: str) -> _Words:
    found = list(re.finditer(_PIECE, text))
    return _Words([piece[1] or " " for piece in found], [*(piece.start() for piece in found), len(text)])


def _common_start(one: Sequence[str], other: Sequence[str]) -> int:
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def _matches(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence; nothing of what is too long."""
    if max(len(one), len(other)) > MOST_WORDS:
        return []
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(one)) - 1
    row, rows = every, []
    for word in other:
        # A zero is a word of `one` with which the common subsequence becomes longer.
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & every
        rows.append(row)
    pairs = []
    left, right = len(one) - 1, len(other) - 1
    while left >= 0 and right >= 0:
        if rows[right] >> left & 1:
            left -= 1
        elif right and not rows[right - 1] >> left & 1:
            right -= 1
        else:
            pairs.append((left, right))
            left, right = left - 1, right - 1
    return pairs[::-1]


def _runs(pairs: list[tuple[int, int]], sizes: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Return runs of matching words as (place, place, length); an empty one at the end of both texts comes last."""
    runs: list[tuple[int, int, int]] = []
    for left, right in pairs:
        if runs and runs[-1][0] + runs[-1][2] == left and runs[-1][1] + runs[-1][2] == right:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((left, right, 1))
    return [*runs, (*sizes, 0)]


def _without_islands(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Leave out matches between two changes that are both longer: a lone "the" in another sentence is no likeness."""
    kept: list[tuple[int, int, int]] = []
    for run, after in zip(runs, [*runs[1:], runs[-1]], strict=True):
        before = (kept[-1][0] + kept[-1][2], kept[-1][1] + kept[-1][2]) if kept else (0, 0)
        changed = max(run[0] - before[0], run[1] - before[1])
        changed_after = max(after[0] - run[0] - run[2], after[1] - run[1] - run[2])
        if run[2] == 0 or not run[2] < min(changed, changed_after):
            kept.append(run)
    return kept


def _spans(runs: list[tuple[int, int, int]], one: _Words, other: _Words) -> Iterator[WordSpan]:
    left = right = 0
    for run_left, run_right, length in runs:
        if left < run_left or right < run_right:
            kind: Kind = "insert" if left == run_left else "delete" if right == run_right else "replace"
            yield _span(kind, (left, run_left), (right, run_right), (one, other))
        left, right = run_left + length, run_right + length
        if length:
            yield _span("equal", (run_left, left), (run_right, right), (one, other))


def _span(kind: Kind, first: tuple[int, int], second: tuple[int, int], words: tuple[_Words, _Words]) -> WordSpan:
    one, other = words
    return WordSpan(
        kind, one.starts[first[0]], one.starts[first[1]], other.starts[second[0]], other.starts[second[1]]
    )
