"""Finding a text by some of its letters: which texts fit what is typed, how well, and which letters fit.

Pure. Case and accents make no difference; the words that are typed may stand in any order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

LONGEST_QUERY = 100
"""Characters of what is typed that are looked at."""
WHOLE, AT_WORD, INSIDE, INITIALS, LOOSE = 100, 80, 50, 60, 20
"""How well a word fits: all of the text, the beginning of a word, anywhere, first letters of words, letters in order."""


class Folded(NamedTuple):
    """A text as it is compared, and of each letter of that where it stands in the text."""

    text: str
    places: tuple[int, ...] | None
    """None where they are the same."""


class Match(NamedTuple):
    """How well a text fits, more is better, and the places of the letters that fit, rising."""

    score: int
    places: tuple[int, ...]


def folded(text: str) -> Folded:
    """Return a text as it is compared: without case and accents."""
    if text.isascii():
        return Folded(text.lower(), None)
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(letter):
                letters.append(letter)
                places.append(place)
    return Folded("".join(letters), tuple(places))


def matcher(query: str) -> Callable[[Folded], Match | None]:
    """Return what tells of a text whether what is typed fits it, and how well; nothing typed fits all texts."""
    words = folded(query[:LONGEST_QUERY]).text.split()
    # Most texts fail here, at a fraction of the cost.
    holds = [re.compile(".*?".join(map(re.escape, word)), re.DOTALL) for word in words]

    def match(text: Folded) -> Match | None:
        if not all(each.search(text.text) for each in holds):
            return None
        score, places = 0, set[int]()
        for word in words:
            found = _fit(word, text.text)
            if found is None:
                return None
            score += found.score
            places.update(found.places)
        own = text.places
        return Match(score, tuple(sorted(places if own is None else {own[place] for place in places})))

    return match


def _fit(word: str, text: str) -> Match | None:
    """Return how one word fits a text, both compared as they are."""
    if word == text:
        return Match(WHOLE, tuple(range(len(text))))
    first = place = text.find(word)
    while place >= 0:
        if _begins_word(text, place):
            return Match(AT_WORD, tuple(range(place, place + len(word))))
        place = text.find(word, place + 1)
    if first >= 0:
        return Match(INSIDE, tuple(range(first, first + len(word))))
    starts = [place for place in range(len(text)) if _begins_word(text, place)]
    places = _in_order(word, text, starts)
    if places is not None:
        return Match(INITIALS, places)
    places = _in_runs(word, text, starts)
    if places is None:
        return None
    breaks = sum(after != before + 1 for before, after in pairwise(places))
    return Match(max(LOOSE - 4 * breaks, 1), places)


def _begins_word(text: str, place: int) -> bool:
    return text[place].isalnum() and (place == 0 or not text[place - 1].isalnum())


def _in_order(word: str, text: str, starts: list[int]) -> tuple[int, ...] | None:
    """Return the first letters of words that are the letters of `word`; None where they are not."""
    found: list[int] = []
    for start in starts:
        if len(found) < len(word) and text[start] == word[len(found)]:
            found.append(start)
    return tuple(found) if len(found) == len(word) else None


def _in_runs(word: str, text: str, starts: list[int]) -> tuple[int, ...] | None:
    """Return where the letters of `word` stand in runs that each begin with a word of the text; None where they do not.

    Letters that lie anywhere would fit most long texts.
    """
    tried: set[tuple[int, int]] = set()

    def rest(number: int, done: int) -> tuple[int, ...] | None:
        """Return the places of the letters from `done` on in the words from `number` on, the longest runs first."""
        if done == len(word):
            return ()
        if number == len(starts) or (number, done) in tried:
            return None
        tried.add((number, done))
        start, length = starts[number], 0
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        while done + length < len(word) and start + length < end and text[start + length] == word[done + length]:
            length += 1
        for taken in range(length, -1, -1):
            behind = rest(number + 1, done + taken)
            if behind is not None:
                return (*range(start, start + taken), *behind)
        return None

    return rest(0, 0)
