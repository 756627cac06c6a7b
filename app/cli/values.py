"""Reads single values that were typed; what does not fit is said as the end of a sentence after the option."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable

from app.core.chat import clean_text
from app.core.sampling import Bounds


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers in a range."""

    def read(typed: str) -> int:
        try:
            value = int(typed)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"takes a whole number from {low} to {high}, not “{typed}”")
        return value

    return read


def sampling_number(bounds: Bounds, whole: bool) -> Callable[[str], float]:
    """Return a reader of one sampling value."""
    if whole:
        return whole_number(int(bounds.low), int(bounds.high))

    def read(typed: str) -> float:
        try:
            value = float(typed)
        except ValueError:
            value = math.nan
        if not bounds.low <= value <= bounds.high:
            raise argparse.ArgumentTypeError(f"takes a number from {bounds.low:g} to {bounds.high:g}, not “{typed}”")
        return value

    return read


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a reader of one of these names, however it is capitalised."""
    known = tuple(names)

    def read(typed: str) -> str:
        for name in known:
            if name.lower() == typed.lower():
                return name
        raise argparse.ArgumentTypeError(f"takes one of {', '.join(known)}, not “{typed}”")

    return read


def text(typed: str) -> str:
    """Return a text that can be tokenised."""
    return clean_text(typed)
