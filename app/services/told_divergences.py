"""Where a lane leaves the baseline, with texts, places and words: what probability found, made ready for people.

Loads numpy, so whoever may run before the window is there loads this module late. Pure: knows no session and no store.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.comparison import LETTERS
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.probability.deciding import Reason
from app.probability.divergence import Contender as FoundContender
from app.probability.divergence import InLane, divergence, first_difference
from app.probability.lane import Lane
from app.services.divergence_words import Draws, Found, draws_of, reason_of
from app.services.known_lanes import Known, doubt_of, with_settings
from app.services.lane_analysis import Contender, LaneDivergence, Share, TextSpan
from app.services.lane_inputs import LaneInputs
from app.services.piece_table import PieceTable
from app.services.token_places import first_difference as first_character

_WITHOUT_REPLAY = ("ended", "forced", "greedy")
"""What is known whatever penalties and DRY did."""


class _Pair(NamedTuple):
    """The baseline and a lane at the first token that differs, in this order."""

    known: tuple[Known, Known]
    token: int
    settings: tuple[SamplingSettings, SamplingSettings]
    """With which the two tokens were drawn."""
    doubts: tuple[Sentence | None, Sentence | None]
    """Why a chain cannot be replayed."""
    pieces: PieceTable | None

    @property
    def differs(self) -> bool:
        """Whether something differs that shapes a distribution; the seed does not, nor does what ends an answer."""
        one, other = (msgspec.structs.replace(each, seed=None, max_tokens=0, stop=()) for each in self.settings)
        return one != other

    @property
    def differs_in_draw_alone(self) -> bool:
        """Whether both chains do the same whatever is before them; XTC may act in one of them by its own number."""
        return not self.differs and not _acts_by_chance(self.settings[0])

    @property
    def draws(self) -> Draws:
        """What is known of the two draws."""
        numbers = [each.lane.draw_number(self.token) for each in self.known]
        if all(each.is_greedy for each in self.settings):
            return "none"
        if None in numbers:
            return "other_generator" if any(each.is_of_other_generator for each in self.known) else "unknown"
        return "same" if numbers[0] == numbers[1] else "other"


def told_divergence(inputs: LaneInputs, baseline: Known, lane: Known) -> LaneDivergence | None:
    """Return where a lane leaves the baseline; None where all tokens are the same, as far as there are any.

    One that is written yet, or that was stopped, says nothing of what would have followed.
    """
    index = first_difference(baseline.lane.tokens, lane.lane.tokens)
    both = baseline, lane
    if index is None or any(not each.given.has_ended and index >= each.lane.tokens.size for each in both):
        return None
    settings = baseline.given.settings_at(index), lane.given.settings_at(index)
    doubts = doubt_of(inputs, baseline.lane, settings[0]), doubt_of(inputs, lane.lane, settings[1])
    doubt = doubts[0] or doubts[1]
    pair = _Pair(both, index, settings, doubts, inputs.pieces)
    if not pair.differs:
        pair = pair._replace(doubts=(doubt, doubt))
    found = divergence(*(_replayable(inputs, pair, side) for side in (0, 1)))
    assert found is not None
    is_sure = doubt is None or found.reason.kind in _WITHOUT_REPLAY or pair.differs_in_draw_alone
    told = _told(pair, found.reason if is_sure else Reason("unknown"))
    numbers = [
        None if each.is_greedy else number
        for each, number in zip(settings, (found.baseline_number, found.lane_number), strict=True)
    ]
    spans = _spans(pair)
    return LaneDivergence(
        lane=lane.given.index,
        token=index,
        in_baseline=spans[0],
        in_lane=spans[1],
        baseline_token=_contender(found.baseline, pair, own=0),
        lane_token=_contender(found.lane, pair, own=1),
        kind=told.kind,
        stage=told.stage,
        cutter=told.cutter,
        reason=reason_of(told) if is_sure or doubt is None else doubt,
        draws=draws_of(told, *numbers),
        baseline_number=numbers[0],
        lane_number=numbers[1],
        picture=tuple(made for each in found.picture if (made := _contender(each, pair)) is not None),
    )


def _replayable(inputs: LaneInputs, pair: _Pair, side: int) -> Lane:
    """Return a lane for the replay; where its chain cannot be replayed, without the stages that are the reason."""
    settings = pair.settings[side]
    if pair.doubts[side] is not None:
        settings = msgspec.structs.replace(
            settings, repeat_penalty=1.0, frequency_penalty=0.0, presence_penalty=0.0, dry_multiplier=0.0
        )
    return with_settings(inputs, pair.known[side].lane, settings)


def _told(pair: _Pair, reason: Reason) -> Found:
    in_lane, stop_reason = reason.in_lane, None
    if reason.kind == "ended":
        in_lane = pair.token >= pair.known[1].lane.tokens.size
        stop_reason = pair.known[in_lane].given.stop_reason
    sides = zip(pair.known, pair.settings, strict=True)
    xtc_is_by_chance = any(known.is_of_other_generator and _acts_by_chance(settings) for known, settings in sides)
    is_recorded = any(each.lane.record_of(pair.token) is not None for each in pair.known)
    return Found(
        kind=reason.kind,
        stage=reason.stage,
        in_lane=in_lane,
        stop_reason=stop_reason,
        is_recorded=is_recorded,
        is_damaged=any(each.is_damaged for each in pair.known),
        differs=pair.differs,
        cutter=reason.cutter,
        draws=pair.draws,
        letter=LETTERS[pair.known[1].given.index],
        xtc_is_by_chance=xtc_is_by_chance,
    )


def _acts_by_chance(settings: SamplingSettings) -> bool:
    return 0 < settings.xtc_probability < 1 and "xtc" not in settings.off


def _spans(pair: _Pair) -> tuple[TextSpan, TextSpan]:
    """Return the differing token in both texts; where nobody knows it, the first character that differs."""
    baseline, lane = pair.known
    if baseline.places is not None and lane.places is not None:
        return baseline.places.span(pair.token), lane.places.span(pair.token)
    texts = baseline.given.text, lane.given.text
    start = first_character(*texts)
    first, second = (TextSpan(start, min(start + 1, len(text))) for text in texts)
    return first, second


def _contender(found: FoundContender | None, pair: _Pair, own: int | None = None) -> Contender | None:
    """Return a token of both lanes' row; `own` is whose token it is, which has a record of its own."""
    if found is None:
        return None
    is_kept = own is not None and pair.known[own].lane.record_of(pair.token) is not None
    shares = [
        _share(share, pair.doubts[side] if not (is_kept and own == side) else None)
        for side, share in enumerate((found.baseline, found.lane))
    ]
    text = pair.pieces.text(found.token) if pair.pieces is not None else None
    return Contender(found.token, text, found.raw, found.rank, *shares)


def _share(found: InLane, doubt: Sentence | None) -> Share:
    return Share(found.after, found.cut_by) if doubt is None else Share(None)
