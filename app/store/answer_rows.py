"""Rows of answers back into values: what many of a conversation share is decoded once.

Reads only. What a damaged page hides is missing from the values, and the error goes on to whoever asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_args

from app.core.commands import SettingsChange
from app.core.conversation import AnswerState, StoredAnswer
from app.core.metrics import StopReason
from app.store import columns
from app.store.reading import read_ids

_STATES: dict[object, AnswerState] = {state.encode(): state for state in get_args(AnswerState)}
_STOPS: dict[object, StopReason] = {stop.encode(): stop for stop in get_args(StopReason)}
# Texts come as bytes: a function for each text that SQLite hands over would take longer than reading it.
_COLUMNS = (
    "answer.message, CAST(state AS BLOB), CAST(model AS BLOB), CAST(model_name AS BLOB), CAST(tokenizer AS BLOB), "
    "ids, CAST(settings AS BLOB), seed, CAST(metrics AS BLOB), ttft_ms, CAST(stop_reason AS BLOB), "
    "CAST(reason AS BLOB), CAST(notes AS BLOB), comparison, lane, CAST(thinking AS BLOB), dropped"
)

_Value = TypeVar("_Value")


class _Decoded(dict[Any, _Value]):
    """The values of stored bytes; equal ones are decoded once."""

    def __init__(self, decode: Callable[[bytes], _Value], nothing: _Value) -> None:
        super().__init__({None: nothing})
        self._decode = decode

    def __missing__(self, stored: bytes) -> _Value:
        value = self[stored] = self._decode(stored)
        return value


def read_answers(connection: sqlite3.Connection, conversation: int) -> Iterator[tuple[StoredAnswer, int]]:
    """Return how each message that is not deleted was written, and how many messages it was written without."""
    rows = connection.execute(
        # Each answer is looked up by its message: what is planned by itself would go through all answers there are.
        f"SELECT {_COLUMNS} FROM message CROSS JOIN answer ON answer.message = message.id "
        "WHERE conversation = ? AND deleted_ms IS NULL ORDER BY message.id",
        (conversation,),
    )
    return _answers(connection, rows)


def read_answer(connection: sqlite3.Connection, message: int) -> tuple[StoredAnswer, int] | None:
    """Return how a message was written, and how many messages it was written without; None where no model wrote it."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM answer WHERE message = ?", (message,))
    return next(_answers(connection, row), None)


def _answers(connection: sqlite3.Connection, rows: sqlite3.Cursor) -> Iterator[tuple[StoredAnswer, int]]:
    """Yield the answers of rows; the loop does all itself, because it is what opening a long conversation waits for."""
    texts = _Decoded(lambda stored: stored.decode("utf-8", "replace"), "")
    models = _Decoded(lambda stored: columns.maybe_json(stored, columns.MODEL), None)
    changes: _Decoded[tuple[SettingsChange, ...]] = _Decoded(columns.changes, ())
    for (
        message,
        state,
        model,
        model_name,
        tokenizer,
        ids,
        settings,
        seed,
        metrics,
        ttft_ms,
        stop_reason,
        reason,
        notes,
        comparison,
        lane,
        thinking,
        dropped,
    ) in rows:
        answer = StoredAnswer(
            message,
            _STATES.get(state, "interrupted"),
            models[model],
            texts[model_name],
            texts[tokenizer],
            ids if type(ids) is bytes else read_ids(connection, message),
            changes[settings],
            seed if type(seed) is int else None,
            columns.maybe_json(metrics, columns.METRICS),
            ttft_ms if type(ttft_ms) is float else columns.number(ttft_ms),
            _STOPS.get(stop_reason),
            None if reason is None else columns.maybe_json(reason, columns.SENTENCE),
            () if notes is None else columns.from_json(notes, columns.SENTENCES, ()),
            comparison if type(comparison) is int else None,
            lane if type(lane) is int else None,
            None if thinking is None else columns.maybe_json(thinking, columns.THINKING),
        )
        yield answer, dropped if type(dropped) is int else 0
