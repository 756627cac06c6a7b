"""What answers show of this machine: which of them count, what is kept, and what the next one is expected to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.core.circumstances import Circumstances
from app.core.events import Finished, Loaded, PromptReady, Tokens
from app.core.machine_speed import KeptAnswers
from app.core.metrics import KVUse, Metrics, PageIns, StopReason, TtftParts
from app.core.model import ModelInfo
from app.planner.answer_times import times_of
from app.planner.calibration import MOST_ALIKE
from app.services import planned_work
from app.services.calibrating import JOB, MOST_DEVICES, Calibrating
from app.services.planned_work import whole_work
from tests.desk import Desk
from tests.fake_engine import metrics, model_info
from tests.services.asking import ask


def written(rate: float = 50.0, context: int = 500, **changes: Any) -> Metrics:
    """Return figures of an answer of 100 tokens in the middle of which so many were in the cache."""
    known: dict[str, Any] = {
        "decode_tokens_per_s": rate,
        "kv": KVUse(context + 50, 4096, None),
        "ttft_parts_ms": TtftParts(0.0, 1.0, 1000.0, 10.0, 0.0),
    }
    return msgspec.structs.replace(metrics(100, 300, 100), **{**known, **changes})


def answers(desk: Desk, figures: Metrics, *, held_ns: int = 0, reason: StopReason = "end") -> None:
    """Have a question answered with these figures."""
    ask(desk)
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, bytes(1200), (), 100, 0))
    desk.engine.say(Tokens(request, 0, 1, bytes(4), "a", b"", 41, 1, 1, held_ns=held_ns))
    desk.engine.say(Finished(request, "a", bytes(4), reason, figures, 7, ()))
    desk.settle()


def kept(desk: Desk) -> dict[str, KeptAnswers]:
    return desk.program.settings.values.answers_here


def knows(desk: Desk, calibrating: Calibrating) -> None:
    """Wait until what is known was worked out."""
    desk.until(lambda: not calibrating._job.is_busy)


@pytest.fixture
def calibrating(desk: Desk, model: Path) -> Calibrating:
    """What a program has that has answered once since its model was loaded."""
    desk.load(model)
    made = desk.program.views.calibrating
    desk.until(lambda: made._work is not None)
    answers(desk, written(rate=1.0))  # the first after a load counts for nothing
    assert kept(desk) == {}
    return made


def test_an_answer_is_expected_to_be_as_fast_as_those_before_it(desk: Desk, calibrating: Calibrating) -> None:
    assert calibrating.expected(written()) is None
    for rate in (50.0, 49.0, 51.0):
        answers(desk, written(rate))
        knows(desk, calibrating)
    speed = calibrating.expected(written())
    assert speed is not None and speed.tokens_per_s == pytest.approx(50.0, rel=0.03)
    assert speed.low < speed.tokens_per_s < speed.high
    assert kept(desk)["CPU, 2"].decode_answers == 3


def test_what_was_expected_stands_beside_what_came(desk: Desk, calibrating: Calibrating) -> None:
    for _ in range(3):
        answers(desk, written())
        knows(desk, calibrating)
    answers(desk, written(rate=77.0))
    told = desk.program.live.figures.diagnosis
    assert told is not None
    rows = {row.what.english(): row.figure.english() for row in told.evidence}
    assert rows["Expected from earlier answers"].startswith("50 tok/s (")
    read = rows["Prompt (prefill) expected from earlier answers"]
    assert read.startswith("1 s (") and read.endswith("), it took 1 s")


def test_what_answers_showed_tells_how_fast_tokens_are_read(desk: Desk, calibrating: Calibrating) -> None:
    assert calibrating.reading_speed(200) is None
    for _ in range(3):
        answers(desk, written())
        knows(desk, calibrating)
    assert calibrating.reading_speed(200) == pytest.approx(200.0, rel=0.25), "behind 100 tokens it was 200"
    reading = desk.program.views.attention.reading
    assert (
        reading.expected(200) == calibrating.reading_speed(200) == desk.program.views.operations.reading.expected(200)
    )


def test_decode_and_prefill_are_kept_apart(desk: Desk, calibrating: Calibrating) -> None:
    answers(desk, written(decode_tokens_per_s=None, sampled_tokens=1))
    assert (kept(desk)["CPU, 2"].decode_answers, kept(desk)["CPU, 2"].prefill_answers) == (0, 1)
    answers(desk, written(prompt_tokens_from_cache=299))
    assert (kept(desk)["CPU, 2"].decode_answers, kept(desk)["CPU, 2"].prefill_answers) == (1, 1)
    tflops, tokens, *_ = kept(desk)["CPU, 2"].prefill[0]
    assert tokens == 200 and tflops > 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda desk: answers(desk, written(), held_ns=1),
        lambda desk: answers(desk, written(), reason="cancelled"),
        lambda desk: answers(desk, written(sampled_tokens=5, prompt_tokens=100)),
    ],
    ids=["held", "stopped", "too short"],
)
def test_an_answer_that_says_nothing_of_the_machine_is_not_kept(
    desk: Desk, calibrating: Calibrating, spoil: Callable[[Desk], None]
) -> None:
    spoil(desk)
    assert kept(desk) == {}


def test_answers_beside_busy_programs_are_kept_until_one_comes_that_nothing_slowed_down(
    desk: Desk, calibrating: Calibrating
) -> None:
    for _ in range(3):
        answers(desk, written(rate=20.0, decode_cpu_s=0.5))
        knows(desk, calibrating)
    weak = kept(desk)["CPU, 2"]
    assert (weak.decode_answers, weak.prefill_answers) == (0, 0) and (
        len(weak.weak_decode),
        len(weak.weak_prefill),
    ) == (3, 3)
    assert calibrating.expected(written()) is None, "how fast the next one should be they do not tell"
    assert calibrating.reading_speed(200) is not None
    answers(desk, written(rate=50.0))
    knows(desk, calibrating)
    sure = kept(desk)["CPU, 2"]
    assert (sure.decode_answers, sure.weak_decode, sure.weak_prefill) == (1, (), ())
    speed = calibrating.expected(written())
    assert speed is not None and speed.tokens_per_s == pytest.approx(50.0, rel=0.03)


def test_a_prompt_is_read_undisturbed_before_a_window_that_took_the_decode(
    desk: Desk, calibrating: Calibrating
) -> None:
    metrics, around = written(), Circumstances(threads=2, cores=2, window_busy_s=times_of(written()).decode)
    calibrating.note(Finished(1, "a", b"", "end", metrics, 7, ()), around, held=False)
    told = kept(desk)["CPU, 2"]
    assert (told.decode_answers, len(told.weak_decode), told.prefill_answers) == (0, 1, 1)
    paged = msgspec.structs.replace(metrics, page_ins=PageIns(5000, 0))
    desk.program.settings.change(answers_here={})
    calibrating.note(Finished(1, "a", b"", "end", paged, 7, ()), Circumstances(threads=2, cores=2), held=False)
    told = kept(desk)["CPU, 2"]
    assert (told.decode_answers, told.prefill_answers, len(told.weak_prefill)) == (1, 0, 1)


def test_a_slow_grammar_says_nothing_of_the_decode_and_takes_nothing_from_the_prefill(
    desk: Desk, calibrating: Calibrating
) -> None:
    took = times_of(written()).decode
    answers(desk, written(sampling_ms=600 * took, decode_cpu_s=took * (0.4 * 2 + 0.6)))
    assert (kept(desk)["CPU, 2"].decode_answers, kept(desk)["CPU, 2"].prefill_answers) == (0, 1)
    answers(desk, written(sampling_ms=100 * took, decode_cpu_s=took * (0.9 * 2 + 0.1)))
    assert (kept(desk)["CPU, 2"].decode_answers, kept(desk)["CPU, 2"].prefill_answers) == (1, 2)


def test_what_is_kept_is_read_again_and_bounded(desk: Desk, calibrating: Calibrating) -> None:
    for _ in range(MOST_ALIKE + 3):
        answers(desk, written())
    assert len(kept(desk)["CPU, 2"].decode) == MOST_ALIKE and kept(desk)["CPU, 2"].decode_answers == MOST_ALIKE + 3
    many = {str(device): KeptAnswers(decode_answers=1) for device in range(MOST_DEVICES)}
    desk.program.settings.change(answers_here=many)
    answers(desk, written())
    assert len(kept(desk)) == MOST_DEVICES and list(kept(desk))[-1] == "CPU, 2" and "0" not in kept(desk)
    raw = msgspec.json.encode(kept(desk))
    assert msgspec.json.decode(raw, type=dict[str, KeptAnswers]) == kept(desk)


def test_figures_in_the_file_that_are_no_speed_are_left_out(desk: Desk, calibrating: Calibrating) -> None:
    broken = KeptAnswers(((30, 1e8, 1e6, 0.0), (0, 1e8, 1e6, 0.02), (30, 1e8, -1.0, 0.02)), ((-1.0, 5),), -3, -3)
    desk.program.settings.change(answers_here={"CPU, 2": broken})
    answers(desk, written())
    knows(desk, calibrating)
    assert len(kept(desk)["CPU, 2"].decode) == 1 and kept(desk)["CPU, 2"].decode_answers == 1
    assert calibrating.expected(written()) is not None


def test_a_model_on_two_devices_tells_nothing_of_either(model: Path) -> None:
    info = model_info(str(model))
    assert whole_work(msgspec.structs.replace(info, gpu_layers=12)) is None
    on_gpu: ModelInfo = msgspec.structs.replace(info, gpu_layers=31)
    assert whole_work(on_gpu) is not None
    moved = msgspec.structs.replace(on_gpu, options=msgspec.structs.replace(info.options, experts_on_cpu=True))
    assert whole_work(moved) is None


def test_a_file_that_is_gone_or_says_too_little_leaves_its_speed_unknown(tmp_path: Path, model: Path) -> None:
    assert whole_work(model_info(str(tmp_path / "gone.gguf"))) is None
    (tmp_path / "broken.gguf").write_bytes(b"no model")
    assert whole_work(model_info(str(tmp_path / "broken.gguf"))) is None
    assert planned_work.whole_work(model_info(str(model))) is not None


def test_another_model_is_not_expected_to_be_like_the_one_before_until_its_header_is_read(
    desk: Desk, calibrating: Calibrating, other_model: Path
) -> None:
    for _ in range(3):
        answers(desk, written())
        knows(desk, calibrating)
    desk.begin_load(other_model)
    desk.engine.say(Loaded(desk.engine.load.request, model_info(str(other_model))))
    desk.settle()
    knows(desk, calibrating)
    speed = calibrating.expected(written())
    assert speed is not None and calibrating._job._name == JOB
