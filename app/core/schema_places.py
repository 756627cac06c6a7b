"""Finds places in the text of a JSON document: of what a path leads to, and of what JSON does not have. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import NamedTuple

from app.core.grammar import Place, place_at

_BLANK = re.compile(r"[ \t\n\r]*")
_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|-?\d+|-?[A-Za-z]+', re.DOTALL)
_CONSTANTS = frozenset(("NaN", "Infinity", "-Infinity"))
_decode = JSONDecoder().raw_decode


class Where(NamedTuple):
    """Where something of a schema stands: the path for people who know schemas, and the place in the text."""

    path: str
    place: Place


def find(text: str, path: str, key: str | None = None) -> Where:
    """Return where the value of a path stands in a JSON text, or of it the name of one member.

    What is not there is told with the place of the value around it. Of a name that stands twice the last one counts, as
    for those who read JSON.
    """
    keys = [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:]]
    at = _after_blank(text, 0)
    for each in keys:
        at = next((value for name, _, value in reversed([*_members(text, at)]) if name == each), at)
    if key is not None:
        at = next((start for name, start, _ in reversed([*_members(text, at)]) if name == key), at)
    return Where(path, place_at(text, at))


def wrong_number(text: str, most_digits: int) -> Place:
    """Return the place of the first number that JSON does not have, or that has more digits than can be read."""
    for found in _SIGNS.finditer(text):
        sign = found[0]
        if sign in _CONSTANTS or (sign[-1].isdigit() and len(sign.lstrip("-")) > most_digits):
            return place_at(text, found.start())
    return Place(1, 1)


def deepest(text: str, most: int) -> Place:
    """Return the place of the first bracket that lies deeper than `most` others."""
    depth = 0
    for found in _SIGNS.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > most:
            return place_at(text, found.start())
    return Place(1, 1)


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield each member of the object or list at a place: its name or number, where that and where its value begins."""
    opened = text[at : at + 1]
    if opened not in ("{", "["):
        return
    number, at = 0, _after_blank(text, at + 1)
    while text[at] not in "}]":
        start, name = at, str(number)
        if opened == "{":
            name, at = _decode(text, at)
            at = _after_blank(text, _after_blank(text, at) + 1)  # past the colon
        yield name, start, at
        _, at = _decode(text, at)
        number, at = number + 1, _after_blank(text, at)
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()
