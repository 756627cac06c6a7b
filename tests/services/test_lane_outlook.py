"""What is known of a comparison before it begins: whose prompt is counted, and the plan that follows from it."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import psutil
import pytest

from app.core.commands import Render
from app.core.devices import MAIN_MEMORY, GpuReport, MainMemory
from app.core.events import Loaded, Rendered
from app.core.job_events import HardwareSampled
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, MemoryKind
from app.core.sampling import SamplingSettings
from app.services.lane_outlook import LaneOutlook, Outlook
from tests.desk import Desk
from tests.fake_engine import CONTEXT, model_info

LANES = tuple(SamplingSettings(temperature=each, max_tokens=100) for each in (0.0, 0.5, 1.0))


@pytest.fixture
def outlook(desk: Desk, model: Path) -> LaneOutlook:
    desk.load(model)
    return desk.program.lane_outlook


def told(desk: Desk, tokens: int) -> None:
    """Let the engine count the prompt that it was asked for last."""
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Rendered(request, "", array("i", range(tokens)).tobytes(), ()))
    desk.settle()


def asked(desk: Desk) -> list[str]:
    return [message.text for message in desk.engine.all(Render)[-1].prompt.messages]


def test_a_question_of_the_chat_is_counted_with_what_leads_to_it_and_a_new_one_behind_all(
    desk: Desk, outlook: LaneOutlook
) -> None:
    desk.program.chat.send("First?")
    desk.answer("One.")
    desk.program.chat.send("Second?")
    desk.answer("Two.")
    outlook.watch(desk.program.chat.turns[2], "", LANES)
    assert asked(desk) == ["First?", "One.", "Second?"]
    told(desk, 40)
    outlook.watch(None, "Third?", LANES)
    assert asked(desk)[-3:] == ["Second?", "Two.", "Third?"]
    assert outlook.of(LANES).prompt is None, "what was counted was another prompt"


def test_the_plan_follows_from_the_prompt_and_the_lanes(desk: Desk, outlook: LaneOutlook) -> None:
    outlook.watch(None, "Why?", LANES)
    assert outlook.of(LANES) == Outlook(cells=CONTEXT)
    told(desk, 40)
    known = outlook.of(LANES)
    assert known.prompt == 40 and known.plan is not None and known.plan.waves == ((0, 1, 2),)
    long = [msgspec.structs.replace(each, max_tokens=CONTEXT // 2) for each in LANES]
    assert (plan := outlook.of(long).plan) is not None and plan.waves == ((0,), (1,), (2,))


def test_the_newest_prompt_comes_after_the_one_that_is_open(desk: Desk, outlook: LaneOutlook) -> None:
    before = len(desk.engine.all(Render))
    for text in ("W", "Wh", "Why?"):
        outlook.watch(None, text, LANES)
    assert len(desk.engine.all(Render)) == before + 1
    told(desk, 10)
    assert asked(desk) == ["Why?"] and len(desk.engine.all(Render)) == before + 2


def test_a_prompt_that_the_engine_refuses_is_told_with_its_reason(desk: Desk, outlook: LaneOutlook) -> None:
    outlook.watch(None, "Why?", LANES)
    desk.engine.fail("prompt_too_long", desk.engine.all(Render)[-1].request, "Too long.")
    desk.settle()
    known = outlook.of(LANES)
    assert known.refusal is not None and known.refusal.english() == "Too long." and known.plan is None


GIB = 1 << 30
STATE = DeviceMemory(MAIN_MEMORY, GIB, None, 7, state=GIB)
ON_GPU = DeviceMemory("CUDA0", GIB, None, 7, state=GIB)


def sampled(desk: Desk, available: int) -> None:
    """Let the machine say how much of its memory is available."""
    desk.program.machine.take(HardwareSampled(MainMemory(64 * GIB, available, 64 * GIB), GpuReport()))


def of_kind(desk: Desk, model: Path, kind: MemoryKind, *memory: DeviceMemory) -> LaneOutlook:
    """Load a model whose state takes a gigabyte for each lane, and watch a prompt of 40 tokens."""
    desk.begin_load(model)
    state = CacheSizes(full=CONTEXT * 1024, state=GIB)
    info = msgspec.structs.replace(model_info(str(model)), memory_kind=kind, cache=state, memory=memory)
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    outlook = desk.program.lane_outlook
    outlook.watch(None, "Why?", LANES)
    told(desk, 40)
    return outlook


@pytest.mark.parametrize(
    ("available", "waves", "how"),
    [
        (12 * GIB, ((0, 1, 2),), "together"),
        (5 * GIB, ((0, 1), (2,)), "together"),
        (4 * GIB - 1, ((0,), (1,), (2,)), "one_by_one"),
        (GIB, ((0,), (1,), (2,)), "one_by_one"),
    ],
)
def test_lanes_whose_states_do_not_fit_into_memory_are_told_to_run_one_after_another(
    desk: Desk, model: Path, available: int, waves: tuple[tuple[int, ...], ...], how: str
) -> None:
    outlook = of_kind(desk, model, "recurrent", STATE)
    sampled(desk, available)
    known = outlook.of(LANES)
    assert known.plan is not None and (known.plan.waves, known.plan.how) == (waves, how)
    assert known.is_short == (len(waves) > 1)
    single = outlook.of(LANES[:1])
    assert single.plan is not None and single.plan.how == "together" and not single.is_short


def test_a_gpu_that_cannot_hold_the_states_is_told_before_too(desk: Desk, model: Path) -> None:
    outlook = of_kind(desk, model, "hybrid", ON_GPU)
    sampled(desk, 32 * GIB)
    assert not outlook.of(LANES).is_short, "what is free there is not known"
    outlook.free_on_gpus = lambda: {"CUDA0": GIB}
    known = outlook.of(LANES)
    assert known.is_short and known.plan is not None and known.plan.how == "one_by_one"


def test_lanes_of_a_plain_cache_need_no_more_memory(desk: Desk, model: Path) -> None:
    outlook = of_kind(desk, model, "plain", STATE)
    sampled(desk, 0)
    known = outlook.of(LANES)
    assert known.plan is not None and known.plan.waves == ((0, 1, 2),) and not known.is_short


def test_memory_is_what_the_machine_said_last_and_nothing_asks_the_system_meanwhile(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> None:
        raise AssertionError("the window's thread asked the system")

    outlook = of_kind(desk, model, "recurrent", STATE)
    changes: list[bool] = []
    outlook.changed.connect(lambda: changes.append(outlook.of(LANES).is_short))
    monkeypatch.setattr(psutil, "virtual_memory", ask)
    assert not outlook.of(LANES).is_short, "nothing is known of memory yet, so nothing stands in the way"
    sampled(desk, 4 * GIB)
    sampled(desk, 12 * GIB)
    assert changes == [True, False]
