"""Comparisons in the database: one row each, beside its lanes, which are answers like others.

A row goes with the last of its lanes. Damage in one costs what it hides and never a lane: where it is not known which
lanes were kept, all of them were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from app.core.comparison import MOST_LANES, Comparison, LanePlan, Layout, SharedPrefill
from app.store import columns

_INDICES = msgspec.json.Decoder(tuple[int, ...])
_LAYOUT = msgspec.json.Decoder(Layout)
_PLAN = msgspec.json.Decoder(LanePlan)
_PREFILL = msgspec.json.Decoder(SharedPrefill)
_LATEST_MS = 253_000_000_000_000
"""A moment of the year 9987: later ones are no date."""
_GONE = 0
"""In place of the message of a lane of which nothing is known; no message has this id."""


class Lane(NamedTuple):
    """What an answer says of the comparison that it belongs to."""

    message: int
    comparison: int | None
    number: int | None


def keep_comparison(connection: sqlite3.Connection, comparison: Comparison) -> None:
    """Add a comparison, or take over what is known of it now; one of which no lane is there leaves no row."""
    connection.execute(
        "INSERT INTO comparison (id, conversation, parent, created_ms, lanes, baseline, layout, kept, plan, prefill) "
        # It belongs where its lanes are: nothing else may refuse them.
        "SELECT ?1, message.conversation, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM answer JOIN message "
        "ON message.id = answer.message WHERE answer.comparison = ?1 LIMIT 1 "
        "ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation, parent = excluded.parent, "
        "created_ms = excluded.created_ms, lanes = excluded.lanes, baseline = excluded.baseline, "
        "layout = excluded.layout, kept = excluded.kept, plan = excluded.plan, prefill = excluded.prefill",
        (
            comparison.id,
            comparison.parent,
            comparison.created_ms,
            columns.to_json(comparison.lanes),
            comparison.baseline,
            columns.to_json(comparison.layout),
            columns.to_json(comparison.kept),
            columns.to_json(comparison.plan),
            columns.to_json(comparison.prefill),
        ),
    )


def remove_without_lanes(connection: sqlite3.Connection, comparison: int) -> None:
    """Remove a comparison unless a lane of it is still there, deleted or not."""
    connection.execute(
        "DELETE FROM comparison WHERE id = ? AND NOT EXISTS "
        "(SELECT 1 FROM answer WHERE answer.comparison = comparison.id)",
        (comparison,),
    )


def read_comparisons(
    connection: sqlite3.Connection, conversation: int, lanes: Iterable[Lane]
) -> Iterator[Comparison]:
    """Yield the comparisons of a conversation, oldest first; `lanes` put together what a row does not say any more."""
    rows = connection.execute(
        "SELECT id, conversation, parent, created_ms, lanes, baseline, layout, kept, plan, prefill FROM comparison "
        "WHERE conversation = ? ORDER BY id",
        (conversation,),
    ).fetchall()
    known = tuple(lanes) if rows else ()
    for row in rows:
        yield _comparison(row, known)


def is_lane_of(comparison: Comparison, lane: Lane) -> bool:
    """Whether a comparison names an answer as the lane that it says it is; else it is a version like others."""
    number = lane.number
    return number is not None and 0 <= number < len(comparison.lanes) and comparison.lanes[number] == lane.message


def hidden_lanes(
    connection: sqlite3.Connection, conversation: int, which: str = "deleted_ms IS NULL"
) -> frozenset[int]:
    """Return the messages that are lanes that nobody kept, of those that are there or that `which` names in SQL."""
    rows = connection.execute(
        "SELECT answer.message, comparison, lane FROM message CROSS JOIN answer ON answer.message = message.id "
        f"WHERE conversation = ?1 AND {which} AND comparison IS NOT NULL",
        (conversation,),
    )
    lanes = [Lane(message, columns.integer(key), columns.integer(number)) for message, key, number in rows]
    comparisons = {each.id: each for each in read_comparisons(connection, conversation, lanes)} if lanes else {}
    return frozenset(
        lane.message
        for lane in lanes
        if lane.comparison is not None
        and (comparison := comparisons.get(lane.comparison)) is not None
        and is_lane_of(comparison, lane)
        and lane.number not in comparison.kept
    )


def _comparison(row: tuple[Any, ...], known: Sequence[Lane]) -> Comparison:
    key, conversation, parent, created_ms, stored, baseline, layout, stored_kept, stored_plan, prefill = row
    lanes = columns.maybe_json(stored, _INDICES)
    if lanes is None or not _can_be_lanes(lanes):
        lanes = _lanes_among(known, key)
    kept = columns.from_json(stored_kept, _INDICES, tuple(range(len(lanes))))
    plan = columns.maybe_json(stored_plan, _PLAN)
    shared = columns.maybe_json(prefill, _PREFILL)
    laid_out = columns.from_json(layout, _LAYOUT, Layout())
    return Comparison(
        key,
        conversation,
        parent if type(parent) is int else None,
        created_ms if type(created_ms) is int and 0 <= created_ms < _LATEST_MS else 0,
        lanes,
        baseline if type(baseline) is int and 0 <= baseline < len(lanes) else 0,
        laid_out if laid_out.suits(len(lanes)) else Layout(),
        tuple(index for index in kept if 0 <= index < len(lanes)),
        plan if plan is not None and plan.suits(len(lanes)) else None,
        shared if shared is not None and shared.is_possible else None,
    )


def _can_be_lanes(lanes: Sequence[int]) -> bool:
    """Whether messages can be the lanes of a comparison: no two are the same one, and there are not too many."""
    there = [message for message in lanes if message != _GONE]
    return 0 < len(lanes) <= MOST_LANES and len(set(there)) == len(there)


def _lanes_among(known: Sequence[Lane], comparison: int) -> tuple[int, ...]:
    """Return the lanes of a comparison by what its answers say."""
    found = {
        lane.number: lane.message
        for lane in known
        if lane.comparison == comparison and lane.number is not None and 0 <= lane.number < MOST_LANES
    }
    return tuple(found.get(number, _GONE) for number in range(max(found, default=-1) + 1))
