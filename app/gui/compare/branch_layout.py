"""Where the stretches of a tree of lanes lie, and what is written at them: each goes on to the right of its parent.

Plain geometry in pixels, the same for the window and for a report. Knows no widget and no theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from app.gui.compare.branch_axis import Axis, axis_of
from app.gui.compare.branch_rows import Need, RowPlaces, rows_of, spread
from app.gui.compare.branch_words import letters_of, node_figures, node_text, shortened
from app.services.lane_analysis import BranchNode

FORK_PX, MARGIN_PX, BADGE_PX, SPACE_PX, RULER_PX = 36.0, 22.0, 16.0, 6.0, 14.0
THINNEST_PX, THICKEST_PX = 2.0, 12.0
HALF_PX = 8.0
"""Above and below the middle of a line nothing is written so far: the thickest line and a badge fit there."""
LEAST_PX, MOST_LEAST_PX, LEAF_PX = 48.0, 132.0, 150.0
"""A stretch that forks has at least so much room, where it is short and no more than that; a last one so much."""
MOST_CHARACTERS = 40_000
"""More of all texts together is never shown, however large the tree is: they are laid out while somebody zooms."""
MOST_MEASURED = 200
"""So many characters are as wide as a stretch that forks would like to be at the most."""
SEEN_WORDS = 8
"""The longest of so many words fits into a stretch that forks, where there is room for that."""
MOST_RATE = 36.0
"""Pixels a token: then all of a text stands on one line."""
LEAST_RULER_PX, BARE_PX = 8.0, 12.0
"""However many tokens there are, so much is theirs; so long is a stretch of which nothing is read."""
_TRIES = 14
LEAST_ZOOM, MOST_ZOOM = 0.5, 8.0
_STEPS = ((1.0, 0.4), (0.7, 0.4), (0.4, 0.3), (0.0, 0.15))
"""How much of what it would like a short stretch gets, where so much of the width is left for the tokens themselves."""


class Measure(Protocol):
    """How wide texts are, where they are shown."""

    @property
    def line_px(self) -> float:
        """Height of a line of what a stretch says."""

    @property
    def small_px(self) -> float:
        """Height of a line of figures."""

    def width(self, text: str) -> float:
        """Return how wide a text is."""

    def small(self, text: str) -> float:
        """Return how wide figures are."""

    def lines(self, text: str, width: float, most: int) -> tuple[str, ...]:
        """Return the beginning of a text as at most so many lines that are no wider."""

    def elided(self, text: str, width: float) -> str:
        """Return the beginning of a text, ending in … where that is not all of it."""


class Badge(NamedTuple):
    """The letters of lanes that end."""

    left: float
    width: float
    lanes: tuple[int, ...]
    is_open: bool


class NodePlace(NamedTuple):
    """A stretch: a line from left to right at a height, its figures above it and its text below."""

    left: float
    right: float
    y: float
    thickness: float
    fork: float
    """From where those that go on from it lead off: behind the badges."""
    badges: tuple[Badge, ...]
    figures: str
    text: tuple[str, ...]
    box: tuple[float, float, float, float]
    """Left, top, right and bottom of all of it."""


class BranchLayout(NamedTuple):
    """All stretches, in the order of the tree's nodes."""

    places: tuple[NodePlace, ...]
    width: float
    height: float
    axis: Axis | None = None
    ticks: tuple[tuple[float, int], ...] = ()
    ruler_px: float = 0.0

    def at(self, x: float, y: float) -> int | None:
        """Return the stretch at a place, its text included."""
        for number, place in enumerate(self.places):
            left, top, right, bottom = place.box
            if left - SPACE_PX <= x <= right + SPACE_PX and top <= y <= bottom:
                return number
        return None

    def seen(self, width: int, height: int, bar_width: int, bar_height: int) -> tuple[int, int]:
        """Return what is left of so much room by the scroll bars that are needed there."""
        across, down = width, height
        for _bar in range(2):  # one may make the other necessary
            across = width - (bar_width if self.height > down else 0)
            down = height - (bar_height if self.width > across else 0)
        return across, down


def branch_layout(
    tree: Sequence[BranchNode],
    measure: Measure,
    width: float,
    height: float,
    zoom: float = 1.0,
    texts: Sequence[str] | None = None,
) -> BranchLayout:
    """Return where everything lies in so much room, or in more where even lines without texts have none.

    `zoom` makes the room larger, so that more of the texts is seen; up to 1 texts may be left out. `texts` is what
    the stretches say on one line, where somebody has that already.
    """
    if not tree:
        return BranchLayout((), 0, 0)
    said = shortened([node_text(node) for node in tree] if texts is None else texts, MOST_CHARACTERS)
    wide = width * zoom
    badges = [_badges(node, measure) for node in tree]
    axis, whole = _fitting_axis(
        tree, [_wanted(*each, measure) for each in zip(tree, said, strict=True)], badges, wide, zoom
    )
    ends = [axis.x(node.end) + _taken(each) for node, each in zip(tree, badges, strict=True)]
    room = max(wide - MARGIN_PX, whole)
    rooms = [
        (axis.x(node.end) if node.children else room) - _left(node, axis) - (SPACE_PX if node.children else 0)
        for node in tree
    ]
    ruler = measure.small_px + RULER_PX
    lines, needs, places = _written(tree, said, rooms, measure, height * zoom - ruler - 8, 1 if zoom > 1 else 0)
    made = [
        _placed(node, measure, badges[number], axis, (rooms[number], lines[number], needs[number], places))
        for number, node in enumerate(tree)
    ]
    return BranchLayout(
        tuple(place._replace(y=place.y + ruler, box=_lower(place.box, ruler)) for place in made),
        max(*(place.box[2] for place in made), *ends) + MARGIN_PX / 2,
        ruler + places.height + 8,
        axis,
        axis.ticks(measure.small("0,000") + 2 * SPACE_PX),
        ruler,
    )


def thickness(node: BranchNode) -> float:
    """Return how thick a stretch is: as the probability that the model gave its first token, in proportion to it."""
    if node.parent is None:
        return THICKEST_PX
    return max(THINNEST_PX, THICKEST_PX * (node.probability or 0.0))


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


def _badges(node: BranchNode, measure: Measure) -> tuple[Badge, ...]:
    """Return one for those that have ended and one for those that are here so far, from the end of the line."""
    made: list[Badge] = []
    at = SPACE_PX
    some = node.end > 0  # at the root are those that have not begun, or never did
    ended = tuple(lane for lane in node.ends if lane not in node.open) if some else ()
    here = node.open if some else ()
    for own, is_open in ((ended, False), (here, True)):
        if own:
            width = BADGE_PX if len(own) == 1 else max(measure.small(letters_of(own)) + 2 * SPACE_PX, BADGE_PX)
            made.append(Badge(at, width, own, is_open))
            at += width + SPACE_PX / 2
    return tuple(made)


def _taken(badges: Sequence[Badge]) -> float:
    return badges[-1].left + badges[-1].width + SPACE_PX / 2 if badges else 0.0


def _left(node: BranchNode, axis: Axis) -> float:
    if node.parent is None:
        return MARGIN_PX
    return axis.leaves[axis.tokens.index(node.start)]


def _fitting_axis(
    tree: Sequence[BranchNode],
    wanted: Sequence[tuple[float, float]],
    badges: Sequence[tuple[Badge, ...]],
    width: float,
    zoom: float,
) -> tuple[Axis, float]:
    """Return the longest ruler that fits, and how far the tree reaches.

    Short stretches get less than they would like before tokens get too little, and at last no room for texts at all.
    """
    gaps: dict[int, float] = {}
    for node, own in zip(tree, badges, strict=True):
        if node.children:
            gaps[node.end] = max(gaps.get(node.end, 0.0), FORK_PX + _taken(own))
    tokens = max(*(node.end for node in tree), 1)

    def made(rate: float, least: list[float], leaf: float) -> tuple[Axis, float]:
        axis = axis_of(tree, least, gaps, rate, MARGIN_PX)
        ends = [axis.x(node.end) + _taken(own) for node, own in zip(tree, badges, strict=True)]
        return axis, max(ends + [_left(node, axis) + leaf for node in tree if not node.children])

    def fits(rate: float, least: list[float], leaf: float) -> bool:
        return made(rate, least, leaf)[1] + MARGIN_PX <= width

    tried = [([low + share * (most - low) for low, most in wanted], LEAF_PX, even) for share, even in _STEPS]
    tried.append(([min(low, LEAST_PX) for low, _most in wanted], LEAF_PX, 0.08))
    tried.append(([min(low, BARE_PX) for low, _most in wanted], BARE_PX, 0.0))
    for least, leaf, even in tried:
        low, high = LEAST_RULER_PX / tokens, min(MOST_RATE * max(zoom, 1.0), max(width, LEAST_RULER_PX) / tokens)
        if not fits(low, least, leaf):
            continue
        for _try in range(_TRIES):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle, least, leaf) else (low, middle)
        if low * tokens >= even * width or low > MOST_RATE * 0.99:
            break
    return made(low, least, leaf)


def _wanted(node: BranchNode, text: str, measure: Measure) -> tuple[float, float]:
    """Return how long a stretch must be for its words, and how long it would like to be, whatever its tokens.

    A last one may write beyond its end.
    """
    if not node.children:
        return (4.0, 4.0) if node.end > node.start else (BARE_PX, BARE_PX)
    if node.end == node.start:
        return BARE_PX, BARE_PX
    begins = text[:MOST_MEASURED]
    figures = measure.small(node_figures(node)[1 if node.parent is not None else 0])
    wanted = min(max(measure.width(begins), figures) + 2 * SPACE_PX, MOST_LEAST_PX)
    longest = max(measure.width(word) for word in begins.split()[:SEEN_WORDS]) + 2 * SPACE_PX
    return min(max(longest, LEAST_PX), wanted), wanted


def _written(
    tree: Sequence[BranchNode],
    said: Sequence[str],
    rooms: Sequence[float],
    measure: Measure,
    height: float,
    least: int,
) -> tuple[list[tuple[str, ...]], list[Need], RowPlaces]:
    """Return the texts as lines, what they want of the rows, and the rows.

    Of each text about as many lines are made as there is room for, as a whole one may be long.
    """
    rows = rows_of(tree)
    needs = [Need(rows[number], min(len(text), 1), _last_row(tree, rows, number)) for number, text in enumerate(said)]
    lines: list[tuple[str, ...]] = [()] * len(tree)
    most = max(int(height // measure.line_px) // (max(rows) + 1), least) + 1
    unread = [number for number, need in enumerate(needs) if need.lines and need.last == need.row]
    while True:
        for number in unread:
            lines[number] = measure.lines(said[number], max(rooms[number], 1.0), most)
            needs[number] = needs[number]._replace(lines=len(lines[number]))
        places = spread(needs, measure.line_px, measure.small_px + 2 * HALF_PX, height, least)
        if max(places.lines) < most:
            break
        unread = [number for number in unread if len(lines[number]) == most]
        most *= 2
    for number, need in enumerate(needs):
        room = places.lines_at(need, measure.line_px)
        if room and need.last != need.row:
            lines[number] = measure.lines(said[number], max(rooms[number], 1.0), room + 1)
    return lines, needs, places


def _last_row(tree: Sequence[BranchNode], rows: Sequence[int], number: int) -> int:
    """Return the lowest row of all that goes on from a stretch."""
    children = tree[number].children
    return max((_last_row(tree, rows, child) for child in children), default=rows[number])


def _placed(
    node: BranchNode,
    measure: Measure,
    badges: tuple[Badge, ...],
    axis: Axis,
    room: tuple[float, tuple[str, ...], Need, RowPlaces],
) -> NodePlace:
    width, text, need, rows = room
    left, right = _left(node, axis), axis.x(node.end)
    y = rows.tops[need.row] + measure.small_px + HALF_PX
    most = rows.lines_at(need, measure.line_px)
    shown = text[:most]
    if shown and len(shown) < len(text):
        shown = (*shown[:-1], measure.elided(" ".join(text[most - 1 :]), width))
    figures = ""
    if node.end > node.start:
        said = node_figures(node)
        figures = next((each for each in said if measure.small(each) <= width + SPACE_PX), "")
    placed = tuple(badge._replace(left=right + badge.left) for badge in badges)
    written = max([measure.small(figures), *(measure.width(line) for line in shown)])
    box = (
        left,
        y - HALF_PX - measure.small_px,
        max(right, left + written, *(badge.left + badge.width for badge in placed), left + 12),
        y + HALF_PX + len(shown) * measure.line_px,
    )
    return NodePlace(left, right, y, thickness(node), right + _taken(badges), placed, figures, shown, box)


def _lower(box: tuple[float, float, float, float], by: float) -> tuple[float, float, float, float]:
    return box[0], box[1] + by, box[2], box[3] + by
