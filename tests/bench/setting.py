"""What every benchmark gets: the model, and how long a figure may take; also prompts of any length."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

CELLS = 4096
"""Cells of every context."""
ORDINARY_IDS = range(1_000, 20_000)
"""Ids of the starter model that are no control tokens."""


@dataclass(frozen=True)
class Setting:
    """The circumstances of a measurement."""

    model: Path
    seconds: float


def any_prompt(tokens: int, seed: int) -> list[int]:
    """Return a prompt of so many tokens that differs from every other seed's in its first token on.

    What it says is nothing: the work of a prefill does not depend on it.
    """
    chosen = random.Random(seed).choices(ORDINARY_IDS, k=tokens)
    chosen[0] = ORDINARY_IDS[seed % len(ORDINARY_IDS)]
    return chosen
