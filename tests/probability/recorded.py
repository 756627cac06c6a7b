"""Records as the engine would have written them, of any rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids
from app.probability.draw import XTC_STREAM, draw, uniform
from app.probability.lane import Lane
from app.probability.record import RecordWriter, TokenRecords, read_records
from app.probability.row import RowReader
from app.probability.what_if import Replay, replay
from tests.probability.rows import Row

NO_PROMPT = np.empty(0, np.int32)


def record_of(
    rows: Sequence[Row], tokens: Sequence[int], after: Sequence[float] = (), *, alternatives: bool = True
) -> TokenRecords:
    """Return the record of tokens that were taken from rows of one vocabulary."""
    writer = RecordWriter(rows[0].size, alternatives=alternatives)
    for number, (row, token) in enumerate(zip(rows, tokens, strict=True)):
        facts = RowReader(row.size).read(row)
        probability = after[number] if after else 1.0
        writer.add(int(token), float(row[token]), facts, facts.rank(int(token)), probability, number)
    return read_records(writer.take())


def drawn(
    rows: Sequence[Row],
    settings: SamplingSettings,
    seed: int,
    prompt: Ids = NO_PROMPT,
    *,
    alternatives: bool = True,
) -> Lane:
    """Return the lane that these settings and this seed draw from the rows, as the engine would draw it."""
    tokens: list[int] = []
    after = []
    for position, row in enumerate(rows):
        history = np.concatenate((prompt, np.array(tokens, np.int32)))
        done = full_replay(row, settings, seed, position, history)
        walk = done.walk(row.size)
        choice = draw(walk.astype(np.int32), done.logits[walk], uniform(seed, position))
        tokens.append(choice.token)
        after.append(choice.probability)
    records = record_of(rows, tokens, after, alternatives=alternatives)
    return Lane(np.array(tokens, np.int32), records, settings, seed, prompt)


def full_replay(row: Row, settings: SamplingSettings, seed: int, position: int, history: Ids = NO_PROMPT) -> Replay:
    """Return what a chain makes of a full row."""
    decides = uniform(seed, position, XTC_STREAM) < settings.xtc_probability
    return replay(np.arange(row.size, dtype=np.int32), row, settings, history, decides)
