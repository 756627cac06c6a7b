"""The cards of a stored token: whatever they claim holds for the whole row that the record was made of."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampler_cards import SamplerCards
from app.core.sampling import SamplingSettings
from app.probability.candidates import candidates_of
from app.probability.cards import Draws, StepCards, states_of
from app.probability.kept_cards import KeptCards
from app.probability.known_rows import Extra, row_of
from app.probability.lowered_rows import Histories
from app.probability.stages import Step, chain
from tests.examples import examples
from tests.probability.cuts import is_undecided
from tests.probability.recorded import record_of
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_cards import DRAWS, OPEN, any_chain, card
from tests.probability.test_stages import HISTORIES, history_of

NO_HISTORY = np.empty(0, np.int32)


def kept_of(
    row: Row, history: npt.NDArray[np.int32] = NO_HISTORY, token: int | None = None, draws: Draws = DRAWS
) -> KeptCards:
    """Return the cards of a record that was made of a row."""
    chosen = int(row.argmax()) if token is None else token
    records = record_of([row], [chosen])
    extra = Extra(0, chosen, float(records.log_probability[0]), int(records.rank[0]))
    return KeptCards(row_of(records, 0, [extra]), Histories(history, np.array([history.size])), draws)


def assert_never_false(kept: SamplerCards, whole: SamplerCards, row: Row, s: SamplingSettings, step: Step) -> None:
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    running = {stage.name: stage for stage in chain(s)}
    assert [each.name for each in kept.stages] == [each.name for each in whole.stages]
    for name in states_of(s):  # as they run: a greedy choice is the last, wherever its card stands
        shown, true = card(kept, name), card(whole, name)
        assert shown.state == true.state
        if shown.name in running and shown.state == "acts":
            left = running[shown.name].apply(left, step)
        stays = set(left.ids.tolist())
        assert shown.leave == true.leave if shown.leave_is_exact else shown.leave <= true.leave
        assert shown.enter == true.enter if shown.enter_is_exact else shown.enter <= true.enter
        for token in shown.tokens:
            assert token.fate == "unknown" or (token.fate == "left") == (token.token in stays)
        if shown.cut is not None:
            assert shown.cut == true.cut
        if shown.touched is not None:
            assert shown.touched == true.touched
        if shown.removed is not None:
            assert abs(shown.removed - (true.removed or 0.0)) < 0.05
    if kept.draw.drawn is not None and whole.draw.drawn is not None:
        assert kept.draw.drawn.token == whole.draw.drawn.token


@examples(500)
@given(row=any_row(with_infinity=False), s=any_chain(), drawn=HISTORIES, which=st.integers(0, 2**31))
def test_no_card_of_a_stored_token_claims_what_is_false(
    row: Row, s: SamplingSettings, drawn: tuple[int, int, int], which: int
) -> None:
    history = history_of(drawn, row.size)
    step = Step(history, xtc_decides=True)
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    for stage in chain(s):
        assume(np.isfinite(left.logits).any() and not is_undecided(stage.name, s, left))
        left = stage.apply(left, step)
    kept = kept_of(row, history, which % row.size).of(s)
    assert_never_false(kept, StepCards(row, history, DRAWS).of(s), row, s, step)


def test_what_the_record_proves_is_told(rows: npt.NDArray[np.float32]) -> None:
    proved = {"top_p": 0, "min_p": 0, "draw": 0}
    for row in rows:
        kept, whole = (cards.of(SamplingSettings()) for cards in (kept_of(row), StepCards(row, NO_HISTORY, DRAWS)))
        assert kept.vocabulary == whole.vocabulary and not kept.is_whole
        assert card(kept, "top_k").leave == 40 and card(kept, "top_k").leave_is_exact
        for name in ("top_p", "min_p"):
            shown, true = card(kept, name), card(whole, name)
            assert not shown.leave_is_exact or shown.leave == true.leave
            assert shown.cut in (None, true.cut)
            proved[name] += shown.leave_is_exact
        if kept.draw.drawn is not None:
            assert kept.draw.drawn.token == whole.draw.drawn.token  # type: ignore[union-attr]  # a whole row says
            proved["draw"] += 1
    assert min(proved.values()) > len(rows) // 2


def test_what_the_record_does_not_prove_is_no_cut_line() -> None:
    row = np.zeros(5000, np.float32)
    row[0] = 1.0
    shown = card(kept_of(row).of(SamplingSettings(**OPEN, typical_p=0.5)), "typical")
    assert not shown.leave_is_exact and shown.cut is None and shown.removed is None
    open_p = card(kept_of(row).of(SamplingSettings(**{**OPEN, "top_p": 0.9})), "top_p")
    assert not open_p.leave_is_exact and open_p.cut is None
    assert open_p.unseen > 0.9
    assert open_p.enter == 5000 and open_p.enter_is_exact


def test_without_a_seed_neither_the_number_nor_xtc_is_told() -> None:
    row = np.linspace(4, -4, 60).astype(np.float32)
    settings = msgspec.structs.replace(SamplingSettings(), xtc_probability=0.5, xtc_threshold=0.01)
    cards = kept_of(row, draws=Draws(None, 0)).of(settings)
    assert cards.draw.number is None and cards.draw.drawn is None
    assert card(cards, "xtc").acts_here is None and card(cards, "xtc").number is None


def test_how_many_logits_are_changed_is_told_only_where_that_is_certain() -> None:
    row = np.random.default_rng(1).normal(0, 2, 2000).astype(np.float32)
    row[5:8] = 9.0, 8.5, 8.0
    acting = SamplingSettings(repeat_penalty=1.3, dry_multiplier=0.8)
    for history, told, true in (([5], (None, 0), (1, 0)), ([1500], (None, 0), (1, 0)), ([], (0, 0), (0, 0))):
        before = np.array(history, np.int32)
        kept, whole = kept_of(row, before).of(acting), StepCards(row, before, DRAWS).of(acting)
        assert tuple(card(kept, name).touched for name in ("penalties", "dry")) == told
        assert tuple(card(whole, name).touched for name in ("penalties", "dry")) == true
    again = np.array([5, 6, 7, 5, 6, 7, 5, 6], np.int32)
    assert card(kept_of(row, again).of(acting), "dry").touched is None
    assert card(StepCards(row, again, DRAWS).of(acting), "dry").touched == 1
    off = SamplingSettings(repeat_penalty=1.3, off=("penalties",))
    assert card(kept_of(row, again).of(off), "penalties").touched == 0
