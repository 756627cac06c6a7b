"""What is said below the cells: what reuse saved, what the next turn adds, what blocks waste, how bytes follow."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.model import ModelInfo
from app.gui.widgets.words import render
from app.services.kv_blocks import BLOCK, BlockUse
from app.services.kv_cells import CellsHeld, Saving
from app.services.kv_sum import ClassSum, Row
from app.services.next_send import Count
from app.services.units import UNKNOWN, byte_size, count, milliseconds, rate

translate = QCoreApplication.translate


class Fact(NamedTuple):
    """A figure, and what it means."""

    value: str
    words: str


def saving_fact(saving: Saving | None, *, is_others: bool = False) -> Fact:
    """Say what the last prompt found in the cells; `is_others` where it was one of another chat."""
    if saving is None:
        return Fact(UNKNOWN, translate("KvMap", "No prompt was read yet."))
    value = translate("KvMap", "{reused} of {prompt} tokens").format(
        reused=count(saving.reused), prompt=count(saving.prompt)
    )
    if not saving.reused:
        words = translate("KvMap", "Nothing of the last prompt was in the cells: all of it was read.")
        if saving.is_again:
            words = translate(
                "KvMap",
                "The last prompt was that of an answer that is reproduced: this begins with empty cells, as it has to be "
                "the same each time, so all of it was read.",
            )
        elif is_others:
            words = translate(
                "KvMap", "The last prompt was another chat's. Nothing of it was in the cells: all was read."
            )
        return Fact(value, words)
    found = translate("KvMap", "The last prompt found them in the cells, so that they were not read again.")
    if is_others:
        found = translate(
            "KvMap", "The last prompt, another chat's, found them in the cells: they were not read again."
        )
    if saving.ms is None:
        saved = translate(
            "KvMap",
            "Saved time: –, because it read no prompt yet that was long enough (16 tokens) to measure its speed.",
        )
    else:
        saved = translate(
            "KvMap",
            "That saved about {time} of reading (prefill): the last prompt whose speed was measured was read at {rate} tok/s.",
        ).format(time=milliseconds(saving.ms), rate=rate(saving.tokens_per_s))
    return Fact(value, f"{found} {saved}")


def long_savings() -> tuple[str, ...]:
    """Return what is said at most of a saving."""
    savings = [Saving(99_999, 99_999, speed) for speed in (None, 1000.0)]
    return tuple(saving_fact(each, is_others=is_others).words for each in savings for is_others in (False, True))


def next_fact(next_send: Count, held: CellsHeld, *, is_others: bool = False) -> Fact:
    """Say what the next turn adds; `is_others` where the cells hold another chat."""
    shares = next_send.shares
    if next_send.answering:
        return Fact(UNKNOWN, translate("KvMap", "An answer is being written: every token of it takes one more cell."))
    if next_send.refused:
        return Fact(UNKNOWN, translate("KvMap", "The next prompt does not fit into the cells."))
    if shares is None:
        return Fact(
            UNKNOWN,
            render(next_send.reason)
            if next_send.reason is not None
            else translate("KvMap", "What the next turn takes is not counted yet."),
        )
    if not shares.new:
        words = translate(
            "KvMap", "Nothing is written yet. It will be read behind the {cached} tokens that are there."
        )
        if shares.cached == 1:
            words = translate("KvMap", "Nothing is written yet. It will be read behind the 1 token that is there.")
        if not shares.cached:
            words = translate("KvMap", "Nothing is written yet. It will be read from the first cell on.")
        if not shares.cached and is_others:
            words = translate(
                "KvMap",
                "Nothing is written yet, and nothing of this chat is in the cells: what you write takes the place of the "
                "other chat.",
            )
        return Fact(UNKNOWN, words.format(cached=count(shares.cached)))
    freed = max(held.used - shares.cached, 0)
    one_kept, kept = translate("KvMap", "keeps 1 token"), translate("KvMap", "keeps {count} tokens")
    one_freed, back = translate("KvMap", "gives 1 cell back"), translate("KvMap", "gives {count} cells back")
    one_left, left = translate("KvMap", "1 cell is left then"), translate("KvMap", "{count} cells are left then")
    words = translate("KvMap", "The next prompt {keeps} and adds {new}; {leaves}.")
    if freed:
        words = translate("KvMap", "The next prompt {keeps}, {gives} and adds {new}; {leaves}.")
    said = words.format(
        keeps=_counted(one_kept, kept, shares.cached),
        gives=_counted(one_freed, back, freed),
        new=count(shares.new),
        leaves=_counted(one_left, left, shares.left),
    )
    return Fact(f"+{count(shares.new)}", said)


def _counted(one: str, several: str, number: int) -> str:
    """Return words for one, or for another number of what they are about."""
    return one if number == 1 else several.format(count=count(number))


def bytes_fact(model: ModelInfo, sums: tuple[ClassSum, ...]) -> Fact:
    """Say how many bytes a token takes, and how that follows."""
    if not sums:
        return Fact(UNKNOWN, _state_words(model) or translate("KvMap", "llama.cpp did not say what it set aside."))
    lines = [_class_words(each, is_one=len(sums) == 1) for each in sums]
    if state := _state_words(model):
        lines.append(state)
    sizes = " + ".join(_bytes_words(each.bytes) for each in sums)
    return Fact(translate("KvMap", "{bytes} a token").format(bytes=sizes), "\n".join(lines))


def window_fact(window: int, in_cells: int | None, held: CellsHeld, *, is_everywhere: bool) -> Fact:
    """Say where a sliding window of so many tokens, in so many cells, has dropped some; `is_everywhere` where no layer
    keeps every token.
    """
    cells = count(in_cells)
    if not held.all_dropped:
        words = translate(
            "KvMap",
            "Some layers look back {window} tokens only and have {cells} cells of their own. They still hold all tokens.",
        )
        if is_everywhere:
            words = translate(
                "KvMap",
                "Every layer that keeps tokens looks back {window} of them only and has {cells} cells. They still hold all.",
            )
        return Fact(translate("KvMap", "0 dropped"), words.format(window=count(window), cells=cells))
    words = _dropped_everywhere(held.dropped) if is_everywhere else _dropped_by_some(held.dropped)
    value = translate("KvMap", "{dropped} dropped").format(dropped=count(held.all_dropped))
    lines = [words.format(window=count(window), cells=cells, dropped=count(held.dropped))]
    if of_lanes := held.all_dropped - held.dropped:
        one, several = (
            translate("KvMap", "Layers with a window have dropped 1 token of the lanes, the oldest of its lane."),
            translate(
                "KvMap",
                "Layers with a window have dropped {count} tokens of the lanes, the oldest of each lane first.",
            ),
        )
        lines = [*(lines if held.dropped else ()), _counted(one, several, of_lanes)]
    return Fact(value, "\n".join(lines))


def _dropped_by_some(dropped: int) -> str:
    """Return the words for what layers with a window dropped while others keep it."""
    if dropped == 1:
        return translate(
            "KvMap",
            "Some layers look back {window} tokens only and have {cells} cells of their own: the first position is no "
            "longer in them. The other layers keep every token.",
        )
    return translate(
        "KvMap",
        "Some layers look back {window} tokens only and have {cells} cells of their own: the first {dropped} positions "
        "are no longer in them. The other layers keep every token.",
    )


def _dropped_everywhere(dropped: int) -> str:
    """Return the words for what every layer dropped."""
    if dropped == 1:
        return translate(
            "KvMap",
            "Every layer that keeps tokens looks back {window} of them only and has {cells} cells: the first position is in "
            "none any more, though the picture shows its place.",
        )
    return translate(
        "KvMap",
        "Every layer that keeps tokens looks back {window} of them only and has {cells} cells: the first {dropped} "
        "positions are in none any more, though the picture shows their places.",
    )


def blocks_fact(use: BlockUse | None) -> Fact:
    """Say what blocks waste."""
    if use is None:
        return Fact(UNKNOWN, translate("KvMap", "No sequence holds a token yet."))
    taken = use.blocks * BLOCK
    value = translate("KvMap", "{wasted} of {taken} cells wasted").format(wasted=count(use.waste), taken=count(taken))
    one_block, blocks = translate("KvMap", "1 block of {size}"), translate("KvMap", "{count} blocks of {size}")
    one_empty, empty = (
        translate("KvMap", "1 cell at the end of a sequence stays empty"),
        translate("KvMap", "{count} cells at the ends of sequences stay empty"),
    )
    words = translate(
        "KvMap",
        "{blocks}: {empty}. A server with paged attention hands out a block when the one before it is full.",
    ).format(
        blocks=(one_block if use.blocks == 1 else blocks).format(size=BLOCK, count=count(use.blocks)),
        empty=_counted(one_empty, empty, use.empty),
    )
    if use.copied:
        one, several = (
            translate("KvMap", "The lanes share the prompt's full blocks; 1 cell holds a copy of its end."),
            translate("KvMap", "The lanes share the prompt's full blocks; {count} cells hold copies of its end."),
        )
        words = f"{words} {_counted(one, several, use.copied)}"
    return Fact(value, words)


def reservation_fact(use: BlockUse | None) -> Fact:
    """Say what one reservation a request would waste."""
    if use is None:
        return Fact(UNKNOWN, translate("KvMap", "No sequence holds a token yet."))
    value = translate("KvMap", "{unused} of {reserved} cells wasted").format(
        unused=count(use.unused), reserved=count(use.reserved)
    )
    if use.requests == 1 and use.unused * 2 > use.reserved:
        words = translate(
            "KvMap",
            "If each request reserved one piece as long as it may become, this chat would hold {reserved} cells now, "
            "most of them for tokens that may never come.",
        )
    elif use.requests == 1:
        words = translate(
            "KvMap",
            "If each request reserved one piece as long as it may become, this chat would hold {reserved} cells now, "
            "{unused} of them for tokens that may never come.",
        )
    else:
        words = translate(
            "KvMap",
            "If each of these {requests} requests reserved one piece as long as it may become, with the prompt in each, "
            "they would hold {reserved} cells.",
        )
    return Fact(value, words.format(requests=use.requests, reserved=count(use.reserved), unused=count(use.unused)))


def pool_fact(held: CellsHeld, reserved: int | None) -> Fact:
    """Say how this engine keeps cells."""
    value = translate("KvMap", "one pool of {cells} cells").format(cells=count(held.cells_there))
    words = translate(
        "KvMap",
        "This engine makes no blocks and reserves nothing for a request: chat and lanes take single cells from one pool "
        "({bytes}, set aside at the load), and the prompt that lanes share is there once.",
    )
    return Fact(value, words.format(bytes=byte_size(reserved)))


def _class_words(each: ClassSum, *, is_one: bool) -> str:
    if each.is_window:
        one, several = translate("KvMap", "1 layer with a window"), translate("KvMap", "{count} layers with a window")
    elif is_one:
        one, several = translate("KvMap", "1 layer"), translate("KvMap", "{count} layers")
    else:
        one, several = (
            translate("KvMap", "1 layer that keeps all"),
            translate("KvMap", "{count} layers that keep all"),
        )
    layers = one if each.layers == 1 else several.format(count=count(each.layers))
    keys, values = each.keys, each.values
    if keys is None or values is None or each.heads is None:
        reason = render(each.reason) if each.reason is not None else ""
        return f"{layers}: {UNKNOWN} = {_bytes_words(each.bytes)}. {reason}"
    heads = translate("KvMap", "{heads} heads").format(heads=each.heads)
    if each.heads == 1:
        heads = translate("KvMap", "1 head")
    if keys.type == values.type:
        width = translate("KvMap", "({keys} + {values}) numbers").format(keys=keys.width, values=values.width)
        return f"{layers} × {heads} × {width} × {_number_words(keys)} = {_bytes_words(each.bytes)}{_set_aside(each)}"
    rows = []
    for name, row in ((translate("KvMap", "keys"), keys), (translate("KvMap", "values"), values)):
        width = translate("KvMap", "{width} numbers").format(width=row.width)
        rows.append(f"{name}: {layers} × {heads} × {width} × {_number_words(row)} = {_bytes_words(row.bytes)}")
    return "\n".join(rows) + _set_aside(each)


def _set_aside(each: ClassSum) -> str:
    """Say what all cells of a class take."""
    words = translate("KvMap", "; × {cells} cells = {bytes}")
    return words.format(cells=count(each.cells), bytes=byte_size(each.bytes * each.cells))


def _number_words(row: Row) -> str:
    size = f"{row.number_bytes:.4f}".rstrip("0").rstrip(".")
    return translate("KvMap", "{size} bytes ({type})").format(size=size, type=row.type)


def _state_words(model: ModelInfo) -> str:
    if not model.cache.state:
        return ""
    return translate(
        "KvMap",
        "Recurrent layers: – a token. They keep a state of {bytes}, as large however many tokens it has read.",
    ).format(bytes=byte_size(model.cache.state))


def _bytes_words(size: int) -> str:
    return translate("KvMap", "{bytes} bytes").format(bytes=count(size))
