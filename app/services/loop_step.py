"""One token on its way through the loop, out of the newest step or out of the record of an answer."""

from __future__ import annotations

from app.services.inspection import InspectedAnswer, TokenInsight
from app.services.loop_values import LoopCandidate, LoopStep
from app.services.next_token import CandidatesView

MOST_CANDIDATES = 5


def step_of_view(view: CandidatesView, first: int) -> LoopStep:
    """Return the newest step; `first` is the place in its answer of the first token of its request."""
    rows = [LoopCandidate(row.token, row.text, row.raw, row.after, row.cut_by, row.is_drawn) for row in view.rows]
    drawn = next((row for row in rows if row.is_taken), None)
    return LoopStep(
        place=first + view.token,
        candidates=_likeliest(rows),
        survivors=view.survivors,
        is_exact=view.is_exact,
        is_drawn=not view.is_held,
        text=drawn.text if drawn is not None else None,
        token=drawn.token if drawn is not None and not view.is_held else None,
    )


def step_of_record(insight: TokenInsight, answer: InspectedAnswer) -> LoopStep:
    """Return a token of an answer as its record has it."""
    rows = [
        LoopCandidate(each.token, each.text, each.raw, each.after, each.cut_by, each.is_taken)
        for each in insight.alternatives
    ]
    left = sum(1 for each in rows if each.after)
    is_known = insight.rest_after is not None and all(each.after is not None for each in rows)
    return LoopStep(
        place=insight.index,
        candidates=_likeliest(rows),
        survivors=left if is_known and rows else None,
        is_exact=insight.rest_after == 0,
        is_drawn=True,
        text=answer.texts[insight.index] if insight.index < len(answer) else None,
        token=answer.ids[insight.index] if insight.index < len(answer) else None,
    )


def _likeliest(rows: list[LoopCandidate]) -> tuple[LoopCandidate, ...]:
    """Return the first rows, the taken one among them."""
    shown = rows[:MOST_CANDIDATES]
    taken = next((row for row in rows if row.is_taken), None)
    if taken is not None and taken not in shown:
        shown[-1:] = [taken]
    return tuple(shown)
