"""Records of answers that were never drawn: what a model would have weighed at each token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.probability.record import RecordWriter
from app.probability.row import RowReader
from tests.fake_engine import MILLISECOND_NS, model_info

_OTHERS = 1_000
_PLACES = (0, 0, 1, 0, 0, 2, 0, 0, 0, 4, 0, 1, 0, 9, 0, 0, 3, 0, 17, 0, 0, 6)
"""At which place of the model's order the tokens of an answer that is not greedy stood, one after another."""
_ORDER = 24
_TOP, _STEP = 12.0, 1.1


def recorded(tokens: Sequence[int], lane: int, rivals: Sequence[int] = (), parting: int | None = None) -> bytes:
    """Return the record of a lane, 0 for a greedy one; lanes part at the token from which on each goes its own way."""
    size = model_info("").vocabulary
    writer, reader = RecordWriter(size), RowReader(size)
    row = np.full(size, -8, np.float32)
    for index, token in enumerate(tokens):
        row[:] = -8
        order = list(rivals) if index == parting else _order(token, 0 if lane == 0 else _PLACES[index % len(_PLACES)])
        row[order] = _TOP - (_STEP + index % 3 / 4) * np.arange(len(order), dtype=np.float32) ** 0.8
        facts = reader.read(row)
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.5, 20 * index * MILLISECOND_NS)
    return writer.take()


def _order(token: int, place: int) -> list[int]:
    """Return tokens by falling logit, with one of them at a place."""
    order = [_OTHERS + (token + number) % _ORDER for number in range(_ORDER)]
    order.insert(place, token)
    return order
