"""How many made-up examples a property is held against: all of them with `dev.py test --all`, else a part."""

from __future__ import annotations

from hypothesis import settings

FEWEST = 50
_share = 1


def keep_one_in(share: int) -> None:
    """Let only one in so many examples be tried; called before any test is read."""
    global _share  # noqa: PLW0603  what the command line asked for, told once
    _share = share


def repeats(most: int) -> int:
    """Return how often a test does again what it has already done, when everything is run that often."""
    return -(-most // _share)


def examples(most: int) -> settings:
    """Return the settings of a property with so many examples when everything is run."""
    return settings(deadline=None, max_examples=max(most // _share, min(most, FEWEST)))
