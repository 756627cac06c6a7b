"""The parser of Markdown with the rules of this program: CommonMark, GitHub's tables, strikethrough and footnotes, and
formulas.

It finds blocks and leaves what stands in their lines unread. Loses no character but syntax.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from app.gui.markdown import block_rules, inline_rules
from app.gui.markdown.inline_rules import MARKS
from app.gui.markdown.links import is_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["MARKS", "MOST_NESTED", "parse_inline", "parser"]

MOST_NESTED = 80
"""The parser drops what lies deeper in lists and quotes: a text with such a line is shown as it is."""
_ENDS = ["paragraph", "reference", "blockquote", "list"]
"""What ends where a formula or a footnote begins."""


@cache
def parser() -> MarkdownIt:
    """Return the parser; making it is left to the first text, after the window is there."""
    # Costs 41 ms, which the start of the window does not wait for.
    from markdown_it import MarkdownIt  # noqa: PLC0415
    from markdown_it.rules_inline import image, link  # noqa: PLC0415

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED}).enable(["table", "strikethrough"])
    # A definition of a reference changes what was read long before it, and would itself vanish.
    made.disable(["reference", "html_block", "html_inline"])
    made.core.ruler.disable(["inline", "text_join"])
    made.block.ruler.before("table", "formula", block_rules.formula, {"alt": _ENDS})
    made.block.ruler.before("table", "note", block_rules.note, {"alt": _ENDS})
    made.inline.ruler.at("text", inline_rules.text)
    made.inline.ruler.at("escape", inline_rules.escape)
    made.inline.ruler.at("entity", inline_rules.entity)
    made.inline.ruler.before("escape", "formula", inline_rules.formula)
    made.inline.ruler.at("link", inline_rules.unless_crowded(link))
    made.inline.ruler.at("image", inline_rules.unless_crowded(image))
    made.inline.ruler.before("link", "note", inline_rules.note)
    # Its own list of schemes would let files through; an address is shown as it was written.
    for name, rule in {"validateLink": is_link, "normalizeLink": str, "normalizeLinkText": str}.items():
        setattr(made, name, rule)
    return made


def parse_inline(source: str) -> list[Token]:
    """Return what stands in a stretch of running text; the cost grows with the square of its marks."""
    made, tokens = parser(), list["Token"]()
    made.inline.parse(source, made, {}, tokens)
    return tokens
