"""The figures of an answer while it is written and when it has ended, from what an engine says."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.events import Finished, PrefillProgress, PromptReady, Tokens
from app.core.metrics import ItlQuantiles, KVUse, Metrics, StopReason, TtftParts
from app.services.figures import Figures
from app.services.live import Live
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics
from tests.services.asking import ask

MS = 1_000_000


@pytest.fixture
def live(desk: Desk, model: Path) -> Live:
    desk.load(model)
    ask(desk)
    return desk.program.live


def say_tokens(desk: Desk, first: int, times_ms: list[float], text: str = "a", record: bytes = b"") -> None:
    """Let tokens follow that were sampled at these moments."""
    request = desk.engine.question.request
    count = len(times_ms)
    ids = array("i", range(count)).tobytes()
    begin, end = round(times_ms[0] * MS), round(times_ms[-1] * MS)
    desk.engine.say(Tokens(request, first, count, ids, text, record, 40 + first + count, end, begin))
    desk.settle()


def say_finished(desk: Desk, figures: Metrics, text: str = "a", reason: StopReason = "end") -> None:
    """Let the answer end with these figures."""
    request = desk.engine.question.request
    desk.engine.say(Finished(request, text, b"", reason, figures, 7, ()))
    desk.settle()


def parts(live: Live) -> dict[str, float]:
    return {part.kind: round(part.ms, 6) for part in live.figures.ttft_parts}


def cache(live: Live) -> dict[str, int]:
    return {part.name: part.tokens for part in live.figures.kv_parts}


def test_without_a_model_no_cells_are_reserved(desk: Desk) -> None:
    figures = desk.program.live.figures
    assert (figures.kv_cells_used, figures.kv_cells, figures.kv_bytes) == (0, 0, 0)
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


def test_a_slow_stretch_shows_at_once_beside_the_mean_of_the_answer(desk: Desk, live: Live) -> None:
    for _ in range(201):
        desk.engine.write("a", step_ms=10)
    for _ in range(200):
        desk.engine.write("b", step_ms=20)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(50.0)
    assert live.figures.decode_mean_tokens_per_s == pytest.approx(400 / 6.0)


def test_one_batch_of_several_tokens_has_a_rate(desk: Desk, live: Live) -> None:
    desk.engine.write("abc", count=5, step_ms=25)
    desk.settle()
    assert live.figures.decode_tokens_per_s == pytest.approx(40.0)


def test_traffic_is_what_a_token_reads_times_the_rate(desk: Desk, live: Live) -> None:
    desk.engine.write("abc", count=5, step_ms=25)
    desk.settle()
    assert live.figures.traffic_gb_per_s == pytest.approx((98_000_000 + 44 * 23_040) * 40.0 / 1e9)


def test_after_the_end_the_figures_are_the_engines(desk: Desk, live: Live) -> None:
    assert live.figures.is_writing
    desk.answer("a", "b")
    figures = live.figures
    assert figures.decode_tokens_per_s == figures.decode_mean_tokens_per_s == 77.6
    assert figures.prefill_tokens_per_s == 131.2
    assert figures.itl_ms == ItlQuantiles(13.0, 15.0, 19.0)
    assert figures.traffic_gb_per_s == 7.6
    assert (figures.prompt_tokens, figures.prompt_tokens_from_cache) == (40, 12)
    assert figures.stop_reason == "end"
    assert (figures.kv_cells_used, figures.kv_cells) == (42, CONTEXT)
    assert not figures.is_writing


def test_the_time_to_the_first_token_ends_when_it_is_painted(desk: Desk, live: Live) -> None:
    sent_ns = desk.engine.question.sent_ns
    desk.engine.write("a")
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(113.0)
    live.first_text_painted(None, sent_ns + 123 * MS)
    live.first_text_painted(None, sent_ns + 999 * MS)
    desk.engine.finish()
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(123.0)
    assert parts(live) == {
        "queue": 0.1,
        "tokens": 0.8,
        "prefill": 96.0,
        "first_sample": 12.0,
        "held_back": 0.0,
        "save": 0.0,
        "paint": 10.6,
    }


def test_a_hold_before_the_first_letter_is_none_of_the_time_to_the_first_token(desk: Desk, live: Live) -> None:
    question, held_ns = desk.engine.question, 5000 * MS
    sent_ns = question.sent_ns
    desk.engine.say(PromptReady(question.request, bytes(160), (), 0, sent_ns + 2 * MS))
    desk.engine.say(PrefillProgress(question.request, 40, 40, 0, sent_ns + 98 * MS))
    ns = sent_ns + 110 * MS
    desk.engine.say(Tokens(question.request, 0, 1, b"\0\0\0\0", "a", b"", 41, ns, ns, held_ns=held_ns))
    desk.engine.say(Tokens(question.request, 1, 1, b"\0\0\0\0", "b", b"", 42, ns, ns, held_ns=2 * held_ns))
    desk.settle()
    live.first_text_painted(None, ns + held_ns + 9 * MS)
    assert live.figures.ttft_ms == pytest.approx(119.0)
    assert sum(parts(live).values()) == pytest.approx(119.0)
    say_finished(desk, msgspec.structs.replace(metrics(2), ttft_ms=110.0), "ab")
    assert live.figures.ttft_ms == pytest.approx(119.0)
    assert parts(live)["paint"] == 9.0


def test_a_painting_before_there_is_text_belongs_to_another_answer(desk: Desk, live: Live) -> None:
    live.first_text_painted(None, desk.engine.question.sent_ns + 5 * MS)
    assert live.figures.ttft_ms is None


def test_a_painting_after_the_end_still_counts(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    live.first_text_painted(None, desk.engine.question.sent_ns + 120 * MS)
    assert live.figures.ttft_ms == pytest.approx(120.0)
    assert parts(live)["paint"] == 7.6


def test_the_parts_are_known_before_the_end_as_far_as_they_were_told(desk: Desk, live: Live) -> None:
    question = desk.engine.question
    sent_ns = question.sent_ns
    desk.engine.say(PromptReady(question.request, bytes(160), (), 0, sent_ns + 2 * MS))
    desk.engine.say(PrefillProgress(question.request, 40, 40, 0, sent_ns + 98 * MS))
    ns = sent_ns + 110 * MS
    desk.engine.say(Tokens(question.request, 0, 1, b"\0\0\0\0", "a", b"", 41, ns, ns))
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(110.0)
    assert parts(live) == {"queue_and_tokens": 2.0, "prefill": 96.0, "first_sample": 12.0}
    live.first_text_painted(None, sent_ns + 113 * MS)
    assert live.figures.ttft_ms == pytest.approx(113.0)
    assert parts(live) == {"queue_and_tokens": 2.0, "prefill": 96.0, "first_sample": 12.0, "until_shown": 3.0}


def test_a_text_that_was_held_back_is_the_one_that_the_time_waits_for(desk: Desk, live: Live) -> None:
    question = desk.engine.question
    sent_ns = question.sent_ns
    desk.engine.say(PromptReady(question.request, bytes(160), (), 0, sent_ns + 2 * MS))
    desk.engine.say(PrefillProgress(question.request, 40, 40, 0, sent_ns + 98 * MS))
    for first, text, after_ms in ((0, "", 110), (1, "a", 130), (2, "b", 150)):
        ns = sent_ns + after_ms * MS
        desk.engine.say(Tokens(question.request, first, 1, b"\0\0\0\0", text, b"", 41 + first, ns, ns))
    desk.settle()
    assert live.figures.ttft_ms == pytest.approx(130.0)
    assert parts(live)["until_shown"] == 20.0


def test_without_a_window_the_time_is_the_engines(desk: Desk, live: Live) -> None:
    desk.answer("a")
    assert live.figures.ttft_ms == 112.4


def test_the_cache_is_empty_again_after_unloading(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    desk.program.session.unload()
    figures = live.figures
    assert (figures.kv_cells_used, figures.kv_cells, figures.kv_bytes) == (0, 0, 0)
    assert figures.kv_parts == ()


def test_another_model_begins_with_an_empty_cache(desk: Desk, live: Live, other_model: Path) -> None:
    desk.answer("a", "b")
    desk.load(other_model)
    assert (live.figures.kv_cells_used, live.figures.kv_cells, live.figures.kv_parts) == (0, CONTEXT, ())


def test_the_next_question_begins_with_unknown_figures_and_the_cache_as_it_is(desk: Desk, live: Live) -> None:
    desk.answer("a", "b")
    ask(desk)
    figures = live.figures
    assert (figures.ttft_ms, figures.decode_tokens_per_s, figures.stop_reason) == (None, None, None)
    assert (figures.kv_cells_used, figures.kv_cells) == (42, CONTEXT)
    assert cache(live) == {"prompt": 40, "answer": 2}
    assert figures.diagnosis is None and live.gaps_ms == ()


def test_the_prefill_rate_is_known_while_the_prompt_is_read(desk: Desk, live: Live) -> None:
    request = desk.engine.question.request
    ids = bytes(400 * 4)
    desk.engine.say(PromptReady(request, ids, (), from_cache=100, at_ns=1_000_000_000))
    told = []
    for done, at_ms in [(108, 1080), (132, 1320), (260, 2600), (400, 4000)]:
        desk.engine.say(PrefillProgress(request, done, 400, 100, at_ms * MS))
        desk.settle()
        told.append(live.figures.prefill_tokens_per_s)
    assert told == [None, pytest.approx(100.0), pytest.approx(100.0), pytest.approx(100.0)]
    desk.engine.finish("cancelled")
    desk.settle()
    ask(desk)
    desk.engine.say(PrefillProgress(desk.engine.question.request, 400, 400, 0, 9_000 * MS))
    desk.settle()
    assert live.figures.prefill_tokens_per_s is None


def test_a_question_that_waits_shows_nothing_before_the_engine_turns_to_it(desk: Desk, live: Live) -> None:
    desk.engine.prompt()
    desk.engine.write("a")
    desk.settle()
    first = desk.engine.question
    ask(desk)
    assert live.figures.sampled_tokens == 1
    desk.engine.say(Finished(first.request, "a", b"\0\0\0\0", "end", metrics(1), 7, ()))
    desk.settle()
    second = desk.engine.question.request
    assert second != first.request
    desk.engine.say(PromptReady(second, bytes(160), (), 40, 0))
    desk.settle()
    begun = live.figures
    assert (begun.stop_reason, begun.prompt_tokens_from_cache, begun.is_writing) == (None, 40, True)


def test_a_question_that_ends_while_it_waits_changes_nothing(desk: Desk, live: Live) -> None:
    desk.engine.write("a")
    desk.settle()
    before = live.figures
    desk.program.session.cancel(ask(desk))
    desk.settle()
    assert live.figures == before


def test_what_is_said_of_an_answer_after_its_end_is_ignored(desk: Desk, live: Live) -> None:
    request = desk.engine.question.request
    desk.answer("a", "b")
    before = live.figures
    live._take(PromptReady(request, bytes(4000), (), 0, 0))
    assert live.figures == before


def test_a_failed_answer_is_not_being_written_any_more(desk: Desk, live: Live) -> None:
    desk.engine.write("a")
    desk.engine.fail("engine")
    desk.settle()
    assert not live.figures.is_writing


def nothing(**changes: object) -> Metrics:
    """Return figures of an answer of which nothing is known."""
    parts = TtftParts(0.0, 0.0, 0.0, None, None)
    kv = KVUse(0, CONTEXT, None)
    made = Metrics(None, parts, 0, 0, None, None, 0, None, kv, (), None)
    return msgspec.structs.replace(made, **changes)


ENDS = {
    "no token": (nothing(), []),
    "one token": (nothing(sampled_tokens=1, ttft_ms=10.0), [100.0]),
    "two tokens at one moment": (nothing(sampled_tokens=2), [100.0, 100.0]),
    "a cached prompt": (nothing(sampled_tokens=1, prompt_tokens=500, prompt_tokens_from_cache=499), [100.0]),
}


def numbers(figures: Figures) -> list[float]:
    return [value for value in msgspec.structs.astuple(figures) if isinstance(value, float)]


@pytest.mark.parametrize(("figures", "times"), ENDS.values(), ids=ENDS.keys())
def test_what_is_unknown_is_none_and_never_a_broken_number(
    desk: Desk, live: Live, figures: Metrics, times: list[float]
) -> None:
    if times:
        say_tokens(desk, 0, times)
    assert (live.figures.decode_tokens_per_s, live.figures.decode_mean_tokens_per_s) == (None, None)
    assert live.figures.traffic_gb_per_s is None
    assert all(math.isfinite(value) for value in numbers(live.figures))
    say_finished(desk, figures, text="", reason="cancelled")
    shown = live.figures
    assert (shown.decode_tokens_per_s, shown.prefill_tokens_per_s, shown.itl_ms) == (None, None, None)
    assert all(math.isfinite(value) for value in numbers(shown))
    assert shown.stop_reason == "cancelled"
    assert shown.diagnosis is not None


def test_the_end_says_where_the_time_went_and_the_first_answer_is_told_apart(desk: Desk, live: Live) -> None:
    slow = msgspec.structs.replace(metrics(21, 2000, 0), ttft_parts_ms=TtftParts(0.1, 0.8, 9000.0, 12.0, 0.0))
    say_finished(desk, slow)
    assert live.figures.diagnosis is not None
    assert "first answer after a load" in live.figures.diagnosis.sentence.english()
    ask(desk)
    say_finished(desk, slow)
    assert live.figures.diagnosis is not None
    assert "Reading 2,000 tokens (prefill)" in live.figures.diagnosis.sentence.english()


def test_the_sentence_knows_of_a_gpu_that_is_idle(desk: Desk, model: Path) -> None:
    live = Live(desk.program.session, lambda: True)
    desk.load(model)
    ask(desk)
    say_finished(desk, metrics(201))
    assert live.figures.diagnosis is not None
    assert "no layer is on the GPU" in live.figures.diagnosis.sentence.english()
