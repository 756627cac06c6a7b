"""A block of an answer with its picture and its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from app.gui.chat.block_places import NO_INDENT, Indent
from app.gui.chat.leaf import Leaf
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.values import Block

OLD = -2.0


class Pictures(Protocol):
    """Makes the picture of a block; `is_open` says that more of it will come."""

    def __call__(self, value: Block, lexers: Lexers, formulas: Formulas, *, is_open: bool) -> Leaf:
        """Return the picture."""
        ...


class Laid(msgspec.Struct, gc=False, eq=False):
    """A block with its picture and its place; as `values` says, no part of a circle."""

    value: Block
    leaf: Leaf
    start: int
    """Of its text in the text of the whole answer."""
    length: int
    gap: int = 0
    """How far it lies under the block before."""
    indent: Indent = NO_INDENT
    width: float = -1.0
    """Of the column that it was measured for; `OLD` where its picture is of another size of text."""


def text_of(laid: Iterable[Laid]) -> str:
    """Return what can be read of some blocks, and what lies between them."""
    return "".join(each.value.place.gap + each.value.text for each in laid)
