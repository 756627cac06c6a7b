"""What the picture of the loop shows of the token that is looked at: no more of the answer than was there at its step."""

from __future__ import annotations

import msgspec

from app.services.inspection import InspectedPrompt
from app.services.loop_run import LoopRun
from app.services.loop_values import LoopValues
from app.services.turns import Turn


def as_at_step(values: LoopValues, chosen: int | None, before: int | None) -> LoopValues:
    """Return the values with the end and the cells that belong to the step that is shown.

    `chosen` is the token that somebody looks at, counted from 0, None for the newest; `before` how many tokens stand
    before the answer. The newest step of an answer that grows may be told later than its tokens: they are counted up to
    that step, so that all figures are of one moment.
    """
    is_open = values.phase in ("writing", "held")
    if chosen is None:
        step = values.step
        if step is None or not is_open:
            return values if before is None else _with_last(values, before)
        written = step.place + 1 if step.is_drawn else step.place
        return _without(values, values.written - written) if written < values.written else values
    newest = values.written if values.phase == "held" else values.written - 1
    if chosen >= newest:
        return values if before is None else _with_last(values, before)
    used = _cells_at(values, chosen, before)
    in_use = values.model.bytes_of(used) if values.model is not None else None
    if used == values.cells_used:
        in_use = values.cache_bytes
    return msgspec.structs.replace(values, is_back=True, had=chosen + 1, cells_used=used, cache_bytes=in_use)


def _with_last(values: LoopValues, before: int) -> LoopValues:
    """Return the values with whether the last token is in a cell, which its number says once the answer is over."""
    is_state = values.model is not None and values.model.memory_kind == "recurrent"
    if values.phase != "done" or is_state or values.cells_used is None or not values.written:
        return values
    return msgspec.structs.replace(values, is_last_read=values.cells_used == before + values.written)


def _without(values: LoopValues, later: int) -> LoopValues:
    """Return the values without so many tokens that came after the step, and without the cells that they took."""
    used = values.cells_used
    if used is not None and not (values.model is not None and values.model.memory_kind == "recurrent"):
        used -= later
    in_use = (
        values.model.bytes_of(used) if values.model is not None and used != values.cells_used else values.cache_bytes
    )
    return msgspec.structs.replace(values, written=values.written - later, cells_used=used, cache_bytes=in_use)


def tokens_before(turn: Turn | None, kept: InspectedPrompt | None, run: LoopRun | None) -> int | None:
    """Return how many tokens stand before an answer; None where that is not known."""
    if turn is not None and kept is not None and kept.message == turn.message:
        return len(kept.ids)
    ready = run.prompt if run is not None else None
    return len(ready.ids) // 4 - run.first if run is not None and ready is not None else None


def _cells_at(values: LoopValues, place: int, before: int | None) -> int | None:
    """Return the cells in use when a token was drawn: one for each token before it, where each has one."""
    is_state = values.model is not None and values.model.memory_kind == "recurrent"
    if values.cells_used is None or before is None or is_state:
        return values.cells_used
    if values.phase == "interrupted":  # what is known to be there since is less than there was
        return before + place
    return min(before + place, values.cells_used)
