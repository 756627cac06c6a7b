"""Reads single values that were typed; what does not fit is said as the end of a sentence after the option."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from app.core.chat import clean_text
from app.core.model import ALL_LAYERS, MOST_LAYERS
from app.core.sampling import PRESETS, STAGES, Bounds

AUTOMATIC = "auto"
"""What is typed for as many layers on the GPU as fit."""
_TOKENS = re.compile(r"(?P<number>[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,2})(?P<thousands>[kK]?)")
_BALANCED = PRESETS["Balanced"]
_AT_THE_ENDS = {
    "temperature": "0 always takes the most likely token",
    "top_k": "0 is off",
    "top_p": "1 is off",
    "min_p": "0 is off",
    "typical_p": "1 is off",
    "repeat_penalty": "1 is off",
    "frequency_penalty": "0 is off",
    "presence_penalty": "0 is off",
    "penalty_last_n": "0 is off, -1 the whole context",
    "dry_multiplier": "0 is off",
    "dry_penalty_last_n": "0 is off, -1 the whole context",
    "xtc_probability": "0 is off",
    "max_tokens": "0 is no limit",
}


def setting_help(name: str, bounds: Bounds) -> str:
    """Return the help of a sampling setting: its range, its default and what its ends mean."""
    meaning = f"; {_AT_THE_ENDS[name]}" if name in _AT_THE_ENDS else ""
    default = getattr(_BALANCED, name)
    return f"{_number(bounds.low)} to {_number(bounds.high)}, {_number(default)} if left out{meaning}"


def _number(value: float) -> str:
    return f"{value:,.10g}"


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


def tokens(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of numbers of tokens in a range, as people write them: 32768, 32,768, or 32k, which is 32 x 1,024."""

    def read(typed: str) -> int:
        found = _TOKENS.fullmatch(typed.strip())
        value = low - 1
        if found is not None:
            value = int(found["number"].replace(",", "")) * (1024 if found["thousands"] else 1)
        if not low <= value <= high:
            said = f"takes a whole number from {low} to {high}, such as 8192 or 8k, not “{typed}”"
            raise argparse.ArgumentTypeError(said)
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


def stages(typed: str) -> tuple[str, ...]:
    """Return the stages that a list names, with commas between them; top-k and top_k are the same."""
    found = []
    for word in typed.split(","):
        name = word.strip().lower().replace("-", "_")
        name = name.removesuffix("_p") if name == "typical_p" else name
        if name not in STAGES:
            raise argparse.ArgumentTypeError(f"takes some of {', '.join(STAGES)}, not “{word.strip()}”")
        found.append(name)
    return tuple(found)


def gpu_layers(typed: str) -> int | str:
    """Return a number of layers, `ALL_LAYERS` for "all", or `AUTOMATIC`."""
    word = typed.strip().lower()
    if word == AUTOMATIC:
        return AUTOMATIC
    if word == "all":
        return ALL_LAYERS
    try:
        value = int(word)
    except ValueError:
        value = -1
    if not 0 <= value <= MOST_LAYERS:
        raise argparse.ArgumentTypeError(f"takes auto, all or a whole number from 0 to {MOST_LAYERS}, not “{typed}”")
    return value


def text(typed: str) -> str:
    """Return a text that can be tokenised."""
    return clean_text(typed)


def named(what: str) -> Callable[[str], str]:
    """Return a reader of a name that may not be left empty, as a script's unset variable leaves it."""

    def read(typed: str) -> str:
        if not typed.strip():
            raise argparse.ArgumentTypeError(f"takes {what}, not “{typed}”")
        return clean_text(typed)

    return read


def model(typed: str) -> str:
    """Return a model's file or name, as it was typed: names of files may be no text."""
    named("a model by its file or its name")(typed)
    return typed


def file(typed: str) -> Path:
    """Return the path of a file, as it was typed: names of files may be no text."""
    named("a file")(typed)
    return Path(typed)
