"""How the blocks of an answer lie: how far apart, how far in, and about how high while nobody has looked at them."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from app.gui import theme
from app.gui.chat.code_view import HEAD_PX, LINE_PX, PADDING_PX
from app.gui.chat.shown_runs import is_right_to_left
from app.gui.chat.table_view import CELL_Y
from app.gui.chat.text_view import RULE_PX
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Rule, Table, text_of

ITEM_PX, QUOTE_PX, BAR_PX = 28, 16, 3
GAP_PX, TIGHT_GAP_PX, LINE_GAP_PX = 12, 4, 0
HEADING_GAP_PX, BOX_GAP_PX = 20, 8
LEAST_WIDTH_PX = 60.0
"""However deep a block lies in lists, its text keeps this width."""


class Indent(NamedTuple):
    """How far in a block lies, and where the bars of the quotes around it are."""

    left: float
    bars: tuple[float, ...]
    taken: float
    """What its lists and quotes leave it less of the width; they lie on the right of what is read from there."""


NO_INDENT = Indent(0.0, (), 0.0)


def indent(value: Block, width: float) -> Indent:
    """Return where a block lies inside its lists and quotes."""
    if not value.place.frames:
        return NO_INDENT
    left, bars = 0.0, []
    for frame in value.place.frames:
        if frame == "quote":
            bars.append(left)
        left += theme.reading_px(QUOTE_PX if frame == "quote" else ITEM_PX)
    shrink = min(1.0, max(width - LEAST_WIDTH_PX, 0.0) / left)
    taken = left * shrink
    if isinstance(value, Paragraph) and is_right_to_left(value.runs):
        return Indent(0.0, tuple(width - bar * shrink - BAR_PX for bar in bars), taken)
    return Indent(taken, tuple(bar * shrink for bar in bars), taken)


def gap(before: Block | None, after: Block) -> int:
    """Return how far a block lies under the one before it."""
    if before is None:
        return 0
    if isinstance(after, Paragraph) and after.level:
        return HEADING_GAP_PX
    if isinstance(before, Paragraph) and before.level:
        return BOX_GAP_PX
    if after.place.gap == "\n\n":
        return GAP_PX
    if not (isinstance(before, Paragraph) and isinstance(after, Paragraph)):
        return BOX_GAP_PX
    is_apart = bool(before.place.frames or after.place.frames) and after.place.gap
    return TIGHT_GAP_PX if is_apart else LINE_GAP_PX


def estimate(value: Block, width: float, advance: float, line_px: int) -> float:
    """Return about how high a block will be; `advance` is the width of a character on average."""
    match value:
        case Paragraph():
            text = text_of(value.runs)
            return max(len(text) * advance // width + 1, text.count("\n") + 1) * line_px
        case Code():
            lines = value.code.count("\n") + 1
            return lines * theme.reading_px(LINE_PX) + theme.reading_px(HEAD_PX) + PADDING_PX
        case Table():
            return len(value.rows) * (line_px + 2 * CELL_Y)
        case Formula():
            return (value.source.count("\n") + 1) * line_px
        case Rule():
            return RULE_PX
    assert_never(value)
