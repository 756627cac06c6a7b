"""Reads Markdown into blocks, as GitHub shows it, but raw HTML stays the text that it is.

Loses no character but syntax, and never looks at what an address leads to. Where a block begins and ends depends on
nothing but the lines from its start on, so that a text can be read in parts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.gui.markdown.block_rules import OPEN_AT
from app.gui.markdown.containers import NO_LEAD, Lead, list_before
from app.gui.markdown.inline import growing_runs_of, runs_of
from app.gui.markdown.labels import marker_of
from app.gui.markdown.links import may_hold_links
from app.gui.markdown.long_paragraphs import short_paragraphs, without_guard
from app.gui.markdown.parser import MOST_NESTED, parser
from app.gui.markdown.values import (
    Align,
    Block,
    Code,
    Formula,
    Frame,
    Gap,
    Paragraph,
    Place,
    Rule,
    Run,
    Runs,
    Table,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

BULLETS = ("•", "◦", "▪")
TASK, DONE = "☐", "☑"
MOST_LATEX = 4000
"""Longer code in LaTeX is shown as code."""
_TASK = re.compile(r"\[([ xX])\](?:[ \t\n]+|$)")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_PROSE = re.compile(r"[^\W\d_](?:[^\\*_~`\[\]<>&!#|$\r\n]*[^\\*_~`\[\]<>&!#|$\s])?\n?")
"""One line that begins with a letter and holds nothing that could be markup: what most answers mostly are."""
_ALIGNS: dict[str, Align] = {"text-align:center": "centre", "text-align:right": "right"}


@dataclass
class Part:
    """A block at the outermost level, or one item of a list there: what is read apart from all others."""

    line: int
    blocks: list[Block] = field(default_factory=list)
    number: int | None = None
    """The number of an item of a numbered list."""


def math_of(code: Code, fence: str) -> Code | Formula:
    """Return closed code as the formula that it is where its author says so."""
    if code.language.lower() != "math" or not code.code.strip() or len(code.code) > MOST_LATEX:
        return code
    return Formula(code.code.strip(), f"{fence}{code.language}\n{code.code}\n{fence}", code.place)


def read(
    source: str, blank_before: bool, number: int | None, *, is_open: bool = False, lead: Lead = NO_LEAD
) -> list[Part]:
    """Read a text; `number` is what a numbered list in its first line goes on with. An open one goes on at its end.

    What a lead, with which the text begins, makes is not given back; its lines are counted.
    """
    if _PROSE.fullmatch(source) and not may_hold_links(source):
        place = Place(gap="\n\n" if blank_before else "\n")
        return [Part(0, list(short_paragraphs(Paragraph((Run(source.rstrip("\n")),), 0, place))))]
    open_at = source.count("\n") + (not source.endswith("\n")) if is_open else None
    tokens = parser().parse(source, {OPEN_AT: open_at})
    growing = _growing(tokens, source, open_at) if open_at is not None else None
    lines = source.split("\n")
    reader = _Reader(lines, blank_before, number, growing, lead)
    parts = reader.read(tokens)
    deep = {_part_at(parts, token) for token in tokens if token.level >= MOST_NESTED - 1 and token.map is not None}
    for index in deep:
        end = parts[index + 1].line if index + 1 < len(parts) else len(lines)
        written = "\n".join(lines[parts[index].line : end])
        runs = (Run(written[0 if index else len(lead.text) :].rstrip("\n")),)
        place = Place(gap=reader.gap_before(parts[index].line))
        parts[index].blocks = list(short_paragraphs(Paragraph(runs, 0, place)))
    if lead.text and 0 not in deep:
        blocks = parts[0].blocks[lead.blocks :]
        parts[0].blocks = [without_guard(blocks[0]), *blocks[1:]] if blocks and lead.is_guarded else blocks
    return parts


def _part_at(parts: Sequence[Part], token: Token) -> int:
    line = token.map[0] if token.map is not None else 0
    return max(bisect_right(parts, line, key=lambda part: part.line) - 1, 0)


def _growing(tokens: Sequence[Token], source: str, end_line: int) -> Token | None:
    """Return the running text that goes on at the end of a text."""
    found = (n for n in range(len(tokens) - 1, 0, -1) if tokens[n].type == "inline" and tokens[n].content)
    position = next(found, None)
    if position is None or (source.endswith("\n") and tokens[position - 1].type != "paragraph_open"):
        return None
    last = tokens[position]
    # A cell that others follow, or a heading with marks behind it, is at its end.
    is_last = last.map is not None and last.map[1] == end_line
    return last if is_last and source.rstrip().endswith(last.content.rpartition("\n")[2]) else None


class _Reader:
    """Walks through tokens and keeps in mind the lists and quotes that they stand in."""

    def __init__(
        self, lines: list[str], blank_before: bool, number: int | None, growing: Token | None, lead: Lead
    ) -> None:
        self._lines = lines
        self._growing = growing
        self._blank_before = blank_before
        self._lead = lead
        self._given = lead.numbers or (number,)
        self._parts: list[Part] = []
        self._frames: list[Frame] = []
        self._numbers: list[int | None] = []
        self._marker = ""
        self._marker_line = 0

    def read(self, tokens: Sequence[Token]) -> list[Part]:
        """Return the parts in order."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            starts_part = token.level == 0 and token.nesting >= 0 and token.map is not None
            is_list = token.type in ("bullet_list_open", "ordered_list_open")
            if starts_part and not is_list and token.map is not None:
                self._parts.append(Part(token.map[0]))
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self._numbers.append(list_before(token, len(self._numbers), self._lead, self._given))
                case "bullet_list_close" | "ordered_list_close":
                    self._numbers.pop()
                case "list_item_open" | "note_open":
                    self._open_item(token)
                case "list_item_close" | "note_close":
                    self._add_empty_item()
                    self._frames.pop()
                case "blockquote_open":
                    self._frames.append("quote")
                case "blockquote_close":
                    self._frames.pop()
                case "paragraph_open" | "heading_open":
                    level = int(token.tag[1]) if token.type == "heading_open" else 0
                    self._add_paragraph(tokens[position + 1], level, self._line(token))
                case "fence" | "code_block":
                    self._add(self._code(token))
                case "formula":
                    self._add(Formula(token.content, token.info, self._place(token)))
                case "hr":
                    self._add(Rule(self._place(token)))
                case "table_open":
                    end = next(n for n in range(position, len(tokens)) if tokens[n].type == "table_close")
                    self._add(self._table(tokens[position:end], self._place(token)))
                    position = end
            position += 1
        return self._parts

    def _open_item(self, token: Token) -> None:
        mark = marker_of(token.info) if token.type == "note_open" else self._next_mark(token)
        self._marker = f"{self._marker} {mark}" if self._marker else mark
        self._marker_line = self._line(token)
        self._frames.append("item")

    def _next_mark(self, token: Token) -> str:
        number = self._numbers[-1]
        if number is not None:
            number = self._numbers[-1] = number + 1
        if token.level == 1 and token.map is not None:
            self._parts.append(Part(token.map[0], number=number))
        depth = sum(each is None for each in self._numbers) - 1
        return BULLETS[min(depth, len(BULLETS) - 1)] if number is None else f"{number}{token.markup}"

    def _add_paragraph(self, inline: Token, level: int, line: int) -> None:
        source = inline.content
        task = _TASK.match(source) if self._marker and not level else None
        if task is not None and not self._marker.endswith("]"):
            source = source[task.end() :]
            self._marker = " ".join([*self._marker.split(" ")[:-1], TASK if task[1] == " " else DONE])
        runs = self._runs(inline, source)
        self._add(Paragraph(runs, level, self._place_in(line)))

    def _runs(self, inline: Token, source: str) -> Runs:
        if inline.meta.get("raw"):
            return (Run(source),)
        return growing_runs_of(source) if inline is self._growing else runs_of(source)

    def _code(self, token: Token) -> Code | Formula:
        code = Code(token.content.removesuffix("\n"), token.info.strip(), self._place(token))
        lines = token.map[1] - token.map[0] if token.map is not None else 0
        inside = token.content.count("\n") + (not token.content.endswith("\n"))
        # The lines that open and close it are no part of what it holds.
        is_closed = token.type == "fence" and inside == lines - 2
        return math_of(code, token.markup) if is_closed else code

    def _add_empty_item(self) -> None:
        if self._marker:
            self._add(Paragraph((), 0, Place(tuple(self._frames), self._marker, self.gap_before(self._marker_line))))
            self._marker = ""

    def _line(self, token: Token) -> int:
        return token.map[0] if token.map is not None else 0

    def _place(self, token: Token) -> Place:
        return self._place_in(self._line(token))

    def _place_in(self, line: int) -> Place:
        marker, self._marker = self._marker, ""
        return Place(tuple(self._frames), marker, self.gap_before(line))

    def gap_before(self, line: int) -> Gap:
        """Return what separates a block that begins in a line from the one before."""
        is_first = line <= self._lead.lines
        if is_first and self._lead.gap is not None:
            return self._lead.gap
        blank = self._blank_before if is_first else not self._lines[line - 1].strip(" \t>")
        return "\n\n" if blank else "\n"

    def _table(self, tokens: Sequence[Token], place: Place) -> Table:
        rows: list[list[Runs]] = []
        aligns: list[Align] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
                line = token.map[0] if token.map is not None else 0
            elif token.type == "inline":
                rows[-1].append(self._runs(token, token.content))
            elif token.type == "th_open":
                aligns.append(_ALIGNS.get(str(token.attrs.get("style", "")), "left"))
            elif token.type == "tr_close" and len(rows) > 1:
                rows[-1] += [runs_of(text) for text in _cells(self._lines[line])[len(aligns) :]]
        return Table(tuple(tuple(row) for row in rows), tuple(aligns), place)

    def _add(self, block: Block) -> None:
        self._parts[-1].blocks += short_paragraphs(block) if isinstance(block, Paragraph) else [block]


def _cells(line: str) -> list[str]:
    """Return the cells of a row, also those beyond the columns of the head, which the parser leaves out."""
    found = [cell.strip() for cell in _BETWEEN_CELLS.split(line.strip(" \t>"))]
    if found and not found[0]:
        found.pop(0)
    if found and not found[-1]:
        found.pop()
    return [cell.replace("\\|", "|") for cell in found]
