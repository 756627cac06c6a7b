"""Comparisons: one prompt, one prefill, several lanes with settings of their own, and what is kept of them.

Plain values; who runs the lanes is the engine, who keeps them the store.
"""

from __future__ import annotations

from typing import Literal

import msgspec

MOST_LANES = 16
"""Of one comparison: a grid of four by four."""
MOST_AT_ONCE = 8
"""Lanes that share the cells of one prompt; more run in waves."""
LETTERS = "ABCDEFGHIJKLMNOP"
"""What lanes are called, in their order; letters are no words and are the same in every language."""

HowRun = Literal["together", "one_by_one"]
"""All lanes of a wave in one batch, or one after another from the saved prompt where the memory does not suffice."""


ReasonKind = Literal[
    "cut",
    "made_cut",
    "reshaped",
    "most_likely",
    "greedy",
    "draw",
    "either",
    "together",
    "rounding",
    "forced",
    "ended",
    "unknown",
]
"""Why a lane took another token than the baseline; `probability.deciding` says what each of them means."""


class LanePlan(msgspec.Struct, frozen=True):
    """How the cells are shared before the start: prompt + lanes of a wave x their limits never exceed them."""

    waves: tuple[tuple[int, ...], ...]
    """Which lanes run at once, by index."""
    limits: tuple[int, ...]
    """By lane: the most tokens that it may have, at least 1."""
    how: HowRun = "together"
    lowered: bool = False
    """Whether a lane may have fewer tokens than its settings want."""


class SharedPrefill(msgspec.Struct, frozen=True):
    """What the one prefill was that all lanes share."""

    prompt_tokens: int
    from_cache: int
    """Of the prompt, what was in the cache before and was not evaluated."""
    evaluated: int
    """Of the prompt, what was evaluated, once for all lanes."""
    prefill_ms: float
    ttft_ms: float | None = None
    """Request to the first visible character of any lane."""


class Layout(msgspec.Struct, frozen=True):
    """How lanes are laid out: side by side, or as small multiples of two settings, row by row."""

    columns: int = 0
    """Of a grid; 0 is lanes side by side."""
    column_setting: str = ""
    """The field of `SamplingSettings` that goes from column to column."""
    row_setting: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """What is kept of a comparison beside its lanes, which are answers like others."""

    id: int
    conversation: int
    parent: int | None
    """The message that all lanes answer."""
    created_ms: int
    lanes: tuple[int, ...] = ()
    """The message of each lane, in their order."""
    baseline: int = 0
    """Index of the lane that the others are compared with."""
    layout: Layout = Layout()
    kept: tuple[int, ...] = ()
    """Indices of the lanes that became versions of the answer; the others are hidden among those."""
    plan: LanePlan | None = None
    """None until the prompt was counted."""
    prefill: SharedPrefill | None = None
    """None until the prompt was read."""
