"""Sets LaTeX with ziamath. Loading this takes a third of a second: import it in the background, when it is needed."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from ziamath.config import config
from ziamath.nodes.mrow import Mrow
from ziamath.nodes.mspace import Mpadded, Mphantom
from ziamath.tex import tex2mml
from ziamath.zmath import Math

from app.gui.formulas.limits import check_elements, check_source
from app.gui.formulas.picture import EM, Picture, picture

_SPELLINGS = (
    (re.compile(r"\\tag\*?\s*\{([^{}]*)\}"), r"\\qquad\\text{(\1)}"),
    (re.compile(r"\\label\s*\{[^{}]*\}|\\(?:nonumber|notag|displaylimits)(?![A-Za-z])"), ""),
    # A space keeps ziamath's own replacement away, which breaks braces inside of the braces.
    (re.compile(r"\\([dt]?binom)(?![A-Za-z])"), r"\\\1 "),
    (re.compile(r"\\(?:bm|boldsymbol|pmb)(?![A-Za-z])"), r"\\mathbf"),
    (re.compile(r"\\mathop(?![A-Za-z])"), ""),
    (re.compile(r"\\(?:lvert|rvert)(?![A-Za-z])"), r"|"),
    (re.compile(r"\\(?:lVert|rVert)(?![A-Za-z])"), r"\\Vert "),
)
"""What models write, in words that the library knows."""


class _Once:
    """Measures a row once where nothing in it is stretched.

    The library measures every row before it sets it, and the rows inside of it both times: so its work doubles with
    every level, and a formula ten levels deep takes seconds.
    """

    def _get_height_nostretch(self, line: list[ET.Element], **kwargs: Any) -> tuple[float, float]:
        if kwargs.get("nostretch"):
            return 0.0, 0.0
        found: tuple[float, float] = super()._get_height_nostretch(line, **kwargs)  # type: ignore[misc]
        return found


# The library asks its register of classes for each element; a later class takes the place of an earlier one.
class _Row(_Once, Mrow, tag="mrow"):
    pass


class _Padded(_Once, Mpadded, tag="mpadded"):
    pass


class _Phantom(_Once, Mphantom, tag="mphantom"):
    pass


def typeset(latex: str, *, display: bool) -> Picture:
    """Set a formula, with `display` one on its own lines; raise `Unreadable`, or what the library raises."""
    check_source(latex)
    for pattern, spelling in _SPELLINGS:
        latex = pattern.sub(spelling, latex)
    root = ET.fromstring(tex2mml(latex, inline=not display))
    check_elements(root)
    config.svg2 = False  # each glyph comes as a path, not as a reference to one
    math = Math(root, EM, margin=0)
    elements = ET.Element("svg")
    math.node.draw(0, 0, elements)
    box = math.node.bbox
    return picture(elements, box.xmin, box.xmax, box.ymax, -box.ymin)
