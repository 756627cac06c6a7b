"""Quick starts of a comparison: which settings its lanes get, from the settings that people have now.

Pure: knows no engine and no window.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Literal, NamedTuple, get_args

import msgspec

from app.core.comparison import MOST_LANES, Layout
from app.core.sampling import BOUNDS, MAX_SEED, PRESETS, SamplingSettings, in_effect

Start = Literal["temperature", "top_p", "top_k", "min_p", "seeds", "greedy"]
STARTS: tuple[Start, ...] = get_args(Start)
STEPS: dict[str, tuple[float, ...]] = {
    "temperature": (0.0, 0.4, 0.8, 1.2, 1.6),
    "top_p": (0.5, 0.8, 0.9, 0.95, 1.0),
    "top_k": (1, 5, 20, 40, 100, 0),
    "min_p": (0.0, 0.02, 0.05, 0.1, 0.3),
}
"""The values of each setting, from lane to lane; as the settings have them, 0 for top-k and 1 for top-p are off."""
GRID_SETTINGS = ("temperature", "top_p", "top_k", "min_p", "repeat_penalty")
"""What can go from row to row and from column to column of a grid."""
GRID_STEPS: dict[str, tuple[float, ...]] = {
    "temperature": (0.4, 0.8, 1.2, 1.6),
    "top_p": (0.5, 0.8, 0.95, 1.0),
    "top_k": (1, 10, 40, 0),
    "min_p": (0.0, 0.05, 0.1, 0.3),
    "repeat_penalty": (1.0, 1.05, 1.1, 1.3),
}
MOST_STEPS = 4
"""Of a grid, in either direction."""
FIRST_SEED, LAST_SEED = 1_000, 9_999
"""Of those that are made up: names of lanes have little room, and what differs must be seen in it."""
WITHOUT_EFFECT_AT_0 = ("top_k", "top_p", "min_p", "typical_p", "xtc_probability", "xtc_threshold")
"""Settings that change nothing in a lane which always takes the likeliest token."""


class Lanes(NamedTuple):
    """The settings of each lane, and how they are laid out."""

    settings: tuple[SamplingSettings, ...]
    layout: Layout = Layout()
    baseline: int = 0

    @property
    def is_grid(self) -> bool:
        """Whether they are the cells of a grid."""
        return bool(self.layout.columns)


def lanes_for(start: Start, present: SamplingSettings, seeds: int = 4) -> Lanes:
    """Return the lanes of a quick start; `present` gives everything that does not differ, `seeds` is how many of them.

    The lane that is nearest to the present settings is the baseline.
    """
    present = with_seed(present.validated())
    if start == "seeds":
        return Lanes(tuple(_with(present, seed=seed) for seed in _seeds(present.seed or 0, seeds)))
    if start == "greedy":
        greedy = PRESETS["Greedy"]
        kept = {
            "seed": present.seed,
            "max_tokens": present.max_tokens,
            "stop": present.stop,
            "grammar": present.grammar,
        }
        return Lanes((_with(greedy, **kept), present), baseline=1)
    settings = tuple(_stepped(present, start, value) for value in STEPS[start])
    return Lanes(settings, baseline=_nearest(STEPS[start], getattr(present, start)))


def grid_for(
    present: SamplingSettings, column: str, columns: Sequence[float], row: str, rows: Sequence[float]
) -> Lanes:
    """Return the lanes of a grid of two settings, row by row. Raises `ValueError` for one that is none."""
    if column == row or not {column, row} <= set(GRID_SETTINGS):
        raise ValueError(f"a grid needs two settings, not {column} and {row}")
    if not (0 < len(columns) <= MOST_STEPS and 0 < len(rows) <= MOST_STEPS):
        raise ValueError(f"a grid has 1 to {MOST_STEPS} columns and rows, not {len(columns)} and {len(rows)}")
    present = with_seed(present.validated())
    cells = tuple(_stepped(_stepped(present, column, across), row, down) for down, across in product(rows, columns))
    baseline = _nearest(rows, getattr(present, row)) * len(columns) + _nearest(columns, getattr(present, column))
    return Lanes(cells, Layout(len(columns), column, row), baseline)


def another(settings: Sequence[SamplingSettings]) -> SamplingSettings | None:
    """Return the settings of one more lane: the last one's with a seed that no lane has, as one like it is no news.

    None where there are as many as there can be.
    """
    if not settings or len(settings) >= MOST_LANES:
        return None
    last, taken = with_seed(settings[-1]), {each.seed for each in settings}
    seeds = _seeds(last.seed or 0, len(settings) + 2)
    return _with(last, seed=next(seed for seed in seeds[1:] if seed not in taken))


def same_as(settings: Sequence[SamplingSettings]) -> tuple[int | None, ...]:
    """Return for each lane the first one before it that must write the same; None where none does.

    A lane that always takes the likeliest token writes the same with any seed and any filter, and every lane whatever
    the values and places of stages that do nothing.
    """
    first: dict[SamplingSettings, int] = {}
    found: list[int | None] = []
    for lane, each in enumerate(settings):
        acting = in_effect(each)
        earlier = first.setdefault(_with(acting, seed=None) if each.is_greedy else acting, lane)
        found.append(earlier if earlier != lane else None)
    return tuple(found)


def with_seed(settings: SamplingSettings) -> SamplingSettings:
    """Return settings whose seed is fixed: with the same numbers drawn in all lanes, what differs is the setting."""
    if settings.seed is not None:
        return settings
    first = FIRST_SEED + secrets.randbelow(LAST_SEED - MOST_LANES - FIRST_SEED + 2)  # its neighbours are as short
    return _with(settings, seed=first)


def differing(settings: Iterable[SamplingSettings]) -> tuple[str, ...]:
    """Return the fields in which lanes differ, in the order of the chain, the seed last.

    Beside lanes that draw, one that always takes the likeliest token does not count where it makes no difference.
    """
    given = tuple(settings)
    drawing = tuple(each for each in given if not each.is_greedy) or given
    idle = (*WITHOUT_EFFECT_AT_0, "seed", "order")
    names = [field.name for field in msgspec.structs.fields(SamplingSettings)]
    return tuple(
        name for name in names if len({getattr(each, name) for each in (drawing if name in idle else given)}) > 1
    )


def is_greedy(settings: SamplingSettings) -> bool:
    """Return whether a lane is the greedy one of its quick start, whose limits are those of the others."""
    limits = {name: getattr(settings, name) for name in ("seed", "max_tokens", "stop", "grammar")}
    return _with(PRESETS["Greedy"], **limits) == settings


def _stepped(settings: SamplingSettings, name: str, value: float) -> SamplingSettings:
    bounds = BOUNDS[name]
    within = min(max(value, bounds.low), bounds.high)
    return _with(settings, **{name: int(within) if name == "top_k" else float(within)})


def _seeds(first: int, count: int) -> list[int]:
    return [(first + number) % (MAX_SEED + 1) for number in range(count)]


def _nearest(steps: Sequence[float], value: float) -> int:
    """Return the first step that is nearest to a value."""
    return min(range(len(steps)), key=lambda place: round(abs(steps[place] - value), 9))


def _with(settings: SamplingSettings, **changes: object) -> SamplingSettings:
    return msgspec.structs.replace(settings, **changes)
