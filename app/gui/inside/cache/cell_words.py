"""What is said of the cells of the KV cache: of one of them, and of all of them together."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.inside.cache.cell_looks import owner_words
from app.gui.widgets.token_words import quoted
from app.services.kv_cells import CellsHeld, CellToken, GivenBack, Owner, Stretch, letter_of
from app.services.units import count

translate = QCoreApplication.translate
_CHARACTERS = 40


def token_sentence(token: CellToken, *, is_given_back: bool = False) -> str:
    """Say all that is known of a cell that holds a token; `is_given_back` by the next turn."""
    parts = [translate("KvMap", "Token {number}").format(number=count(token.position + 1))]
    if token.token is not None:
        parts.append(quoted(token.text, token.token, _CHARACTERS))
    parts.append(whose(token.stretch))
    if token.stretch.is_copy:
        parts.append(translate("KvMap", "a copy: a block belongs to one sequence alone"))
    if token.is_reused:
        parts.append(translate("KvMap", "found in the cache, not read again"))
    if token.is_gone:
        parts.append(translate("KvMap", "dropped: every layer that keeps tokens has a sliding window"))
    elif token.is_dropped:
        parts.append(translate("KvMap", "dropped by the layers with a sliding window, kept by the others"))
    if is_given_back:
        parts.append(translate("KvMap", "given back by the next turn: its prompt has another token here, or none"))
    return " · ".join(parts)


def place_sentence(stretch: Stretch | None, cell: int, *, fills_next: bool) -> str:
    """Say what a cell is that holds no token."""
    number = count(cell + 1)
    if stretch is not None:
        return translate("KvMap", "Cell {cell} · empty: the block has an owner, and no token for it").format(
            cell=number
        )
    if fills_next:
        return translate("KvMap", "Cell {cell} · free: the next turn will fill it").format(cell=number)
    return translate("KvMap", "Cell {cell} · free").format(cell=number)


def whose(stretch: Stretch) -> str:
    """Say whose a stretch is; a lane by its letter."""
    if stretch.owner == "lanes" and stretch.lane is not None:
        return translate("KvMap", "lane {letter}").format(letter=letter_of(stretch.lane))
    return owner_words(stretch.owner)


def part_counts(held: CellsHeld) -> dict[Owner, int]:
    """Return how many places each part has, by its name, in the order in which they stand; copies belong to none."""
    counts: dict[Owner, int] = {}
    for each in held.stretches:
        if each.is_copy:
            continue
        counts[each.owner] = counts.get(each.owner, 0) + each.end - each.start
    return counts


def now_words(held: CellsHeld, other: str, *, is_begun: bool = False) -> str:
    """Say whose tokens the cells hold now; `other` is the title of another chat whose they are.

    `is_begun` where the chat that is shown has answers already.
    """
    if not held.used and is_begun:
        return translate("KvMap", "Empty since the model was loaded: the next prompt is read from its first token on")
    if not held.used:
        return translate("KvMap", "Ask something in the chat, and watch the cells fill.")
    lanes = len({each.lane for each in held.stretches if each.owner == "lanes"})
    if lanes == 1:
        return translate("KvMap", "1 lane of a comparison, and the prompt that all had")
    if lanes:
        return translate("KvMap", "{lanes} lanes of a comparison, and the prompt that they share").format(lanes=lanes)
    if other:
        return translate("KvMap", "of another chat: {title}").format(title=other)
    return translate("KvMap", "of this chat")


def ended_words(ended: GivenBack | None) -> str:
    """Say where the cells of lanes have gone; nothing where none were there."""
    if ended is None:
        return ""
    if ended.lanes == 1:
        words = translate("KvMap", "1 lane of the comparison gave its {cells} cells back when it ended")
        if ended.cells == 1:
            words = translate("KvMap", "1 lane of the comparison gave its cell back when it ended")
        return words.format(cells=count(ended.cells))
    return translate(
        "KvMap", "the {lanes} lanes of the comparison gave their {cells} cells back when they ended"
    ).format(lanes=ended.lanes, cells=count(ended.cells))


def copies_words(held: CellsHeld) -> str:
    """Say how many cells of blocks hold a token of the prompt once more."""
    return translate("KvMap", "copies of the prompt's end {cells}").format(cells=count(held.copies))


def summary(held: CellsHeld) -> str:
    """Say how many cells hold what."""
    parts = [f"{owner_words(owner)} {count(cells)}" for owner, cells in part_counts(held).items()]
    said = ", ".join([*parts, *([copies_words(held)] if held.copies else [])])
    one, several = (
        translate("KvMap", "1 of {cells} cells holds a token"),
        translate("KvMap", "{used} of {cells} cells hold a token"),
    )
    words = (one if held.in_cells == 1 else several).format(used=count(held.in_cells), cells=count(held.cells_there))
    return f"{words}: {said}" if said else words
