"""What is said of a stretch of the tree and of its lengths and widths."""

from __future__ import annotations

from app.gui.compare.branch_words import (
    legend_sentence,
    legend_words,
    node_figures,
    node_sentence,
    shortened,
)
from app.services.lane_analysis import BranchNode


def test_a_stretch_at_which_a_lane_is_written_does_not_say_that_it_ends() -> None:
    ended = BranchNode(0, 3, (0, 1), None, "It is so", None, (), (0, 1), None, (), None)
    assert node_sentence(ended) == "Lanes A, B, tokens 1 to 3, A, B ends here: It is so"
    written = BranchNode(0, 3, (0, 1), None, "It is so", None, (), (0, 1), None, (), None, open=(1,))
    assert node_sentence(written).endswith("A ends here, B is here so far: It is so")


def test_the_probability_is_the_last_figure_to_go() -> None:
    branch = BranchNode(3, 9, (0, 1), None, "It is so", 0, (), (0, 1), 0.25, (), None)
    assert node_figures(branch) == ["A, B · 25 % · 6 tokens", "A, B · 25 %", "25 %"]


def test_the_legend_says_what_is_there_to_be_seen() -> None:
    root = BranchNode(0, 3, (0, 1), None, "It is so", None, (1,), (0,), None, (), None)
    known = BranchNode(3, 9, (1,), None, "It is so", 0, (), (1,), 0.25, (), None)
    unknown = BranchNode(3, 9, (1,), None, "It is so", 0, (), (1,), None, (), None)
    same = BranchNode(0, 3, (0, 1), None, "It is so", None, (), (0, 1), None, (), None)
    assert all(legend_words((root, known))[:2]) and not legend_words((root, known))[2]
    assert legend_words((root, unknown))[2] == "– and thinnest: not recorded"
    assert legend_words((same,)) == ("Length: tokens on the ruler", "", "")
    for tree in ((root, known), (root, unknown), (same,)):
        said = legend_sentence(tree)
        assert said == ". ".join(each for each in legend_words(tree) if each), "what is heard is what is painted"


def test_on_hover_a_long_text_is_cut_and_a_short_one_is_not() -> None:
    long = BranchNode(0, 90, (0,), None, "It is so " * 90, None, (), (0,), None, (), None)
    assert len(node_sentence(long)) > 600 > 120 > len(node_sentence(long, 60)) and node_sentence(long, 60).endswith(
        "…"
    )
    short = BranchNode(0, 3, (0,), None, "It is so", None, (), (0,), None, (), None)
    assert node_sentence(short, 60) == node_sentence(short)


def test_only_the_longest_texts_are_shortened() -> None:
    texts = ["a" * 10, "b" * 50, "c" * 90, ""]
    assert shortened(texts, 150) == texts
    assert shortened(texts, 90) == ["a" * 10, "b" * 39 + "…", "c" * 39 + "…", ""]
    assert shortened(texts, 130) == ["a" * 10, "b" * 50, "c" * 69 + "…", ""]
