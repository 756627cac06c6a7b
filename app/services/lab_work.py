"""The work of the sampler laboratory: the cards of a step under some settings, with what their tokens say.

Loads numpy, so whoever may run before the window is there loads this module late. Pure: knows no session and no store.
"""

from __future__ import annotations

import numpy as np

from app.core.sampler_cards import GrammarCard, SamplerCards
from app.core.sampling import SamplingSettings
from app.core.words import Sentence, translate
from app.probability.cards import Draws, StepCards
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.kept_cards import KeptCards
from app.probability.known_rows import Extra, row_of
from app.probability.lane import Lane
from app.probability.lowered_rows import Histories
from app.probability.record import FORCED, NO_DRAW, TokenRecords
from app.probability.recorded_after import Taken
from app.services.divergence_words import BREAKERS_UNKNOWN, GRAMMAR_NOT_COUNTED
from app.services.known_lanes import doubt_of, known, with_settings
from app.services.lab_values import KeptStep, LabBench, LabResult, LabStep
from app.services.piece_table import PieceTable

_LANE = 0
"""The one lane that an answer is."""


def lab_result(bench: LabBench, settings: SamplingSettings) -> LabResult:
    """Return the cards of a step under these settings."""
    if isinstance(bench.step, LabStep):
        return _of_step(bench, bench.step, settings)
    return _of_kept(bench, bench.step, settings)


def _of_step(bench: LabBench, step: LabStep, settings: SamplingSettings) -> LabResult:
    grammar = _grammar_of(step)
    if grammar is not None and grammar.is_not_counted:  # what the stages got nobody knows then
        return LabResult(
            None, _texts(None, bench.pieces, step.taken), GRAMMAR_NOT_COUNTED, taken=step.taken, grammar=grammar
        )
    if not bench.worked_out:
        row, before = np.frombuffer(step.row, "<f4"), np.frombuffer(step.before, "<i4")
        fitting = None
        if step.grammar is not None:
            bits = np.unpackbits(np.frombuffer(step.grammar.fits, np.uint8), bitorder="little")[: row.size]
            fitting = np.flatnonzero(bits).astype(np.int32)
        bench.worked_out.append(StepCards(row, before, Draws(step.seed, step.position), fitting))
    cards = bench.worked_out[0]
    assert isinstance(cards, StepCards)
    breakers, doubt = _breakers_of(bench, settings, len(step.row) // 4)
    made = cards.of(settings, breakers)
    texts = _texts(made, bench.pieces, step.taken, step.chosen)
    return LabResult(made, texts, doubt=doubt, taken=step.taken, chosen=step.chosen, grammar=grammar)


def _grammar_of(step: LabStep) -> GrammarCard | None:
    if step.grammar is None:
        return None
    return GrammarCard(len(step.row) // 4, step.grammar.masked)


def _breakers_of(bench: LabBench, settings: SamplingSettings, vocabulary: int) -> tuple[Breakers, Sentence | None]:
    """Return DRY's breakers as far as single tokens hold them, and why they may not be all."""
    texts = settings.dry_sequence_breakers if settings.dry_reach(1) else ()
    if not texts:
        return NO_BREAKERS, None
    pieces = bench.pieces
    # A breaker of several bytes may also end within the next token, which only the engine can tokenise.
    is_known = pieces is not None and len(pieces) >= vocabulary and all(len(text.encode()) <= 1 for text in texts)
    key = (texts, 0 if pieces is None else len(pieces))
    made = next((each for each in bench.worked_out if isinstance(each, tuple) and each[0] == key), None)
    if made is None:
        found = () if pieces is None else {token for text in texts for token in pieces.holding(text.encode())}
        made = (key, Breakers(dict.fromkeys(found, ((),))))
        bench.worked_out.append(made)
    breakers = made[1]
    assert isinstance(breakers, Breakers)
    return breakers, None if is_known else BREAKERS_UNKNOWN


def _of_kept(bench: LabBench, step: KeptStep, settings: SamplingSettings) -> LabResult:
    inputs = step.inputs
    # A record has the raw logits: which of their tokens a grammar cut is not in it.
    grammar = None if settings.grammar is None else GrammarCard()
    given = inputs.lane(_LANE)
    found = known(inputs, given) if given is not None else None
    place = step.position - (given.begins if given is not None else 0)
    there = found.record_at(place) if found is not None else None
    if given is None or found is None or there is None or not there[0].alternatives(there[1])[0].size:
        is_damaged = found is not None and found.is_damaged and there is None
        return LabResult(None, {}, problem=_DAMAGED if is_damaged else _NOT_KEPT, grammar=grammar)
    lane = found.lane
    problem = doubt_of(inputs, lane, settings, there[0])
    if problem is not None:
        return LabResult(None, {}, problem=problem, grammar=grammar)
    if not bench.worked_out:
        bench.worked_out.append(_kept_cards(lane, place, there, given.settings_at(step.position)))
    cards = bench.worked_out[0]
    assert isinstance(cards, KeptCards)
    made = cards.of(settings, with_settings(inputs, lane, settings).breakers)
    taken = int(lane.tokens[place])
    chosen = taken if there[0].flags[there[1]] & FORCED else None
    return LabResult(made, _texts(made, inputs.pieces, taken), taken=taken, chosen=chosen)


def _kept_cards(lane: Lane, place: int, there: tuple[TokenRecords, int], settings: SamplingSettings) -> KeptCards:
    """Return the cards of a token that was drawn with these settings; `there` is its record."""
    records, at = there
    token, rank = int(lane.tokens[place]), int(records.rank[at])
    row = row_of(records, at, [Extra(at, token, float(records.log_probability[at]), rank)])
    before = np.concatenate((lane.prompt, lane.tokens[:place])).astype(np.int32, copy=False)
    # A token that somebody chose was not drawn: what stands beside it may be another token's probability.
    is_drawn = not records.flags[at] & (FORCED | NO_DRAW)
    taken = Taken(token, float(records.probability_after[at]), settings) if is_drawn else None
    return KeptCards(row, Histories(before, np.array([before.size])), Draws(lane.seed, lane.first + place), taken)


def _texts(cards: SamplerCards | None, pieces: PieceTable | None, *others: int | None) -> dict[int, str]:
    if pieces is None:
        return {}
    tokens = {token for token in others if token is not None}
    if cards is not None:
        tokens |= {each.token for card in cards.stages for each in card.tokens}
        tokens |= {each.token for each in cards.draw.tokens}
        tokens |= set() if cards.draw.drawn is None else {cards.draw.drawn.token}
    texts = {token: pieces.text(token) for token in tokens}
    return {token: text for token, text in texts.items() if text is not None}


_NOT_KEPT = translate(
    "Laboratory",
    "Its candidates were not recorded: choose “All likely candidates” under “Save for each token” in the preferences.",
)
_DAMAGED = translate(
    "Laboratory", "What was recorded of this token cannot be read: the record of the answer is damaged."
)
