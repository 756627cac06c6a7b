"""The cards of the sampler laboratory for a token of which a record was kept: some of its logits, rounded.

Each card says what holds for certain: at least how many tokens are left, and a cut line only where the record proves it.
`cards` does the same for a whole row. Must not know how records come here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from app.core.sampler_cards import CardToken, DrawCard, DrawToken, Fate, SamplerCards, StageCard
from app.core.sampling import REMEMBERING, SamplingSettings, whole_order
from app.probability.bounded import UNKNOWN, BoundedReplay, bounded_replay, per_step
from app.probability.cards import SHOWN, Draws, states_of
from app.probability.dry import NO_BREAKERS, Breakers, dry_penalties
from app.probability.known_rows import Flags, KnownRows
from app.probability.lowered_rows import Histories
from app.probability.stages import dry_rule, recent_of
from app.probability.what_if import NOT_CUT

_CERTAIN_WITHIN = 0.02
"""A share of the mass whose bounds are farther apart than this is not told."""


class KeptCards:
    """One step of a record; what no setting changes is worked out once."""

    def __init__(self, row: KnownRows, histories: Histories, draws: Draws) -> None:
        """`row` is that of one step, and `histories` what comes before it."""
        self._row = row
        self._histories = histories
        self._draws = draws
        self._raw: BoundedReplay | None = None

    def of(self, settings: SamplingSettings, breakers: Breakers = NO_BREAKERS) -> SamplerCards:
        """Return the cards of a chain."""
        states = states_of(settings)
        running: list[str] = []
        cards: list[StageCard] = []
        before = self._raw = self._raw or self._replay(settings, (), breakers)
        for name, state in states.items():
            after = before
            if state == "acts":
                running.append(name)
                after = self._replay(settings, running, breakers)
            card = self._card(name, before, after, settings)
            if name in running and name in REMEMBERING:
                card = card._replace(touched=self._touched(name, settings, breakers))
            cards.append(card._replace(state=state))
            before = after
        return SamplerCards(tuple(cards), self._draw(before, settings), self._row.vocabulary, is_whole=False)

    def _replay(self, settings: SamplingSettings, names: Sequence[str], breakers: Breakers) -> BoundedReplay:
        """Run the first stages alone."""
        off = tuple(name for name in whole_order(settings.order) if name not in names)
        temperature = settings.temperature if "temperature" in names else 1.0
        part = msgspec.structs.replace(settings, off=off, temperature=temperature)
        decides = self._xtc_acts(settings)
        acts = per_step(decides, 1)
        return bounded_replay(self._row, part, acts, self._histories, breakers, for_draws=True)

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
        return StageCard(
            name=name,
            state="acts",
            enter=enter,
            leave=leave,
            tokens=tokens,
            cut=_line(name, tokens, enter, leave, is_exact=bool(before.is_exact[0])) if is_cutting else None,
            cuts_front=name == "xtc",
            removed=_removed(before, after) if after is not before else 0.0,
            number=self._draws.xtc_number if name == "xtc" else None,
            acts_here=acts if after is not before else name != "xtc",
            enter_is_exact=bool(before.is_exact[0]),
            leave_is_exact=bool(after.is_exact[0]),
            unseen=float(after.unseen[0]),
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
        became = 0.0 if fate == "cut" else float(after.after[place])
        return CardToken(int(self._row.ids[place]), float(before.after[place]), became, fate)

    def _draw(self, after: BoundedReplay, settings: SamplingSettings) -> DrawCard:
        left = np.flatnonzero(_may_be_left(after))
        order = left[np.argsort(-after.after[left], kind="stable")]
        ends = np.minimum(np.cumsum(after.after[order]), 1.0)
        stretches = [
            DrawToken(token, begin, end)
            for token, begin, end in zip(
                self._row.ids[order].tolist(), [0.0, *ends[:-1].tolist()], ends.tolist(), strict=True
            )
        ]
        number = None if settings.is_greedy else self._draws.number
        drawn = None
        if settings.is_greedy:
            is_sure = bool(after.is_exact[0]) and len(stretches) == 1
            drawn = stretches[0] if is_sure else None
        elif number is not None:
            found = [which for which, place in enumerate(order.tolist()) if after.falls_on(place, number)]
            drawn = stretches[found[0]] if len(found) == 1 else None
        return DrawCard(
            tuple(stretches[:SHOWN]),
            int(after.survivors[0]),
            bool(after.is_exact[0]),
            number,
            drawn,
            is_greedy=settings.is_greedy,
            unseen=float(after.unseen[0]),
        )


def _may_be_left(replay: BoundedReplay) -> Flags:
    may_be_left: Flags = (replay.cut_by == NOT_CUT) | (replay.cut_by == UNKNOWN)
    return may_be_left


def _line(name: str, tokens: tuple[CardToken, ...], enter: int, leave: int, *, is_exact: bool) -> int | None:
    """Return where a cut line lies that the tokens at hand prove."""
    if name == "typical" or any(token.fate == "unknown" for token in tokens):
        return None
    return leave if name != "xtc" else enter - leave if is_exact else None


def _removed(before: BoundedReplay, after: BoundedReplay) -> float | None:
    """Return the share of the mass that was cut; None where the bounds do not say."""
    stays = after.cut_by == NOT_CUT
    if (after.cut_by == UNKNOWN).any() or after.unseen[0] > 0:
        is_same = before.is_exact[0] and after.is_exact[0] and before.survivors[0] == after.survivors[0]
        return 0.0 if is_same else None
    low, high = float(before.after_low[stays].sum()), float(before.after_high[stays].sum())
    if high - low > _CERTAIN_WITHIN:
        return None
    return min(max(1.0 - (low + high) / 2, 0.0), 1.0)
