"""How the cells are shared before lanes begin: which of them run at once, and how many tokens each may have.

Pure. The rule: no wave's prompt and limits need more cells than there are. Lanes whose settings say how many tokens
they want keep that number, in as many waves as it takes. Where a lane wants no limit, or more than it could have all
alone, waiting would not help: then a wave is as large as it may be, and its lanes get the same share, of which those
that want less leave the rest to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.comparison import MOST_AT_ONCE, HowRun, LanePlan

Wave = tuple[int, ...]


def plan_lanes(prompt: int, wanted: Sequence[int], cells: int, at_once: int, how: HowRun = "together") -> LanePlan:
    """Return the plan for lanes that want so many tokens each, 0 for no limit, behind a prompt of `prompt` tokens.

    `at_once` lanes are the most that the context can run. One by one, each lane has all cells to itself. Raises
    `ValueError` where there is no room for a token.
    """
    room = cells - prompt
    if room < 1:
        raise ValueError(f"a prompt of {prompt} tokens leaves no room in {cells} cells")
    most = 1 if how == "one_by_one" else max(1, min(at_once, MOST_AT_ONCE, room))
    if all(0 < tokens <= room for tokens in wanted):
        return LanePlan(waves=_waves_of(wanted, room, most), limits=tuple(wanted), how=how)
    waves = _even_waves(len(wanted), most)
    share = min(_share([wanted[lane] or room for lane in wave], room) for wave in waves)
    limits = tuple(min(tokens or room, share) for tokens in wanted)
    lowered = any(limit < (tokens or room) for limit, tokens in zip(limits, wanted, strict=True))
    return LanePlan(waves=waves, limits=limits, how=how, lowered=lowered)


def _waves_of(wanted: Sequence[int], room: int, most: int) -> tuple[Wave, ...]:
    """Return the lanes in their order, as many at once as fit with all that they want."""
    waves: list[list[int]] = []
    left = 0
    for lane, tokens in enumerate(wanted):
        if not waves or tokens > left or len(waves[-1]) == most:
            waves.append([])
            left = room
        waves[-1].append(lane)
        left -= tokens
    return tuple(map(tuple, waves))


def _even_waves(lanes: int, most: int) -> tuple[Wave, ...]:
    """Return the lanes in their order, in as few waves as can be, none of which has two lanes more than another."""
    count = -(-lanes // most)
    bounds = [lanes * wave // count for wave in range(count + 1)]
    return tuple(tuple(range(bounds[wave], bounds[wave + 1])) for wave in range(count))


def _share(wanted: Iterable[int], room: int) -> int:
    """Return the largest share with which lanes that take what they want of it, at most, fit into the room."""
    left, waiting = room, sorted(wanted)
    while waiting and waiting[0] * len(waiting) <= left:
        left -= waiting.pop(0)
    return left // len(waiting) if waiting else room
