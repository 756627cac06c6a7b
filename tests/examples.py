"""How many made-up examples a property is held against: all of them with `dev.py test --all`, else a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Value = TypeVar("Value")

FEWEST = 50
_share = 1


def keep_one_in(share: int) -> None:
    """Let only one in so many examples be tried; called before any test is read."""
    global _share  # noqa: PLW0603  what the command line asked for, told once
    _share = share


def repeats(most: int) -> int:
    """Return how often a test does again what it has already done, when everything is run that often."""
    return -(-most // _share)


def part_of(values: Sequence[Value], first: int) -> Sequence[Value]:
    """Return every so many of these from `first` on: who goes through several of them begins elsewhere each time."""
    return values[first % _share :: _share]


def examples(most: int) -> settings:
    """Return the settings of a property with so many examples when everything is run."""
    return settings(deadline=None, max_examples=max(most // _share, min(most, FEWEST)))
