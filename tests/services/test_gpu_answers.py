"""Answers on a made-up GPU, from the figures of each to what the planner says of this machine, wherever it says it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.commands import ListDevices
from app.core.devices import Device, LibraryFacts
from app.core.events import DevicesListed, Finished, Loaded, MemoryMeasured
from app.core.metrics import TtftParts
from app.services import planning_devices
from app.services.plan_answer import PlanAsked
from app.services.plan_comparison import HERE
from app.services.plan_values import Chosen, ModelChoice
from tests.bench import predicting
from tests.bench.arithmetic import BenchError
from tests.desk import Desk
from tests.fake_engine import model_info
from tests.services.test_calibrating import answers, kept, knows, written

GIB = 1 << 30
CUDA = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 22 * GIB)
PROCESSOR = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, 8 * GIB)
RATE = 70.0


def list_devices(desk: Desk) -> None:
    """Let the engine say what it was asked last."""
    asked = next(each for each in reversed(desk.engine.sent) if isinstance(each, ListDevices))
    library = LibraryFacts("0", "", True, ("CUDA",), ())
    desk.engine.say(DevicesListed(asked.request, library, (CUDA, PROCESSOR)))
    desk.settle()


@pytest.fixture
def answered(desk: Desk, model: Path) -> Desk:
    """A program whose GPU has answered five times since the load, slower than the table says."""
    desk.begin_load(model)
    info = msgspec.structs.replace(model_info(str(model)), gpu_layers=31, devices=("CUDA0",))
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    list_devices(desk)
    calibrating = desk.program.views.calibrating
    desk.until(lambda: calibrating._work is not None and not calibrating._job.is_busy)
    for _ in range(6):
        answers(desk, written(RATE))
        knows(desk, calibrating)
    return desk


def test_they_are_shown_on_the_page_beside_what_is_expected(answered: Desk, model: Path) -> None:
    assert kept(answered)["NVIDIA L4"].decode_answers == 5
    planning = answered.program.planner.planning
    planning.watch(True)
    answered.until(lambda: planning.view and planning.view.speed.measured and not planning.devices._job.is_busy)
    assert planning.view is not None
    speed = planning.view.speed
    assert speed.measured == pytest.approx(RATE) and speed.measured_at == 500
    assert speed.rests_on is not None and speed.rests_on.english() == "Judged by answers on this machine."
    assert speed.expected_there is not None and speed.expected_there.value == pytest.approx(RATE, rel=0.1)
    assert speed.read == pytest.approx(200.0) and speed.expected_read is not None
    assert speed.expected_read.value == pytest.approx(200.0, rel=0.1)
    assert speed.first_beside == pytest.approx(0.011) and speed.first_token is not None
    assert speed.first_token.high > speed.first_token.value > speed.first_token.low > 0.011


def test_an_open_page_follows_the_next_answers(answered: Desk) -> None:
    planning = answered.program.planner.planning
    planning.watch(True)
    answered.until(lambda: planning.view and planning.view.speed.measured)
    for _ in range(6):
        answers(answered, written(RATE / 2))
    answered.until(lambda: planning.view and planning.view.speed.measured == pytest.approx(RATE / 2))


def test_nothing_is_shown_of_a_gpu_where_the_processor_computes(answered: Desk) -> None:
    planning = answered.program.planner.planning
    planning.watch(True)
    answered.until(lambda: planning.view and planning.view.speed.measured and not planning.devices._job.is_busy)
    planning.change(gpu_layers=0)
    assert planning.view is not None
    assert planning.view.speed.measured is None  # the processor has not answered


def test_they_are_what_a_comparison_rests_on(answered: Desk, model: Path) -> None:
    comparison = answered.program.planner.comparison
    comparison.watch(True)
    chosen = Chosen((ModelChoice(str(model)),), (HERE + "CUDA0",), context=500, prompt=200)
    answered.until(lambda: HERE + "CUDA0" in comparison._gpus())
    comparison.choose(chosen)
    answered.until(lambda: comparison.worked and comparison.worked.chosen == chosen and comparison.worked.rows)
    assert comparison.worked is not None and comparison.worked.rows[0].each is not None
    assert comparison.worked.rows[0].each.value == pytest.approx(RATE, rel=0.1)


def test_the_command_plan_says_that_they_were_measured(answered: Desk, model: Path) -> None:
    command = answered.program.planner.command
    command.find(PlanAsked(str(model), context=500, sequences=2), lambda *_: None)
    command.ask()
    asked = answered.dry_run.asked[-1]
    command.take(MemoryMeasured(asked.request, asked.path, asked.options, (), 1000, 2, (CUDA, PROCESSOR)))
    (plan,) = command.report().models[0].plans
    assert plan.decode is not None and plan.decode.source == "measured"


def test_what_is_kept_lets_one_expect_the_first_answer_after_a_start(answered: Desk, model: Path) -> None:
    info = msgspec.structs.replace(model_info(str(model)), gpu_layers=31, devices=("CUDA0",))
    answered.begin_load(model)
    answered.engine.say(Loaded(answered.engine.load.request, info))
    answered.settle()
    list_devices(answered)
    calibrating = answered.program.views.calibrating
    answered.until(lambda: not calibrating._job.is_busy)
    assert calibrating.expected(written()) is not None


def test_the_bench_learns_as_the_program_does(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taught = {number: Finished(1, "a", bytes(4), "end", written(50.0), 7, ()) for number in range(3)}
    assert predicting._predicted(model_info(str(model)), taught, 476) == pytest.approx(50.0, rel=0.05)
    monkeypatch.setattr(planning_devices, "answers_key", lambda *_: "another")
    with pytest.raises(BenchError, match="does not reach the planner"):
        predicting._predicted(model_info(str(model)), taught, 476)


def test_how_long_a_prompt_takes_is_expected_though_nothing_tells_of_the_decode(desk: Desk, model: Path) -> None:
    desk.load(model)
    calibrating = desk.program.views.calibrating
    desk.until(lambda: calibrating._work is not None)
    only_read = written(decode_tokens_per_s=None, sampled_tokens=1, ttft_parts_ms=TtftParts(0, 1, 500, 1, 0))
    for _ in range(4):
        answers(desk, only_read)
        knows(desk, calibrating)
    assert calibrating.expected(written()) is None
    time = calibrating.expected_reading(only_read)
    assert time is not None and time.seconds == pytest.approx(0.5, rel=0.05)
