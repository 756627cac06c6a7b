"""Every figure is what its definition says, and a dash where it would say nothing."""

from __future__ import annotations

import pytest

from app.core.metrics import KVUse
from app.engine.clock import MIN_DRIFT_TOKENS, AnswerClock
from app.engine.scripted import Script, ScriptedBackend

MS = 1_000_000


def in_use(cells: int) -> KVUse:
    return KVUse(cells, 1024, cells * 1024)


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend(Script(context=1024), "script")


def test_the_parts_add_up_to_the_time_to_the_first_visible_character(hands: Hands, backend: ScriptedBackend) -> None:
    hands.now = 10 * MS
    clock = AnswerClock(0, hands)
    hands.now = 15 * MS
    clock.mark_tokens()
    hands.now = 115 * MS
    clock.mark_prefill()
    hands.now = 120 * MS
    clock.mark_token()
    hands.now = 150 * MS
    clock.mark_token()
    clock.mark_visible()
    metrics = clock.metrics(backend, 50, 10, 40, in_use(52))
    parts = metrics.ttft_parts_ms
    assert (parts.queue, parts.tokens, parts.prefill, parts.first_sample, parts.held_back) == (10, 5, 100, 5, 30)
    assert metrics.ttft_ms == 150
    assert metrics.prefill_tokens_per_s == pytest.approx(400)
    assert metrics.decode_tokens_per_s == pytest.approx(1 / 0.030)


def test_decode_speed_counts_the_gaps_and_not_the_tokens(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    for step in range(11):
        hands.now = (1000 + 20 * step) * MS
        clock.mark_token()
    metrics = clock.metrics(backend, 20, 0, 20, in_use(31))
    assert metrics.decode_tokens_per_s == pytest.approx(50)
    assert metrics.itl_ms is not None and metrics.itl_ms.p50 == pytest.approx(20)
    assert metrics.sampled_tokens == 11
    traffic = ((1 << 20) + 31 * 1024) * 50 / 1e9
    assert metrics.traffic_gb_per_s == pytest.approx(traffic)


@pytest.mark.parametrize("tokens", [0, 1])
def test_answers_of_no_or_one_token_have_no_speed(hands: Hands, backend: ScriptedBackend, tokens: int) -> None:
    clock = AnswerClock(0, hands)
    for _ in range(tokens):
        clock.mark_token()
    metrics = clock.metrics(backend, 20, 20, 0, in_use(20))
    assert metrics.decode_tokens_per_s is None
    assert metrics.itl_ms is None
    assert metrics.traffic_gb_per_s is None
    assert metrics.ttft_ms is None


def test_a_clock_that_does_not_tick_gives_a_dash_and_never_infinity(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    clock.mark_tokens()
    clock.mark_prefill()
    clock.mark_token()
    clock.mark_token()
    metrics = clock.metrics(backend, 100, 0, 100, in_use(100))
    assert metrics.decode_tokens_per_s is None
    assert metrics.prefill_tokens_per_s is None


def test_a_prompt_from_the_cache_has_no_prefill_speed(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    clock.mark_tokens()
    hands.now = 100 * MS
    clock.mark_prefill()
    assert clock.metrics(backend, 500, 485, 15, in_use(500)).prefill_tokens_per_s is None
    assert clock.metrics(backend, 500, 484, 16, in_use(500)).prefill_tokens_per_s == pytest.approx(160)


@pytest.mark.parametrize("waits", [False, True])
def test_answers_behind_one_prefill_count_it_and_not_the_wait_for_their_turn(
    hands: Hands, backend: ScriptedBackend, waits: bool
) -> None:
    clock = AnswerClock(0, hands)
    hands.now = 10 * MS
    clock.mark_tokens()
    hands.now = 110 * MS
    clock.mark_prefill()
    hands.now = 500 * MS
    lane = clock.shared(waits=waits)
    hands.now = 520 * MS
    lane.mark_token()
    lane.mark_visible()
    hands.now = 540 * MS
    lane.mark_token()
    metrics, parts = lane.metrics(backend, 50, 0, 50, in_use(52)), lane.ttft_parts()
    assert (parts.tokens, parts.prefill, parts.held_back) == (10, 100, 0)
    assert parts.first_sample == (20 if waits else 410)
    assert metrics.ttft_ms == (130 if waits else 520)
    assert metrics.prefill_tokens_per_s == pytest.approx(500)
    assert metrics.decode_tokens_per_s == pytest.approx(50)
    assert clock.first_token is None, "its own clock is another one"


def test_the_template_and_the_draws_have_times_of_their_own(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    hands.now = 9 * MS
    clock.mark_tokens(template_ns=2 * MS)
    clock.mark_prefill()
    for step in range(3):
        hands.now = (20 + 10 * step) * MS
        clock.mark_draw()
        hands.now += MS
        clock.mark_token()
    metrics = clock.metrics(backend, 20, 0, 20, in_use(23))
    assert (metrics.ttft_parts_ms.template, metrics.ttft_parts_ms.tokens) == (2, 9), "the one is a part of the other"
    assert metrics.sampling_ms == 3


def test_draws_of_which_some_have_no_time_have_none_together(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    clock.mark_draw()
    clock.mark_token()
    clock.mark_token()
    metrics = clock.metrics(backend, 20, 0, 20, in_use(22))
    assert metrics.sampling_ms is None and metrics.ttft_parts_ms.template is None


def test_the_gaps_of_the_first_and_the_last_quarter_are_told_apart(hands: Hands, backend: ScriptedBackend) -> None:
    clock = AnswerClock(0, hands)
    for step in range(MIN_DRIFT_TOKENS - 1):
        hands.now += (10 if step < 40 else 30) * MS
        clock.mark_token()
    assert clock.metrics(backend, 1, 0, 1, in_use(65)).drift is None
    hands.now += 30 * MS
    clock.mark_token()
    drift = clock.metrics(backend, 1, 0, 1, in_use(66)).drift
    assert drift is not None and (drift.begin, drift.end) == (10.0, 30.0)
