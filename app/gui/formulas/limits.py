"""What keeps a formula from taking the machine: how long, how deep and how large one may be. Knows no library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_CHARACTERS = 2000
MOST_BRACES = 40
"""So deep may braces lie in each other."""
MOST_ELEMENTS = 800
"""Of MathML; the time for a row grows with the square of their number, to half a second."""
MOST_LEVELS = 48
MOST_WIDTH, MOST_HEIGHT = 800.0, 200.0
"""Of the picture, in widths of an M."""
_DEFINES = re.compile(
    r"\\(?:[gex]?def|let|(?:re)?new(?:command|environment)|providecommand|DeclareMathOperator)(?![a-z])"
)
"""A few of these, each used twice by the next, make a formula of any length."""
_NESTING = re.compile(r"\\.|[{}]", re.DOTALL)
_HUGE = re.compile(r"\d{4}|\d[eE]\d|inf|nan", re.IGNORECASE)
_UNKNOWN = re.compile(r"\\[A-Za-z]")


class Unreadable(Exception):
    """A formula that is shown as it was written."""


def check_source(latex: str) -> None:
    """Raise `Unreadable` for LaTeX that is not even tried."""
    if not latex.strip() or len(latex) > MOST_CHARACTERS or _DEFINES.search(latex):
        raise Unreadable
    depth = 0
    for mark in _NESTING.findall(latex):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if not 0 <= depth <= MOST_BRACES:
            raise Unreadable
    if depth:
        raise Unreadable


def check_elements(root: Element) -> None:
    """Raise `Unreadable` for MathML that is too long, too deep, or holds huge lengths or commands nobody knew."""
    level, count = [root], 0
    for _ in range(MOST_LEVELS):
        for element in level:
            count += 1
            for name, value in element.attrib.items():
                if "color" not in name and "background" not in name and _HUGE.search(value):
                    raise Unreadable
            if element.text and _UNKNOWN.search(element.text):
                raise Unreadable
        level = [child for element in level for child in element]
        if not level:
            break
    if level or count > MOST_ELEMENTS:
        raise Unreadable
