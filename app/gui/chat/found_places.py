"""Where a text is found in the conversation that is shown, in what is painted: read bit by bit, and kept up to date.

Knows turns and characters; where they lie in the view is the transcript's, and what is done with them the finder's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from app.core.literal_text import Span, matches
from app.gui.chat.plain_text import PlainText
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.chat.turn_block import TurnBlock


class Found(NamedTuple):
    """One match: the number of its turn, and which of the matches in it."""

    turn: int
    place: int


@dataclass
class FoundIn:
    """The matches in one turn, as it was when it was read."""

    state: tuple[object, ...]
    folded: int = 0
    """Matches that are not seen, in thinking that is folded away or in files: they come before the others."""
    spans: list[Span] = field(default_factory=list)
    """In the text that can be selected."""
    files: tuple[int, ...] = ()
    """Which file each of them is in, where they are in files."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self.folded + len(self.spans)


def state_of(block: TurnBlock) -> tuple[object, ...]:
    """Return what tells whether a turn must be read anew."""
    body = block.body
    thinking = body.thinking if isinstance(body, ThoughtfulText) else None
    folded = thinking.is_folded if thinking is not None else None
    return len(block.turn.text), block.turn.state, folded, len(thinking.source) if thinking is not None else 0


def found_in(block: TurnBlock, wanted: str) -> FoundIn:
    """Return the matches in a turn of what `needle` returned."""
    body = block.body
    thinking = body.thinking if isinstance(body, ThoughtfulText) else None
    if isinstance(body, PlainText):
        named = (f"{file.name}\n{file.text}" for file in body.files)  # as the search over all chats reads them
        files = tuple(number for number, text in enumerate(named) for _match in matches(text, wanted))
        return FoundIn(state_of(block), len(files), matches("".join(block.texts()), wanted), files)
    is_growing = block.turn.state in ("waiting", "writing")
    text = "".join(block.texts(at_once=is_growing))
    folded = len(matches(thinking.source, wanted)) if thinking is not None and thinking.is_folded else 0
    return FoundIn(state_of(block), folded, matches(text, wanted))


def must_unfold(block: TurnBlock, found: FoundIn, place: int) -> bool:
    """Whether a match is folded away: in thinking, or behind the beginning of a very long message."""
    body = block.body
    if isinstance(body, PlainText):
        seen = place - found.folded
        return body.is_folded and seen >= 0 and found.spans[seen][1] > body.shown_length
    return place < found.folded


class FoundPlaces:
    """The matches of all turns, in their order."""

    def __init__(self) -> None:
        self.wanted = ""
        self._found: dict[int, FoundIn] = {}
        self._order: list[int] = []

    def begin(self, wanted: str) -> None:
        """Look for something else, or nothing."""
        self.wanted = wanted
        self._found.clear()

    def follow(self, numbers: list[int]) -> None:
        """Know which turns are shown, in their order; what others held is forgotten."""
        self._order = numbers
        there = set(numbers)
        self._found = {number: found for number, found in self._found.items() if number in there}

    def unread(self, first: int) -> int | None:
        """Return the place of a turn that is to be read, the nearest behind one first; None where all are read."""
        count = len(self._order)
        places = ((first + step) % count for step in range(count))
        return next((place for place in places if self._order[place] not in self._found), None)

    def read(self, block: TurnBlock) -> None:
        """Read a turn, also one that was read before."""
        self._found[block.turn.number] = found_in(block, self.wanted)

    def is_read(self, block: TurnBlock) -> bool:
        """Whether what is known of a turn holds still."""
        found = self._found.get(block.turn.number)
        return found is not None and found.state == state_of(block)

    def of(self, number: int) -> FoundIn | None:
        """Return the matches in a turn; None where it was not read yet."""
        return self._found.get(number)

    @property
    def count(self) -> int:
        """How many matches are known by now."""
        return sum(found.count for found in self._found.values())

    def number_of(self, at: Found) -> int:
        """Return which match one is, counted from 1 over all turns that were read."""
        before = 0
        for number in self._order:
            if number == at.turn:
                break
            before += self._found[number].count if number in self._found else 0
        return before + at.place + 1

    def next(self, at: Found | None, by: int, first: int) -> Found | None:
        """Return the next match in a direction, round and round; without one to begin with, from a place on."""
        if at is not None and at.turn in self._order:
            found = self._found.get(at.turn)
            if found is not None and 0 <= at.place + by < found.count:
                return Found(at.turn, at.place + by)
            first = self._order.index(at.turn) + by
        count = len(self._order)
        for step in range(count):
            number = self._order[(first + by * step) % count]
            found = self._found.get(number)
            if found is not None and found.count:
                return Found(number, 0 if by > 0 else found.count - 1)
        return None

    def further(self, number: int) -> Found | None:
        """Return the first match behind a turn, round and round; None while a turn before it was not read."""
        first = self._order.index(number) + 1
        for step in range(len(self._order)):
            turn = self._order[(first + step) % len(self._order)]
            found = self._found.get(turn)
            if found is None:
                return None
            if found.count:
                return Found(turn, 0)
        return None
