from __future__ import annotations

from pathlib import Path

import pytest

from app.core.events import PrefillProgress, PromptReady
from app.services.live import Live
from tests.desk import Desk
from tests.fake_engine import CONTEXT


@pytest.fixture
def live(desk: Desk, model: Path) -> Live:
    desk.load(model)
    desk.program.chat.send("Hi")
    return desk.program.live


def test_nothing_is_known_before_a_model_is_loaded(desk: Desk) -> None:
    figures = desk.program.live.figures
    assert figures.kv_cells is None
    assert figures.decode_tokens_per_s is None


def test_the_decode_rate_while_writing_is_that_of_the_last_second_and_a_half(desk: Desk, live: Live) -> None:
    desk.engine.prompt()
    desk.engine.write("a", count=1, step_ms=10)
    desk.settle()
    assert live.figures.decode_tokens_per_s is None
    for _ in range(300):
        desk.engine.write("b", count=1, step_ms=10)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(100.0)
    assert live.figures.sampled_tokens == 301


def test_a_slow_stretch_shows_at_once_and_not_averaged_over_the_answer(desk: Desk, live: Live) -> None:
    for _ in range(200):
        desk.engine.write("a", step_ms=10)
    for _ in range(200):
        desk.engine.write("b", step_ms=20)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(50.0)


def test_one_batch_of_several_tokens_has_a_rate(desk: Desk, live: Live) -> None:
    desk.engine.write("abc", count=5, step_ms=25)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(40.0)


def test_after_the_end_the_figures_are_the_engines(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    figures = live.figures
    assert figures.decode_tokens_per_s == 77.6
    assert figures.prefill_tokens_per_s == 131.2
    assert (figures.prompt_tokens, figures.prompt_tokens_from_cache) == (40, 12)
    assert figures.stop_reason == "end"
    assert (figures.kv_cells_used, figures.kv_cells) == (42, CONTEXT)


def test_the_time_to_the_first_token_ends_when_it_is_painted(desk: Desk, live: Live) -> None:
    sent_ns = desk.engine.question.sent_ns
    desk.engine.write("a")
    desk.settle()
    assert live.figures.ttft_ms is None
    live.first_text_painted(sent_ns + 123_000_000)
    live.first_text_painted(sent_ns + 999_000_000)
    desk.engine.finish()
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(123.0)


def test_without_a_window_the_time_is_the_engines(desk: Desk, live: Live) -> None:
    desk.answer("a")
    assert live.figures.ttft_ms == 112.4


def test_the_cache_is_empty_again_after_unloading(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    desk.program.session.unload()
    assert (live.figures.kv_cells_used, live.figures.kv_cells, live.figures.kv_bytes) == (None, None, None)


def test_the_next_question_begins_with_unknown_figures_and_the_cache_as_it_is(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    desk.program.chat.send("More")
    figures = live.figures
    assert (figures.ttft_ms, figures.decode_tokens_per_s, figures.stop_reason) == (None, None, None)
    assert (figures.kv_cells_used, figures.kv_cells) == (42, CONTEXT)


def test_the_prefill_rate_is_known_while_the_prompt_is_read(desk: Desk, live: Live) -> None:
    request = desk.engine.question.request
    ids = bytes(400 * 4)
    desk.engine.say(PromptReady(request, ids, (), from_cache=100, at_ns=1_000_000_000))
    told = []
    for done, at_ms in [(108, 1080), (132, 1320), (260, 2600), (400, 4000)]:
        desk.engine.say(PrefillProgress(request, done, 400, 100, at_ms * 1_000_000))
        desk.settle()
        told.append(live.figures.prefill_tokens_per_s)
    assert told == [None, pytest.approx(100.0), pytest.approx(100.0), pytest.approx(100.0)]
    desk.program.chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    desk.program.chat.send("Again")
    desk.engine.say(PrefillProgress(desk.engine.question.request, 400, 400, 0, 9_000_000_000))
    desk.settle()
    assert live.figures.prefill_tokens_per_s is None
