"""Blocks that this program reads beyond the parser's own: formulas on lines of their own, and footnotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.gui.markdown.labels import DEFINITION, is_label
from app.gui.markdown.latex import MOST_CHARACTERS, NONE, OPEN, formula_end, latex_of

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock

FORMULA_START = re.compile(r"\$\$(?!\$)|\\\[")
OPEN_AT = "open_at"
"""In the parser's environment: the line behind the last one of a text that goes on."""
_CODE_INDENT = 4
_TAB = 4


def formula(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Take a formula that has its lines for itself, or one that is not closed yet as one paragraph of its source."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    if state.is_code_block(start_line) or not FORMULA_START.match(state.src, start):
        return False
    if silent:
        # A row of a table may begin with a formula.
        return state.parentType != "table" or "|" not in state.src[start : state.eMarks[start_line]]
    return _read_formula(state, start_line, min(end_line, state.lineMax))


def note(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Take the definition of a footnote: like an item of a list, with four spaces before its further paragraphs."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    found = DEFINITION.match(state.src, start, state.eMarks[start_line])
    if found is None or not is_label(found[1]) or state.is_code_block(start_line):
        return False
    if silent:
        return True
    opened = state.push("note_open", "", 1)
    opened.info = found[1]
    before = state.bMarks[start_line], state.tShift[start_line], state.sCount[start_line], state.parentType
    position, offset = found.end(), state.sCount[start_line] + found.end() - start
    first = offset
    while position < state.eMarks[start_line] and state.src[position] in " \t":
        offset += _TAB - offset % _TAB if state.src[position] == "\t" else 1
        position += 1
    state.bMarks[start_line], state.tShift[start_line] = found.end(), position - found.end()
    state.blkIndent += _CODE_INDENT
    state.sCount[start_line] = offset - first + state.blkIndent
    if offset - first >= _CODE_INDENT:
        state.sCount[start_line] = state.blkIndent
    state.parentType = "reference"
    state.md.block.tokenize(state, start_line, end_line)
    state.blkIndent -= _CODE_INDENT
    state.bMarks[start_line], state.tShift[start_line], state.sCount[start_line], state.parentType = before
    state.line = max(state.line, start_line + 1)
    opened.map = [start_line, state.line]
    state.push("note_close", "", -1)
    return True


def _read_formula(state: StateBlock, start_line: int, end_line: int) -> bool:
    """Read on to the line that closes it, an empty one, or its container's or its own greatest end."""
    is_dollars = state.src.startswith("$$", state.bMarks[start_line] + state.tShift[start_line])
    deciding = ("$$",) if is_dollars else ("\\[", "\\]")
    source, line = "", start_line
    # Marks of quotes before the lines count as well: a long block is cut where nothing is undecided any more.
    last_start = state.bMarks[start_line] + MOST_CHARACTERS
    while line < end_line and state.bMarks[line] <= last_start and not state.isEmpty(line):
        if line > start_line and state.sCount[line] < state.blkIndent:
            break
        added = state.getLines(line, line + 1, state.blkIndent, False)
        source = f"{source}\n{added}" if source else added.lstrip(" \t")
        line += 1
        is_last = line == state.env.get(OPEN_AT) and not state.src.endswith("\n")
        end = formula_end(source, 0, is_open=is_last) if any(mark in added for mark in deciding) else OPEN
        if end == OPEN:
            continue
        return end != NONE and _push_closed(state, start_line, source, end, is_last=is_last)
    if line != state.env.get(OPEN_AT) or state.eMarks[line - 1] > last_start:
        return False
    _push_paragraph(state, start_line, line, source, raw=True)
    return True


def _push_closed(state: StateBlock, start_line: int, source: str, end: int, *, is_last: bool) -> bool:
    """Push a formula that is closed; with words behind it, it is part of a paragraph."""
    behind = source.find("\n", end)
    behind = len(source) if behind < 0 else behind
    last = start_line + source.count("\n", 0, end) + 1
    if source[end:behind].strip():
        if last == start_line + 1:
            return False
        _push_paragraph(state, start_line, last, source[:behind].rstrip(), raw=False)
        return True
    if is_last and behind == len(source):
        # Words may still come behind it.
        _push_paragraph(state, start_line, last, source, raw=True)
        return True
    token = state.push("formula", "", 0)
    token.content, token.info, token.map = latex_of(source[:end]), source[:end], [start_line, last]
    state.line = last
    return True


def _push_paragraph(state: StateBlock, start_line: int, end_line: int, content: str, *, raw: bool) -> None:
    state.push("paragraph_open", "p", 1).map = [start_line, end_line]
    inline = state.push("inline", "", 0)
    inline.content, inline.children, inline.map = content, [], [start_line, end_line]
    inline.meta = {"raw": raw}
    state.push("paragraph_close", "p", -1)
    state.line = end_line
