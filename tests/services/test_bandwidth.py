"""The speed of memories: measured when somebody asks, kept in the settings, and beside an answer's traffic."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from app.core.bandwidth import MemorySpeed
from app.core.commands import MeasureBandwidth
from app.core.machine_speed import KnownMemory
from app.core.model import ModelInfo
from app.core.operations import BandwidthMeasured
from app.core.words import translate
from app.services.bandwidth import Bandwidth
from app.system.settings_file import SettingsFile
from tests.desk import Desk
from tests.fake_engine import metrics, model_info
from tests.planner.made_answers import figures
from tests.services.asking import ask
from tests.services.test_live import say_finished

MAIN = MemorySpeed("CPU", "A processor", "read", 20.123, 2)
GPU = MemorySpeed("CUDA0", "A GPU", "copy", 900.0)
WHY = translate("Test", "It is too full.")


@pytest.fixture
def bandwidth(desk: Desk, model: Path) -> Bandwidth:
    desk.load(model)
    return desk.program.views.bandwidth


def measures(desk: Desk, *speeds: MemorySpeed) -> None:
    """Have the engine measure."""
    assert desk.program.views.bandwidth.begin()
    desk.engine.say(BandwidthMeasured(desk.engine.all(MeasureBandwidth)[-1].request, speeds))
    desk.settle()


def on_gpu(layers: int) -> ModelInfo:
    return msgspec.structs.replace(model_info("model"), gpu_layers=layers, devices=("CUDA0", "CPU"))


def test_it_is_measured_with_the_threads_of_the_decode_and_kept(desk: Desk, bandwidth: Bandwidth) -> None:
    changes: list[bool] = []
    bandwidth.changed.connect(lambda: changes.append(bandwidth.is_measuring))
    measures(desk, MAIN, GPU)
    command = desk.engine.all(MeasureBandwidth)[-1]
    assert command.threads == 2 and command.main_memory is not None
    assert [state for state, _ in groupby(changes)] == [True, False], "it begins, and ends once it is measured"
    assert bandwidth.known == {"CPU": KnownMemory(20.12, 2, "A processor"), "CUDA0": KnownMemory(900.0, 0, "A GPU")}
    desk.program.settings.write()
    again = SettingsFile(desk.program.paths.settings_file, lambda _name, _work: None)
    assert again.values.memory_speeds == bandwidth.known


def test_it_takes_its_turn_and_waits_for_nobody_elses(desk: Desk, bandwidth: Bandwidth) -> None:
    ask(desk)
    assert bandwidth.hindrance is not None and "answer is being written" in bandwidth.hindrance.english()
    assert not bandwidth.begin() and not desk.engine.all(MeasureBandwidth)
    desk.answer("a", "b")
    assert bandwidth.hindrance is None and bandwidth.begin()
    assert bandwidth.hindrance is not None and "being measured" in bandwidth.hindrance.english()
    assert not bandwidth.begin() and len(desk.engine.all(MeasureBandwidth)) == 1
    bandwidth.cancel()
    assert desk.engine.cancelled == [desk.engine.all(MeasureBandwidth)[-1].request]


def test_without_a_model_nothing_can_be_measured(desk: Desk) -> None:
    bandwidth = desk.program.views.bandwidth
    assert bandwidth.hindrance is not None and "Load a model first" in bandwidth.hindrance.english()
    assert not bandwidth.begin()


def test_what_could_not_be_measured_says_why_and_leaves_what_was_known(desk: Desk, bandwidth: Bandwidth) -> None:
    measures(desk, MAIN, GPU)
    measures(desk, MAIN, msgspec.structs.replace(GPU, gb_per_s=None, reason=WHY))
    assert bandwidth.problem == WHY and bandwidth.known["CUDA0"].gb_per_s == 900.0
    assert bandwidth.begin()
    assert bandwidth.problem is None
    desk.engine.die(desk.engine.all(MeasureBandwidth)[-1].request)
    desk.settle()
    assert bandwidth.problem is not None and not bandwidth.is_measuring


def test_the_ceiling_is_that_of_the_memory_with_the_weights(desk: Desk, bandwidth: Bandwidth) -> None:
    whole = on_gpu(31)
    assert bandwidth.ceiling(model_info("model")) is None
    measures(desk, MAIN)
    assert (bandwidth.ceiling(model_info("model")), bandwidth.ceiling(whole)) == (20.12, None)
    measures(desk, GPU)
    assert bandwidth.ceiling(whole) == 900.0
    assert bandwidth.ceiling(on_gpu(12)) is None
    two = msgspec.structs.replace(whole, devices=("CUDA0", "CUDA1", "CPU"))
    assert bandwidth.ceiling(two) is None


def test_the_answer_that_is_shown_is_seen_beside_it_at_once(desk: Desk, bandwidth: Bandwidth) -> None:
    live = desk.program.live
    ask(desk)
    say_finished(desk, figures(traffic_gb_per_s=15.0))
    told = live.figures.diagnosis
    assert (
        live.figures.traffic_ceiling is None and told is not None and "smaller model file" in told.sentence.english()
    )
    measures(desk, MAIN)
    told = live.figures.diagnosis
    assert live.figures.traffic_ceiling == 20.12
    assert told is not None and "memory limits it" in told.sentence.english()


def test_an_answer_that_is_written_knows_it_from_the_beginning(desk: Desk, bandwidth: Bandwidth) -> None:
    measures(desk, MAIN)
    ask(desk)
    assert desk.program.live.figures.traffic_ceiling == 20.12
    say_finished(desk, metrics(201))
    assert desk.program.live.figures.traffic_ceiling == 20.12


def test_a_figure_that_others_held_down_is_marked_and_takes_no_better_one_away(
    desk: Desk, bandwidth: Bandwidth
) -> None:
    held = msgspec.structs.replace(MAIN, gb_per_s=12.0, is_disturbed=True)
    measures(desk, held)
    assert bandwidth.known["CPU"] == KnownMemory(12.0, 2, "A processor", is_disturbed=True)
    measures(desk, MAIN)
    assert bandwidth.known["CPU"] == KnownMemory(20.12, 2, "A processor") and bandwidth.problem is None
    measures(desk, held)
    assert bandwidth.known["CPU"].gb_per_s == 20.12
    assert bandwidth.problem is not None and "the better figure of before is kept" in bandwidth.problem.english()
    measures(desk, msgspec.structs.replace(held, is_disturbed=False))
    assert bandwidth.known["CPU"] == KnownMemory(12.0, 2, "A processor"), "other memory, which nobody disturbed"
