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
    """Return what a stretch says, on one line; nothing for one without tokens."""
    said = " ".join(node.text.split())
    return said or (translate("Compare", "(no text)") if node.end > node.start else "")


def shortened(texts: Sequence[str], most: int) -> Sequence[str]:
    """Return texts with at most so many characters in all: the longest end early, in …, and all of them equally."""
    left = most
    for number, length in enumerate(sorted(map(len, texts))):
        share = max(left // (len(texts) - number), 1)
        if length > share:
            return [text if len(text) <= share else text[: share - 1].rstrip() + "…" for text in texts]
        left -= length
    return texts


def node_figures(node: BranchNode) -> list[str]:
    """Return a stretch's lanes, how likely it began, and how long it is: all of it, and in fewer and fewer words."""
    tokens = node.end - node.start
    one = translate("Compare", "1 token")
    length = one if tokens == 1 else translate("Compare", "{count} tokens").format(count=count(tokens))
    lanes = letters_of(node.lanes)
    if node.parent is not None:
        likely = percent(node.probability)
        return [f"{lanes} · {likely} · {length}", f"{lanes} · {likely}", likely]
    if len(node.lanes) > 1 and not node.children and not node.open:
        same = translate("Compare", "all the same")
        return [f"{lanes} · {length} · {same}", f"{lanes} · {length}", lanes]
    return [f"{lanes} · {length}", lanes]


def node_sentence(node: BranchNode, most: int | None = None, said_text: str | None = None) -> str:
    """Return everything about a stretch; its text, which may be long, comes last, with at most so many characters.

    `said_text` is what it says on one line, where somebody has that already.
    """
    lanes = (
        translate("Compare", "Lane {letters}") if len(node.lanes) == 1 else translate("Compare", "Lanes {letters}")
    )
    said = [lanes.format(letters=letters_of(node.lanes))]
    if node.end > node.start:
        words = translate("Compare", "tokens {first} to {last}")
        said.append(words.format(first=count(node.start + 1), last=count(node.end)))
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
    facts, text = ", ".join(said), node_text(node) if said_text is None else said_text
    if most is not None and len(text) > most:
        text = text[: most - 1].rstrip() + "…"
    return translate("Compare", "{facts}: {text}").format(facts=facts, text=text) if text else facts


def legend_words(tree: Sequence[BranchNode]) -> tuple[str, str, str]:
    """Return what length stands for, what width does, and what a missing probability looks like; "" where none is."""
    if not any(node.children for node in tree):
        return translate("Compare", "Length: tokens on the ruler"), "", ""
    unknown = any(node.parent is not None and node.probability is None for node in tree)
    return (
        translate("Compare", "Length: tokens on the ruler, stretched where lanes fork"),
        translate("Compare", "Width: raw probability of a branch’s first token"),
        translate("Compare", "– and thinnest: not recorded") if unknown else "",
    )


def legend_sentence(tree: Sequence[BranchNode]) -> str:
    """Return the same in one go, for those who listen."""
    length, likely, unknown = legend_words(tree)
    if unknown:
        return translate(
            "Compare",
            "Length: tokens on the ruler, stretched where lanes fork. "
            "Width: raw probability of a branch’s first token. – and thinnest: not recorded",
        )
    if likely:
        return translate(
            "Compare",
            "Length: tokens on the ruler, stretched where lanes fork. "
            "Width: raw probability of a branch’s first token",
        )
    return length
