"""What a chat template may use up, counted before it is made; nothing here knows Jinja.

A chat template comes out of a downloaded file: it is a program that nobody has read.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Literal

FaultKind = Literal["syntax", "refused", "failed", "forbidden", "size", "time"]

TEXT_CHARACTERS = 4 * 1024 * 1024
SOURCE_CHARACTERS = 1024 * 1024
WORK_PER_TEXT = 16
"""All that a template makes on the way may be so many times the longest text."""
MAX_ITEMS = 100_000
MAX_NUMBER_BITS = 4096
ITEM_CHARACTERS = 64
"""What an item of a list counts for in characters: both fill memory."""


class TemplateFault(Exception):
    """A template that cannot be used: the kind, the line if it is known, and the template's or Jinja's own words."""

    def __init__(self, kind: FaultKind, message: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message = message
        self.line = line


class Limits:
    """Counts what one conversation's rendering makes; asks come before the making."""

    def __init__(self, people_characters: int) -> None:
        self.text_characters = TEXT_CHARACTERS + 2 * people_characters
        self._weights: dict[int, tuple[int, object]] = {}
        self.restart()

    def restart(self) -> None:
        """Begin to count anew, for another render."""
        self._left = WORK_PER_TEXT * self.text_characters
        self._weights.clear()

    def check_text(self, length: int) -> None:
        """Refuse a text of this length if it is longer than any text may be."""
        if length > self.text_characters:
            raise TemplateFault("size")

    def spend(self, characters: int) -> None:
        """Count text or lists that are about to be made."""
        self.check_text(characters)
        self._left -= characters
        if self._left < 0:
            raise TemplateFault("size")

    def spend_items(self, count: int) -> None:
        """Count the items of a list that is about to be made."""
        self.spend(count * ITEM_CHARACTERS)

    def check_count(self, *numbers: object) -> None:
        """Refuse a width, a count or a precision beyond all reason."""
        if any(isinstance(number, int) and abs(number) > MAX_ITEMS for number in numbers):
            raise TemplateFault("size")

    def check_bits(self, bits: int) -> None:
        """Refuse a whole number of so many bits."""
        if bits > MAX_NUMBER_BITS:
            raise TemplateFault("size")

    def weigh(self, value: object) -> int:
        """Return about how many characters a value has when it is written out; lists within lists count each time."""
        if isinstance(value, str):
            return len(value) + 2
        if not isinstance(value, (list, tuple, dict)):
            return 8
        known = self._weights.get(id(value))
        if known is not None:
            return known[0]
        items: Iterable[object] = chain(value, value.values()) if isinstance(value, dict) else value
        weight = 2 + sum(self.weigh(item) + 2 for item in items)
        # Lists cannot change in the sandbox; holding on to this one keeps its identity from being used again.
        self._weights[id(value)] = (weight, value)
        return weight
