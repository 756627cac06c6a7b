"""All lanes as one tree that forks where they leave each other: a radix tree of their token ids.

Must not know how it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.probability.lane import Lane


@dataclass(frozen=True, slots=True)
class LaneNode:
    """A stretch of tokens that one or several lanes have in common, up to where one of them leaves or ends."""

    start: int
    end: int
    """Tokens from start to end, counted in each of its lanes; the root may be empty."""
    lanes: tuple[int, ...]
    """Indices, rising; the tokens are those of the first."""
    parent: int | None
    children: tuple[int, ...]
    """Of parent and children the places in the list of nodes; the likeliest branch first."""
    ends: tuple[int, ...]
    """Lanes that have no token behind this stretch."""
    probability: float | None
    """Raw probability of the first token; None for what was not recorded, and for an empty root."""
    probability_after: tuple[float | None, ...]
    """What the draw of each lane in `lanes` saw of that token."""
    log_probability: float | None
    """Sum over the stretch in the raw distribution; None where not all of it was recorded."""


@dataclass(slots=True)
class _Open:
    """A node before its children are known."""

    start: int
    lanes: tuple[int, ...]
    parent: int | None


def lane_tree(lanes: Sequence[Lane]) -> tuple[LaneNode, ...]:
    """Return the nodes, the root first and each before its children; no lanes make no nodes."""
    if not lanes:
        return ()
    nodes: list[LaneNode] = []
    children: list[list[int]] = []
    waiting = [_Open(0, tuple(range(len(lanes))), None)]
    while waiting:
        node = waiting.pop()
        place = len(nodes)
        end = _shared_end([lanes[index] for index in node.lanes], node.start)
        ends = tuple(index for index in node.lanes if lanes[index].tokens.size == end)
        nodes.append(_node(lanes, node, end, ends))
        children.append([])
        if node.parent is not None:
            children[node.parent].append(place)
        groups: dict[int, list[int]] = {}
        for index in node.lanes:
            if index not in ends:
                groups.setdefault(int(lanes[index].tokens[end]), []).append(index)
        branches = [_Open(end, tuple(group), place) for group in groups.values()]
        # The last is taken first.
        branches.sort(key=lambda branch: (_first_probability(lanes, branch) or 0.0, -branch.lanes[0]))
        waiting += branches
    return tuple(replace(node, children=tuple(own)) for node, own in zip(nodes, children, strict=True))


def _node(lanes: Sequence[Lane], node: _Open, end: int, ends: tuple[int, ...]) -> LaneNode:
    is_empty = end == node.start
    after = tuple(None if is_empty else _after(lanes[index], node.start) for index in node.lanes)
    return LaneNode(
        start=node.start,
        end=end,
        lanes=node.lanes,
        parent=node.parent,
        children=(),
        ends=ends,
        probability=None if is_empty else _first_probability(lanes, node),
        probability_after=after,
        log_probability=_log_probability(lanes, node, end),
    )


def _shared_end(lanes: Sequence[Lane], start: int) -> int:
    """Return up to where all lanes have the same tokens from a place on where they still had."""
    first = lanes[0].tokens
    end = min(lane.tokens.size for lane in lanes)
    for lane in lanes[1:]:
        differing = np.flatnonzero(first[start:end] != lane.tokens[start:end])
        if differing.size:
            end = start + int(differing[0])
    return end


def _first_probability(lanes: Sequence[Lane], node: _Open) -> float | None:
    for index in node.lanes:
        records = lanes[index].record_of(node.start)
        if records is not None:
            return _usable(math.exp(float(records.log_probability[node.start])))
    return None


def _after(lane: Lane, index: int) -> float | None:
    records = lane.record_of(index)
    return None if records is None else _usable(float(records.probability_after[index]))


def _log_probability(lanes: Sequence[Lane], node: _Open, end: int) -> float | None:
    for index in node.lanes:
        records = lanes[index].records
        if records is not None and lanes[index].recorded >= end > node.start:
            return _usable(float(records.log_probability[node.start : end].sum(dtype=np.float64)))
    return None


def _usable(value: float) -> float | None:
    return value if math.isfinite(value) else None
