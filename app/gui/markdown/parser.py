"""The parser of Markdown with the rules of this program: CommonMark, tables and strikethrough.

It finds blocks and leaves what stands in their lines unread. Loses no character but syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from app.gui.markdown.links import is_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST_NESTED = 80
"""The parser drops what lies deeper in lists and quotes: a text with such a line is shown as it is."""
MARKS = "\n*_~`[]!<\\"
"""Where something other than text may begin inside a line."""
_MOST_BRACKETS = 60
_LATEX = "()[]"
_MARK = re.compile(f"[{re.escape(MARKS)}]")


@cache
def parser() -> MarkdownIt:
    """Return the parser; making it is left to the first text, after the window is there."""
    # Costs 41 ms, which the start of the window does not wait for.
    from markdown_it import MarkdownIt  # noqa: PLC0415
    from markdown_it.rules_inline import image, link  # noqa: PLC0415

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED}).enable(["table", "strikethrough"])
    # A definition of a reference changes what was read long before it, and would itself vanish.
    made.disable(["reference", "entity", "html_block", "html_inline"])
    made.core.ruler.disable(["inline", "text_join"])
    made.inline.ruler.at("text", _text)
    made.inline.ruler.at("escape", _escape)
    made.inline.ruler.at("link", _unless_crowded(link))
    made.inline.ruler.at("image", _unless_crowded(image))
    # Its own list of schemes would let files through; an address is shown as it was written.
    for name, rule in {"validateLink": is_link, "normalizeLink": str, "normalizeLinkText": str}.items():
        setattr(made, name, rule)
    return made


def parse_inline(source: str) -> list[Token]:
    """Return what stands in a stretch of running text; the cost grows with the square of its marks."""
    made, tokens = parser(), list["Token"]()
    made.inline.parse(source, made, {}, tokens)
    return tokens


def _text(state: StateInline, silent: bool) -> bool:
    """Take all that is certainly text in one go: the parser's own rule stops at thirteen more characters."""
    found = _MARK.search(state.src, state.pos, state.posMax)
    end = found.start() if found is not None else state.posMax
    if end == state.pos:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _escape(state: StateInline, silent: bool) -> bool:
    """Take a backslash before punctuation away, but not from the brackets that begin and end a formula."""
    position = state.pos
    if state.src[position] != "\\" or position + 1 >= state.posMax:
        return False
    following = state.src[position + 1]
    if following == "\n":
        return False
    is_punctuation = following.isascii() and not following.isalnum() and following.isprintable() and following != " "
    if not is_punctuation:
        return False
    if not silent:
        state.pending += "\\" + following if following in _LATEX else following
    state.pos += 2
    return True


def _unless_crowded(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Return a rule that gives up where many brackets would make it look at the rest of the text for each of them."""

    def guarded(state: StateInline, silent: bool) -> bool:
        return state.src.count("[") <= _MOST_BRACKETS and rule(state, silent)

    return guarded
