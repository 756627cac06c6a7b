"""The line that a reader is at: the first that begins in view, which stays where it is when everything changes its height."""

from __future__ import annotations

from typing import NamedTuple

from app.gui.chat.lines import bottom_below, top_of
from app.gui.chat.turn_list import TurnList


class Anchor(NamedTuple):
    """A line, by its turn and one of its characters, and how far below the top of the view it begins."""

    turn: int
    offset: int
    below: float

    def scrolled_in(self, turns: TurnList) -> int:
        """Return how far turns must be scrolled for the line to be where it was."""
        turns.update(self.turn)
        block = turns.blocks[self.turn]
        return round(turns.top(self.turn) + block.text_top + top_of(block.body, self.offset) - self.below)


def anchor_at(turns: TurnList, scrolled: int) -> Anchor | None:
    """Return the first line that begins below the top of the view; None where there is none."""
    if not turns.blocks:
        return None
    index = turns.index_at(scrolled)
    turns.update(index)
    body = turns.blocks[index].body
    y = float(scrolled - turns.top(index) - turns.blocks[index].text_top)
    line = bottom_below(body, y) if y > 0 else 0.0
    if line >= body.height:
        index, line = index + 1, 0.0
        if index == len(turns.blocks):
            return None
        turns.update(index)
        body = turns.blocks[index].body
    top = turns.top(index) + turns.blocks[index].text_top + line
    return Anchor(index, body.offset_at(0.0, line), top - scrolled)
