"""What this program reads inside a line beyond the parser's own rules, or other than they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.entities import html5
from typing import TYPE_CHECKING

from app.gui.markdown.labels import REFERENCE, is_label
from app.gui.markdown.latex import formula_end

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

MARKS = "\n*_~`[]!<\\$&"
"""Where something other than text may begin inside a line."""
_MOST_BRACKETS = 60
_LATEX = "()[]"
_MARK = re.compile(f"[{re.escape(MARKS)}]")
_ENTITY = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));")
_REPLACEMENT = "\ufffd"
_UNICODE_END = 0x110000
_SURROGATES = range(0xD800, 0xE000)


def text(state: StateInline, silent: bool) -> bool:
    """Take all that is certainly text in one go: the parser's own rule stops at thirteen more characters."""
    found = _MARK.search(state.src, state.pos, state.posMax)
    end = found.start() if found is not None else state.posMax
    if end == state.pos:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def formula(state: StateInline, silent: bool) -> bool:
    """Take a formula whole: nothing inside it is a mark of Markdown."""
    if state.src[state.pos] not in "$\\":
        return False
    end = formula_end(state.src, state.pos)
    if end <= 0 or end > state.posMax:
        return False
    if not silent:
        state.push("formula", "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def escape(state: StateInline, silent: bool) -> bool:
    """Take a backslash before punctuation away, but not from the brackets that begin and end a formula."""
    position = state.pos
    if state.src[position] != "\\" or position + 1 >= state.posMax:
        return False
    following = state.src[position + 1]
    if following == "\n":
        return _hard_break(state, silent)
    is_punctuation = following.isascii() and not following.isalnum() and following.isprintable() and following != " "
    if not is_punctuation:
        return False
    if not silent:
        state.pending += "\\" + following if following in _LATEX else following
    state.pos += 2
    return True


def entity(state: StateInline, silent: bool) -> bool:
    """Take the name or number of a character for the character, where that can be seen."""
    found = _ENTITY.match(state.src, state.pos, state.posMax)
    character = _named(found) if found is not None else ""
    if found is None or not character:
        return False
    if not silent:
        state.pending += character
    state.pos = found.end()
    return True


def note(state: StateInline, silent: bool) -> bool:
    """Take the reference to a footnote."""
    found = REFERENCE.match(state.src, state.pos, state.posMax)
    if found is None or not is_label(found[1]):
        return False
    if not silent:
        state.push("note", "", 0).content = found[1]
    state.pos = found.end()
    return True


def unless_crowded(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Return a rule that gives up where many brackets would make it look at the rest of the text for each of them."""

    def guarded(state: StateInline, silent: bool) -> bool:
        return state.src.count("[") <= _MOST_BRACKETS and rule(state, silent)

    return guarded


def _hard_break(state: StateInline, silent: bool) -> bool:
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos += 2
    while state.pos < state.posMax and state.src[state.pos] in " \t":
        state.pos += 1
    return True


def _named(entity: re.Match[str]) -> str:
    """Return the character that an entity names; nothing for one that is not known or that cannot be seen."""
    if entity[3]:
        character = html5.get(entity[3] + ";", "")
    else:
        code = int(entity[1], 16) if entity[1] else int(entity[2])
        is_character = 0 < code < _UNICODE_END and code not in _SURROGATES
        character = chr(code) if is_character else _REPLACEMENT
    # A line's end would begin a new line in the middle of a cell; other characters of this kind do as they like.
    return "" if any(each < " " or "\x7f" <= each < "\xa0" for each in character) else character
