"""What a record tells of an answer's tokens one by one, and of the other tokens that could have come.

Loads numpy, so whoever may run before the window is there loads this module late. Pure: knows no session and no store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from app.probability.bounded import BoundedReplay
from app.probability.deciding import replay_at
from app.probability.divergence import SLACK
from app.probability.known_rows import Extra, KnownRows, row_of
from app.probability.record import RESUMED, TokenRecords
from app.probability.replayed import KNOWN_WITHIN
from app.probability.what_if import NOT_CUT
from app.services.inspection import (
    FORCED,
    NO_DRAW,
    Alternative,
    InspectedAnswer,
    InspectedPrompt,
    TokenInsight,
    TokenKind,
)
from app.services.known_lanes import doubt_of, known, with_settings
from app.services.lane_inputs import LaneInputs
from app.services.piece_table import PieceTable

_MS = 1e6
_Value = TypeVar("_Value")


def inspected(inputs: LaneInputs) -> InspectedAnswer:
    """Return the tokens of the one lane, with what was recorded of each."""
    given = inputs.lanes[0]
    found = known(inputs, given)
    lane = found.lane
    ids = tuple(np.frombuffer(given.ids, "<i4").tolist())
    texts, pieces = texts_of(ids, inputs.pieces), pieces_of(ids, inputs.pieces)
    count, begins = lane.recorded, given.begins
    lacks = len(ids) - begins - count
    pending = lacks if given.is_open and not found.is_damaged and 0 < lacks < _BLOCK else 0
    parts = [(begins, lane.records, count)] if lane.records is not None and count else []
    parts += [(begins + part.first, part.records, len(part.records)) for part in found.later]

    def column(values: Callable[[TokenRecords, int], Sequence[_Value]], nothing: _Value) -> tuple[_Value, ...]:
        told = [nothing] * len(ids)
        for first, records, size in parts:
            told[first : first + size] = values(records, size)
        return tuple(told)

    return InspectedAnswer(
        message=given.message,
        ids=ids,
        texts=texts,
        pieces=pieces,
        log_probabilities=column(lambda records, size: records.log_probability[:size].tolist(), None),
        after=column(lambda records, size: records.probability_after[:size].tolist(), None),
        ranks=column(lambda records, size: records.rank[:size].tolist(), None),
        entropies=column(lambda records, size: records.entropy[:size].tolist(), None),
        gaps_ms=column(_gaps, None),
        flags=column(lambda records, size: (records.flags[:size] & (FORCED | NO_DRAW)).tolist(), 0),
        recorded=count,
        has_alternatives=any(records.alternative_ids.size for _first, records, _size in parts),
        is_damaged=found.is_damaged,
        pending=pending,
    )


def texts_of(ids: tuple[int, ...], pieces: PieceTable | None) -> tuple[str | None, ...]:
    """Return what tokens say, parts of characters as `<0xD7>`; None where nobody knows."""
    if pieces is None:
        return (None,) * len(ids)
    said = {token: pieces.text(token) for token in set(ids)}
    return tuple(map(said.__getitem__, ids))


def pieces_of(ids: tuple[int, ...], pieces: PieceTable | None) -> tuple[bytes | None, ...]:
    """Return the bytes of tokens; None where nobody knows."""
    if pieces is None:
        return (None,) * len(ids)
    said = {token: pieces.piece(token) for token in set(ids)}
    return tuple(map(said.__getitem__, ids))


def with_texts(prompt: InspectedPrompt | None, pieces: PieceTable | None) -> InspectedPrompt | None:
    """Return a prompt with what its tokens say, and what each belongs to."""
    if prompt is None:
        return None
    texts = texts_of(prompt.ids, pieces)
    return msgspec.structs.replace(prompt, texts=texts, kinds=_kinds_of(prompt, texts))


def _kinds_of(prompt: InspectedPrompt, texts: tuple[str | None, ...]) -> tuple[TokenKind, ...]:
    """Return what each token belongs to; control tokens are told by their names, which people's text never becomes."""
    kinds: list[TokenKind] = ["template"] * len(prompt.ids)
    for span in prompt.spans:
        kind: TokenKind = "template"
        match span.part:
            case "history":
                kind = "answer" if span.message in prompt.written else "question"
            case "thinking":
                kind = "thinking"
            case "files":
                kind = "files"
            case "prompt":
                kind = "asked"
            case "system":
                kind = "system"
            case _:
                pass
        kinds[span.start : span.end] = [kind] * (span.end - span.start)
    for place, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
        is_first = place == 0 and prompt.begins
        if kind == "template" and (is_first or (text is not None and _NAME.fullmatch(text))):
            kinds[place] = "special"
    return tuple(kinds)


def insight(inputs: LaneInputs, token: int) -> TokenInsight:
    """Return what could have come at a place of the answer, counted in all of its tokens."""
    given = inputs.lanes[0]
    nothing = TokenInsight(given.message, token)
    index = token - given.begins
    found = known(inputs, given)
    there = found.record_at(index)
    if there is None:
        return nothing
    records, at = there
    settings = given.settings_at(token)
    rows = row_of(records, at, [_own(records, at)])
    replay = None
    if doubt_of(inputs, found.lane, settings, records) is None:
        replay = replay_at(rows, with_settings(inputs, found.lane, settings), index)
    step = _Step(rows, replay, records, at, inputs.pieces)
    rest = float(rows.mass_low[0] + rows.mass_high[0]) / 2
    return TokenInsight(
        given.message,
        token,
        tuple(step.alternative(place) for place in range(rows.ids.size)),
        rest,
        step.rest_after(),
    )


class _Step:
    """One row of an answer with what the chain made of it."""

    def __init__(
        self,
        rows: KnownRows,
        replay: BoundedReplay | None,
        records: TokenRecords,
        index: int,
        pieces: PieceTable | None,
    ) -> None:
        self._rows = rows
        self._replay = replay
        self._pieces = pieces
        self._taken = int(records.tokens[index])
        self._exact = float(records.probability_after[index])
        self._log_probability = float(records.log_probability[index])

    def alternative(self, place: int) -> Alternative:
        """Return one of the tokens at hand; the taken one has the numbers of its own record, which are not rounded."""
        token = int(self._rows.ids[place])
        text = self._pieces.text(token) if self._pieces is not None else None
        if token == self._taken:
            raw = math.exp(min(self._log_probability, 0.0))
            return Alternative(token, text, raw, self._exact, is_taken=True)
        after, cut_by = self._after(place)
        return Alternative(token, text, math.exp(float(self._rows.middle[place])), after, cut_by)

    def rest_after(self) -> float | None:
        """Return what the tokens that are not at hand have after the chain; None where that is not certain."""
        if self._replay is None:
            return None
        return 0.0 if float(self._replay.unseen[0]) <= 0 else None

    def _after(self, place: int) -> tuple[float | None, str | None]:
        replay = self._replay
        if replay is None:
            return None, None
        low, high = float(replay.after_low[place]), float(replay.after_high[place])
        cut_by = replay.cutter(place)
        if high <= 0.0:
            return 0.0, cut_by
        is_known = replay.cut_by[place] == NOT_CUT and high * math.exp(-KNOWN_WITHIN) <= low
        after = float(replay.after[place])
        if not is_known or after > 1.0 - self._exact + SLACK:
            return None, cut_by
        return after, None


def _own(records: TokenRecords, index: int) -> Extra:
    log_probability, rank = float(records.log_probability[index]), int(records.rank[index])
    return Extra(0, int(records.tokens[index]), log_probability, rank)


def _gaps(records: TokenRecords, count: int) -> list[float | None]:
    """Return the time before each token in ms; none before the first, before a chosen one, nor over a pause."""
    gaps = np.diff(records.time[:count]) / _MS
    is_known = (gaps >= 0) & (gaps <= _LONGEST_GAP_MS) & ((records.flags[1:count] & (FORCED | RESUMED)) == 0)
    found: list[float | None] = [None, *gaps.tolist()]
    for place in np.flatnonzero(~is_known).tolist():
        found[place + 1] = None
    return found


_LONGEST_GAP_MS = 60_000.0
"""What is longer was a pause between two parts of an answer, also where its record does not mark that."""
_BLOCK = 8
"""The record of so many tokens comes together at the latest."""
_NAME = re.compile(r"<[^\s<>]+>|\[/?[A-Z_]+\]")
"""How control tokens are called: <|im_start|>, <s>, [INST]."""
