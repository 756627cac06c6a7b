"""Comparisons: one prompt, one prefill, several lanes with settings of their own, and what is kept of them.

Plain values; who runs the lanes is the engine, who keeps them the store.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from app.core.sampling import BOUNDS

MOST_LANES = 16
"""Of one comparison: a grid of four by four."""
MOST_AT_ONCE = 8
"""Lanes that share the cells of one prompt; more run in waves."""
MOST_TOKENS = 1 << 31
"""No context holds so many."""
MOST_MS = 1e13
"""Longer than anything took."""
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

    def suits(self, lanes: int) -> bool:
        """Whether it is a plan for so many lanes, each of which runs once."""
        running = sorted(lane for wave in self.waves for lane in wave)
        sizes = all(0 < len(wave) <= MOST_AT_ONCE for wave in self.waves)
        return (
            running == list(range(lanes))
            and sizes
            and len(self.limits) == lanes
            and all(0 < limit < MOST_TOKENS for limit in self.limits)
        )


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

    @property
    def is_possible(self) -> bool:
        """Whether a prefill can have these figures."""
        tokens = self.prompt_tokens, self.from_cache, self.evaluated
        times = self.prefill_ms, self.ttft_ms or 0.0
        return all(0 <= each < MOST_TOKENS for each in tokens) and all(
            math.isfinite(each) and 0 <= each < MOST_MS for each in times
        )


class Layout(msgspec.Struct, frozen=True):
    """How lanes are laid out: side by side, or as small multiples of two settings, row by row."""

    columns: int = 0
    """Of a grid; 0 is lanes side by side."""
    column_setting: str = ""
    """The field of `SamplingSettings` that goes from column to column."""
    row_setting: str = ""

    def suits(self, lanes: int) -> bool:
        """Whether so many lanes can be laid out like this: a grid has its two settings, and a lane in every cell."""
        if not self.columns:
            return self == Layout()
        is_full = 0 < self.columns <= lanes and lanes % self.columns == 0
        return is_full and {self.column_setting, self.row_setting} <= BOUNDS.keys()


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
