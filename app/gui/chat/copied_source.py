"""What Ctrl+C takes of a selection: the Markdown that it was made of.

Messages are an empty line apart. A message that is selected whole gives its text as it was written, and so does what
people wrote. Of an answer's other blocks, those selected whole give the lines they were read from, with the fences of
code, the marks of lists and the pipes of tables; what lies between neighbours among them stays as well. A block that is
selected in part gives the words that were selected, behind its bullet or number where that is among them.

Where the selection lies inside one block: code gives exactly the code, and a single word, which is what a double click
selects, nothing but the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from app.gui.chat.parted_text import GAP
from app.gui.chat.plain_text import PlainText
from app.gui.chat.selection import END, Selection
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.markdown.sources import Sources
from app.gui.markdown.values import Block, Code, Paragraph
from app.services.turns import Turn

_LEAD = re.compile(r"(?:[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)+")


class Copied(Protocol):
    """A turn that something is copied of."""

    turn: Turn
    is_user: bool

    @property
    def body(self) -> object:
        """The text as it is painted."""
        ...


class _Taken(NamedTuple):
    """What is selected of a block, counted in its text."""

    block: int
    start: int
    end: int
    is_whole: bool


def source_pieces(selection: Selection, turns: Sequence[Copied]) -> Iterator[str]:
    """Return the source of what is selected, piece by piece, each quickly found; some pieces are empty."""
    numbers = selection.blocks
    for number in numbers:
        if number > numbers.start:
            yield "\n\n"
        selected = selection.range_in(number)
        turn, body = turns[number].turn, turns[number].body
        if selected is None:
            continue
        if turns[number].is_user:
            yield body.copied(*selected) if isinstance(body, PlainText) else turn.text[slice(*selected)]
            continue
        text = body.markdown if isinstance(body, ThoughtfulText) else turn.text
        lead = body.lead if isinstance(body, ThoughtfulText) else 0
        start, end = selected
        is_whole = turn.state not in ("waiting", "writing")
        is_alone = len(numbers) == 1 and not start < lead < end  # thinking and answer are two texts
        if start < lead and isinstance(body, ThoughtfulText) and body.thinking is not None:
            last = END if end >= lead else end
            yield from _of_answer(body.thinking.source, start, last, is_whole=is_whole, is_alone=is_alone)
            yield GAP if end >= lead else ""
        if end > lead:
            last = end if end == END else end - lead
            yield from _of_answer(text, max(start - lead, 0), last, is_whole=is_whole, is_alone=is_alone)


def _of_answer(text: str, start: int, end: int, *, is_whole: bool, is_alone: bool) -> Iterator[str]:
    if (start, end) == (0, END):
        yield text
        return
    sources = Sources(text, is_whole=is_whole)
    while sources.read_on():
        yield ""
    taken = _taken(sources, start, end)
    if 1 < len(taken) == len(sources.blocks) and all(each.is_whole for each in taken):
        yield text
        return
    if is_alone and len(taken) == 1 and _is_wanted_bare(sources.blocks[taken[0].block], taken[0]):
        yield _words(sources.blocks[taken[0].block], taken[0])
        return
    position = 0
    while position < len(taken):
        first = last = taken[position]
        while last.is_whole and position + 1 < len(taken) and taken[position + 1].is_whole:
            position += 1
            last = taken[position]
        if first is not taken[0]:
            yield sources.blocks[first.block].place.gap
        lines = sources.source_of(first.block, last.block)
        yield lines if first.is_whole else _part(sources.blocks[first.block], first, lines)
        position += 1


def _taken(sources: Sources, start: int, end: int) -> list[_Taken]:
    """Return what is selected of each block that something is selected of."""
    found: list[_Taken] = []
    position = 0
    for index, block in enumerate(sources.blocks):
        begin = position + len(block.place.gap)
        length = len(block.text)
        first, last = max(start - begin, 0), min(end - begin, length)
        is_inside = first < last or (not length and start < begin < end)
        if is_inside:
            found.append(_Taken(index, first, last, first <= len(block.place.prefix) and last == length))
        position = begin + length
    whole = {each.block for each in found if each.is_whole}
    return [each._replace(is_whole=each.is_whole and whole.issuperset(sources.alike(each.block))) for each in found]


def _is_wanted_bare(block: Block, taken: _Taken) -> bool:
    if isinstance(block, Code):
        return True
    return isinstance(block, Paragraph) and not any(each.isspace() for each in _words(block, taken))


def _words(block: Block, taken: _Taken) -> str:
    return block.text[max(taken.start, len(block.place.prefix)) : taken.end]


def _part(block: Block, taken: _Taken, lines: str) -> str:
    """Return the words of a block that is selected in part."""
    lead = _LEAD.match(lines) if block.place.marker and taken.start < len(block.place.prefix) else None
    return (lead.group() if lead is not None else "") + _words(block, taken)
