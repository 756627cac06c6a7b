"""The timeline of real runs agrees with the engine's own figures to the microsecond."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from app.core.events import Event, Finished, PrefillProgress, PromptReady, Tokens
from app.core.metrics import Metrics
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.services.answer_times import AnswerTimes
from app.services.timeline_values import parts_at_end, parts_so_far
from tests.engine.harness import GREEDY, user
from tests.engine.test_loop import run, scripted

US = 1_000
MS = 1e6
LONG = user("Tell me of the sea. " * 45)


def sent(events: list[Event], metrics: Metrics) -> int:
    """Return when the question was sent: the events tell when its prompt was ready."""
    ready = next(event for event in events if isinstance(event, PromptReady))
    return ready.at_ns - round((metrics.ttft_parts_ms.queue + metrics.ttft_parts_ms.tokens) * MS)


def followed(events: list[Event]) -> tuple[AnswerTimes, Metrics]:
    end = events[-1]
    assert isinstance(end, Finished)
    times = AnswerTimes(sent(events, end.metrics))
    for event in events:
        if isinstance(event, (PromptReady, PrefillProgress, Tokens)):
            times.take(event)
    return times, end.metrics


def check(events: list[Event]) -> None:
    times, metrics = followed(events)
    parts, first_ns = parts_at_end(metrics, times, None)
    assert metrics.ttft_ms is not None and metrics.decode_tokens_per_s is not None
    assert sum(part.ns for part in parts) == pytest.approx(metrics.ttft_ms * MS, abs=US)
    assert parts[0].start_ns == 0 and all(one.end_ns == other.start_ns for one, other in pairwise(parts))
    assert len(times.drawn_ns) == metrics.sampled_tokens
    decode_ns = (metrics.sampled_tokens - 1) / metrics.decode_tokens_per_s * 1e9
    assert sum(after - before for before, after in pairwise(times.drawn_ns)) == pytest.approx(decode_ns, abs=US)
    assert times.drawn_ns[0] - times.sent_ns == pytest.approx(first_ns, abs=US)
    so_far = parts_so_far(times)
    assert so_far[-1].kind == "first_sample" and so_far[-1].end_ns == pytest.approx(first_ns, abs=US)
    kinds = [part.kind for part in parts]
    drawn = parts[kinds.index("first_sample")]
    assert so_far[-1].start_ns == pytest.approx(drawn.start_ns, abs=US), "no part is dealt anew at the end"
    assert kinds.index("template") < kinds.index("tokenise") < kinds.index("prefill") < kinds.index("first_sample")
    assert metrics.sampling_ms is not None and 0 < metrics.sampling_ms * MS < decode_ns + metrics.ttft_ms * MS


def test_a_scripted_run_agrees_with_its_figures() -> None:
    check(run(scripted()))


def test_a_run_of_a_real_model_agrees_with_its_figures(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    events = run(quick_backend, LONG, msgspec.structs.replace(GREEDY, max_tokens=24), cache=quick_cache)
    check(events)
    times, metrics = followed(events)
    assert len(times.chunks) > 1, "the prompt is longer than a batch"
    assert [chunk.end for chunk in times.chunks][-1] == metrics.prompt_tokens
    assert all(one.end == other.first for one, other in pairwise(times.chunks))
