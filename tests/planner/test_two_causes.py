"""Made answers with more than one thing that slows them down: the one that costs most is told, and no other is blamed."""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

import msgspec
import pytest

from app.core.circumstances import Circumstances
from app.core.diagnosis import Cause
from app.core.metrics import ItlDrift, KVUse, Metrics, PageIns
from app.planner.answer_times import times_of
from app.planner.decode_costs import draws_much, is_disturbed
from app.planner.diagnosis import diagnose
from tests.planner.made_answers import CPU, GPU, IDLE, SPLIT, WEIGHTS, around, figures

DECODE_S = 10.0
"""Of each of these answers."""


class Two(NamedTuple):
    """An answer, what was around it, and which of its two causes costs more."""

    metrics: Metrics
    circumstances: Circumstances
    cause: Cause


def written(drawing: float = 0.0, got: float = 1.0, threads: int = 4, **others: object) -> Metrics:
    """Return figures whose draws took a share of the decode, and whose threads got a share of their cores beside them."""
    computing = DECODE_S * (1 - drawing)
    cpu = DECODE_S * drawing + computing * got * threads
    made = figures(sampling_ms=1000 * DECODE_S * drawing, decode_cpu_s=cpu)
    return msgspec.structs.replace(made, **others)


GRAMMAR = around(has_grammar=True)
HELD_UP = {
    "a slow grammar alone": Two(written(0.6), GRAMMAR, "sampling"),
    "slow draws on eight cores alone": Two(written(0.5), around(threads=8, cores=8), "sampling"),
    "slow draws whose other threads never rest": Two(written(0.5, decode_cpu_s=40.0), CPU, "sampling"),
    "much drawing, and a little of others": Two(written(0.5, 0.6), CPU, "sampling"),
    "some drawing, and much of others": Two(written(0.3, 0.3), GRAMMAR, "busy"),
    "the window alone, on the cores of the engine": Two(
        written(decode_cpu_s=12.0), around(threads=2, cores=2, window_busy_s=8.0), "window"
    ),
    "the window, and less of others": Two(written(got=0.65), around(window_busy_s=9.0), "window"),
    "the window, and more of others": Two(written(got=0.3), around(window_busy_s=6.0), "busy"),
    "a window that took nothing from the engine": Two(written(got=1.0), around(window_busy_s=6.0), "bandwidth"),
    "the window, and more of drawing": Two(written(0.7, 0.9), around(window_busy_s=5.0), "sampling"),
    "the window, and less of drawing": Two(written(0.3, 0.7), around(window_busy_s=8.0), "window"),
    "the disk, for which the threads wait": Two(
        written(got=0.3, page_ins=PageIns(0, 4000, 0, 900_000_000)), CPU, "page_in"
    ),
    "a little from the disk, and much drawing": Two(
        written(0.6, page_ins=PageIns(0, 900, 0, 420_000_000)), GRAMMAR, "sampling"
    ),
    "others, and more threads than cores": Two(written(got=0.2), around(threads=5), "busy"),
    "more threads than cores alone": Two(written(got=1.0), around(threads=8), "threads"),
    "more threads than cores, and much drawing": Two(written(0.6), around(threads=5), "sampling"),
}
MISPLACED = {
    "half of the layers, and much drawing": Two(written(0.6), SPLIT, "sampling"),
    "half of the layers, and some drawing": Two(written(0.3), SPLIT, "gpu_layers"),
    "nearly all layers, and some drawing": Two(written(0.3), around(GPU, gpu_layers=30), "sampling"),
    "an idle GPU, and others": Two(written(got=0.5), IDLE, "gpu_layers"),
    "half of the layers and hardly a spill": Two(
        written(), around(SPLIT, gpu_used_bytes=1000, gpu_buffer_bytes=1030), "gpu_layers"
    ),
    "a GPU at its limit, and some drawing": Two(
        written(0.3), around(GPU, gpu_limits=frozenset({"power"})), "gpu_limit"
    ),
    "a GPU at its limit, and much drawing": Two(
        written(0.5), around(GPU, gpu_limits=frozenset({"power"})), "sampling"
    ),
    "a long chat, and some drawing": Two(
        written(0.3, kv=KVUse(3000, 4096, 2 * WEIGHTS)), around(kv_is_f16=True), "kv_cache"
    ),
    "a long chat, and much drawing": Two(written(0.6, kv=KVUse(3000, 4096, 2 * WEIGHTS)), CPU, "sampling"),
    "others that came later": Two(written(got=0.4, drift=ItlDrift(40.0, 60.0)), CPU, "busy"),
}


@pytest.mark.parametrize("two", [*HELD_UP.values(), *MISPLACED.values()], ids=[*HELD_UP, *MISPLACED])
def test_of_two_causes_the_one_is_told_that_costs_more(two: Two) -> None:
    assert diagnose(two.metrics, two.circumstances).cause == two.cause


@pytest.mark.parametrize(
    ("drawing", "got", "threads"), list(product((0.0, 0.1, 0.3, 0.5, 0.7, 0.9), (0.3, 0.5, 0.75, 1.0), (1, 2, 4, 16)))
)
def test_others_are_blamed_for_no_draw_whatever_it_takes(drawing: float, got: float, threads: int) -> None:
    around_it = around(threads=threads, cores=threads, has_grammar=True)
    metrics = written(drawing, got, threads)
    told, others = diagnose(metrics, around_it), (1 - got) * (1 - drawing)
    is_busy = got < 0.7 and others > (drawing if drawing >= 0.25 else 0.0)
    expected = "busy" if is_busy else "sampling" if drawing >= 0.25 else "bandwidth"
    assert told.cause == expected
    shown = [row.figure.english() for row in told.evidence if "Processor time" in row.what.english()]
    assert shown in ([], [f"{100 * got:.0f} % of what it could use"])


def test_a_decode_says_little_of_the_machine_where_something_else_took_its_time() -> None:
    def disturbed(metrics: Metrics, circumstances: Circumstances = CPU) -> bool:
        return is_disturbed(metrics, times_of(metrics), circumstances)

    assert not disturbed(written())
    assert not disturbed(written(0.1))
    assert not disturbed(written(0.2, threads=16), around(threads=16, cores=16, has_grammar=True))
    assert not disturbed(written(0.6), GRAMMAR)
    assert draws_much(written(0.6), times_of(written(0.6))) and not draws_much(written(0.2), times_of(written(0.2)))
    assert disturbed(written(got=0.5))
    assert disturbed(written(got=0.6), around(window_busy_s=9.0))
    assert disturbed(written(page_ins=PageIns(0, 4000, 0, 900_000_000)))
    assert disturbed(written(), around(GPU, gpu_limits=frozenset({"heat"})))


def test_cores_that_nobody_knows_blame_nobody() -> None:
    assert diagnose(written(got=0.3), around(cores=None)).cause == "bandwidth"


@pytest.mark.parametrize(
    ("tokens", "rate", "parts"), [(52, 10.2, 1), (2, 0.9, 1), (47, 59.7, 1), (90, 7.0, 2), (17, 11.0, 3)]
)
def test_the_numbers_of_the_decode_agree_with_one_another(tokens: int, rate: float, parts: int) -> None:
    told = diagnose(figures(tokens, rate, parts=parts), CPU)
    words = next(row.figure.english() for row in told.evidence if row.what.english() == "Written (decode)")
    numbers = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", words)]
    written_tokens, seconds, said = numbers[0], numbers[-2], numbers[-1]
    assert said == pytest.approx(rate, abs=0.05)
    assert written_tokens == tokens - parts
    assert written_tokens / seconds == pytest.approx(rate, rel=0.006)


def test_gaps_that_took_no_time_have_not_grown() -> None:
    assert diagnose(figures(drift=ItlDrift(0.0, 0.0)), CPU).cause == "bandwidth"
