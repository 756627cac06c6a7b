"""Lanes on the starter model: they say what they would say alone, and each ends for its own reason."""

from __future__ import annotations

import msgspec
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.comparison import MOST_LANES
from app.core.errors import UserError
from app.core.events import Event, LaneFinished, LaneTokens, PrefillProgress, PromptReady
from app.core.sampling import PRESETS, SamplingSettings
from app.core.words import translate
from app.engine.backend import Chain
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from tests.engine.comparisons import QUESTION, Told, assert_same_draws, compare, limited
from tests.engine.exchanges import as_prompt, tokens
from tests.engine.harness import GREEDY, assert_same_answer, records_of
from tests.engine.test_loop import finished, run

BALANCED = msgspec.structs.replace(PRESETS["Balanced"], seed=5)
LANES_END = ("length", "end")


def assert_whole(told: Told, lanes: int) -> None:
    """What came in parts is what was told at the ends, and the cells hold the prompt alone."""
    assert sorted(event.lane for event in told.all(LaneFinished)) == list(range(lanes))
    for lane in range(lanes):
        end = told.lane(lane).finished
        assert told.streamed(lane) == (told.ids(lane), end.text)
        assert end.metrics.sampled_tokens == len(told.ids(lane))
        assert not told.ids(lane) or list(told.records(lane).tokens) == told.ids(lane)
    assert told.end.kv.cells_used == told.end.prefill.prompt_tokens


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("settings", [GREEDY, BALANCED], ids=["greedy", "balanced"])
def test_equal_lanes_agree(
    starter_backend: LlamaBackend, cache: KVCache, settings: SamplingSettings, lanes: int
) -> None:
    told = compare(starter_backend, cache, [limited(settings, 24)] * lanes)
    assert_whole(told, lanes)
    for lane in range(1, lanes):
        assert_same_answer(told.records(0), told.records(lane))


def test_each_lane_answers_as_the_plain_chat_does(starter_backend: LlamaBackend, cache: KVCache) -> None:
    lanes = [limited(GREEDY, 24), limited(BALANCED, 24), limited(BALANCED, 24, temperature=1.5, repeat_penalty=1.3)]
    told = compare(starter_backend, cache, lanes)
    assert_whole(told, 3)
    assert len({tuple(told.ids(lane)) for lane in range(3)}) == 3
    for lane, settings in enumerate(lanes):
        alone = records_of(run(starter_backend, QUESTION, settings, cache=KVCache(starter_backend)), 1)
        assert_same_draws(told.records(lane), alone, 0.02)
        if settings is lanes[0]:
            assert_same_answer(told.records(lane), alone)


def test_lanes_that_are_run_again_write_the_same_though_the_prompt_is_in_the_cells_then(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    prompt = ChatPrompt((PromptMessage("user", "Why is the sky blue, and why is it red at times? " * 12),))
    lanes = [limited(GREEDY, 12), limited(BALANCED, 12), limited(BALANCED, 12, temperature=1.5)]
    anew, again = (compare(starter_backend, cache, lanes, prompt) for _ in range(2))
    assert anew.end.prefill.from_cache < 64 < again.end.prefill.from_cache
    for lane in range(3):
        first, second = anew.records(lane), again.records(lane)
        assert anew.ids(lane) == again.ids(lane)
        assert list(first.log_sum_exp) == list(second.log_sum_exp)


def test_lanes_without_a_seed_share_a_drawn_one(starter_backend: LlamaBackend, cache: KVCache) -> None:
    lanes = [limited(PRESETS["Balanced"], 3), limited(PRESETS["Wild"], 3), limited(BALANCED, 3)]
    first, second = (compare(starter_backend, cache, lanes) for _ in range(2))
    for told in (first, second):
        assert told.plan.seeds[0] == told.plan.seeds[1] != told.plan.seeds[2] == 5
        assert tuple(told.lane(lane).finished.seed for lane in range(3)) == told.plan.seeds
    assert first.plan.seeds[0] != second.plan.seeds[0]


def test_the_first_tokens_come_from_one_row(starter_backend: LlamaBackend, cache: KVCache) -> None:
    told = compare(starter_backend, cache, [limited(BALANCED, 2, seed=seed) for seed in range(8)])
    rows = [told.records(lane) for lane in range(8)]
    assert {float(row.log_sum_exp[0]) for row in rows} == {float(rows[0].log_sum_exp[0])}
    assert {tuple(row.alternatives(0)[0]) for row in rows} == {tuple(rows[0].alternatives(0)[0])}


def test_a_stopped_lane_leaves_the_others_going(starter_backend: LlamaBackend, cache: KVCache) -> None:
    def stop(event: Event, control: Control) -> None:
        if isinstance(event, LaneTokens) and event.lane == 1:
            control.stopped |= {1}

    lanes = [limited(GREEDY, 20)] * 3
    told = compare(starter_backend, cache, lanes, on_event=stop)
    assert_whole(told, 3)
    assert told.lane(1).finished.stop_reason == "cancelled"
    assert 1 <= len(told.ids(1)) < 20
    assert [told.lane(lane).finished.stop_reason for lane in (0, 2)] == ["length"] * 2
    undisturbed = compare(starter_backend, cache, lanes)
    for lane in (0, 2):
        assert_same_answer(told.records(lane), undisturbed.records(lane))


def test_a_lane_ends_at_its_own_stop_string_and_never_shows_it(starter_backend: LlamaBackend, cache: KVCache) -> None:
    whole = compare(starter_backend, cache, [limited(GREEDY, 24)]).lane(0).finished.text
    stops = whole[12:16], whole[2:7]
    told = compare(starter_backend, cache, [limited(GREEDY, 24, stop=(stop,)) for stop in (*stops, "never said")])
    assert_whole(told, 3)
    assert [told.lane(lane).finished.stop_reason for lane in range(3)] == ["stop_string"] * 2 + ["length"]
    assert [told.lane(lane).finished.text for lane in (0, 1)] == [whole[: whole.index(stop)] for stop in stops]
    assert all(stop in told.lane(2).finished.text for stop in stops)


def test_lanes_end_one_after_another(starter_backend: LlamaBackend, cache: KVCache) -> None:
    told = compare(starter_backend, cache, [limited(GREEDY, tokens) for tokens in (1, 7, 3, 12)])
    assert_whole(told, 4)
    assert [len(told.ids(lane)) for lane in range(4)] == [1, 7, 3, 12]
    assert [event.lane for event in told.all(LaneFinished)] == [0, 2, 1, 3]
    assert told.ids(3)[:7] == told.ids(1) and told.ids(1)[:3] == told.ids(2)


def test_lanes_that_do_not_fit_at_once_run_in_waves(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    ids = tokens(724, 1)
    told = compare(quick_backend, quick_cache, [limited(GREEDY, 120, stop=(".", "e"))] * 5, as_prompt(ids))
    assert told.plan.plan.waves == ((0, 1), (2, 3), (4,)) and not told.plan.plan.lowered
    assert_whole(told, 5)
    for lane in range(1, 5):
        assert_same_answer(told.records(0), told.records(lane))
    figures = [told.lane(lane).finished.metrics.ttft_parts_ms for lane in range(5)]
    assert {each.prefill for each in figures} == {told.end.prefill.prefill_ms}


def test_a_lowered_lane_ends_where_its_share_does(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    ids = tokens(1000, 1)
    told = compare(quick_backend, quick_cache, [limited(GREEDY, 0), limited(GREEDY, 3)], as_prompt(ids))
    assert told.plan.plan.lowered and told.plan.plan.limits == (21, 3)
    assert told.lane(1).finished.stop_reason in LANES_END and len(told.ids(1)) <= 3
    if told.lane(0).finished.stop_reason != "end":
        assert (told.lane(0).finished.stop_reason, len(told.ids(0))) == ("context_full", 21)
    assert_whole(told, 2)


def test_a_cancel_in_the_prefill_ends_every_lane_without_a_token(
    quick_backend: LlamaBackend, quick_cache: KVCache
) -> None:
    def cancel(event: Event, control: Control) -> None:
        control.cancelled |= isinstance(event, PrefillProgress)

    prompt = as_prompt(tokens(700, 2))
    told = compare(quick_backend, quick_cache, [limited(GREEDY, 5)] * 3, prompt, on_event=cancel)
    assert [told.lane(lane).finished.stop_reason for lane in range(3)] == ["cancelled"] * 3
    assert [told.ids(lane) for lane in range(3)] == [[]] * 3
    assert 0 < told.end.kv.cells_used < 700
    assert told.end.prefill.evaluated == told.end.kv.cells_used


def test_a_cancel_ends_every_lane_within_a_token(starter_backend: LlamaBackend, cache: KVCache) -> None:
    def cancel(event: Event, control: Control) -> None:
        control.cancelled |= isinstance(event, LaneTokens)

    told = compare(starter_backend, cache, [limited(GREEDY, 50)] * 3, on_event=cancel)
    assert_whole(told, 3)
    assert [len(told.ids(lane)) for lane in range(3)] == [2, 1, 1]
    assert {told.lane(lane).finished.stop_reason for lane in range(3)} == {"cancelled"}


def test_a_lane_that_was_stopped_before_its_wave_never_begins(starter_backend: LlamaBackend, cache: KVCache) -> None:
    def stop(event: Event, control: Control) -> None:
        control.stopped |= {9, 3} if isinstance(event, PromptReady) else set()

    told = compare(starter_backend, cache, [limited(GREEDY, 3)] * 10, on_event=stop)
    assert_whole(told, 10)
    assert [lane for lane in range(10) if not told.ids(lane)] == [3, 9]
    assert {told.lane(lane).finished.stop_reason for lane in (3, 9)} == {"cancelled"}


def test_a_lane_that_is_stopped_while_it_waits_is_told_so_at_the_next_step(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    seen: list[Event] = []

    def stop(event: Event, control: Control) -> None:
        seen.append(event)
        if isinstance(event, LaneTokens) and not control.stopped:
            control.stopped |= {8}

    told = compare(starter_backend, cache, [limited(GREEDY, 30)] * 9, on_event=stop)
    assert told.plan.plan.waves == (tuple(range(8)), (8,))
    assert_whole(told, 9)
    assert told.lane(8).finished.stop_reason == "cancelled" and told.ids(8) == []
    ends = [event.lane for event in seen if isinstance(event, LaneFinished)]
    assert ends[0] == 8, "before any other lane"
    before = seen[: seen.index(told.lane(8))]
    assert sum(isinstance(event, LaneTokens) for event in before) <= 8, "the step that was under way"


def test_a_cancel_tells_lanes_that_wait_at_once(starter_backend: LlamaBackend, cache: KVCache) -> None:
    def cancel(event: Event, control: Control) -> None:
        control.cancelled |= isinstance(event, LaneTokens)

    told = compare(starter_backend, cache, [limited(GREEDY, 30)] * 12, on_event=cancel)
    assert_whole(told, 12)
    assert {told.lane(lane).finished.stop_reason for lane in range(12)} == {"cancelled"}
    assert len([lane for lane in range(12) if not told.ids(lane)]) == 4


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, UserError])
def test_lanes_that_cannot_begin_leave_no_sampler_behind(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    made: list[Chain] = []
    closed: list[Chain] = []
    make = starter_backend.chain

    def chain(settings: SamplingSettings) -> Chain:
        if len(made) == 2:
            raise error(translate("Test", "llama.cpp refused a sampler"))
        made.append(chain := make(settings))
        close = chain.close

        def counted() -> None:
            closed.append(chain)
            close()

        monkeypatch.setattr(chain, "close", counted)
        return chain

    monkeypatch.setattr(starter_backend, "chain", chain)
    with pytest.raises(error):
        compare(starter_backend, cache, [limited(BALANCED, 4)] * 4)
    assert len(made) == 2 and closed == made
    assert cache.use.cells_used == cache.used, "nothing is left of the lanes"


def test_an_answer_can_go_on_in_several_ways(starter_backend: LlamaBackend, cache: KVCache) -> None:
    begun = PromptMessage("assistant", "The sky is")
    prompt = ChatPrompt((PromptMessage("user", "Why is the sky blue?"), begun), continue_last=True)
    told = compare(starter_backend, cache, [limited(GREEDY, 6), limited(BALANCED, 6)], prompt)
    assert_whole(told, 2)
    alone = finished(run(starter_backend, prompt, limited(BALANCED, 6), cache=KVCache(starter_backend)))
    assert told.lane(1).finished.settings == alone.settings and alone.settings[0].token > 0
    assert told.lane(1).finished.text == alone.text


def test_a_comparison_of_no_lanes_or_too_many_is_refused(starter_backend: LlamaBackend, cache: KVCache) -> None:
    for lanes in (0, MOST_LANES + 1):
        with pytest.raises(UserError, match="1 to 16 lanes"):
            compare(starter_backend, cache, [GREEDY] * lanes)


def test_without_a_record_none_is_sent(starter_backend: LlamaBackend, cache: KVCache) -> None:
    told = compare(starter_backend, cache, [limited(GREEDY, 3)] * 2, record="off")
    assert b"".join(event.tokens.record for event in told.all(LaneTokens)) == b""
