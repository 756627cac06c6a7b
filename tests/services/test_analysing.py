"""What is worked out of lanes: nothing is claimed where the prompt, the tokens' texts or a part of the record is missing."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import numpy as np
import pytest

from app.core.commands import SettingsChange
from app.core.grammar import Grammar
from app.core.sampling import SamplingSettings
from app.probability.record import RecordWriter
from app.probability.replayed import what_if
from app.probability.row import RowReader
from app.services.analysing import analyse, compared_words, record_kind, replayed
from app.services.lane_analysis import LaneDivergence, LaneWhatIf
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.piece_table import PieceTable
from tests.made_up_steps import pieces_of
from tests.services.lanes import PROMPT
from tests.services.recorded_lanes import OPEN, SIZE, blocks_of, lane_of, pieces, some_rows, text_of

ROWS = some_rows(20)
TABLE = PieceTable(pieces_of(pieces()))
LINE_BREAK = 34
WIDE_BREAKERS = ("\n", "END")


def settings(**changes: Any) -> SamplingSettings:
    return msgspec.structs.replace(OPEN, **changes)


def lane(index: int, made: SamplingSettings, **changes: Any) -> LaneInput:
    drawn = lane_of(ROWS, made)
    given = LaneInput(
        index=index,
        message=100 + index,
        text=text_of(drawn.tokens.tolist()),
        ids=drawn.tokens.tobytes(),
        blocks=tuple(blocks_of(ROWS, drawn)),
        settings=made,
        changes=(SettingsChange(0, made),),
        seed=made.seed,
        metrics=None,
        stop_reason="length",
    )
    return dataclasses.replace(given, **changes)


def inputs(*lanes: LaneInput, **changes: Any) -> LaneInputs:
    prompt = np.arange(PROMPT, dtype=np.int32).tobytes()
    return dataclasses.replace(LaneInputs(1, lanes[0].index, lanes, prompt, TABLE, is_whole=True), **changes)


def parted(given: LaneInputs) -> LaneDivergence:
    found = analyse(given).divergences[1]
    assert found is not None
    return found


def replay(given: LaneInputs, other: SamplingSettings) -> LaneWhatIf:
    found = replayed(given, given.lanes[0].index, other)
    assert found is not None
    return found


PENALISED = settings(presence_penalty=1.5)
DRY = settings(dry_multiplier=1.0, dry_allowed_length=1)
WITH_GRAMMAR = settings(grammar=Grammar("gbnf", 'root ::= "x"'))
BROKEN_DRY = settings(dry_multiplier=1.0, dry_allowed_length=1, dry_sequence_breakers=WIDE_BREAKERS)


@pytest.mark.parametrize(
    ("other", "changes", "said"),
    [
        (PENALISED, {"prompt": None}, "the prompt, which was not kept"),
        (DRY, {"prompt": None}, "the prompt, which was not kept"),
        (BROKEN_DRY, {}, "DRY's breakers"),
        (DRY, {"pieces": None}, "DRY's breakers"),
        (DRY, {"pieces": PieceTable(pieces_of(pieces()[: SIZE - 1]))}, "DRY's breakers"),
        (WITH_GRAMMAR, {}, "a grammar cuts tokens"),
        (msgspec.structs.replace(WITH_GRAMMAR, temperature=0.0), {}, "a grammar cuts tokens"),
    ],
)
def test_a_chain_that_cannot_be_replayed_says_why_and_claims_nothing(
    other: SamplingSettings, changes: dict[str, Any], said: str
) -> None:
    given = inputs(lane(0, settings(top_k=3)), lane(1, other), **changes)
    found = parted(given)
    assert (found.kind, found.stage) == ("unknown", None) and said in found.reason.english()
    assert found.picture and all(each.lane.after is None and each.lane.cut_by is None for each in found.picture)
    assert any(each.baseline.after for each in found.picture), "the baseline's chain can be replayed"
    assert found.lane_token is not None and found.lane_token.lane.after is not None, "its own record says it"
    told = replay(given, other)
    assert told.problem is not None and said in told.problem.english() and told.tokens == ()


def test_a_chain_that_can_be_replayed_is_told_whole_beside_one_that_cannot() -> None:
    baseline, broken = lane(0, PENALISED), lane(1, BROKEN_DRY)
    usable = dataclasses.replace(broken, settings=DRY, changes=(SettingsChange(0, DRY),))
    beside, alone = parted(inputs(baseline, broken)), parted(inputs(baseline, usable))
    assert beside.kind == "unknown" and beside.token == alone.token
    assert [each.baseline for each in beside.picture] == [each.baseline for each in alone.picture]
    assert any(each.lane.after for each in alone.picture) and not any(each.lane.after for each in beside.picture)


def test_what_needs_no_replay_is_known_all_the_same() -> None:
    lanes = lane(0, BROKEN_DRY), lane(1, msgspec.structs.replace(BROKEN_DRY, seed=8))
    found = parted(inputs(*lanes, prompt=None))
    assert found.kind == "draw" and found.reason.english() == "Just the draw: the seeds differ."
    assert found.draws is not None and "different numbers" in found.draws.english()
    assert found.baseline_number != found.lane_number


def test_of_two_lanes_with_one_grammar_only_the_draw_is_told() -> None:
    seeds = lane(0, WITH_GRAMMAR), lane(1, msgspec.structs.replace(WITH_GRAMMAR, seed=8))
    assert parted(inputs(*seeds)).reason.english() == "Just the draw: the seeds differ."
    narrow = lane(0, WITH_GRAMMAR), lane(1, msgspec.structs.replace(WITH_GRAMMAR, top_k=1))
    found = parted(inputs(*narrow))
    assert (found.kind, found.stage) == ("unknown", None)
    assert "a grammar cuts tokens" in found.reason.english()


def test_equal_chains_are_equal_also_where_only_one_lane_was_recorded() -> None:
    lanes = lane(0, DRY), lane(1, msgspec.structs.replace(DRY, seed=8), blocks=())
    found = parted(inputs(*lanes, pieces=PieceTable(pieces_of(pieces()[: SIZE - 1]))))
    assert found.kind == "draw"
    assert all(each.baseline.after is None and each.lane.after is None for each in found.picture)


def test_the_breakers_of_the_other_settings_count_and_not_those_of_the_lane() -> None:
    row = np.full(SIZE, -6, np.float32)
    row[LINE_BREAK], row[51] = 3.0, 2.8
    ids = np.array([LINE_BREAK, 51] * 2, np.int32)
    writer = RecordWriter(SIZE)
    for token in ids.tolist():
        facts = RowReader(SIZE).read(row)
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.5, 0)
    made = settings(dry_multiplier=2.0, dry_allowed_length=1, dry_sequence_breakers=())
    given = inputs(lane(0, made, ids=ids.tobytes(), text=text_of(ids.tolist()), blocks=(writer.take(),)))
    broken = replay(given, msgspec.structs.replace(made, dry_sequence_breakers=("\n",))).tokens[-1].after
    unbroken, plain = replay(given, made).tokens[-1].after, replay(given, settings()).tokens[-1].after
    assert broken is not None and unbroken is not None
    assert broken == pytest.approx(plain, rel=1e-3) and unbroken < 0.5 * broken, (
        "the line break before it ends the repetition"
    )


def test_the_replay_is_told_token_by_token() -> None:
    given = inputs(lane(0, settings()))
    other = settings(top_k=2, temperature=0.7)
    told, expected = replay(given, other), what_if(lane_of(ROWS, settings()), other)
    assert expected is not None
    states = [each.state for each in told.tokens]
    assert [place for place, state in enumerate(states) if state == "cut"] == expected.cut.tolist()
    assert [place for place, state in enumerate(states) if state == "unknown"] == expected.unknown.tolist()
    assert (told.cut, told.unknown, told.known) == (
        states.count("cut"),
        states.count("unknown"),
        states.count("known"),
    )
    assert 0 < told.cut < len(states) and told.cuts == {"top_k": told.cut}
    for place, each in enumerate(told.tokens):
        assert each.stage == ("top_k" if each.state == "cut" else None)
        assert (each.survivors, each.is_exact) == (2, True) and each.left.english() == "2 left to draw from"
        known = float(expected.after[place]) if each.state == "known" else 0.0 if each.state == "cut" else None
        assert each.after == known
    assert told.log_probability is None and told.log_probability_of_known == expected.log_probability_of_known
    assert told.greedy_leaves_at == expected.greedy_leaves_at
    text = given.lanes[0].text
    assert "".join(dict.fromkeys(text[span.start : span.end] for span in told.spans)) != ""
    assert [span.start for span in told.spans] == list(analyse(given).lanes[0].token_starts[:-1])


def test_what_is_not_in_the_record_is_at_least_so_many_with_so_much_unseen() -> None:
    given = lane(0, settings(), blocks=tuple(blocks_of(ROWS, lane_of(ROWS, settings()), alternatives=False)))
    told = replay(inputs(given), settings(top_p=0.5))
    open_ones = [each for each in told.tokens if not each.is_exact]
    assert open_ones and all(each.unseen > 0 for each in open_ones)
    assert told.unknown == sum(each.state == "unknown" for each in told.tokens) > 0
    assert all(each.after is None and each.stage is None for each in told.tokens if each.state == "unknown")
    said = open_ones[0].left.english()
    assert said.startswith("at least ") and said.endswith("% unseen")


def test_a_damaged_block_costs_what_follows_it_and_nothing_before(caplog: pytest.LogCaptureFixture) -> None:
    whole = lane(0, settings())
    first, second, third = whole.blocks
    damaged = second[:-1] + bytes([second[-1] ^ 1])
    for blocks, left in (((first, damaged, third), 8), ((first, second[:40], third), 8), ((damaged, second), 0)):
        found = analyse(inputs(dataclasses.replace(whole, blocks=blocks))).lanes[0]
        assert (found.figures.recorded, found.figures.length) == (left, 20)
        assert len(found.surprise) == left
    assert "cannot be used" in caplog.text


def test_a_record_of_other_tokens_is_none() -> None:
    other = lane(1, settings(seed=9))
    found = analyse(inputs(lane(0, settings(), blocks=other.blocks))).lanes[0]
    assert found.figures.recorded == 0 and found.figures.perplexity is None


def test_an_answer_that_went_on_was_drawn_with_the_settings_of_that_place() -> None:
    late = lane(1, settings(seed=9))
    baseline = next(
        each for each in (lane(0, settings(seed=seed)) for seed in range(20)) if leaves_the_likeliest(each, late)
    )
    token = parted(inputs(baseline, late)).token
    changes = (SettingsChange(0, settings(seed=9)), SettingsChange(token + 1, settings(seed=9, temperature=0.0)))
    went_on = dataclasses.replace(late, changes=changes, settings=changes[1].settings)
    assert parted(inputs(baseline, went_on)).kind == "draw"
    early = dataclasses.replace(went_on, changes=(SettingsChange(token, changes[1].settings), changes[1]))
    assert parted(inputs(baseline, early)).kind == "greedy"


def leaves_the_likeliest(baseline: LaneInput, other: LaneInput) -> bool:
    """Return whether the baseline drew another token than the most likely one where the other leaves it."""
    found = analyse(inputs(baseline, other)).divergences[1]
    return found is not None and found.baseline_token is not None and found.baseline_token.rank != 1


def test_without_pieces_the_texts_themselves_say_where_they_part() -> None:
    given = inputs(lane(0, settings()), lane(1, settings(seed=9)), pieces=None)
    found, analysis = parted(given), analyse(given)
    one, other = (each.text for each in analysis.lanes)
    start = found.in_lane.start
    assert found.in_baseline.start == start and one[:start] == other[:start] and one[start] != other[start]
    assert analysis.lanes[0].token_starts == () and all(node.span is None for node in analysis.tree)
    assert found.lane_token is not None and found.lane_token.text is None
    assert analysis.prompt_ids == given.prompt and analysis.prompt_text is None


def test_halves_of_a_character_part_where_the_whole_one_stands() -> None:
    ids = [np.array([40, 30, last], np.int32) for last in (31, 32)]
    lanes = [lane(n, settings(), ids=ids[n].tobytes(), text=text_of(ids[n].tolist()), blocks=()) for n in range(2)]
    assert [each.text for each in lanes] == [" w40é", " w40è"]
    found = parted(inputs(*lanes))
    assert found.token == 2 and (found.in_lane.start, found.in_lane.end) == (4, 5)
    assert found.lane_token is not None and found.lane_token.text == "<0xA8>"


def test_the_words_of_two_lanes_and_of_one_that_is_not_there() -> None:
    lanes = lane(0, settings(), text="It is a blue day."), lane(3, settings(seed=9), text="It is a grey day.")
    found = compared_words(inputs(*lanes), 0, 3)
    assert found is not None and [(each.kind, each.first_start) for each in found.spans] == [
        ("equal", 0),
        ("replace", 8),
        ("equal", 13),
    ]
    assert compared_words(inputs(*lanes), 0, 1) is None
    assert replayed(inputs(*lanes), 1, OPEN) is None


def test_two_greedy_lanes_drew_no_numbers() -> None:
    cold = settings(temperature=0.0)
    found = parted(inputs(lane(0, cold), lane(1, settings(temperature=0.0, presence_penalty=2.0, penalty_last_n=-1))))
    assert (found.baseline_number, found.lane_number, found.draws) == (None, None, None)
    assert (found.kind, found.stage) == ("most_likely", "penalties")
    assert found.reason.english().startswith("Both lanes take the most likely token without a draw; the penalties")
    greedy = parted(inputs(lane(0, settings(top_k=3)), lane(1, cold)))
    assert greedy.kind == "greedy" and greedy.lane_number is None and greedy.draws is None
    assert greedy.reason.english().startswith("B takes the most likely token")


def test_a_stage_that_made_another_one_cut_is_told_with_both() -> None:
    pairs = (
        (settings(seed=seed, top_k=40, typical_p=0.6), settings(seed=seed, top_k=6, typical_p=0.6))
        for seed in range(60)
    )
    found = (analyse(inputs(lane(0, one), lane(1, other))).divergences[1] for one, other in pairs)
    told = next(each for each in found if each is not None and each.kind == "made_cut")
    assert (told.stage, told.cutter) == ("top_k", "typical")
    assert told.baseline_token is not None and told.lane_token is not None
    cut_by = told.baseline_token.lane.cut_by, told.lane_token.baseline.cut_by
    in_lane = "typical-p cut the baseline's token in B, because top-k before it differs."
    in_baseline = "typical-p cut B's token in the baseline, because top-k before it differs."
    assert told.reason.english() == (in_lane if cut_by[0] == "typical" else in_baseline) and "typical" in cut_by


def test_what_xtc_cut_is_not_told_where_the_chain_before_it_cannot_be_replayed() -> None:
    made = [
        settings(seed=seed, presence_penalty=1.5, xtc_probability=0.5, xtc_threshold=0.02) for seed in (7, 8, 9, 10)
    ]
    lanes = [lane(number, each) for number, each in enumerate(made)]
    known = [each.kind for each in analyse(inputs(*lanes)).divergences if each is not None]
    assert "cut" in known
    told = [each for each in analyse(inputs(*lanes, prompt=None)).divergences if each is not None]
    assert len(told) == 3
    assert all(each.kind == "unknown" and "the prompt, which was not kept" in each.reason.english() for each in told)


@pytest.mark.parametrize("length", [0, 5])
@pytest.mark.parametrize("is_baseline_open", [False, True])
def test_a_lane_of_which_more_may_come_has_left_nobody_yet(length: int, *, is_baseline_open: bool) -> None:
    whole, part = lane(0, settings()), shortened(lane(1, settings()), length)
    is_open = dataclasses.replace(part, is_open=True, stop_reason=None)
    lanes = (is_open, whole) if is_baseline_open else (whole, is_open)
    found = analyse(inputs(*lanes))
    assert found.divergences == (None, None)
    assert [each.is_open for each in found.lanes] == [each.is_open for each in lanes]
    ending = next(node for node in found.tree if 1 in node.ends)
    assert ending.open == (1,) and all(node.open == () for node in found.tree if node is not ending)
    ended = parted(inputs(whole, part))
    assert (ended.token, ended.kind) == (length, "ended")
    assert analyse(inputs(whole, part)).tree[0].open == ()


def test_a_lane_that_ended_before_an_open_baseline_did_end_there() -> None:
    baseline = dataclasses.replace(lane(0, settings()), is_open=True, stop_reason=None)
    found = parted(inputs(baseline, shortened(lane(1, settings()), 5)))
    assert (found.token, found.kind) == (5, "ended") and "B" in found.reason.english()


def test_an_open_lane_that_took_another_token_has_left_the_baseline() -> None:
    other = dataclasses.replace(lane(1, settings(seed=9)), is_open=True, stop_reason=None)
    assert parted(inputs(lane(0, settings()), other)).kind == "draw"


def shortened(given: LaneInput, length: int) -> LaneInput:
    """Return a lane that has no more tokens than these."""
    ids = given.ids[: 4 * length]
    return dataclasses.replace(given, ids=ids, text=text_of(np.frombuffer(ids, np.int32).tolist()))


def test_words_that_were_given_are_no_draws_and_what_is_told_is_of_those_behind_them() -> None:
    given_ids = lane_of(ROWS, settings()).tokens[4:8]  # they come again, so that penalties see them twice
    whole, first = lane(0, settings()), given_ids.size
    beginning = text_of(given_ids.tolist())
    changes = (SettingsChange(first, settings()),)
    ids = given_ids.tobytes() + whole.ids
    given = dataclasses.replace(whole, text=beginning + whole.text, ids=ids, changes=changes)
    for other in (settings(frequency_penalty=1.5, penalty_last_n=-1), settings(xtc_probability=0.5)):
        told, drawn = replay(inputs(given), other), lane_of(ROWS, settings())
        prompt = np.array([*range(PROMPT), *given_ids.tolist()], np.int32)
        expected = what_if(dataclasses.replace(drawn, prompt=prompt, first=first), other)
        assert expected is not None and told.log_probability_of_known == expected.log_probability_of_known
        assert told.cut == expected.cut.size and len(told.tokens) == len(ROWS)
        assert [span.start - len(beginning) for span in told.spans] == [
            span.start for span in replay(inputs(whole), other).spans
        ]


@pytest.mark.parametrize(("alternatives", "kind"), [(True, "all"), (False, "chosen"), (None, "off")])
def test_what_was_recorded_is_told_by_its_kind(alternatives: bool | None, kind: str) -> None:
    drawn = lane_of(ROWS, settings())
    blocks = () if alternatives is None else tuple(blocks_of(ROWS, drawn, alternatives=alternatives))
    assert record_kind(inputs(lane(0, settings(), blocks=blocks)), 0) == kind
