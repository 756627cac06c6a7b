"""Lists, quotes and footnotes around a place in a text, and lines that open them anew for what is cut off behind it.

Plain functions of lines. Where tabs stand among the marks nobody can tell how deep they are, so nothing is cut there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.gui.markdown.labels import DEFINITION
from app.gui.markdown.values import Gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

GUARD = "\u00b7"
"""Before what is cut off inside of a line: it stays running text whatever it begins with. To marks it is punctuation."""
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])( *)")
_QUOTE = re.compile(r"( {0,3})> ?")
_RULE = "___"
"""Fills the items of a lead: a block that no line behind it goes on with."""
_MOST_SPACES = 4
_TAB = 4
_NOTE_CONTENT = 4


class Container(NamedTuple):
    """What a block stands in: how far inside of what is around it that begins, and how far in its own blocks do."""

    kind: Literal["item", "quote", "note"]
    indent: int
    mark: str
    content: int
    """In columns; of no use for a quote, whose lines all have its mark."""


class Lead(NamedTuple):
    """Lines before the rest of a block that was cut, by which that is read where it stands; they are not shown."""

    text: str = ""
    lines: int = 0
    blocks: int = 0
    """How many blocks the lines make."""
    numbers: tuple[int | None, ...] = ()
    """What each list around it, also one that begins in the first line behind, goes on with."""
    gap: Gap | None = None
    """Between what was cut, where it is not for the line before to say."""
    is_guarded: bool = False


NO_LEAD = Lead()


def lead_of(
    containers: Sequence[Container],
    numbers: tuple[int | None, ...],
    *,
    begin: str = "",
    gap: Gap | None = None,
    is_guarded: bool = False,
) -> Lead:
    """Return the lines that open containers; `begin` stands behind them, in the containers, before the rest."""
    lines: list[str] = []
    for number, each in enumerate(containers):
        opener = " " * each.indent + each.mark
        rest = "" if each.kind == "quote" else " " * max(each.content - len(opener), 1) + _RULE
        lines.append(f"{lines_inside(containers[:number])}{opener}{rest}\n")
    blocks = sum(each.kind != "quote" for each in containers)
    begin += GUARD * is_guarded
    text = "".join(lines) + (lines_inside(containers) + begin if begin else "")
    return Lead(text, text.count("\n"), blocks, numbers, gap, is_guarded)


def lines_inside(containers: Sequence[Container]) -> str:
    """Return what stands before each further line in containers."""
    return "".join("> " if each.kind == "quote" else " " * each.content for each in containers)


def list_before(token: Token, depth: int, lead: Lead, given: tuple[int | None, ...]) -> int | None:
    """Return the number before the first one of a list, or None for bullets; `depth` lists are around it.

    A list in the lead or in the first line behind it goes on with the number that was given for it.
    """
    if token.type != "ordered_list_open":
        return None
    known = given[depth] if depth < len(given) and token.map is not None and token.map[0] <= lead.lines else None
    return (int(token.attrs.get("start", 1)) if known is None else known) - 1


def measured(lines: Sequence[str], opened: Sequence[tuple[str, int]]) -> list[Container] | None:
    """Return containers of these kinds, each with the line that opens it, or None where that line cannot be read."""
    found: list[Container] = []
    for number, (kind, line) in enumerate(opened):
        position = behind_all(found, opened[:number], lines[line], line)
        made = _opener(kind, lines[line], position) if position is not None else None
        if made is None:
            return None
        found.append(made)
    return found


def behind_all(
    containers: Sequence[Container], opened: Sequence[tuple[str, int]], text: str, line: int
) -> int | None:
    """Return where in a line the content of containers begins, which are opened in it or go on; None if nowhere."""
    position: int | None = 0
    for each, (_, begins) in zip(containers, opened, strict=True):
        if position is None:
            break
        position = _behind_opener(each, text, position) if begins == line else _inside(each, text, position)
    return position


def line_inside(containers: Sequence[Container], line: str, *, is_complete: bool) -> str | None:
    """Return what a line of code has inside of containers, or None where it stands outside of them for certain."""
    position = column = start = 0
    spare = ""
    for each in containers:
        rest = line[position:]
        if not rest.strip(" \t") and not spare:
            is_outside = is_complete and any(other.kind == "quote" for other in containers[containers.index(each) :])
            return None if is_outside else ""
        if each.kind == "quote":
            found = _QUOTE.match(line, position)
            if found is None or spare:
                return None
            position = column = start = found.end()
            continue
        start += each.content
        while column < start and position < len(line) and line[position] in " \t":
            column += _TAB - column % _TAB if line[position] == "\t" else 1
            position += 1
        if column < start:
            return None if line[position:].strip(" \t") else ""
        spare = " " * (column - start)
    return spare + line[position:]


def _inside(container: Container, text: str, position: int) -> int | None:
    """Return where the content of a container begins in a line that goes on with it."""
    if container.kind == "quote":
        found = _QUOTE.match(text, position)
        return None if found is None else found.end()
    end = position + container.content
    return None if text[position:end].strip(" ") or len(text) < end else end


def _behind_opener(container: Container, text: str, position: int) -> int | None:
    if container.kind == "quote":
        return _inside(container, text, position)
    if container.kind == "note":
        found = DEFINITION.match(text, position + container.indent)
        return (
            None if found is None else found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip(" "))
        )
    return min(position + container.content, len(text))


def _opener(kind: str, text: str, position: int) -> Container | None:
    if kind == "quote":
        found = _QUOTE.match(text, position)
        return None if found is None else Container("quote", len(found[1]), ">", 0)
    if kind == "note":
        indent = len(text) - position - len(text[position:].lstrip(" "))
        found = DEFINITION.match(text, position + indent)
        return None if found is None else Container("note", indent, found[0], _NOTE_CONTENT)
    found = _ITEM.match(text, position)
    if found is None or text[found.end() : found.end() + 1] == "\t":
        return None
    spaces = len(found[3])
    is_filled = bool(text[found.end() :])
    content = len(found[1]) + len(found[2]) + (spaces if is_filled and spaces <= _MOST_SPACES else 1)
    return Container("item", len(found[1]), found[2], content)
