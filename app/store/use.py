"""How long chats are: read from the figures of the newest answers that are not deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from app.core.model import ModelRef
from app.core.store_events import Lengths, ModelUseRead, UseMeasured
from app.store import columns

MOST_ANSWERS = 5000
"""So many of the newest tell what people use now."""
USUAL_SHARE = 0.95
MOST_TOKENS = 1 << 31
"""What is longer was written by nobody."""

_NEWEST = """
    SELECT json_extract(metrics, '$.prompt_tokens'), json_extract(metrics, '$.sampled_tokens')
    FROM answer JOIN message ON message.id = answer.message
    WHERE metrics IS NOT NULL AND json_valid(metrics) AND message.deleted_ms IS NULL
    ORDER BY answer.message DESC LIMIT ?"""


_WRITTEN_BY = """
    SELECT title FROM conversation WHERE deleted_ms IS NULL AND id IN (
        SELECT message.conversation FROM answer JOIN message ON message.id = answer.message
        WHERE message.deleted_ms IS NULL AND instr(answer.model, ?) AND json_valid(answer.model)
        AND json_extract(answer.model, '$.digest') = ? AND json_extract(answer.model, '$.size') = ?)
    ORDER BY changed_ms DESC, id DESC"""


def read_model_chats(connection: sqlite3.Connection, request: int, model: ModelRef) -> ModelUseRead:
    """Return the titles of the conversations in which a model wrote, wherever its file was then."""
    rows = connection.execute(_WRITTEN_BY, (model.digest, model.digest, model.size))
    return ModelUseRead(request, tuple(columns.text(row[0]) for row in rows))


def read_use(connection: sqlite3.Connection, request: int) -> UseMeasured:
    """Return what the newest answers needed; figures that are none are left out."""
    rows = [row for row in connection.execute(_NEWEST, (MOST_ANSWERS,)) if all(map(_is_length, row))]
    prompts, answers = [row[0] for row in rows], [row[1] for row in rows]
    contexts = [prompt + answer for prompt, answer in rows]
    return UseMeasured(request, len(rows), lengths(contexts), lengths(prompts), lengths(answers))


def lengths(counts: Sequence[int]) -> Lengths | None:
    """Return what 95 of 100 counts stay within, and the largest; None where there is none."""
    ordered = sorted(counts)
    if not ordered:
        return None
    within = -(-len(ordered) * round(USUAL_SHARE * 100) // 100)
    return Lengths(ordered[within - 1], ordered[-1])


def _is_length(value: object) -> bool:
    return isinstance(value, int) and 0 <= value <= MOST_TOKENS
