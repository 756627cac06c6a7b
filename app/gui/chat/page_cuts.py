"""Where a turn may be cut from one page to the next: between two lines, and never right under its name."""

from __future__ import annotations

from app.gui.chat.lines import top_above
from app.gui.chat.turn_block import GAP_PX, TurnBlock

_SLACK_PX = 0.5


def printed_height(block: TurnBlock) -> float:
    """Return how high a turn is on paper, the room for buttons under it left out."""
    return float(block.height - GAP_PX)


def cut_below(block: TurnBlock, top: float, room: float) -> float | None:
    """Return where the part of a turn ends that begins at a height and has so much room; None where nothing fits."""
    height = printed_height(block)
    if height - top <= room + _SLACK_PX:
        return height
    y = top + room - block.text_top
    body = block.body
    if y >= body.height:
        cut = block.text_top + body.height  # the figures under the text go to the next page
    else:
        cut = block.text_top + top_above(body, y)
    least = max(top, float(block.text_top))
    return cut if cut > least + _SLACK_PX else None
