"""What the cells of a comparison say on hover; made when somebody wants to read one, as there may be hundreds."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.words import Sentence
from app.gui.planner.comparison import words
from app.gui.widgets.words import render
from app.services.plan_values import Band, ComparedRow
from app.services.units import at_most, count

translate = QCoreApplication.translate


def name_hint(row: ComparedRow) -> str:
    """Return the model and the GPU by their whole names, and whether its sizes are an estimate."""
    if not row.is_estimate:
        return f"{row.shown_model} · {row.gpu}"
    said = translate("PlanComparison", "{model} · {gpu}. No file of it is here: its sizes are an estimate.")
    return said.format(model=row.shown_model, gpu=row.gpu)


def room_hint(row: ComparedRow) -> str:
    """Return what the largest context is bounded by, or why it is not known."""
    return words.context_hint(row) if row.largest_context is not None else _why(row.why_no_memory)


def users_hint(row: ComparedRow) -> str:
    """Return why it is not known how many conversations fit at once."""
    return _why(row.why_no_memory) if row.most_users is None else ""


def first_token_hint(row: ComparedRow) -> str:
    """Return when the last of several has its first token, or why nothing is known of any."""
    last = row.first_token_together
    if row.first_token is None:
        return _why(row.why_no_first_token)
    if last is None or last == row.first_token:
        return ""
    said = translate(
        "PlanComparison",
        "When all ask at the same moment, the last one has its first token after {time} ({band}).",
    )
    return said.format(time=at_most(last.is_most) + words.seconds(last.value), band=words.band_of(last, is_time=True))


def speed_hint(row: ComparedRow) -> str:
    """Return how full the cache is meanwhile and what the speed is judged by, or why it is not known."""
    band: Band | None = row.each
    if band is None:
        return _why(row.why_no_speed)
    full = translate(
        "PlanComparison", "With all {context} tokens of its context in the cache; with fewer it is faster."
    )
    return " ".join((full.format(context=count(row.context)), *map(render, row.how_sure)))


HINTS = (
    name_hint,
    words.verdict_hint,
    room_hint,
    users_hint,
    first_token_hint,
    speed_hint,
    speed_hint,
    words.limit_hint,
)
"""By column."""


def _why(sentence: Sentence | None) -> str:
    return "" if sentence is None else render(sentence)
