"""Lanes that the starter model wrote are analysed as they were drawn: places, draws, reasons, and what their chains left."""

from __future__ import annotations

import math

import msgspec
import pytest

from app.core.events import LaneTokens, PromptReady
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.pieces import MOST_PIECES, pieces_of
from app.services.analysing import analyse, replayed
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.piece_table import PieceTable
from tests.engine.comparisons import Told, compare, limited
from tests.engine.harness import user

BALANCED = msgspec.structs.replace(PRESETS["Balanced"], seed=5)
LANES = [
    limited(BALANCED, 40, temperature=1.1),
    limited(BALANCED, 40, temperature=0.0),
    limited(BALANCED, 40, temperature=1.1, top_p=0.4),
    limited(BALANCED, 40, temperature=1.1, seed=6),
    limited(BALANCED, 40, temperature=1.1, repeat_penalty=1.3, dry_multiplier=0.8),
    limited(BALANCED, 40, temperature=1.1, xtc_probability=0.5),
    limited(BALANCED, 12, temperature=1.1),
]
QUESTION = user("Repeat these words: 日本語, naïve 🙂, straße. Then count to ten in French.")


def table_of(backend: LlamaBackend) -> PieceTable:
    table = PieceTable()
    while len(table) < backend.vocabulary.size:
        table.extend(pieces_of(backend.vocabulary, "starter", len(table), MOST_PIECES))
    return table


def inputs_of(told: Told, lanes: list[SamplingSettings], pieces: PieceTable) -> LaneInputs:
    given = []
    for number, settings in enumerate(lanes):
        end = told.lane(number).finished
        records = tuple(each.tokens.record for each in told.all(LaneTokens) if each.lane == number)
        given.append(
            LaneInput(
                number,
                number,
                end.text,
                end.ids,
                records,
                settings,
                end.settings,
                end.seed,
                end.metrics,
                end.stop_reason,
            )
        )
    return LaneInputs(1, 0, tuple(given), told.one(PromptReady).ids, pieces, is_whole=True)


@pytest.fixture(scope="module")
def inputs(starter_backend: LlamaBackend) -> LaneInputs:
    told = compare(starter_backend, KVCache(starter_backend), LANES, prompt=QUESTION)
    return inputs_of(told, LANES, table_of(starter_backend))


def test_every_token_stands_where_its_text_is(inputs: LaneInputs) -> None:
    for lane in analyse(inputs).lanes:
        starts = lane.token_starts
        assert len(starts) == lane.figures.length + 1 == lane.figures.recorded + 1
        assert starts[0] == 0 and list(starts) == sorted(starts) and starts[-1] == len(lane.text)


def test_each_lane_is_told_why_it_left(inputs: LaneInputs) -> None:
    found = analyse(inputs)
    kinds = {each.lane: (each.kind, each.stage) for each in found.divergences if each is not None}
    assert kinds[1] == ("greedy", "temperature")
    assert kinds[2][1] == "top_p" and kinds[2][0] in ("cut", "reshaped", "unknown")
    assert kinds[3] == ("draw", None)
    assert kinds.get(4, ("reshaped", None))[0] in ("reshaped", "unknown")
    assert kinds.get(5, ("cut", "xtc"))[1] == "xtc"
    assert kinds[6] == ("ended", None)
    for each in found.divergences:
        if each is None or each.kind in ("ended", "greedy"):
            continue
        assert each.baseline_token is not None and each.lane_token is not None
        assert each.baseline_token.baseline.after is not None and each.lane_token.lane.after is not None
        assert (each.baseline_number == each.lane_number) == (each.lane != 3)
        texts = found.lanes[0].text, found.lanes[each.lane].text
        assert texts[0][: each.in_baseline.start] == texts[1][: each.in_lane.start]


def test_under_its_own_settings_no_token_of_a_lane_would_have_been_cut(inputs: LaneInputs) -> None:
    for index, settings in enumerate(LANES):
        told = replayed(inputs, index, settings)
        assert told is not None and told.problem is None, told
        assert told.cut == 0 and len(told.tokens) == analyse(inputs).lanes[index].figures.length
        if settings.temperature <= 0:
            assert told.greedy_leaves_at is None
    alone = replayed(inputs, 0, LANES[0])
    assert alone is not None and alone.known > 0
    known = [each.after for each in alone.tokens if each.after is not None]
    assert all(0 < after <= 1 for after in known)
    assert alone.log_probability_of_known == pytest.approx(sum(map(math.log, known)), abs=1e-6)


def test_greedy_leaves_a_lane_where_its_text_leaves_the_greedy_one(inputs: LaneInputs) -> None:
    found = analyse(inputs)
    left, told = replayed(inputs, 0, LANES[1]), found.divergence(1)
    assert left is not None and told is not None
    assert left.greedy_leaves_at == told.token
    assert left.tokens[told.token].state == "cut"
