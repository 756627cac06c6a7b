"""Trees of made-up lanes, as an analysis makes them, and a measure by which every character is equally wide."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.lane import Lane
from app.probability.lane_tree import lane_tree
from app.services.lane_analysis import BranchNode

WORDS = ("so ", "it ", "light ", "because ", "of ", "scattering ", "in ", "the ", "atmosphere ")


def tree_of(lanes: Sequence[Sequence[int]], *, known: bool = True) -> tuple[BranchNode, ...]:
    """Return the tree of lanes with these tokens; of two that go on from one stretch the first is likelier."""
    nodes = lane_tree([Lane(np.array(ids, np.int32), None, SamplingSettings()) for ids in lanes])
    made: list[BranchNode] = []
    for node in nodes:
        probability = None
        if node.parent is not None and known:
            probability = 0.6 / 2 ** nodes[node.parent].children.index(len(made))
        text = "".join(WORDS[place % len(WORDS)] for place in range(node.start, node.end))
        made.append(
            BranchNode(
                node.start,
                node.end,
                node.lanes,
                None,
                text,
                node.parent,
                node.children,
                node.ends,
                probability,
                (),
                None,
            )
        )
    return tuple(made)


class Characters:
    """A measure without fonts."""

    PX = 7.0
    line_px, small_px = 17.0, 13.0

    def width(self, text: str) -> float:
        return len(text) * self.PX

    def small(self, text: str) -> float:
        return len(text) * 6.0

    def lines(self, text: str, width: float, most: int) -> tuple[str, ...]:
        return tuple(wrap(text, max(int(width / self.PX), 1))[:most])

    def elided(self, text: str, width: float) -> str:
        most = max(int(width / self.PX), 1)
        return text if len(text) <= most else text[: most - 1] + "…"
