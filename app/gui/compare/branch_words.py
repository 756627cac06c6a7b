"""What is said of a stretch of the tree of lanes. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.core.comparison import LETTERS
from app.gui.compare.divergence_words import percent
from app.services.lane_analysis import BranchNode
from app.services.units import count

translate = QCoreApplication.translate


def letters_of(lanes: Sequence[int]) -> str:
    """Return the letters of lanes; three and more in a row as “A–D”."""
    names = [LETTERS[lane] for lane in lanes]
    is_row = len(lanes) > 2 and list(lanes) == list(range(lanes[0], lanes[0] + len(lanes)))
    return f"{names[0]}–{names[-1]}" if is_row else ", ".join(names)


def node_text(node: BranchNode) -> str:
    """Return what a stretch says, on one line."""
    return " ".join(node.text.split())


def node_figures(node: BranchNode) -> list[str]:
    """Return a stretch's lanes, how likely it began, and how long it is: all of it, and in fewer and fewer words."""
    tokens = node.end - node.start
    said = [letters_of(node.lanes)]
    if node.parent is not None:
        said.append(percent(node.probability))
    one = translate("Compare", "1 token")
    said.append(one if tokens == 1 else translate("Compare", "{count} tokens").format(count=count(tokens)))
    return [" · ".join(said[:number]) for number in range(len(said), 0, -1)]


def node_sentence(node: BranchNode) -> str:
    """Return everything about a stretch, for those who listen."""
    lanes = (
        translate("Compare", "Lane {letters}") if len(node.lanes) == 1 else translate("Compare", "Lanes {letters}")
    )
    said = [lanes.format(letters=letters_of(node.lanes)), node_text(node) or translate("Compare", "(no text)")]
    said.append(
        translate("Compare", "tokens {first} to {last}").format(first=count(node.start + 1), last=count(node.end))
    )
    if node.parent is not None and node.probability is not None:
        said.append(
            translate("Compare", "the model gave its first token {percent}").format(percent=percent(node.probability))
        )
    if node.children:
        said.append(translate("Compare", "forks into {count}").format(count=len(node.children)))
    ended = [lane for lane in node.ends if lane not in node.open]
    if ended:
        said.append(translate("Compare", "{letters} ends here").format(letters=letters_of(ended)))
    if node.open:
        said.append(translate("Compare", "{letters} is here so far").format(letters=letters_of(node.open)))
    return ", ".join(said)
