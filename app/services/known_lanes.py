"""One lane with all that is known of it: its tokens, its record as far as that can be used, and where its tokens stand.

Loads numpy, so whoever may run before the window is there loads this module late. Pure: knows no session and no store.
"""

from __future__ import annotations

import dataclasses
import functools
import logging

import numpy as np

from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.probability.candidates import Ids
from app.probability.draw import GENERATOR_VERSION
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.lane import Lane
from app.probability.record import RecordBlock, RecordError, TokenRecords, joined_block, joined_records, unpack_block
from app.probability.record_layout import tokens_in
from app.services.divergence_words import BREAKERS_UNKNOWN, GRAMMAR_UNKNOWN, PROMPT_UNKNOWN
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.piece_table import PieceTable
from app.services.token_places import TokenPlaces, token_places

_NO_TOKENS: Ids = np.empty(0, np.int32)
_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Later:
    """A part of a record behind one that cannot be read."""

    first: int
    """The token that it begins with, among those of the lane."""
    records: TokenRecords


@dataclasses.dataclass(frozen=True)
class Known:
    """One lane with all that is known of it."""

    given: LaneInput
    lane: Lane
    pieces: PieceTable | None
    """What its tokens say, as far as anybody knows."""
    block: RecordBlock | None
    """All blocks of its record as one, where more may come; None where there are none, or not all can be used."""
    is_of_other_generator: bool = False
    """Whether another version of the generator drew it, so that its numbers cannot be worked out again."""
    recorded_at_the_end: int = 0
    """How many of its last tokens were recorded, where its first ones were not and the lane has no record."""
    is_damaged: bool = False
    """Whether a part of its record cannot be read."""
    later: tuple[Later, ...] = ()
    """What of a damaged record can be read behind the damage."""

    @functools.cached_property
    def places(self) -> TokenPlaces | None:
        """Where its tokens stand in its text; None where nobody knows. Worked out when first wanted."""
        return None if self.pieces is None else token_places(self.given.text, self.given.ids, self.pieces)

    def record_at(self, index: int) -> tuple[TokenRecords, int] | None:
        """Return the records where there is one of the token at this index, and its place among them."""
        if index < 0:
            return None
        if (records := self.lane.record_of(index)) is not None:
            return records, index
        found = (part for part in self.later if 0 <= index - part.first < len(part.records))
        return next(((part.records, index - part.first) for part in found), None)


def known(inputs: LaneInputs, given: LaneInput) -> Known:
    """Return a lane with its record, as far as that is usable; worked out once."""
    found = inputs.known.get(given.index)
    if found is None:
        found = inputs.known[given.index] = _known(inputs, given)
    return found


def _known(inputs: LaneInputs, given: LaneInput) -> Known:
    written: Ids = np.frombuffer(given.ids, "<i4").astype(np.int32)
    before, tokens = written[: given.begins], written[given.begins :]
    prompt = _NO_TOKENS if inputs.prompt is None else np.frombuffer(inputs.prompt, "<i4").astype(np.int32)
    parts, behind, is_usable = _parts_of(given, inputs.begun.get(given.index))
    block, at_the_end = _block_of(given, parts, tokens)
    records = joined_records([block]) if block is not None else None
    later = () if given.is_open else _later(parts, behind, tokens)
    told = [] if records is None else [records]
    is_of_other_generator = any(
        each.generator != GENERATOR_VERSION for each in (*told, *(part.records for part in later))
    )
    lane = Lane(
        tokens=tokens,
        records=records,
        settings=given.settings,
        seed=None if is_of_other_generator else given.seed,
        prompt=np.concatenate((prompt, before)) if before.size else prompt,
        first=given.begins,
    )
    recorded = _size(parts)
    can_grow = given.is_open and is_usable and block is not None and block.counts.size == recorded <= tokens.size
    return Known(
        given,
        lane,
        inputs.pieces,
        block if can_grow else None,
        is_of_other_generator,
        at_the_end,
        is_damaged=bool(behind),
        later=later,
    )


def with_settings(inputs: LaneInputs, lane: Lane, settings: SamplingSettings) -> Lane:
    """Return a lane as if it had been drawn with other settings; DRY's breakers are theirs."""
    return dataclasses.replace(lane, settings=settings, breakers=_breakers_of(settings, inputs.pieces))


def _breakers_of(settings: SamplingSettings, pieces: PieceTable | None) -> Breakers:
    """Return DRY's breakers, as far as single tokens hold them."""
    if pieces is None or settings.dry_reach(1) == 0:
        return NO_BREAKERS
    tokens = {token for text in settings.dry_sequence_breakers for token in pieces.holding(text.encode())}
    return Breakers(dict.fromkeys(tokens, ((),)))


def doubt_of(
    inputs: LaneInputs, lane: Lane, settings: SamplingSettings, records: TokenRecords | None = None
) -> Sentence | None:
    """Return why a chain cannot be replayed on a lane's record, or on other records of it; None where it can."""
    if settings.grammar is not None:
        return GRAMMAR_UNKNOWN
    whole = lane.prompt.size + lane.tokens.size + 1
    if inputs.prompt is None and (settings.penalty_reach(whole) or settings.dry_reach(whole)):
        return PROMPT_UNKNOWN
    texts = settings.dry_sequence_breakers if settings.dry_reach(whole) else ()
    records = lane.records if records is None else records
    size = records.vocabulary if records is not None else 0
    is_read = inputs.pieces is not None and len(inputs.pieces) >= size
    # A breaker of several bytes may also end within the next token, which only the engine can tokenise.
    if texts and not (is_read and all(len(text.encode()) <= 1 for text in texts)):
        return BREAKERS_UNKNOWN
    return None


def _block_of(given: LaneInput, parts: list[RecordBlock], tokens: Ids) -> tuple[RecordBlock | None, int]:
    """Return the record of the first tokens, and how many last ones have one where the first ones do not.

    None is none that can be read and is of these tokens: what was not recorded meanwhile is in no block.
    """
    recorded, at_the_end = _size(parts), _recorded_at_the_end(parts, tokens)
    # Blocks do not say where they begin: those that fit at both ends are claimed of neither.
    is_certain = given.is_open or recorded == tokens.size or at_the_end < recorded
    count = _matching(parts, tokens) if is_certain else 0
    return (joined_block(parts[:count]), 0) if count else (None, at_the_end)


def _parts_of(given: LaneInput, begun: Known | None) -> tuple[list[RecordBlock], list[RecordBlock | int], bool]:
    """Return the blocks up to the first that cannot be read or is of another model or generator than the first.

    Those that were read when the lane was shorter come as one. Second is what begins with the first that cannot be
    read: of such a one how many tokens it says it has. The flag says whether none had to be left out.
    """
    parts: list[RecordBlock] = []
    behind: list[RecordBlock | int] = []
    blocks = given.blocks
    if begun is not None and begun.block is not None:
        parts, blocks = [begun.block], blocks[len(begun.given.blocks) :]
    for block in blocks:
        try:
            part = unpack_block(block) if block else None
        except RecordError as error:
            _log.warning("A part of the record of answer %d cannot be used: %s", given.message, error)
            behind.append(tokens_in(block))
            continue
        if part is None:
            continue
        known_ones = [*parts, *(each for each in behind if not isinstance(each, int))]
        if known_ones and not part.is_beside(known_ones[0]):
            _log.warning("A part of the record of answer %d is of another model or generator.", given.message)
            return parts, behind, False
        (behind or parts).append(part)
    return parts, behind, not behind


def _later(parts: list[RecordBlock], behind: list[RecordBlock | int], tokens: Ids) -> tuple[Later, ...]:
    """Return what can be read behind a damage, as far as it is certain of which tokens it is."""
    if not behind:
        return ()
    sizes = [each if isinstance(each, int) else each.counts.size for each in behind]
    at = _size(parts)
    runs: list[tuple[int, list[RecordBlock]]] = []
    if at + sum(sizes) == tokens.size:
        for size, part in zip(sizes, behind, strict=True):
            if not isinstance(part, int) and np.array_equal(part.tokens, tokens[at : at + size]):
                if runs and runs[-1][0] + _size(runs[-1][1]) == at:
                    runs[-1][1].append(part)
                else:
                    runs.append((at, [part]))
            at += size
    else:  # how many tokens lie between is not known, but where the answer ends is
        last: list[RecordBlock] = []
        for part in reversed(behind):
            if isinstance(part, int) or not _recorded_at_the_end([part, *last], tokens) > _size(last):
                break
            last.insert(0, part)
        runs = [(tokens.size - _size(last), last)] if last else []
    return tuple(Later(first, joined_records(run)) for first, run in runs)


def _size(parts: list[RecordBlock]) -> int:
    return sum(part.counts.size for part in parts)


def _matching(parts: list[RecordBlock], tokens: Ids) -> int:
    """Return how many of the first blocks are those of the first tokens."""
    at = 0
    for count, part in enumerate(parts):
        their = tokens[at : at + part.counts.size]
        if not np.array_equal(part.tokens[: their.size], their):
            return count
        at += part.counts.size
    return len(parts)


def _recorded_at_the_end(parts: list[RecordBlock], tokens: Ids) -> int:
    end = tokens.size
    for part in reversed(parts):
        size = part.counts.size
        if size > end or not np.array_equal(part.tokens, tokens[end - size : end]):
            break
        end -= size
    return int(tokens.size - end)
