"""The cards of the sampler laboratory for a token of which a record was kept: some of its logits, rounded.

Each card says what holds for certain: at least how many tokens are left, between which bounds each probability lies, and
a cut line only where the record proves it. `cards` does the same for a whole row. Must not know how records come here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from app.core.sampler_cards import Bounds, CardToken, DrawCard, DrawToken, Fate, SamplerCards, StageCard
from app.core.sampling import REMEMBERING, SamplingSettings, whole_order
from app.probability.bounded import LOWERING, UNKNOWN, BoundedReplay, bounded_replay, per_step
from app.probability.cards import SHOWN, Draws, states_of
from app.probability.dry import NO_BREAKERS, Breakers, dry_penalties
from app.probability.known_rows import Flags, KnownRows
from app.probability.lowered_rows import Histories
from app.probability.recorded_after import Taken, sharpened
from app.probability.stages import dry_rule, recent_of
from app.probability.what_if import NOT_CUT

_TELLS_NOTHING = 0.9
"""A share of the mass whose bounds are farther apart than this is not told."""


class KeptCards:
    """One step of a record; what no setting changes is worked out once."""

    def __init__(self, row: KnownRows, histories: Histories, draws: Draws, taken: Taken | None = None) -> None:
        """`row` is that of one step, `histories` what comes before it, and `taken` what it drew; None where none did."""
        self._row = row
        self._histories = histories
        self._draws = draws
        self._taken = taken
        self._raw: BoundedReplay | None = None

    def of(self, settings: SamplingSettings, breakers: Breakers = NO_BREAKERS) -> SamplerCards:
        """Return the cards of a chain."""
        states = states_of(settings)
        acting = [name for name, state in states.items() if state == "acts"]
        running: list[str] = []
        is_drawn = False
        """Whether the replay ends as the record says it did."""
        cards: list[StageCard] = []
        before = self._raw = self._raw or self._replay(settings, (), breakers)
        for name, state in states.items():
            after = before
            if state == "acts":
                running.append(name)
                after = self._replay(settings, running, breakers)
                if running == acting and (as_recorded := self._as_recorded(after, settings, running)) is not None:
                    after, is_drawn = as_recorded, True
            card = self._card(name, before, after, settings)
            if name in running and name in REMEMBERING:
                card = card._replace(touched=self._touched(name, settings, breakers))
            cards.append(card._replace(state=state))
            before = after
        drawn = self._draw(before, settings, is_drawn=is_drawn)
        return SamplerCards(tuple(cards), drawn, self._row.vocabulary, is_whole=False)

    def _replay(self, settings: SamplingSettings, names: Sequence[str], breakers: Breakers) -> BoundedReplay:
        """Run the first stages alone."""
        off = tuple(name for name in whole_order(settings.order) if name not in names)
        temperature = settings.temperature if "temperature" in names else 1.0
        part = msgspec.structs.replace(settings, off=off, temperature=temperature)
        decides = self._xtc_acts(settings)
        acts = per_step(decides, 1)
        return bounded_replay(self._row, part, acts, self._histories, breakers, for_draws=True)

    def _as_recorded(
        self, after: BoundedReplay, settings: SamplingSettings, names: Sequence[str]
    ) -> BoundedReplay | None:
        """Return the replay of the token's own chain with what was recorded of it; None for any other chain."""
        if self._taken is None or self._taken.settings != settings:
            return None
        is_in_order = not settings.is_greedy and not any(name in LOWERING for name in names)
        return sharpened(after, self._row, self._taken, is_in_order=is_in_order)

    def _xtc_acts(self, settings: SamplingSettings) -> bool | None:
        if settings.xtc_probability <= 0.0 or settings.xtc_probability >= 1.0:
            return settings.xtc_probability >= 1.0
        number = self._draws.xtc_number
        return None if number is None else number < settings.xtc_probability

    def _card(self, name: str, before: BoundedReplay, after: BoundedReplay, settings: SamplingSettings) -> StageCard:
        entering = np.flatnonzero(_may_be_left(before))
        order = entering[np.argsort(-before.after[entering], kind="stable")]
        tokens = tuple(self._token(place, before, after) for place in order[:SHOWN].tolist())
        enter, leave = int(before.survivors[0]), int(after.survivors[0])
        is_cutting = bool(after.is_exact[0]) and leave < enter  # at least so many enter
        acts = self._xtc_acts(settings) if name == "xtc" else True
        removed = _removed(before, after) if after is not before else (0.0, 0.0)
        first = order[0]
        return StageCard(
            name=name,
            state="acts",
            enter=enter,
            leave=leave,
            tokens=tokens,
            cut=_line(name, tokens, enter, leave, is_exact=bool(before.is_exact[0])) if is_cutting else None,
            cuts_front=name == "xtc",
            removed=None if removed is None else (removed[0] + removed[1]) / 2,
            removed_bounds=_bounds(removed),
            number=self._draws.xtc_number if name == "xtc" else None,
            acts_here=acts if after is not before else name != "xtc",
            enter_is_exact=bool(before.is_exact[0]),
            leave_is_exact=bool(after.is_exact[0]),
            unseen=float(after.unseen[0]),
            has_likeliest=bool(before.cut_by[first] == NOT_CUT and before.ahead_high[first] == 0.0),
        )

    def _touched(self, name: str, settings: SamplingSettings, breakers: Breakers) -> int | None:
        """Return 0 where nothing before the step is in reach; else nobody knows, as most logits were not kept."""
        tokens = self._histories.tokens[: self._histories.ends[0]]
        if name == "penalties":
            return None if recent_of(tokens, settings.penalty_last_n).size else 0
        return None if dry_penalties(tokens, dry_rule(settings), breakers)[0].size else 0

    def _token(self, place: int, before: BoundedReplay, after: BoundedReplay) -> CardToken:
        status = int(after.cut_by[place])
        fate: Fate = "left" if status == NOT_CUT else "unknown" if status == UNKNOWN else "cut"
        ways = before, after
        bounds = [_bounds((float(each.after_low[place]), float(each.after_high[place]))) for each in ways]
        was, became = (float(each.after[place]) for each in ways)
        if fate == "cut":
            became, bounds[1] = 0.0, None
        return CardToken(int(self._row.ids[place]), was, became, fate, *bounds)

    def _draw(self, after: BoundedReplay, settings: SamplingSettings, *, is_drawn: bool) -> DrawCard:
        left = np.flatnonzero(_may_be_left(after))
        order = left[np.argsort(-after.after[left], kind="stable")]
        number = None if settings.is_greedy else self._draws.number
        found: list[int] = []
        if settings.is_greedy:
            found = order.tolist() if bool(after.is_exact[0]) and order.size == 1 else []
        elif number is not None:
            found = [place for place in order.tolist() if after.falls_on(place, number)]
            taken = self._row.place_of(0, self._taken.token) if is_drawn and self._taken is not None else None
            if not found and taken is not None and after.falls_on(taken, number) is None:
                found = [taken]
        drawn = self._stretch(after, found[0], number) if len(found) == 1 else None
        shown = order[:SHOWN].tolist()
        stretches = [self._stretch(after, place, number if found == [place] else None) for place in shown]
        ends = after.ahead_high[order[:SHOWN]] + after.after_high[order[:SHOWN]]
        return DrawCard(
            tuple(stretches),
            int(after.survivors[0]),
            bool(after.is_exact[0]),
            number,
            drawn,
            is_greedy=settings.is_greedy,
            unseen=float(after.unseen[0]),
            unsure_to=min(float(ends.max()), 1.0),
        )

    def _stretch(self, after: BoundedReplay, place: int, number: float | None) -> DrawToken:
        """Return a token's stretch, which has the number of the draw within it where there is one."""
        low, high = float(after.after_low[place]), float(after.after_high[place])
        begin, end = float(after.ahead_high[place]), min(float(after.ahead_low[place]) + low, 1.0)
        if number is not None:
            begin, end = min(begin, number), max(end, number)
        return DrawToken(
            int(self._row.ids[place]),
            min(begin, 1.0),
            max(begin, end) if begin < 1.0 else 1.0,
            float(after.after[place]),
            _bounds((low, high)),
        )


def _may_be_left(replay: BoundedReplay) -> Flags:
    may_be_left: Flags = (replay.cut_by == NOT_CUT) | (replay.cut_by == UNKNOWN)
    return may_be_left


def _line(name: str, tokens: tuple[CardToken, ...], enter: int, leave: int, *, is_exact: bool) -> int | None:
    """Return where a cut line lies that the tokens at hand prove."""
    if name == "typical" or any(token.fate == "unknown" for token in tokens):
        return None
    return leave if name != "xtc" else enter - leave if is_exact else None


def _bounds(bounds: Bounds | None) -> Bounds | None:
    """Return bounds; None where they say exactly one number."""
    return None if bounds is None or bounds[0] == bounds[1] else bounds


def _removed(before: BoundedReplay, after: BoundedReplay) -> Bounds | None:
    """Bound the share of the mass that was cut; None where the bounds say next to nothing."""
    if before.is_exact[0] and after.is_exact[0] and before.survivors[0] == after.survivors[0]:
        return 0.0, 0.0
    stays, may_stay = after.cut_by == NOT_CUT, _may_be_left(after)
    least = float(before.after_low[~may_stay].sum())
    most = 1.0 - float(before.after_low[stays].sum())
    if after.unseen[0] <= 0:
        least = max(least, 1.0 - float(before.after_high[may_stay].sum()))
    bounds = min(max(least, 0.0), 1.0), min(max(most, least, 0.0), 1.0)
    return None if bounds[1] - bounds[0] > _TELLS_NOTHING else bounds
