"""Where the stretches of a tree of lanes lie: each goes on to the right of the one it forks from, the likeliest straight on.

Plain geometry in pixels, the same for the window and for a report. Knows no widget and no theme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from app.services.lane_analysis import BranchNode

LEAST_PX, PER_TOKEN_PX, MOST_PX = 96.0, 1.5, 460.0
"""How long a stretch is: so much, and so much more a token, up to the last."""
FORK_PX, EMPTY_PX, ROW_PX, MARGIN_PX, END_PX = 64.0, 14.0, 50.0, 22.0, 70.0
THINNEST_PX, THICKEST_PX = 2.0, 8.0
LEAST_ZOOM, MOST_FITTING, MOST_ZOOM = 0.3, 2.0, 4.0
_ROW_ZOOM = (0.92, 1.5)


class NodePlace(NamedTuple):
    """A stretch: a line from left to right at a height."""

    left: float
    right: float
    y: float
    thickness: float


class BranchLayout(NamedTuple):
    """All stretches, in the order of the tree's nodes."""

    places: tuple[NodePlace, ...]
    width: float
    height: float

    def at(self, x: float, y: float) -> int | None:
        """Return the stretch at a place, its text included."""
        for number, place in enumerate(self.places):
            if place.left - FORK_PX / 2 <= x <= place.right + EMPTY_PX and -26 <= y - place.y <= 20:
                return number
        return None


def branch_layout(tree: Sequence[BranchNode], zoom: float = 1.0, height: float | None = None) -> BranchLayout:
    """Return where everything lies; `zoom` makes stretches longer, so that more of their text is seen.

    Where a height is given, rows lie no further apart than it allows, as long as they can be read.
    """
    row_px = ROW_PX * min(max(zoom, _ROW_ZOOM[0]), _ROW_ZOOM[1])
    rows = _rows(tree)
    if height is not None:
        room = (height - 2 * (MARGIN_PX + 14)) / max(*rows, 1, 1)
        row_px = min(row_px, max(room, ROW_PX * _ROW_ZOOM[0]))
    places: list[NodePlace] = []
    for number, node in enumerate(tree):
        left = MARGIN_PX
        if node.parent is not None:
            left = places[node.parent].right + FORK_PX * min(zoom, 1.5)
        length = EMPTY_PX
        if node.end > node.start:
            length = min(LEAST_PX + PER_TOKEN_PX * (node.end - node.start), MOST_PX) * zoom
        y = MARGIN_PX + 14 + rows[number] * row_px
        places.append(NodePlace(left, left + length, y, thickness(node)))
    width = max((place.right for place in places), default=0.0) + END_PX
    height = max((place.y for place in places), default=0.0) + MARGIN_PX + 14
    return BranchLayout(tuple(places), width, height)


def thickness(node: BranchNode) -> float:
    """Return how thick a stretch is: by the probability that the model gave its first token."""
    if node.parent is None:
        return THICKEST_PX
    if node.probability is None:
        return THINNEST_PX
    return THINNEST_PX + (THICKEST_PX - THINNEST_PX) * math.sqrt(max(node.probability, 0.0))


def fitting_zoom(tree: Sequence[BranchNode], width: float) -> float:
    """Return the zoom at which all of a tree is as wide as there is room, or as wide as is good to read."""
    least, most = LEAST_ZOOM, MOST_FITTING
    for _step in range(20):
        middle = (least + most) / 2
        if branch_layout(tree, middle).width <= width:
            least = middle
        else:
            most = middle
    return least


def neighbour(tree: Sequence[BranchNode], layout: BranchLayout, node: int, across: int, down: int) -> int:
    """Return the stretch to the right or left of one, or below or above it; the same one where there is none."""
    if across > 0:
        return tree[node].children[0] if tree[node].children else node
    if across < 0:
        parent = tree[node].parent
        return parent if parent is not None else node
    here = layout.places[node]
    beside = [
        (abs(place.left - here.left) + 3 * abs(place.y - here.y), number)
        for number, place in enumerate(layout.places)
        if (place.y - here.y) * down > 0
    ]
    return min(beside)[1] if beside else node


def _rows(tree: Sequence[BranchNode]) -> list[int]:
    """Return the row of each stretch: the first child goes straight on, each other one takes new rows below."""
    rows = [0] * len(tree)
    used = 0
    waiting = [0] if tree else []
    while waiting:
        number = waiting.pop()
        node = tree[number]
        is_first = node.parent is None or tree[node.parent].children[0] == number
        if node.parent is None:
            rows[number] = used
        elif is_first:
            rows[number] = rows[node.parent]
        else:
            used += 1
            rows[number] = used
        waiting += reversed(node.children)
    return rows
