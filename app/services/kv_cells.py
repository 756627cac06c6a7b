"""What the cells of the KV cache hold, in the order in which a picture shows them: plain values, and their arithmetic.

A sequence is shown by its positions, the chat's first and lanes behind it; where llama.cpp really puts a token among the
cells nobody can ask, and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from app.core.chat import PromptSpan
from app.core.comparison import LETTERS
from app.services.cache_parts import PartName
from app.services.kv_blocks import BLOCK

Owner = PartName | Literal["empty"]
"""Whose a cell is; “empty” is one of a block that holds nothing, behind the last token of a sequence."""


class Stretch(msgspec.Struct, frozen=True):
    """Neighbouring places of the picture, `start` to `end` (exclusive), that belong to one part."""

    start: int
    end: int
    owner: Owner
    first: int
    """The position that its first token has in its sequence."""
    lane: int | None = None
    dropped: int = 0
    """Of a lane, the first so many are in no cell of the layers with a sliding window any more."""
    is_copy: bool = False
    """Tokens of the prompt that are there once more, for a lane."""


class GivenBack(msgspec.Struct, frozen=True):
    """What the lanes of a comparison held until each of them ended."""

    lanes: int = 0
    cells: int = 0


class CellsHeld(msgspec.Struct, frozen=True):
    """What the cells hold now; the places behind the last stretch are free."""

    cells: int = 0
    """All there are; 0 without a model."""
    stretches: tuple[Stretch, ...] = ()
    reused: int = 0
    """The first so many were there before the last prompt came, and were not evaluated again."""
    dropped: int = 0
    """Of the chat's positions, the first so many are in no cell of the layers with a sliding window any more; lanes have
    theirs in their stretches."""
    window_cells: int | None = None
    """Where every layer that has cells has a sliding window, how many cells that is; None where some keep all."""

    @property
    def used(self) -> int:
        """Cells that hold a token; what blocks hold once more is not counted again."""
        return sum(each.end - each.start for each in self.stretches if each.owner != "empty" and not each.is_copy)

    @property
    def in_cells(self) -> int:
        """The tokens that some layer still holds in a cell."""
        return self.used if self.window_cells is None else self.used - min(self.all_dropped, self.used)

    @property
    def all_dropped(self) -> int:
        """The tokens that layers with a window no longer hold, of the chat and of all lanes."""
        return self.dropped + sum(each.dropped for each in self.stretches)

    @property
    def cells_there(self) -> int:
        """The cells of the layers that have most."""
        return self.cells if self.window_cells is None else self.window_cells

    @property
    def copies(self) -> int:
        """Cells that hold a token of the prompt once more, for a lane."""
        return sum(each.end - each.start for each in self.stretches if each.is_copy)

    @property
    def end(self) -> int:
        """The place behind the last stretch."""
        return self.stretches[-1].end if self.stretches else 0

    def at(self, place: int) -> Stretch | None:
        """Return the stretch that a place belongs to; None where it is free."""
        return next((each for each in self.stretches if each.start <= place < each.end), None)


class Saving(msgspec.Struct, frozen=True):
    """What the last prompt found in the cells, and what that saved."""

    prompt: int
    """Its tokens."""
    reused: int
    """Of them, those that were in the cells."""
    tokens_per_s: float | None
    """How fast this model reads here; None before it has read enough at once."""
    is_again: bool = False
    """Whether it was read for an answer that is written once more, from empty cells."""

    @property
    def ms(self) -> float | None:
        """The time that reading the reused tokens would have taken at that rate; None where it is not known."""
        return self.reused / self.tokens_per_s * 1000 if self.tokens_per_s else None


class CellToken(msgspec.Struct, frozen=True):
    """What is known of one place of the picture that holds a token."""

    stretch: Stretch
    position: int
    """In its sequence, from 0."""
    token: int | None
    text: str | None
    """None where nobody knows what tokens say."""
    is_reused: bool = False
    is_dropped: bool = False
    """Whether the layers with a sliding window hold it no longer."""
    is_gone: bool = False
    """Whether no layer holds it any more: each has such a window."""


def prompt_stretches(spans: Sequence[PromptSpan], prompt: int, used: int) -> Iterator[Stretch]:
    """Yield the parts of the chat's first `used` positions: those of a prompt, and the answer behind it."""
    at, end = 0, min(prompt, used)
    for span in spans:
        start, stop = min(max(span.start, at), end), min(span.end, end)
        if stop <= start:
            continue
        if start > at:
            yield Stretch(at, start, "template", at)
        yield Stretch(start, stop, span.part, start)
        at = stop
    if at < end:
        yield Stretch(at, end, "template", at)
    if used > end:
        yield Stretch(end, used, "answer", end)


def answer_stretches(start: int, end: int, thoughts: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    """Yield the parts of an answer behind the prompt; `thoughts` are its thinking: first token and end, from its first."""
    at = start
    for first, stop in thoughts:
        begin, until = min(start + first, end), min(start + stop, end)
        if begin > at:
            yield Stretch(at, begin, "answer", at)
        if until > begin:
            yield Stretch(begin, until, "thinking", begin)
        at = max(at, until)
    if end > at:
        yield Stretch(at, end, "answer", at)


def joined(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    """Yield neighbours of one part as one stretch."""
    before: Stretch | None = None
    for each in stretches:
        if before is not None and before.owner == each.owner and before.lane == each.lane:
            before = msgspec.structs.replace(before, end=each.end)
            continue
        if before is not None:
            yield before
        before = each
    if before is not None:
        yield before


def with_lanes(
    chat: Sequence[Stretch], lanes: Mapping[int, int], window_from: Mapping[int, int] | None = None
) -> tuple[Stretch, ...]:
    """Return the stretches of the chat with the cells of each lane behind them.

    `window_from` are the first positions that layers with a sliding window still have of a lane.
    """
    at = first = chat[-1].end if chat else 0
    made = list(chat)
    for lane, cells in lanes.items():
        if cells:
            gone = (window_from or {}).get(lane, 0) - first
            made.append(Stretch(at, at + cells, "lanes", first, lane, min(max(gone, 0), cells)))
            at += cells
    return tuple(made)


def in_blocks(held: CellsHeld) -> CellsHeld:
    """Return the same cells in blocks of 16: each sequence begins a block of its own, its last one may be part empty.

    Lanes share the full blocks of the prompt and have a copy of its last, part-filled one.
    """
    chat = [each for each in held.stretches if each.lane is None]
    lanes = [each for each in held.stretches if each.lane is not None]
    prompt = chat[-1].end if chat else 0
    if not lanes:
        whole = [*chat, *_rest(prompt, prompt)]
        return msgspec.structs.replace(held, stretches=tuple(whole))
    shared = prompt - prompt % BLOCK
    made = [msgspec.structs.replace(each, end=min(each.end, shared)) for each in chat if each.start < shared]
    split = [each for each in chat if each.end > shared]
    at = shared
    for lane in lanes:
        for each in split:
            start = max(each.start, shared)
            length = each.end - start
            made.append(Stretch(at, at + length, each.owner, start, lane.lane, is_copy=lane is not lanes[0]))
            at += length
        made.append(msgspec.structs.replace(lane, start=at, end=at + lane.end - lane.start))
        at = made[-1].end
        made += _rest(at, at)
        at = made[-1].end
    return msgspec.structs.replace(held, stretches=tuple(made))


def _rest(at: int, first: int) -> list[Stretch]:
    """Return what is empty of the block that a sequence ends in."""
    return [Stretch(at, at + -at % BLOCK, "empty", first)] if at % BLOCK else []


def letter_of(lane: int) -> str:
    """Return what a lane is called."""
    return LETTERS[lane]
