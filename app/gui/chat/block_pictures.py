"""Which picture shows a block of an answer: a new one, or the one that is there. Knows no places."""

from __future__ import annotations

from typing import assert_never

from app.gui.chat.formula_view import FormulaView
from app.gui.chat.later import Later, later
from app.gui.chat.leaf import Leaf
from app.gui.chat.text_view import RuleView, TextView
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Rule, Table


def made(value: Block, lexers: Lexers, formulas: Formulas, *, is_open: bool) -> Leaf:
    """Return a picture of a block; `is_open` says that more of it will come."""
    match value:
        case Paragraph():
            return TextView(value, formulas)
        case Code() | Table():
            return later(value, lexers, formulas, is_open=is_open)
        case Formula():
            return FormulaView(value, formulas, is_open=is_open)
        case Rule():
            return RuleView(value)
    assert_never(value)


def quiet(value: Block, lexers: Lexers, formulas: Formulas, *, is_open: bool) -> Leaf:
    """Return a picture of a block of the thinking, whose words are a little smaller than the answer's."""
    if isinstance(value, Paragraph):
        return TextView(value, formulas, is_quiet=True)
    return made(value, lexers, formulas, is_open=is_open)


def kept(leaf: Leaf, shown: Block, value: Block, *, is_open: bool) -> Leaf | None:
    """Return the picture that is there, if it shows the block or has grown to show it."""
    if isinstance(leaf, Later) and isinstance(value, Code | Table):
        return leaf if leaf.grow(value, is_open=is_open) else None
    if isinstance(leaf, FormulaView):
        return leaf if shown == value and (is_open or leaf.is_closed) else None
    return leaf if shown == value else None
