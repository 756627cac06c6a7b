from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import numpy as np
import pytest

from app.core.sampling import SamplingSettings
from app.probability.deciding import Reason
from app.probability.divergence import Divergence, divergence, first_difference
from app.probability.draw import draw, uniform
from app.probability.lane import Lane
from app.probability.record import FORCED
from tests.probability.recorded import drawn, full_replay, record_of
from tests.probability.rows import Row

SIZE = 400
STEPS = 12
OPEN = SamplingSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)


def some_rows(seed: int) -> list[Row]:
    """Return rows of which the likely tokens hold nearly all of the mass, as those of a model."""
    chance = np.random.default_rng(seed)
    falling = -2.0 * np.log(np.arange(SIZE) + chance.uniform(1.0, 2.5)) + 0.2 * chance.standard_normal(SIZE)
    return [chance.permutation(falling * chance.uniform(0.8, 1.2)).astype(np.float32) for _ in range(STEPS)]


def with_changes(**changes: Any) -> SamplingSettings:
    return msgspec.structs.replace(OPEN, **changes)


def parted(
    baseline: SamplingSettings, lane: SamplingSettings, seeds: tuple[int, int], rows: list[Row]
) -> Divergence | None:
    prompt = np.arange(0, SIZE, 3, dtype=np.int32)
    return divergence(drawn(rows, baseline, seeds[0], prompt), drawn(rows, lane, seeds[1], prompt))


def test_the_first_difference_is_the_first_token_that_is_another_or_missing() -> None:
    one = np.array([1, 2, 3], np.int32)
    assert first_difference(one, one.copy()) is None
    assert first_difference(one, np.array([1, 5, 6], np.int32)) == 1
    assert first_difference(one, one[:2]) == 2
    assert first_difference(one[:0], one) == 0


CHANGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("top_k", {"top_k": 30}, {"top_k": 2}),
    ("top_p", {"top_p": 0.97}, {"top_p": 0.5}),
    ("min_p", {"min_p": 0.02}, {"min_p": 0.4}),
    ("typical", {"top_k": 20}, {"top_k": 20, "typical_p": 0.4}),
    ("xtc", {"top_k": 20}, {"top_k": 20, "xtc_probability": 1.0, "xtc_threshold": 0.1}),
    ("temperature", {"top_k": 20, "temperature": 0.5}, {"top_k": 20, "temperature": 2.0}),
    ("penalties", {"top_k": 20}, {"top_k": 20, "presence_penalty": 1.5, "penalty_last_n": -1}),
]


@pytest.mark.parametrize(("stage", "one", "other"), CHANGES, ids=[change[0] for change in CHANGES])
@pytest.mark.parametrize("is_swapped", [False, True])
def test_with_equal_draws_the_one_stage_that_differs_decided(
    stage: str, one: dict[str, Any], other: dict[str, Any], is_swapped: bool
) -> None:
    settings = with_changes(**one), with_changes(**other)
    if is_swapped:
        settings = settings[::-1]
    kinds: list[str] = []
    for seed in range(25):
        rows = some_rows(seed)
        found = parted(*settings, (seed, seed), rows)
        if found is None:
            continue
        assert found.baseline_number == found.lane_number == uniform(seed, found.index)
        assert found.reason.stage == stage
        kinds.append(found.reason.kind)
        if found.reason.kind == "cut":
            assert_cut(found, settings, (seed, seed), rows[found.index])
    assert len(kinds) >= 10
    assert kinds.count("unknown") <= len(kinds) // 5
    assert set(kinds) <= {"cut", "reshaped", "unknown", *(["made_cut"] if stage == "penalties" else [])}
    assert ("cut" in kinds) == (stage not in ("temperature", "penalties"))


def assert_cut(
    found: Divergence, settings: tuple[SamplingSettings, SamplingSettings], seeds: tuple[int, int], row: Row
) -> None:
    """Hold a claimed cut against the full row."""
    assert found.baseline is not None and found.lane is not None
    side = int(found.reason.in_lane)
    done = full_replay(row, settings[side], seeds[side], found.index)
    token = found.baseline.token if side else found.lane.token
    assert done.stages[done.cut_by[token]].name == found.reason.stage
    contender = found.baseline if side else found.lane
    assert (contender.lane if side else contender.baseline).after == 0.0


def test_with_equal_settings_and_other_numbers_it_was_the_draw() -> None:
    settings = with_changes(top_k=20, top_p=0.9)
    found = parted(settings, settings, (1, 2), some_rows(1))
    assert found is not None
    assert found.reason == Reason("draw")
    assert (found.baseline_number, found.lane_number) == (uniform(1, found.index), uniform(2, found.index))


def test_with_equal_settings_and_numbers_only_rounding_is_left() -> None:
    lane = drawn(some_rows(1), with_changes(top_k=20), 5)
    tokens = lane.tokens.copy()
    tokens[4] = (tokens[4] + 1) % SIZE
    found = divergence(lane, dataclasses.replace(lane, tokens=tokens))
    assert found is not None
    assert (found.index, found.reason) == (4, Reason("rounding"))


def test_a_greedy_lane_is_called_greedy_on_either_side() -> None:
    rows, settings = some_rows(3), with_changes(temperature=1.5)
    ours = parted(settings, with_changes(temperature=0.0), (3, 3), rows)
    theirs = parted(with_changes(temperature=0.0), settings, (3, 3), rows)
    assert ours is not None and theirs is not None
    assert ours.reason == Reason("greedy", "temperature", in_lane=True)
    assert theirs.reason == Reason("greedy", "temperature", in_lane=False)
    assert ours.lane is not None and ours.lane.rank == 1 and ours.lane.lane.after == 1.0


def test_where_several_stages_differ_the_one_that_turns_the_draw_is_named() -> None:
    one, other = with_changes(top_k=30, temperature=0.6), with_changes(top_k=25, temperature=1.6)
    named = []
    for seed in range(40):
        rows = some_rows(seed)
        found = parted(one, other, (seed, seed), rows)
        if found is None or found.reason.kind != "reshaped" or found.reason.stage is None:
            continue
        assert found.baseline is not None
        mixed = full_replay(rows[found.index], msgspec.structs.replace(one, top_k=25), seed, found.index)
        walk = mixed.walk(SIZE)
        token = draw(walk.astype(np.int32), mixed.logits[walk], uniform(seed, found.index)).token
        named.append("temperature" if token == found.baseline.token else "top_k")
        assert found.reason.stage == named[-1]
    assert len(named) >= 10


def test_settings_and_numbers_that_both_differ_are_told_apart_where_one_alone_would_have_done() -> None:
    one, other = with_changes(top_k=20, temperature=0.9), with_changes(top_k=20, temperature=1.0)
    reasons = []
    for seed in range(30):
        rows = some_rows(seed)
        found = parted(one, other, (seed, seed + 100), rows)
        if found is None:
            continue
        reasons.append(found.reason.kind)
        if found.reason.kind == "draw":
            assert found.lane is not None and found.baseline is not None
            walks = [full_replay(rows[found.index], s, 0, 0) for s in (one, other)]
            numbers = uniform(seed + 100, found.index), uniform(seed, found.index)
            taken = [_draw(done, number) for done, number in zip(walks, numbers, strict=True)]
            assert taken[0] != found.baseline.token == taken[1], "the number alone parts them, the settings do not"
    assert reasons.count("draw") >= 10


def _draw(done: Any, number: float) -> int:
    walk = done.walk(SIZE)
    return draw(walk.astype(np.int32), done.logits[walk], number).token


def test_both_contenders_have_their_probability_in_both_lanes() -> None:
    one, other = with_changes(top_k=15, temperature=0.7), with_changes(top_k=15, temperature=1.8)
    rows = some_rows(8)
    found = parted(one, other, (8, 8), rows)
    assert found is not None and found.baseline is not None and found.lane is not None
    row = rows[found.index]
    raw = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    ours, theirs = full_replay(row, one, 8, found.index).after, full_replay(row, other, 8, found.index).after
    for contender in (found.baseline, found.lane):
        assert contender.raw == pytest.approx(raw[contender.token], rel=1e-3)
        assert contender.baseline.after == pytest.approx(ours[contender.token], rel=0.02)
        assert contender.lane.after == pytest.approx(theirs[contender.token], rel=0.02)
    shown = [contender.token for contender in found.picture]
    assert {found.baseline.token, found.lane.token} <= set(shown)
    assert shown[:8] == np.argsort(-row, kind="stable")[:8].tolist()
    for contender in found.picture[:8]:
        assert contender.baseline.after == pytest.approx(ours[contender.token], rel=0.02, abs=1e-6)
        assert (contender.baseline.cut_by is None) == bool(ours[contender.token] > 0)


def test_a_token_outside_of_what_is_stored_is_known_from_its_own_record() -> None:
    row = np.zeros(SIZE, np.float32)
    row[0] = 3.0
    both = [
        Lane(np.array([token], np.int32), record_of([row], [token], [0.5]), settings, 1)
        for token, settings in ((300, with_changes(top_k=320)), (350, with_changes(top_k=350)))
    ]
    found = divergence(*both)
    assert found is not None and found.baseline is not None and found.lane is not None
    assert (found.baseline.rank, found.lane.rank) == (301, 351)
    assert found.baseline.raw == found.lane.raw == pytest.approx(1 / (399 + np.e**3), rel=1e-4)
    assert found.lane.baseline.cut_by == "top_k" and found.baseline.lane.cut_by is None
    assert found.reason == Reason("cut", "top_k")


def test_what_the_record_does_not_prove_is_unknown_but_the_only_stage_that_differs_is_named() -> None:
    settings = with_changes(top_p=0.99), with_changes(top_p=0.6)
    kinds = []
    for seed in range(20):
        rows = some_rows(seed)
        lanes = [drawn(rows, each, seed, alternatives=False) for each in settings]
        found = divergence(*lanes)
        if found is None:
            continue
        kinds.append(found.reason.kind)
        assert found.reason.stage == "top_p"
        if found.reason.kind == "cut":
            assert_cut(found, settings, (seed, seed), rows[found.index])
    assert "unknown" in kinds


def test_lanes_without_a_record_still_tell_where_they_part() -> None:
    rows = some_rows(4)
    lanes = [drawn(rows, each, 4) for each in (with_changes(top_p=0.99), with_changes(top_p=0.4))]
    recorded = divergence(*lanes)
    found = divergence(*(dataclasses.replace(lane, records=None) for lane in lanes))
    assert recorded is not None and found is not None
    assert found.baseline is not None and recorded.baseline is not None
    assert (found.index, found.baseline.token) == (recorded.index, recorded.baseline.token)
    assert (found.baseline.raw, found.baseline.lane.after, found.picture) == (None, None, ())
    assert found.reason == Reason("unknown")
    one_sided = divergence(dataclasses.replace(lanes[0], records=None), lanes[1])
    assert one_sided is not None and one_sided.reason == recorded.reason
    assert recorded.reason.stage == "top_p"


def test_a_lane_that_was_stopped_and_a_token_that_somebody_chose_are_told() -> None:
    lane = drawn(some_rows(2), with_changes(top_k=20), 5)
    short = dataclasses.replace(lane, tokens=lane.tokens[:7])
    ended = divergence(lane, short)
    assert ended is not None and ended.baseline is not None
    assert (ended.index, ended.lane, ended.reason) == (7, None, Reason("ended"))
    assert lane.records is not None
    flags = lane.records.flags.copy()
    flags[0] = FORCED
    tokens = lane.tokens.copy()
    tokens[0] = (tokens[0] + 1) % SIZE
    forced = dataclasses.replace(lane, tokens=tokens, records=dataclasses.replace(lane.records, flags=flags))
    found = divergence(lane, forced)
    assert found is not None and found.reason == Reason("forced")


def test_two_greedy_lanes_that_rounding_parted_claim_no_more_than_there_is() -> None:
    rows = some_rows(9)
    order = np.argsort(-rows[3])
    first, second = int(order[0]), int(order[1])
    rounded = [row.copy() for row in rows]
    rows[3][second] = rows[3][first] - np.float32(1e-4)
    rounded[3][second] = rounded[3][first] + np.float32(1e-4)
    settings = with_changes(temperature=0.0)
    found = divergence(drawn(rows, settings, 1), drawn(rounded, settings, 1))
    assert found is not None and found.index == 3 and found.baseline is not None and found.lane is not None
    assert (found.baseline.token, found.lane.token) == (first, second)
    assert (found.baseline.baseline.after, found.baseline.lane.after) == (1.0, 0.0)
    assert (found.lane.baseline.after, found.lane.lane.after) == (0.0, 1.0)
    for shares in ([each.baseline.after for each in found.picture], [each.lane.after for each in found.picture]):
        assert sum(share for share in shares if share is not None) <= 1.0 + 1e-6
