"""What was around an answer while it was written, as it comes to the diagnosis at its end."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.circumstances import Circumstances
from app.core.commands import SettingsChange
from app.core.devices import Gpu, GpuLimit
from app.core.events import Finished, PromptReady, Tokens
from app.core.metrics import CacheReuse, DeviceMemory, Metrics
from app.core.sampling import SamplingSettings
from app.services.live import Live
from app.services.witness import MOST_KEPT, Witness
from tests.desk import Desk
from tests.fake_engine import metrics
from tests.services.asking import ask

S = 1_000_000_000
GIB = 1 << 30


class Clocks:
    """The two clocks of a witness, which the test moves."""

    def __init__(self) -> None:
        self.busy = self.now = 0


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def witness(desk: Desk, model: Path, clocks: Clocks) -> Witness:
    made = Witness(
        desk.program.session,
        answers=desk.program.answers,
        busy_ns=lambda: clocks.busy,
        now_ns=lambda: clocks.now,
    )
    desk.load(model)
    return made


def gpu(*limits: GpuLimit, used: int | None = 20 * GIB) -> Gpu:
    return Gpu("A GPU", "", "", 24 * GIB, used, None, limits=limits)


def begin(desk: Desk) -> int:
    """Ask, and let the first token come."""
    ask(desk)
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, array("i", range(40)).tobytes(), (PromptSpan(0, 40, "prompt", 0),), 0, 0))
    desk.engine.say(Tokens(request, 0, 1, bytes(4), "a", b"", 41, 1, 1))
    desk.settle()
    return request


def end(desk: Desk, witness: Witness, request: int, figures: Metrics | None = None) -> Circumstances:
    settings = (SettingsChange(0, SamplingSettings(top_k=0)),)
    desk.engine.say(Finished(request, "a", bytes(4), "end", figures or metrics(2), 7, settings))
    desk.settle()
    return witness.circumstances_of(request)


def test_a_load_and_the_settings_are_told(desk: Desk, witness: Witness) -> None:
    witness.ceiling = lambda model: 20.1 if model.threads == 2 else None
    found = end(desk, witness, begin(desk))
    assert (found.gpu_layers, found.all_layers, found.threads, found.kv_is_f16) == (0, 31, 2, True)
    assert (found.micro_batch, found.checkpoints, found.locks_memory) == (512, None, False)
    assert (found.top_k_is_off, found.has_grammar) == (True, False)
    assert found.memory_gb_per_s == 20.1
    assert found.cores is not None and found.cores >= 1
    assert found.first_after_load
    assert not end(desk, witness, begin(desk)).first_after_load


def test_the_time_of_the_window_counts_from_the_first_token(desk: Desk, witness: Witness, clocks: Clocks) -> None:
    clocks.busy = 5 * S
    request = begin(desk)
    clocks.busy = 8 * S
    assert end(desk, witness, request).window_busy_s == pytest.approx(3.0)


def test_a_limit_that_held_most_of_the_time_is_told(desk: Desk, witness: Witness, clocks: Clocks) -> None:
    witness.gpus = lambda: (gpu("power"),)
    request = begin(desk)
    clocks.now = 6 * S
    witness.gpus = lambda: (gpu("heat"),)
    witness.look_at_machine()
    clocks.now = 10 * S
    assert end(desk, witness, request).gpu_limits == {"power"}
    request = begin(desk)
    clocks.now = 20 * S
    assert end(desk, witness, request).gpu_limits == {"heat"}


def test_memory_of_the_gpus_is_told_where_all_of_it_is_known(desk: Desk, witness: Witness) -> None:
    figures = msgspec.structs.replace(
        metrics(2), memory=(DeviceMemory("CUDA0", 20 * GIB, 3 * GIB, GIB), DeviceMemory("CPU", GIB, None, None))
    )
    witness.gpus = lambda: (gpu(),)
    found = end(desk, witness, begin(desk), figures)
    assert (found.gpu_used_bytes, found.gpu_buffer_bytes) == (20 * GIB, 24 * GIB)
    for seen in ((), (gpu(used=None),), (gpu(), gpu())):
        witness.gpus = lambda seen=seen: seen  # type: ignore[misc]
        found = end(desk, witness, begin(desk), figures)
        assert (found.gpu_used_bytes, found.gpu_buffer_bytes) == (None, None)


def test_what_the_engine_found_in_its_cells_is_surer_than_what_was_told(desk: Desk, witness: Witness) -> None:
    lost = msgspec.structs.replace(metrics(2), reuse=CacheReuse(2000, 1500))
    found = end(desk, witness, begin(desk), lost)
    assert (found.unused_cache, found.read_again) == ("cannot_rewind", 1500 - lost.prompt_tokens_from_cache)
    kept = msgspec.structs.replace(metrics(2), reuse=CacheReuse(2000, metrics(2).prompt_tokens_from_cache + 1))
    assert end(desk, witness, begin(desk), kept).unused_cache is None


def test_an_earlier_message_that_was_changed_comes_to_the_sentence(desk: Desk, model: Path) -> None:
    desk.load(model)
    live = Live(desk.program.session)

    def say(tokens: list[int], spans: tuple[PromptSpan, ...], cached: int) -> None:
        ask(desk)
        request = desk.engine.question.request
        desk.engine.say(PromptReady(request, array("i", tokens).tobytes(), spans, cached, 0))
        slow = metrics(21, len(tokens), cached)
        slow = msgspec.structs.replace(slow, ttft_parts_ms=msgspec.structs.replace(slow.ttft_parts_ms, prefill=9e3))
        desk.engine.say(Finished(request, "a", b"", "end", slow, 7, ()))
        desk.settle()

    spans = (PromptSpan(0, 900, "history", 0), PromptSpan(900, 1000, "prompt", 1))
    say(list(range(1000)), spans, 0)
    say([*range(100), *range(5000, 5900)], spans, 100)
    told = live.figures.diagnosis
    assert told is not None and told.cause == "unused_cache"
    assert told.sentence.english().endswith("an earlier message was changed.")


def test_circumstances_are_kept_of_the_last_answers_alone(desk: Desk, witness: Witness) -> None:
    first = begin(desk)
    end(desk, witness, first)
    for _ in range(MOST_KEPT):
        last = begin(desk)
        end(desk, witness, last)
    assert witness.circumstances_of(first) == Circumstances()
    assert witness.circumstances_of(last) != Circumstances()
