"""Every claim about what parted two lanes, held against full rows: hundreds of random rows under pairs of settings."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from app.core.sampling import STAGE_FIELDS, STAGES, SamplingSettings
from app.probability.deciding import Reason, replay_at
from app.probability.divergence import Divergence, divergence
from app.probability.draw import draw, uniform
from app.probability.known_rows import row_of
from app.probability.lane import Lane
from app.probability.what_if import Replay
from tests.probability.lane_pairs import APART, DRY, NO_DRY, PAIRS, PENALISED
from tests.probability.recorded import NO_PROMPT, drawn, full_replay, record_of
from tests.probability.rows import Row
from tests.probability.test_divergence import SIZE, some_rows, with_changes

PROMPT = np.arange(0, SIZE, 3, dtype=np.int32)
OTHER_SEED = 1000
ROWS = 40
STEPS = 5
FIELDS = STAGE_FIELDS | {"order": ("order",)}


@dataclass(frozen=True)
class Step:
    """The step at which two lanes part, with the whole row."""

    name: str
    row: Row
    history: Any
    settings: tuple[SamplingSettings, SamplingSettings]
    seeds: tuple[int, int]
    found: Divergence

    @property
    def taken(self) -> tuple[int, int]:
        """What the baseline and the lane took."""
        assert self.found.baseline is not None and self.found.lane is not None
        return self.found.baseline.token, self.found.lane.token

    def full(self, settings: SamplingSettings, side: int) -> Replay:
        """Replay the whole row; XTC acts as in a lane."""
        return full_replay(self.row, settings, self.seeds[side], self.found.index, self.history)

    def own(self, side: int) -> Replay:
        """Replay the whole row as a lane did."""
        return self.full(self.settings[side], side)

    def with_stages(self, side: int, names: list[str]) -> SamplingSettings:
        """Return a lane's settings with some of the stages of the other."""
        other = self.settings[1 - side]
        changes = {field: getattr(other, field) for name in names for field in FIELDS[name]}
        own = self.settings[side]
        off = tuple(name for name in STAGES if name in (other if name in names else own).off)
        return msgspec.structs.replace(own, **changes, off=off)

    def token_of(self, done: Replay, numbers_of: int) -> int:
        """Return what the draw of a lane takes from what is left."""
        walk = done.walk(SIZE)
        number = uniform(self.seeds[numbers_of], self.found.index)
        return draw(walk.astype(np.int32), done.logits[walk], number).token

    @property
    def differing(self) -> list[str]:
        """The stages that do not do the same, in the chain's order; the order before them."""
        values = [
            [name not in each.off and [getattr(each, field) for field in FIELDS[name]] for name in each.order]
            for each in (msgspec.structs.replace(each, order=self.settings[0].order) for each in self.settings)
        ]
        names = self.settings[0].order
        differing = [name for name, *both in zip(names, *values, strict=True) if both[0] != both[1]]
        return ["order", *differing] if self.name in APART else differing

    def before(self, cutter: str) -> list[str]:
        """Those that come before a stage in one of the lanes."""
        order = self.settings[0].order
        is_any = self.name in APART
        return [name for name in self.differing if is_any or order.index(name) < order.index(cutter)]


def cutter_of(done: Replay, token: int) -> str | None:
    number = int(done.cut_by[token])
    return done.stages[number].name if number >= 0 else None


@cache
def lane_of(seed: int, settings: SamplingSettings, own_seed: int, alternatives: bool) -> Lane:
    """Return a lane, drawn once for all pairs that it is in."""
    return drawn(some_rows(seed)[:STEPS], settings, own_seed, PROMPT, alternatives=alternatives)


@cache
def steps_of(name: str, seeds_apart: int, *, is_swapped: bool, alternatives: bool = True) -> list[Step]:
    one, other = (with_changes(**changes) for changes in PAIRS[name][:: -1 if is_swapped else 1])
    steps = []
    for seed in range(ROWS):
        rows = some_rows(seed)[:STEPS]
        seeds = seed, seed + seeds_apart
        lanes = [lane_of(seed, made, own, alternatives) for made, own in zip((one, other), seeds, strict=True)]
        found = divergence(*lanes)
        if found is not None:
            history = np.concatenate((PROMPT, lanes[0].tokens[: found.index]))
            steps.append(Step(name, rows[found.index], history, (one, other), seeds, found))
    return steps


def assert_true(step: Step) -> None:
    """Hold the reason of a step against the whole row."""
    reason, (theirs, own) = step.found.reason, step.taken
    side = int(reason.in_lane)
    other_token = theirs if side else own
    is_xtc_apart = step.seeds[0] != step.seeds[1]
    match reason.kind:
        case "cut":
            assert cutter_of(step.own(side), other_token) == reason.stage
            assert reason.stage in step.differing or (reason.stage == "xtc" and is_xtc_apart)
        case "made_cut":
            assert cutter_of(step.own(side), other_token) == reason.cutter not in (None, reason.stage)
            assert reason.cutter not in step.differing
            before = step.before(reason.cutter)
            assert before
            if reason.stage is not None:
                assert_turns(step, side, before, reason.stage, reason.cutter)
        case "reshaped":
            assert step.own(1).after[theirs] > 0 and step.own(0).after[own] > 0
            assert step.token_of(step.own(1), 0) != theirs, "the stages alone part the lanes"
            if is_xtc_apart:
                assert step.token_of(step.own(0), 1) == theirs, "and the number alone does not"
            if reason.stage is not None and "xtc" not in (reason.stage, *step.differing):
                assert_reshapes(step, reason.stage)
        case "most_likely":
            assert step.settings[side].is_greedy
            assert cutter_of(step.own(side), other_token) == "temperature"
            lowering = [name for name in step.differing if name in ("order", "penalties", "dry")]
            unlowered = step.full(step.with_stages(side, lowering), side)
            assert unlowered.after[other_token] == 1.0, "without what lowers it, the other lane's token is the first"
            if reason.stage is not None:
                assert_turns(step, side, lowering, reason.stage, "temperature")
        case "greedy":
            assert step.settings[side].is_greedy and not step.settings[1 - side].is_greedy
            assert step.own(side).after[step.taken[side]] == 1.0
            lowering = [name for name in step.differing if name in ("order", "penalties", "dry")]
            assert step.full(step.with_stages(side, lowering), side).after[other_token] == 0.0
        case "draw" | "either" | "together":
            assert step.seeds[0] != step.seeds[1]
            is_by_number = step.token_of(step.own(0), 1) != theirs
            is_by_stages = step.token_of(step.own(1), 0) != theirs
            assert (is_by_number, is_by_stages) == {
                "draw": (True, False),
                "either": (True, True),
                "together": (False, False),
            }[reason.kind]
        case "unknown":
            if reason.stage is not None:
                assert step.differing == [reason.stage] or reason.stage == "xtc"
        case _:
            raise AssertionError(f"{reason} of lanes that were drawn from the same rows")


def assert_turns(step: Step, side: int, names: list[str], stage: str, cutter: str) -> None:
    """Give one lane the stages of the other one after another: with this one, and none before it, the token is cut."""
    token = step.taken[1 - side]
    for count in range(names.index(stage) + 2):
        cut_by = cutter_of(step.full(step.with_stages(side, names[count:]), side), token)
        assert (cut_by == cutter) == (count == names.index(stage) + 1)


def assert_reshapes(step: Step, stage: str) -> None:
    names, theirs = step.differing, step.taken[0]
    for count in range(names.index(stage) + 2):
        done = step.full(step.with_stages(0, names[:count]), 0)
        assert (step.token_of(done, 0) != theirs) == (count == names.index(stage) + 1)
        assert done.after[theirs] > 0


@pytest.mark.parametrize("is_swapped", [False, True], ids=["as it is", "swapped"])
@pytest.mark.parametrize("seeds_apart", [0, OTHER_SEED], ids=["same draw", "other draw"])
@pytest.mark.parametrize("name", PAIRS)
def test_whatever_is_said_of_two_lanes_is_true_of_the_whole_row(
    name: str, seeds_apart: int, *, is_swapped: bool
) -> None:
    steps = steps_of(name, seeds_apart, is_swapped=is_swapped)
    for step in steps:
        assert_true(step)
    if name != "only the seed" or seeds_apart:
        assert len(steps) >= ROWS // 2
    unknown = [step for step in steps if step.found.reason.kind == "unknown"]
    assert len(unknown) <= len(steps) // 2


@pytest.mark.parametrize("seeds_apart", [0, OTHER_SEED], ids=["same draw", "other draw"])
@pytest.mark.parametrize("name", PAIRS)
def test_nothing_false_is_said_where_only_the_chosen_tokens_were_recorded(name: str, seeds_apart: int) -> None:
    for step in steps_of(name, seeds_apart, is_swapped=False, alternatives=False):
        assert_true(step)


EXPECTED = [
    ("top-k before typical", "made_cut", "top_k", "typical"),
    ("top-k before top-p", "made_cut", "top_k", "top_p"),
    ("penalties before top-k", "made_cut", "penalties", "top_k"),
    ("penalties before top-p", "made_cut", "penalties", "top_p"),
    ("penalties before min-p", "made_cut", "penalties", "min_p"),
    ("penalties and top-k before top-p", "made_cut", "penalties", "top_p"),
    ("greedy and penalties", "most_likely", "penalties", None),
    ("greedy, penalties and DRY", "most_likely", "penalties", None),
    ("one greedy with penalties", "most_likely", "penalties", None),
    ("one greedy with penalties", "greedy", "temperature", None),
    ("temperature", "reshaped", "temperature", None),
    ("temperature first", "made_cut", "order", "top_p"),
    ("penalties behind the filters", "made_cut", "order", "top_p"),
    ("penalties behind the filters, and other filters", "made_cut", "order", "min_p"),
    ("penalties behind the filters, and other filters", "cut", "top_k", None),
    ("one order, other filters", "cut", "top_k", None),
    ("one order for both", "cut", "top_k", None),
    ("without top-k", "cut", "top_k", None),
    ("without top-k, and penalties before top-p", "made_cut", "top_k", "top_p"),
    ("without temperature", "greedy", "temperature", None),
]


@pytest.mark.parametrize(("name", "kind", "stage", "cutter"), EXPECTED)
def test_each_kind_is_found_where_it_happens(name: str, kind: str, stage: str, cutter: str | None) -> None:
    counts = Counter(step.found.reason._replace(in_lane=False) for step in steps_of(name, 0, is_swapped=False))
    assert counts[Reason(kind, stage, cutter=cutter)] >= 3, counts  # type: ignore[arg-type]


def test_the_order_of_penalties_and_dry_can_make_another_token_the_likeliest() -> None:
    row = np.full(SIZE, -9, np.float32)
    row[[7, 8]] = 4.0, 1.2
    one = with_changes(temperature=0.0, repeat_penalty=2.0, dry_multiplier=1.0, dry_allowed_length=1, **NO_DRY)
    other = msgspec.structs.replace(one, order=("dry", "penalties", *STAGES[2:]))
    lanes = [drawn([row], settings, 1, np.array([5, 7, 5], np.int32)) for settings in (one, other)]
    assert [lane.tokens.tolist() for lane in lanes] == [[8], [7]]
    found = divergence(*lanes)
    assert found is not None and found.reason == Reason("most_likely", "order", in_lane=True)
    idle = msgspec.structs.replace(other, off=("dry",))
    found = divergence(lanes[0], drawn([row], idle, 1, np.array([5, 7, 5], np.int32)))
    assert found is not None and found.reason == Reason("most_likely", "dry", in_lane=True)


def test_two_greedy_lanes_with_other_penalties_always_say_so() -> None:
    kinds = {step.found.reason.kind for step in steps_of("greedy and penalties", OTHER_SEED, is_swapped=False)}
    assert kinds == {"most_likely"}


def test_settings_that_are_the_same_to_the_engine_decide_nothing() -> None:
    one = with_changes(top_p=0.9, penalty_last_n=-1, presence_penalty=0.5)
    other = msgspec.structs.replace(one, top_p=0.9 + 1e-12, top_k=SIZE, penalty_last_n=10_000)
    pairs = ((one, 1), (other, 2))
    lanes = [drawn(some_rows(1), made, seed, PROMPT, alternatives=False) for made, seed in pairs]
    found = divergence(*lanes)
    assert found is not None and found.reason == Reason("draw")


def test_what_the_settings_do_not_explain_is_rounding() -> None:
    rows = some_rows(2)
    lane = drawn(rows, with_changes(top_k=20), 5)
    tokens = lane.tokens.copy()
    tokens[3] = rows[3].argmax() if rows[3].argmax() != tokens[3] else np.argsort(-rows[3])[1]
    records = record_of(rows, tokens.tolist())
    other = dataclasses.replace(lane, tokens=tokens, records=records, settings=with_changes(top_k=21))
    found = divergence(lane, other)
    assert found is not None and (found.index, found.reason) == (3, Reason("rounding"))


@pytest.mark.parametrize("changes", [PENALISED, DRY, {**PENALISED, **DRY}])
def test_before_the_first_token_there_is_nothing_to_penalise(changes: dict[str, Any]) -> None:
    rows = some_rows(3)
    lane = drawn(rows, with_changes(top_k=20, **changes), 3)
    plain = dataclasses.replace(lane, settings=with_changes(top_k=20))
    assert lane.records is not None and lane.prompt is NO_PROMPT
    known = row_of(lane.records, 0, [])
    found, expected = replay_at(known, lane, 0), replay_at(known, plain, 0)
    np.testing.assert_array_equal(found.after, expected.after)
    assert found.falls_on(0, 0.0) is True


def test_what_a_lane_that_ended_would_have_drawn_from_is_penalised_too() -> None:
    rows, settings = some_rows(4), with_changes(top_k=20, presence_penalty=2.0, penalty_last_n=-1)
    lane = drawn(rows, settings, 4, PROMPT)
    ended = Lane(lane.tokens[:5], None, settings, 4, PROMPT)
    found = divergence(lane, ended)
    assert found is not None and found.reason == Reason("ended")
    full = full_replay(rows[5], settings, 4, 5, np.concatenate((PROMPT, lane.tokens[:5])))
    shown = [each for each in found.picture if each.lane.after is not None]
    assert len(shown) >= 5
    for each in shown:
        assert each.lane.after == pytest.approx(full.after[each.token], rel=0.03, abs=1e-6)
