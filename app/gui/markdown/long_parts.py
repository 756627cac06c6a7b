"""Where a list item, a quote or another block that is far too long is cut, and how what lies behind it is read on.

A cut depends on the first few thousand characters from the block's start on, so it is the same however those arrived.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from app.gui.markdown.block_rules import OPEN_AT
from app.gui.markdown.containers import (
    NO_LEAD,
    Container,
    Lead,
    behind_all,
    lead_of,
    lines_inside,
    list_before,
    measured,
)
from app.gui.markdown.cuts import fence_opening, good_place, stretch_end
from app.gui.markdown.parser import MOST_NESTED, parser
from app.gui.markdown.values import Gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

WINDOW = 6000
"""A block that is open is read again with each word: with more characters than these it is cut."""
LONG_LINE = 2000
"""What a line of more characters begins is taken for decided."""
_LEAVES = ("paragraph_open", "heading_open", "fence", "code_block", "formula", "hr", "table_open")
_MARKS = "-=*_ \t>|:"
_FENCE = re.compile(r"(?:[ \t>*+-]|\d{1,9}[.)])*(?:`{3}|~{3})")
_ENDS = ("bullet_list_close", "ordered_list_close", "list_item_close", "blockquote_close", "note_close")
_HEAD_LINES = 2
_KINDS = {"list_item_open": "item", "blockquote_open": "quote", "note_open": "note"}


class LongCode(NamedTuple):
    """Code that goes on inside of lists and quotes, or behind spaces."""

    containers: tuple[Container, ...]
    indent: int
    """Of the fence; as many spaces before a line are none of the code."""
    marks: str
    """Of the fence."""


class Cut(NamedTuple):
    """Where a long block is ended, and what is put before the rest."""

    end: int
    start: int
    """Of the rest: what lies between the two belongs to neither."""
    lead: Lead
    code: LongCode | None = None
    """The code that the rest goes on with, whose opening is the last line before the cut."""


class _Around(NamedTuple):
    """A list, with the number of its item; or what else holds blocks."""

    kind: str
    line: int
    number: int | None = None


class _Leaf(NamedTuple):
    token: Token
    around: tuple[_Around, ...]

    @property
    def lines(self) -> tuple[int, int]:
        assert self.token.map is not None
        return self.token.map[0], self.token.map[1]


def is_decided(line: str) -> bool:
    """Return whether a line that is not at its end yet is so long that it is known what it begins."""
    return len(line) > LONG_LINE and bool(line[:LONG_LINE].strip(_MARKS)) and not _FENCE.match(line)


def cut_of(source: str, lead: Lead = NO_LEAD, number: int | None = None) -> Cut | None:
    """Return where the block that a text begins with is ended because it is long; None where it need not be."""
    end = stretch_end(source[:WINDOW]) if not lead.text else None
    if end is None and len(source) >= WINDOW:
        cut = long_cut(source, lead, number)
        if cut is not None or lead.text:
            return cut
        end = stretch_end(source)
    return Cut(end, end, NO_LEAD) if end is not None else None


def is_cut(source: str, length: int, number: int | None) -> bool:
    """Return whether the block that a text begins with, and that has this length, will be cut."""
    if length > WINDOW - LONG_LINE:
        return cut_of(source, NO_LEAD, number) is not None
    return stretch_end(source) is not None


def long_cut(source: str, lead: Lead = NO_LEAD, number: int | None = None) -> Cut | None:
    """Return where a block is cut that is longer than the window, or None where it is left as it is."""
    size = len(lead.text) + WINDOW
    if len(source) < size or (not lead.text and fence_opening(source.partition("\n")[0]) is not None):
        return None
    window, last = source[:size], source.rfind("\n", 0, size) + 1
    if not is_decided(window[last:]):
        window = source[:last]
    lines = window.split("\n")
    tokens = parser().parse(window, {OPEN_AT: window.count("\n") + (not window.endswith("\n"))})
    found = _last_leaf(tokens, lead, lead.numbers or (number,))
    if found is None:
        # What is too deep for the parser is shown as it was written, and so is what a part of it is cut off from.
        is_too_deep = last > len(lead.text) and any(token.level >= MOST_NESTED - 1 for token in tokens)
        return Cut(last, last, NO_LEAD) if is_too_deep and _is_one_part(tokens) else None
    cut = _before(found, lines) if found.lines[0] > lead.lines else _within(found, lines, window)
    return cut if cut is not None and cut.start > len(lead.text) else None


def _is_one_part(tokens: Sequence[Token]) -> bool:
    """Return whether tokens are one block, or one item of a list."""
    lists = ("bullet_list_open", "ordered_list_open")
    starts = [
        token
        for token in tokens
        if token.nesting >= 0
        and ((token.level == 0 and token.type not in lists) or (token.level == 1 and token.type == "list_item_open"))
    ]
    return len(starts) <= 1


def _last_leaf(tokens: Sequence[Token], lead: Lead, given: tuple[int | None, ...]) -> _Leaf | None:
    """Return the last block of a text and what is around it; None where the text is not all one part."""
    around: list[_Around] = []
    leaf: _Leaf | None = None
    if not _is_one_part(tokens):
        return None
    for token in tokens:
        line = token.map[0] if token.map is not None else 0
        is_list = token.type in ("bullet_list_open", "ordered_list_open")
        is_item = token.type == "list_item_open"
        if token.level >= MOST_NESTED - 1:
            return None
        if is_list:
            depth = sum(each.kind == "list" for each in around)
            around.append(_Around("list", line, list_before(token, depth, lead, given)))
        elif token.type in _KINDS:
            counted = around[-1].number if is_item else None
            if counted is not None:
                around[-1] = around[-1]._replace(number=counted + 1)
            around.append(_Around(_KINDS[token.type], line))
        elif token.type in _ENDS:
            around.pop()
        elif token.type in _LEAVES:
            leaf = _Leaf(token, tuple(around))
    return leaf


def _before(leaf: _Leaf, lines: list[str]) -> Cut | None:
    """Cut where the last block begins, which may begin an item of its own."""
    line = leaf.lines[0]
    known = [each for each in leaf.around if each.line < line]
    numbers = tuple(each.number for each in known if each.kind == "list")
    containers = measured(lines, _openers(known))
    if containers is None:
        return None
    start = _start_of(lines, line)
    return Cut(start, start, lead_of(containers, numbers))


def _within(leaf: _Leaf, lines: list[str], window: str) -> Cut | None:
    """Cut inside of a block that all of the text is."""
    line = leaf.lines[0]
    numbers = tuple(each.number for each in leaf.around if each.kind == "list")
    openers = _openers(leaf.around)
    containers = measured(lines, openers)
    if containers is None:
        return None
    match leaf.token.type:
        case "fence":
            return _within_code(leaf, lines, containers, numbers)
        case "table_open" if not containers:
            return None
        case "table_open" | "code_block" if (last := _last_line(leaf, lines)) > line + _HEAD_LINES:
            start = _start_of(lines, last)
            lead = lead_of(containers, numbers, gap="\n")
            if leaf.token.type == "table_open":
                head = "".join(
                    f"{lines_inside(containers)}{_content(containers, openers, lines, line + n)}\n" for n in (0, 1)
                )
                lead = lead._replace(text=lead.text + head, lines=lead.lines + _HEAD_LINES)
            return Cut(start, start, lead)
    if not containers and leaf.lines[1] < len(lines) - 1:
        start = _start_of(lines, leaf.lines[1])  # it is not long: what follows are blank lines
        return Cut(start, start, NO_LEAD)
    begin = f"{'#' * int(leaf.token.tag[1])} " if leaf.token.type == "heading_open" else ""
    end, start = good_place(window, _start_of(lines, line))
    gap: Gap = "\n" if window[end] == "\n" else ""
    return Cut(end, start, lead_of(containers, numbers, begin=begin, gap=gap, is_guarded=True))


def _within_code(
    leaf: _Leaf, lines: list[str], containers: list[Container], numbers: tuple[int | None, ...]
) -> Cut | None:
    """Return how code goes on whose end is not there yet."""
    line, behind = leaf.lines
    if behind < len(lines) - (not lines[-1]) or line + 1 >= len(lines):
        return None  # it is closed, or its first line may still be none
    text = lines[line]
    position = behind_all(containers, _openers(leaf.around), text, line)
    if position is None:
        return None
    indent = len(text) - position - len(text[position:].lstrip(" "))
    code = LongCode(tuple(containers), indent, leaf.token.markup)
    start = _start_of(lines, line + 1)
    return Cut(start, start, lead_of(containers, numbers), code)


def _openers(around: Sequence[_Around]) -> list[tuple[str, int]]:
    return [(each.kind, each.line) for each in around if each.kind != "list"]


def _content(containers: list[Container], openers: list[tuple[str, int]], lines: list[str], line: int) -> str:
    """Return what a line holds inside of containers."""
    position = behind_all(containers, openers, lines[line], line)
    return lines[line][position or 0 :].strip(" \t")


def _last_line(leaf: _Leaf, lines: list[str]) -> int:
    """Return the last line of a block that is there whole and not empty."""
    line = min(leaf.lines[1], len(lines) - 1) - 1
    while line > leaf.lines[0] and not lines[line].strip(" \t>"):
        line -= 1
    return line


def _start_of(lines: list[str], line: int) -> int:
    return sum(len(each) + 1 for each in lines[:line])
