"""What is said of a stretch of the tree: a lane of which more may come does not end there."""

from __future__ import annotations

from app.gui.compare.branch_words import node_sentence
from app.services.lane_analysis import BranchNode


def test_a_stretch_at_which_a_lane_is_written_does_not_say_that_it_ends() -> None:
    ended = BranchNode(0, 3, (0, 1), None, "It is so", None, (), (0, 1), None, (), None)
    assert node_sentence(ended).endswith("A, B ends here")
    written = BranchNode(0, 3, (0, 1), None, "It is so", None, (), (0, 1), None, (), None, open=(1,))
    assert node_sentence(written).endswith("A ends here, B is here so far")
