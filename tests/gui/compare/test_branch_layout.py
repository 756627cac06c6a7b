"""The geometry of the tree of lanes, over many trees: nothing overlaps, longer lanes are longer, texts use their room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gui.compare.branch_layout import (
    HALF_PX,
    MARGIN_PX,
    SPACE_PX,
    THICKEST_PX,
    THINNEST_PX,
    BranchLayout,
    branch_layout,
    neighbour,
    thickness,
)
from app.gui.compare.branch_words import node_text
from app.services.lane_analysis import BranchNode
from tests.examples import examples
from tests.gui.compare.branch_trees import WORDS, Characters, tree_of

WIDE, HIGH = 1000.0, 500.0
Lanes = tuple[tuple[int, ...], ...]


@st.composite
def many_lanes(draw: st.DrawFn) -> Lanes:
    """Lanes that each go along with an earlier one for a while, which may be nothing or all of it."""
    lanes = [(0,) * draw(st.integers(1, 300))]
    for number in range(1, draw(st.integers(1, 8))):
        before = draw(st.sampled_from(lanes))
        shared = draw(st.integers(0, min(len(before), draw(st.sampled_from((3, 30, 300))))))
        lanes.append(before[:shared] + (number,) * draw(st.integers(0 if shared else 1, 300 - shared + 1)))
    return tuple(lanes)


def laid_out(tree: Sequence[BranchNode], zoom: float = 1.0, height: float = HIGH) -> BranchLayout:
    return branch_layout(tree, Characters(), WIDE, height, zoom)


def ends_of(tree: Sequence[BranchNode], layout: BranchLayout) -> dict[int, float]:
    """Return where the line of each lane ends."""
    return {lane: place.right for node, place in zip(tree, layout.places, strict=True) for lane in node.ends}


@given(many_lanes(), st.sampled_from((0.5, 0.8, 1.0, 1.25, 3.0, 8.0)))
@examples(300)
def test_no_two_stretches_lie_over_one_another(lanes: Lanes, zoom: float) -> None:
    tree = tree_of(lanes)
    layout = laid_out(tree, zoom)
    for one, other in combinations(layout.places, 2):
        apart_across = one.box[2] <= other.box[0] or other.box[2] <= one.box[0]
        assert apart_across or one.box[3] <= other.box[1] or other.box[3] <= one.box[1], (one, other)
    for place in layout.places:
        assert place.box[0] >= 0 and place.box[1] >= layout.ruler_px - 1
        assert place.box[2] <= layout.width and place.box[3] <= layout.height
        assert all(one.left + one.width <= other.left for one, other in pairwise(place.badges))


@given(many_lanes())
@examples(200)
def test_no_fork_leads_through_a_text_or_a_badge(lanes: Lanes) -> None:
    tree = tree_of(lanes)
    layout = laid_out(tree)
    for node, place in zip(tree, layout.places, strict=True):
        if node.parent is None or layout.places[node.parent].y == place.y:
            continue
        parent = layout.places[node.parent]
        for other in layout.places:
            is_between = other.box[1] < place.y - HALF_PX and other.box[3] > parent.y + HALF_PX
            if is_between and other is not place and other is not parent:
                assert other.box[2] <= parent.fork or other.box[0] >= place.left
        written = [place.left, *(badge.left for badge in place.badges)]
        assert parent.fork < min(written)
        assert all(badge.left + badge.width <= parent.fork for badge in parent.badges)


@given(many_lanes(), st.sampled_from((0.5, 1.0, 2.0)))
@examples(300)
def test_of_two_lanes_the_one_with_more_tokens_reaches_further_and_equal_ones_equally_far(
    lanes: Lanes, zoom: float
) -> None:
    tree = tree_of(lanes)
    ends = ends_of(tree, laid_out(tree, zoom))
    for one, other in combinations(range(len(lanes)), 2):
        longer = len(lanes[one]) - len(lanes[other])
        apart = ends[one] - ends[other]
        assert apart == 0 if longer == 0 else apart * longer > 0


@given(many_lanes())
@examples(200)
def test_a_text_ends_early_only_where_its_row_is_full(lanes: Lanes) -> None:
    tree = tree_of(lanes)
    layout, measure = laid_out(tree), Characters()
    assert layout.axis is not None
    for node, place in zip(tree, layout.places, strict=True):
        said = " ".join(place.text)
        if node.end == node.start:
            assert not place.text
        elif said != node_text(node):
            assert said.endswith("…"), "it is said that there is more"
            right = place.right if node.children else max(WIDE, layout.width) - MARGIN_PX
            inside = right - place.left - (SPACE_PX if node.children else 0)
            assert len(measure.lines(node_text(node), inside, 999)) >= len(place.text)
            longest = max(measure.width(line) for line in place.text)
            room = right - place.left
            word = max(measure.width(each) for each in WORDS)
            assert longest >= room - word - 2 * measure.PX, "it goes on to where the room ends"
            used = layout.height + measure.line_px * sum(not each.children for each in tree)
            assert node.children or used > HIGH - 8, "one more line for each lane would not have fitted"


@given(many_lanes())
@examples(100)
def test_the_numbers_of_the_ruler_rise_and_stand_apart(lanes: Lanes) -> None:
    layout = laid_out(tree_of(lanes))
    assert layout.axis is not None
    numbers = [number for _x, number in layout.ticks]
    assert numbers[0] == 0 and numbers == sorted(set(numbers))
    apart = Characters().small("0,000")
    assert all(later - first > apart for (first, _), (later, _) in pairwise(layout.ticks))
    for x, number in layout.ticks:
        assert layout.axis.x(number) == x
        assert layout.axis.token(x) == pytest.approx(number)


def test_the_ruler_counts_in_equal_steps_where_it_is_not_stretched() -> None:
    for tokens in (7, 30, 300, 2000):
        numbers = [number for _x, number in laid_out(tree_of([(0,) * tokens])).ticks]
        assert len({later - first for first, later in pairwise(numbers)}) == 1 and len(numbers) >= 4


def test_eight_lanes_of_300_tokens_fit_into_the_window_and_300_tokens_are_much_longer_than_30() -> None:
    lanes = [(0,) * 300] + [(0,) * (3 * number) + (number,) * (300 - 3 * number) for number in range(1, 7)]
    lanes.append((0,) * 24 + (9,) * 6)
    tree = tree_of(lanes)
    layout = laid_out(tree)
    assert layout.width <= WIDE and layout.height <= HIGH
    leaves = {node.lanes[0]: place for node, place in zip(tree, layout.places, strict=True) if not node.children}
    assert leaves[1].right - leaves[1].left > 400
    assert leaves[0].right - leaves[0].left > 10 * (leaves[7].right - leaves[7].left)
    assert all(place.text and place.figures for place in layout.places)


@given(many_lanes())
@examples(200)
def test_at_its_usual_size_all_of_the_tree_is_in_view(lanes: Lanes) -> None:
    layout = laid_out(tree_of(lanes))
    assert layout.width <= WIDE and layout.height <= HIGH


@pytest.mark.parametrize("tokens", [2000, 30_000])
@pytest.mark.parametrize("room", [(WIDE, HIGH), (640.0, 340.0)])
def test_however_long_the_lanes_are_all_of_the_tree_is_in_view(tokens: int, room: tuple[float, float]) -> None:
    step = tokens // 8
    trees = (
        tree_of([(lane,) * (tokens - lane) for lane in range(8)]),
        tree_of([(0,) * tokens] + [(0,) * (step * lane) + (lane,) * step for lane in range(1, 4)]),
        tree_of([(0,) * 3 * lane + (lane,) * (tokens - step * lane) for lane in range(5)]),
    )
    for tree in trees:
        layout = branch_layout(tree, Characters(), *room)
        assert layout.width <= room[0] and layout.height <= room[1]
        ends = ends_of(tree, layout)
        lengths = {lane: node.end for node in tree for lane in node.ends}
        assert sorted(ends, key=lambda lane: (ends[lane], lane)) == sorted(
            ends, key=lambda lane: (lengths[lane], lane)
        )


def test_where_not_all_texts_have_room_some_are_shown() -> None:
    tree = tree_of([(lane,) * 300 for lane in range(8)])
    least = next(height for height in range(100, 500) if laid_out(tree, 1.0, height).height <= height)
    assert not any(place.text for place in laid_out(tree, 1.0, least).places)
    shown = [bool(place.text) for place in laid_out(tree, 1.0, least + 60).places[1:]]
    assert any(shown) and not all(shown)
    assert all(place.text for place in laid_out(tree, 1.25, least).places[1:]), "larger, all are read and it scrolls"


def test_more_room_and_more_zoom_show_more_of_the_texts_until_all_of_them_are_read() -> None:
    tree = tree_of([(0,) * 300] + [(0,) * number + (number,) * (300 - number) for number in range(1, 8)])

    def shown(zoom: float, height: float = HIGH) -> int:
        return sum(len(" ".join(place.text)) for place in laid_out(tree, zoom, height).places)

    assert shown(0.5) < shown(1.0) < shown(1.5) < shown(3.0)
    assert shown(1.0, 2 * HIGH) > 1.5 * shown(1.0)
    texts = [" ".join(place.text) for place in laid_out(tree, 5.0).places]
    assert texts == [node_text(node) for node in tree]


def test_a_short_answer_is_shown_whole_and_no_larger_than_its_text() -> None:
    tree = tree_of([(0,) * 20, (0,) * 4 + (1,) * 16])
    layout = laid_out(tree)
    assert [" ".join(place.text) for place in layout.places] == [node_text(node) for node in tree]
    assert layout.height < HIGH / 2
    leaves = [place for node, place in zip(tree, layout.places, strict=True) if not node.children]
    assert max(place.box[2] - place.right for place in leaves) > 40, "a text goes on beyond its line"
    assert all(len(place.text) == 1 for place in leaves)


def test_width_is_in_proportion_to_probability_and_the_likeliest_goes_straight_on() -> None:
    tree = tree_of([(0,) * 9, (0,) * 3 + (1,) * 6, (0,) * 3 + (2,) * 6])
    layout = laid_out(tree)
    assert thickness(tree[0]) == THICKEST_PX
    for node, place in zip(tree[1:], layout.places[1:], strict=True):
        assert node.probability is not None
        assert place.thickness == pytest.approx(max(THICKEST_PX * node.probability, THINNEST_PX))
        assert f"{100 * node.probability:.0f} %" in place.figures
    first, *others = tree[0].children
    assert layout.places[first].y == layout.places[0].y
    assert all(layout.places[other].y > layout.places[0].y for other in others)


def test_lanes_that_are_all_equal_are_one_line_that_says_so() -> None:
    tree = tree_of([(0,) * 300] * 8)
    (place,) = laid_out(tree).places
    assert place.figures == "A–H · 300 tokens · all the same"
    assert [badge.lanes for badge in place.badges] == [tuple(range(8))]
    assert " ".join(place.text) == node_text(tree[0])


def test_lanes_that_part_at_once_all_begin_at_the_same_place() -> None:
    tree = tree_of([(number,) * 30 * (number + 1) for number in range(8)])
    layout = laid_out(tree)
    assert len({place.left for place in layout.places[1:]}) == 1
    assert neighbour(tree, layout, 1, 0, 1) != 1 and neighbour(tree, layout, 1, -1, 0) == 0


def test_lanes_that_end_in_a_fork_have_their_letters_between_its_lines() -> None:
    tree = tree_of([(0,) * 60, (0,) * 20, (0,) * 20, (0,) * 20 + (1,) * 9])
    layout = laid_out(tree)
    root = layout.places[0]
    assert [badge.lanes for badge in root.badges] == [(1, 2)]
    assert root.right < root.badges[0].left < root.fork < layout.places[1].left


def test_a_place_is_that_of_the_stretch_whose_text_is_there() -> None:
    layout = laid_out(tree_of([(0,) * 100, (0,) * 4 + (1,) * 60, (0,) * 50 + (2,) * 90]))
    for number, place in enumerate(layout.places):
        middle = (place.box[0] + place.box[2]) / 2
        assert layout.at(middle, place.box[1] + 1) == number == layout.at(middle, place.box[3] - 1)
    assert layout.at(WIDE * 3, HIGH) is None


def test_a_tree_of_nothing_takes_no_room() -> None:
    assert branch_layout((), Characters(), WIDE, HIGH) == BranchLayout((), 0, 0)
