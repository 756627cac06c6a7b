"""A load that cannot fit gives nothing up: the open model stays, and loading anyway is always possible."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.commands import Cancel, Load
from app.core.devices import Device
from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import FoundModel, LoadOptions, ModelInfo
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory, with_asked
from app.services.fit_verdict import fit_by
from app.services.load_check import Shortage, _no_room, doubtful, given_back, shortage
from app.services.wishes import Wish
from tests.desk import Desk
from tests.fake_dry_run import CPU
from tests.fake_engine import model_info
from tests.planner.planned_models import planned
from tests.services.asking import End, ask, phase

GIB = 1 << 30
HUGE = 1 << 26
"""A context that no machine of these tests has memory for."""
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
SHARED = Device("Vulkan0", "Radeon 780M", "integrated_gpu", "Vulkan", 16 * GIB, 8 * GIB)


def needs(gib: int, device: str = "CPU", weights: int = 1) -> DeviceMemory:
    return DeviceMemory(device, weights * GIB, gib * GIB - weights * GIB, None)


def wish_for_too_much(desk: Desk, model: Path, answer: DeviceMemory | None = None) -> None:
    """Wish for a context that needs a closer look, and let the dry run answer."""
    asked = len(desk.dry_run.asked)
    desk.program.session.use(Wish(model, {"context": HUGE}))
    desk.until(lambda: len(desk.dry_run.asked) > asked)
    if answer is not None:
        desk.dry_run.answer(answer)
        desk.settle()


def loaded_with(*memory: DeviceMemory, **options: object) -> ModelInfo:
    return msgspec.structs.replace(
        model_info("old.gguf"),
        memory=memory,
        options=LoadOptions(**options),  # type: ignore[arg-type]
    )


def measured(*memory: DeviceMemory, devices: tuple[Device, ...] = (CPU, GPU)) -> MemoryMeasured:
    return MemoryMeasured(1, "model.gguf", LoadOptions(gpu_layers=10), memory, 8192, 32, devices)


def test_a_load_that_cannot_fit_leaves_the_open_model_usable(
    desk: Desk, model: Path, other_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    request = ask(desk)
    desk.engine.write("The sky ")
    wish_for_too_much(desk, other_model, needs(23_000))
    assert "needs 23,001.0 GiB of memory" in desk.told and "GiB are free" in desk.told
    assert desk.notice.remedy == "load_options"
    assert desk.notice.of_load, "pages that need no model leave it to others"
    assert phase(desk) == "busy"
    desk.engine.write("is blue.")
    desk.engine.finish()
    desk.settle()
    assert ends == [End(request, "finished", "The sky is blue.")]
    assert desk.loaded_path == str(model)
    assert desk.program.session.name == "tiny"
    assert len(desk.engine.all(Load)) == 1 and not desk.engine.all(Cancel)


def test_a_model_that_is_refused_is_called_as_people_call_it(desk: Desk, model: Path) -> None:
    desk.load(model)
    assert desk.program.session.ref is not None
    desk.program.model_notes.call(desk.program.session.ref.identity, "Scribe")
    wish_for_too_much(desk, model, needs(23_000))
    assert desk.told.startswith("“Scribe” ")


def test_a_refused_model_can_be_loaded_anyway(desk: Desk, model: Path, other_model: Path) -> None:
    desk.load(model)
    wish_for_too_much(desk, other_model, needs(23_000))
    asked = len(desk.dry_run.asked)
    refused = desk.program.session.refused
    assert refused is not None
    desk.program.session.use(msgspec.structs.replace(refused, anyway=True))
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert len(desk.dry_run.asked) == asked
    assert desk.engine.load.path == str(other_model)
    assert desk.engine.load.options.context == HUGE


def test_a_wish_is_not_called_refused_once_another_one_is_fulfilled(
    desk: Desk, model: Path, other_model: Path
) -> None:
    desk.load(model)
    assert desk.program.session.refused is None
    wish_for_too_much(desk, other_model, needs(23_000))
    assert desk.program.session.refused is not None
    desk.load(model)
    assert desk.program.session.refused is None


def test_a_question_that_waits_for_a_refused_model_ends_with_the_same_sentence(
    desk: Desk, model: Path, ends: list[End]
) -> None:
    desk.program.session.use(Wish(model, {"context": HUGE}))
    request = ask(desk)
    desk.until(lambda: desk.dry_run.asked)
    desk.dry_run.answer(needs(23_000))
    desk.settle()
    assert [(end.request, end.kind) for end in ends] == [(request, "memory")]
    assert ends[0].text == desk.told
    assert phase(desk) == "no_model"


def test_a_load_that_fits_after_all_goes_on(desk: Desk, model: Path) -> None:
    wish_for_too_much(desk, model, DeviceMemory("CPU", 1000, 1000, 1000))
    assert desk.engine.load.options.context == HUGE
    assert phase(desk) == "loading"


def test_what_is_unknown_never_stands_in_the_way(desk: Desk, model: Path) -> None:
    wish_for_too_much(desk, model, DeviceMemory("CPU", None, None, None))
    assert len(desk.engine.all(Load)) == 1
    wish_for_too_much(desk, model)
    desk.dry_run.fail("engine")
    desk.settle()
    assert len(desk.engine.all(Load)) == 2


def test_a_file_that_breaks_llama_cpp_leaves_the_open_model_alone(desk: Desk, model: Path, other_model: Path) -> None:
    desk.load(model)
    wish_for_too_much(desk, other_model)
    desk.dry_run.fail("model", "llama.cpp broke down while it looked at it.")
    desk.settle()
    assert "broke down" in desk.told
    assert phase(desk) == "ready"
    assert desk.loaded_path == str(model)


def test_a_look_that_is_cancelled_loads_nothing(desk: Desk, model: Path, other_model: Path) -> None:
    desk.load(model)
    wish_for_too_much(desk, other_model)
    assert phase(desk) == "starting"
    desk.program.session.cancel_load()
    desk.dry_run.answer(DeviceMemory("CPU", 1000, 1000, 1000))
    desk.settle()
    assert phase(desk) == "ready"
    assert desk.loaded_path == str(model)


def test_an_ordinary_load_asks_for_no_closer_look(desk: Desk, model: Path) -> None:
    desk.begin_load(model)
    assert desk.dry_run.asked == []


def test_options_from_a_file_that_people_edited_are_put_right(desk: Desk, model: Path) -> None:
    wishes = {"context": -5, "gpu_layers": -7, "threads": -2, "micro_batch": 0, "batch": -1}
    desk.program.session.use(Wish(model, wishes))
    desk.until(lambda: desk.engine.all(Load))
    options = desk.engine.load.options
    assert (options.context, options.gpu_layers, options.batch, options.micro_batch) == (None, -1, 1, 1)


@pytest.mark.parametrize(
    ("file", "options", "available", "expected"),
    [
        (FoundModel("m", 4 * GIB, "m", cache_elements=65_536), LoadOptions(), 12 * GIB, False),
        (FoundModel("m", 4 * GIB, "m", cache_elements=65_536), LoadOptions(), 8 * GIB, True),
        (FoundModel("m", 4 * GIB, "m", cache_elements=65_536), LoadOptions(context=131_072), 24 * GIB, True),
        (
            FoundModel("m", 4 * GIB, "m", cache_elements=65_536),
            LoadOptions(context=65_536, kv_type_k="q4_0", kv_type_v="q4_0"),
            24 * GIB,
            False,
        ),
        (FoundModel("m", 1, "m", trained_context=512, cache_elements=GIB), LoadOptions(), 1100 * GIB * 2, False),
        (FoundModel("m", 40 * GIB, "m"), LoadOptions(), 64 * GIB, True),
        (FoundModel("m", 20 * GIB, "m"), LoadOptions(), 64 * GIB, False),
        (FoundModel("m", 20 * GIB, "m"), LoadOptions(context=8192), 64 * GIB, False),
        (FoundModel("m", 20 * GIB, "m"), LoadOptions(context=100_000), 64 * GIB, True),
    ],
)
def test_a_closer_look_is_taken_where_half_of_the_memory_may_go(
    file: FoundModel, options: LoadOptions, available: int, expected: bool
) -> None:
    assert doubtful(file, options, available, None) is expected


def test_layers_that_somebody_put_on_a_gpu_are_looked_at_beside_an_open_model() -> None:
    small = FoundModel("m", GIB, "m", cache_elements=1)
    on_gpu, on_cpu = loaded_with(needs(3, "CUDA0")), loaded_with(needs(3))
    assert doubtful(small, LoadOptions(gpu_layers=-1), 64 * GIB, on_gpu)
    assert not doubtful(small, LoadOptions(gpu_layers=0), 64 * GIB, on_gpu)
    assert not doubtful(small, LoadOptions(), 64 * GIB, on_gpu)
    assert doubtful(small, LoadOptions(gpu_layers=-1), 64 * GIB, on_cpu)
    assert not doubtful(small, LoadOptions(gpu_layers=-1), 64 * GIB, None)


def test_what_the_present_model_frees_counts() -> None:
    present = loaded_with(needs(6, weights=4), mmap=False)
    assert given_back(present) == {"CPU": 6 * GIB}
    assert shortage(measured(needs(10)), LoadOptions(), 5 * GIB, present) is None
    assert shortage(measured(needs(10)), LoadOptions(), 5 * GIB, None) == Shortage(
        "CPU", 10 * GIB, 5 * GIB, True, GIB
    )


def test_weights_of_a_mapped_file_count_as_free_already() -> None:
    present = loaded_with(needs(6, weights=4), needs(3, "CUDA0"))
    assert given_back(present) == {"CPU": 2 * GIB, "CUDA0": 3 * GIB}


def test_weights_that_were_locked_in_memory_are_freed_with_the_model() -> None:
    assert given_back(loaded_with(needs(6, weights=4), mlock=True)) == {"CPU": 6 * GIB}


def test_a_model_without_a_smaller_way_is_told_apart() -> None:
    lack = shortage(measured(needs(10, weights=9)), LoadOptions(), 8 * GIB, None)
    assert lack == Shortage("CPU", 10 * GIB, 8 * GIB, by_cache=False, kept=GIB)


def test_layers_that_somebody_chose_have_to_fit_their_gpu() -> None:
    needed = measured(needs(22, "CUDA0"), needs(1))
    chosen = LoadOptions(gpu_layers=-1)
    assert shortage(needed, chosen, 8 * GIB, None) == Shortage("NVIDIA L4", 22 * GIB, 20 * GIB, True, GIB)
    assert shortage(needed, chosen, 8 * GIB, loaded_with(needs(3, "CUDA0"))) is None


def test_layers_that_were_chosen_beside_the_present_model_are_judged_together() -> None:
    present = loaded_with(needs(18, "CUDA0"))
    assert shortage(measured(needs(2, "CUDA0"), needs(30)), LoadOptions(), 8 * GIB, present) is None
    lack = shortage(measured(needs(2, "CUDA0"), needs(60)), LoadOptions(), 8 * GIB, present)
    assert lack == Shortage("CPU", 62 * GIB, (8 + 20 + 18) * GIB, True, 2 * GIB)
    untold = msgspec.structs.replace(GPU, free=None)
    beside = measured(needs(2, "CUDA0"), needs(60), devices=(CPU, untold))
    assert shortage(beside, LoadOptions(), 8 * GIB, present) is None


@pytest.mark.parametrize("where", ["CPU", "CUDA0"])
def test_what_is_needed_is_told_as_the_card_of_the_model_tells_it(where: str) -> None:
    use, gpu = needs(30, where), where != "CPU"
    asked = measured(use) if gpu else measured(use, devices=(CPU,))
    lack = shortage(asked, LoadOptions(gpu_layers=-1), 20 * GIB, None)
    assert lack is not None
    told = _no_room("Model", 1, asked, lack).sentence.english()
    model = planned("llama-3.1-8b")
    devices = [PlannedDevice("CUDA0", True, 24 * GIB, 20 * GIB)] * gpu + [PlannedDevice("CPU", False, free=20 * GIB)]
    options = PlanOptions(context=512, gpu_layers=-1)
    plan = with_asked(plan_memory(model, options, devices), (use,), model, devices)
    card = fit_by(plan, 512).reason.english()
    assert "it needs 31.0 GiB, and 20.0 GiB are free" in card and " needs 31.0 GiB " in told, (card, told)


def test_a_gpu_that_shares_main_memory_counts_there() -> None:
    needed = measured(needs(6, "Vulkan0"), needs(4), devices=(CPU, SHARED))
    assert shortage(needed, LoadOptions(gpu_layers=-1), 12 * GIB, None) is None
    assert shortage(needed, LoadOptions(gpu_layers=-1), 9 * GIB, None) == Shortage(
        "CPU", 10 * GIB, 9 * GIB, True, GIB
    )
