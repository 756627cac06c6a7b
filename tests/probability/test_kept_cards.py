"""The cards of a stored token: whatever they claim holds for the whole row that the record was made of."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampler_cards import Bounds, SamplerCards
from app.core.sampling import SamplingSettings
from app.probability.candidates import Candidates, candidates_of
from app.probability.cards import Draws, StepCards, states_of
from app.probability.draw import draw
from app.probability.kept_cards import KeptCards
from app.probability.known_rows import Extra, row_of
from app.probability.lowered_rows import Histories
from app.probability.record import LEAST_ALTERNATIVES
from app.probability.recorded_after import Taken
from app.probability.stages import Step, chain
from tests.examples import examples
from tests.probability.cuts import is_undecided
from tests.probability.recorded import record_of
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row
from tests.probability.test_cards import DRAWS, OPEN, any_chain, card, shares
from tests.probability.test_stages import HISTORIES, history_of

NO_HISTORY = np.empty(0, np.int32)
SLACK = 2e-6
"""What float32 may add to a probability."""


def kept_of(
    row: Row,
    history: npt.NDArray[np.int32] = NO_HISTORY,
    token: int | None = None,
    draws: Draws = DRAWS,
    taken: Taken | None = None,
) -> KeptCards:
    """Return the cards of a record that was made of a row."""
    chosen = int(row.argmax()) if token is None else token
    records = record_of([row], [chosen])
    extra = Extra(0, chosen, float(records.log_probability[0]), int(records.rank[0]))
    return KeptCards(row_of(records, 0, [extra]), Histories(history, np.array([history.size])), draws, taken)


def taken_of(row: Row, s: SamplingSettings, step: Step) -> Taken | None:
    """Return the token that these settings draw from a row, as its record has it; None where none is drawn."""
    left = left_of(row, s, step)
    if s.is_greedy or DRAWS.number is None:
        return None
    found = draw(left.ids, left.logits, DRAWS.number)
    return Taken(found.token, float(np.float32(found.probability)), s)


def left_of(row: Row, s: SamplingSettings, step: Step) -> Candidates:
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    for stage in chain(s):
        left = stage.apply(left, step)
    return left


def assert_within(value: float, exact: float, bounds: Bounds | None) -> None:
    """Hold what is told of a probability against the true one."""
    low, high = bounds or (value, value)
    assert low * (1 - SLACK) - SLACK <= exact <= high * (1 + SLACK) + SLACK
    assert low - SLACK <= value <= high + SLACK


def assert_draw_is_never_false(kept: SamplerCards, left: Candidates, row: Row) -> None:
    true = shares(left)
    begins, begin = dict[int, float](), 0.0
    for place in np.lexsort((left.ids, -left.logits)).tolist():
        token = int(left.ids[place])
        begins[token] = begin
        begin += true[token]
    # The draw walks equal logits by their ids, and stages in float32 can make near ones equal.
    has_order = np.unique(left.logits).size == np.unique(row[left.ids]).size
    for stretch in kept.draw.tokens:
        assert_within(stretch.share, true.get(stretch.token, 0.0), stretch.share_bounds)
        if stretch.end > stretch.begin and has_order:
            begin = begins[stretch.token]
            assert begin <= stretch.begin + SLACK and stretch.end <= begin + true[stretch.token] + SLACK


def assert_never_false(kept: SamplerCards, whole: SamplerCards, row: Row, s: SamplingSettings, step: Step) -> None:
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    entered = shares(left)
    running = {stage.name: stage for stage in chain(s)}
    assert [each.name for each in kept.stages] == [each.name for each in whole.stages]
    for name in states_of(s):  # as they run: a greedy choice is the last, wherever its card stands
        shown, true = card(kept, name), card(whole, name)
        assert shown.state == true.state
        if shown.name in running and shown.state == "acts":
            left = running[shown.name].apply(left, step)
        stays = shares(left)
        assert shown.leave == true.leave if shown.leave_is_exact else shown.leave <= true.leave
        assert shown.enter == true.enter if shown.enter_is_exact else shown.enter <= true.enter
        for token in shown.tokens:
            assert token.fate == "unknown" or (token.fate == "left") == (token.token in stays)
            assert_within(token.before, entered.get(token.token, 0.0), token.before_bounds)
            assert_within(token.after, stays.get(token.token, 0.0), token.after_bounds)
        if shown.has_likeliest and shown.tokens:
            assert entered[shown.tokens[0].token] >= max(entered.values()) * (1 - SLACK)
        entered = stays
        if shown.cut is not None:
            assert shown.cut == true.cut
        if shown.touched is not None:
            assert shown.touched == true.touched
        if shown.removed is not None:
            assert_within(shown.removed, true.removed or 0.0, shown.removed_bounds)
    assert_draw_is_never_false(kept, left, row)
    if kept.draw.drawn is not None and whole.draw.drawn is not None:
        assert kept.draw.drawn.token == whole.draw.drawn.token


@examples(500)
@given(
    row=any_row(with_infinity=False),
    s=any_chain(),
    drawn=HISTORIES,
    which=st.integers(0, 2**31),
    is_own=st.booleans(),
)
def test_no_card_of_a_stored_token_claims_what_is_false(
    row: Row, s: SamplingSettings, drawn: tuple[int, int, int], which: int, is_own: bool
) -> None:
    history = history_of(drawn, row.size)
    step = Step(history, xtc_decides=True)
    left = candidates_of(np.arange(row.size, dtype=np.int32), row)
    for stage in chain(s):
        assume(np.isfinite(left.logits).any() and not is_undecided(stage.name, s, left))
        left = stage.apply(left, step)
    taken = taken_of(row, s, step) if is_own else None
    kept = kept_of(row, history, which % row.size if taken is None else taken.token, taken=taken).of(s)
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


HOT = SamplingSettings(**{**OPEN, "temperature": 2.0})


def test_a_chance_of_which_the_record_knows_little_is_told_between_two() -> None:
    """A hot chain spreads over thousands of tokens that are not in the record."""
    row = np.random.default_rng(3).normal(0, 2, 5000).astype(np.float32)
    row[7] = 17.0
    kept, whole = kept_of(row).of(HOT), StepCards(row, NO_HISTORY, DRAWS).of(HOT)
    first, true = card(kept, "temperature").tokens[0], card(whole, "temperature").tokens[0]
    assert first.after_bounds is not None and first.after_bounds[0] < true.after < first.after_bounds[1]
    assert first.after_bounds[1] - first.after_bounds[0] > 0.1
    assert first.before_bounds is not None and first.before_bounds[1] - first.before_bounds[0] < 0.001
    likeliest, other = kept.draw.tokens[:2]
    assert (likeliest.begin, likeliest.end) == (0.0, first.after_bounds[0])
    assert other.begin == other.end, "nobody knows where it lies"
    assert kept.draw.unsure_to > first.after_bounds[1]


def test_what_the_record_says_of_the_taken_token_makes_its_own_chain_exact() -> None:
    row = np.random.default_rng(3).normal(0, 2, 5000).astype(np.float32)
    row[7], row[8] = 17.0, 16.0
    whole = StepCards(row, NO_HISTORY, DRAWS).of(HOT).draw
    taken = whole.tokens[1]
    known = Taken(taken.token, float(np.float32(taken.share)), HOT)
    cards = kept_of(row, token=taken.token, taken=known)
    shares_of = {each.token: each for each in cards.of(HOT).draw.tokens}
    assert shares_of[taken.token].share == known.after
    assert taken.token in shares_of and len(shares_of) == LEAST_ALTERNATIVES
    for each in (each for each in whole.tokens if each.token in shares_of):
        bounds = shares_of[each.token].share_bounds
        assert bounds is not None and bounds[1] - bounds[0] < 0.002 and bounds[0] <= each.share <= bounds[1]
    other = cards.of(msgspec.structs.replace(HOT, temperature=1.9)).draw.tokens[0].share_bounds
    assert other is not None and other[1] - other[0] > 0.1, "under other settings it says nothing"
    wrong = known._replace(after=0.999)
    assert kept_of(row, token=taken.token, taken=wrong).of(HOT) == kept_of(row, token=taken.token).of(HOT)


def test_the_draw_of_the_own_chain_falls_on_the_token_that_was_taken() -> None:
    """Also where the record does not prove it: the token came by this very number."""
    row = np.random.default_rng(5).normal(0, 1, 5000).astype(np.float32)
    number = DRAWS.number
    assert number is not None
    taken = taken_of(row, HOT, Step(NO_HISTORY, xtc_decides=False))
    assert taken is not None
    assert kept_of(row, token=taken.token).of(HOT).draw.drawn is None
    drawn = kept_of(row, token=taken.token, taken=taken).of(HOT).draw.drawn
    assert drawn is not None and drawn.token == taken.token and drawn.begin <= number <= drawn.end
