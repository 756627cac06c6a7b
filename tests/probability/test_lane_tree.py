from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.lane import Lane
from app.probability.lane_tree import LaneNode, lane_tree
from tests.probability.recorded import record_of

ROW = np.log(np.array([0.5, 0.3, 0.15, 0.05])).astype(np.float32)


def lane_of(*tokens: int, after: float = 0.25, is_recorded: bool = True) -> Lane:
    records = record_of([ROW] * len(tokens), tokens, [after] * len(tokens)) if tokens and is_recorded else None
    return Lane(np.array(tokens, np.int32), records, SamplingSettings(), 1)


def test_lanes_fork_where_they_leave_each_other() -> None:
    lanes = [lane_of(0, 1, 2, 0), lane_of(0, 1, 3, 3), lane_of(0, 1, 2, 1, 1), lane_of(0, 1)]
    root, *rest = lane_tree(lanes)
    assert (root.start, root.end, root.lanes, root.parent, root.ends) == (0, 2, (0, 1, 2, 3), None, (3,))
    assert root.probability == pytest.approx(0.5)
    assert root.log_probability == pytest.approx(math.log(0.5) + math.log(0.3), abs=1e-4)
    assert root.probability_after == (0.25,) * 4
    likelier, other = (rest[child - 1] for child in root.children)
    assert (likelier.lanes, likelier.start, likelier.end) == ((0, 2), 2, 3)
    assert (other.lanes, other.start, other.end, other.ends) == ((1,), 2, 4, (1,))
    assert [node.probability for node in (likelier, other)] == pytest.approx([0.15, 0.05])
    assert [rest[child - 1].lanes for child in likelier.children] == [(0,), (2,)]
    assert other.children == ()


def test_lanes_that_begin_differently_have_an_empty_root() -> None:
    root, *branches = lane_tree([lane_of(2), lane_of(0), lane_of()])
    assert (root.start, root.end, root.ends, root.probability, root.log_probability) == (0, 0, (2,), None, None)
    assert [(node.lanes, node.start, node.end) for node in branches] == [((1,), 0, 1), ((0,), 0, 1)]


def test_equal_lanes_are_one_stretch_and_no_lanes_are_no_tree() -> None:
    [only] = lane_tree([lane_of(1, 2), lane_of(1, 2)])
    assert (only.start, only.end, only.ends) == (0, 2, (0, 1))
    assert lane_tree([]) == ()


def test_what_was_not_recorded_is_taken_from_another_lane_or_unknown() -> None:
    root, *rest = lane_tree([lane_of(0, 1, is_recorded=False), lane_of(0, 2)])
    assert root.probability == pytest.approx(0.5)
    assert root.probability_after == (None, 0.25)
    by_lane = {node.lanes: node for node in rest}
    assert by_lane[0,].probability is None and by_lane[0,].log_probability is None
    assert by_lane[1,].probability == pytest.approx(0.15)


TOKENS = st.lists(st.integers(0, 3), max_size=12)


@given(st.lists(TOKENS, min_size=1, max_size=8))
def test_the_path_of_each_lane_has_exactly_its_tokens(tokens: list[list[int]]) -> None:
    lanes = [lane_of(*each, is_recorded=False) for each in tokens]
    nodes = lane_tree(lanes)
    assert len(nodes) <= 2 * len(lanes)
    for index, own in enumerate(tokens):
        path: list[int] = []
        node: LaneNode | None = nodes[0]
        while node is not None:
            assert node.start == len(path) and index in node.lanes
            path += lanes[node.lanes[0]].tokens[node.start : node.end].tolist()
            assert (index in node.ends) == (len(path) == len(own))
            assert all(nodes[child].parent == nodes.index(node) for child in node.children)
            node = next((nodes[child] for child in node.children if index in nodes[child].lanes), None)
        assert path == own
