"""Takes JSON apart into the elements of the list that it is, so that a broken one costs itself alone.

Knows nothing of conversations. An object by itself counts as a list of one.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from app.core.words import Sentence, translate
from app.services.importers.found import Stops, look_for_stop, never

MOST_NESTED = 1_000_000
"""Objects and lists in one another; behind what lies deeper nothing is looked for."""
_LOOKS = 10_000
"""After so many signs of a damaged file somebody is asked whether the rest is wanted."""
_SPACE = b" \t\r\n"
_PIECE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},"]', re.DOTALL)
_PAIRS = {ord("}"): ord("{"), ord("]"): ord("[")}
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
BROKEN = translate("Importing", "This part of the file cannot be read: it is damaged.")
CUT_OFF = translate("Importing", "The file ends in the middle of it: export it once more.")
TOO_DEEP = translate("Importing", "It is nested deeper than anything that is read here.")


class Element(NamedTuple):
    """One element of the list."""

    place: str
    """Like `[3]`; "" for an object by itself."""
    value: object = None
    doubled: int = 0
    """How many entries of its objects stand there twice; the last one counts."""
    fault: Sentence | None = None
    """Why there is no value."""


def elements(content: bytes, stops: Stops = never) -> Iterator[Element]:
    """Yield the elements one by one; nothing where it is neither a list nor an object.

    Raises `StoppedError` soon after `stops` says so.
    """
    content = _plain(content)
    first = content.lstrip(_SPACE)[:1] if len(content) < 1 << 16 else content[: 1 << 16].lstrip(_SPACE)[:1]
    if first == b"{":
        yield _element("", content, is_whole=True)
    elif first == b"[":
        for number, (piece, is_whole) in enumerate(_pieces(content, stops)):
            yield _element(f"[{number}]", piece, is_whole=is_whole)


def _plain(content: bytes) -> bytes:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode()
    return content.removeprefix(codecs.BOM_UTF8)


def _pieces(content: bytes, stops: Stops) -> Iterator[tuple[bytes, bool]]:
    """Yield the elements of a list as they are written, and whether their end is there."""
    try:
        whole = _LIST.decode(content)
    except (msgspec.DecodeError, RecursionError, ValueError):
        yield from _torn(content, stops)
    else:
        for piece in whole:
            yield bytes(piece), True


def _torn(content: bytes, stops: Stops) -> Iterator[tuple[bytes, bool]]:
    """Yield the elements of a list that is no good JSON: brackets and commas alone say where they end."""
    open_ones = bytearray()
    start = content.index(b"[") + 1
    for number, found in enumerate(_PIECE.finditer(content, start - 1)):
        if number % _LOOKS == 0:
            look_for_stop(stops)
        sign = content[found.start()]
        if sign == ord('"'):
            if found.end() - found.start() == 1:  # a text without an end
                break
        elif sign in b"[{":
            open_ones.append(sign)
            if len(open_ones) > MOST_NESTED:
                break
        elif sign == ord(","):
            if len(open_ones) == 1:
                yield content[start : found.start()], True
                start = found.end()
        elif (at := open_ones.rfind(_PAIRS[sign])) > 0:
            del open_ones[at:]
        elif at == 0:
            if last := content[start : found.start()].strip(_SPACE):
                yield last, True
            return
    if content[start:].strip(_SPACE):
        yield content[start:], False


def _element(place: str, piece: bytes, *, is_whole: bool) -> Element:
    doubled = 0

    def paired(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal doubled
        made = dict(pairs)
        doubled += len(pairs) - len(made)
        return made

    text = piece.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(text, strict=False, object_pairs_hook=paired)
    except RecursionError:
        return Element(place, fault=TOO_DEEP)
    except ValueError as error:
        is_cut_off = not is_whole or (isinstance(error, json.JSONDecodeError) and error.pos >= len(text.rstrip()))
        return Element(place, fault=CUT_OFF if is_cut_off else BROKEN)
    return Element(place, value, doubled)
