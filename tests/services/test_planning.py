"""The plan of one model: worked out at once by formula, asked of llama.cpp when the choice rests, and what people do with it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.devices import Device
from app.core.events import Loaded
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.gui.planner.plan_words import room_words
from app.planner.memory_plan import PlannedDevice
from app.services.planning import Planning
from app.services.planning_devices import KnownGpus
from app.services.planning_values import PlanChoice, PlanView
from app.services.planning_view import place_of
from app.services.wishes import Wish
from tests.desk import Desk
from tests.fake_dry_run import CPU
from tests.fake_engine import model_info
from tests.ggufs import write_tiny_llama
from tests.planner.works import PROCESSOR, TABLE
from tests.services.planned_here import MAIN, ask, here, view

GIB, MIB = 1 << 30, 1 << 20
CUDA = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 22 * GIB)


def said(shown: PlanView) -> str:
    pace = shown.pace.english() if shown.pace is not None else ""
    return f"{shown.answer.english()}: {pace}"


def test_a_model_that_fits_says_so_with_speed_and_band() -> None:
    words = said(view("llama-3.1-8b", PlanChoice(), here()))
    assert words.startswith("Fits on your GPU with ") and " GiB to spare: about " in words
    assert "tok/s (" in words and "first token after " in words


def test_another_gpu_is_planned_as_if_it_were_empty_and_here() -> None:
    gpus = KnownGpus(table=tuple(TABLE.values()), here={"CPU": PROCESSOR})
    place = place_of("rtx-4090", (MAIN,), gpus)
    assert not place.is_here and place.devices[1].free == MAIN.total
    shown = view("llama-3.1-8b", PlanChoice(where="rtx-4090"), place)
    assert shown.answer.english().startswith(f"Fits on one {TABLE['rtx-4090'].name} with ")
    assert shown.devices[0].name == TABLE["rtx-4090"].name
    shared = place_of(next(gpu.id for gpu in TABLE.values() if gpu.shares_main_memory), (MAIN,), gpus)
    assert [device.is_gpu for device in shared.devices] == [True, False] and shared.host is None
    apple = next(gpu for gpu in TABLE.values() if gpu.id == shared.devices[0].name)
    assert shared.devices[1].total == apple.memory, "the memory of this machine is none of another one"
    assert place_of("gone", (MAIN,), gpus).is_here


@pytest.mark.parametrize(
    ("name", "choice", "free", "fit", "begins"),
    [
        (
            "llama-3.1-8b",
            PlanChoice(context=131_072),
            12 * GIB,
            "less_context",
            "All layers fit on the GPU with up to ",
        ),
        ("llama-3.1-8b", PlanChoice(context=131_072, gpu_layers=-1), 12 * GIB, "less_context", "Fits with"),
        ("qwen3-32b", PlanChoice(), 12 * GIB, "partly", "Fits partly: "),
        ("qwen3-32b", PlanChoice(gpu_layers=-1), 12 * GIB, "too_large", "Too large: "),
        ("llama-3.1-8b", PlanChoice(gpu_layers=0), 12 * GIB, "partly", "Fits into main memory, with no layer"),
        (
            "qwen3-30b-a3b",
            PlanChoice(experts_on_cpu=-1),
            12 * GIB,
            "partly",
            "Fits partly: all layers on the GPU, their",
        ),
        ("qwen3-30b-a3b", PlanChoice(), 12 * GIB, "partly", "Fits partly: all layers on the GPU, the experts of 19 "),
    ],
)
def test_each_verdict_has_its_words(name: str, choice: PlanChoice, free: int, fit: str, begins: str) -> None:
    shown = view(name, choice, here(free=free))
    assert shown.fit == fit and shown.answer.english().startswith(begins)
    has_room = fit == "partly" or (fit == "less_context" and choice.gpu_layers is None)
    assert shown.is_possible is has_room is (shown.pace is not None)
    if fit in ("less_context", "too_large"):
        assert any(lever.fits for lever in shown.levers)


def test_room_that_is_counted_with_layers_in_main_memory_is_told_apart_from_that_of_the_gpu_alone() -> None:
    wide = (PlannedDevice("CUDA0", True, 24 * GIB, 23 * GIB), PlannedDevice("CPU", False, 300 * GIB, 300 * GIB))
    gpus = KnownGpus(here={"CUDA0": TABLE["rtx-4090"], "CPU": PROCESSOR})
    shown = view("qwen3-32b", PlanChoice(context=8192, sequences=8), place_of("here", wide, gpus))
    assert shown.fit == "less_context" and (shown.gpu_layers or 0) < (shown.all_layers or 0)
    assert shown.largest_context is not None and shown.largest_context < 8192 and (shown.most_sequences or 0) >= 8
    longest, many = f"up to {shown.largest_context:,} tokens of context", f"{shown.most_sequences} conversations"
    said = room_words(shown)
    assert said == (
        f"There is room on the GPU alone for: {longest}. With main memory as well: {many} of this length at once."
    )
    words = shown.answer.english()
    assert words.index(f"up to {shown.largest_context:,}") < words.index(f"only {shown.gpu_layers} of")
    whole = view("llama-3.1-8b", PlanChoice(), here())
    assert " tokens of context · " in room_words(whole) and room_words(whole).startswith("There is room for: ")
    chosen = view("llama-3.1-8b", PlanChoice(context=131_072, gpu_layers=-1), here(free=12 * GIB))
    assert chosen.fit == "less_context" and room_words(chosen).startswith("There is room for: up to ")


def test_a_context_beyond_the_training_is_remarked_upon() -> None:
    inside, beyond = (view("llama-3.1-8b", PlanChoice(context=context), here()) for context in (131_072, 131_073))
    assert inside.remark is None and beyond.remark is not None
    assert "trained for 131,072 tokens" in beyond.remark.english()


def test_a_speed_that_nothing_is_known_of_is_none_with_its_reason() -> None:
    devices = (PlannedDevice("CUDA0", True, 23 * GIB, 22 * GIB), MAIN)
    place = place_of("here", devices, KnownGpus(here={"CPU": PROCESSOR}))
    shown = view("llama-3.1-8b", PlanChoice(), place)
    assert shown.pace is None and shown.speed.decode is None and shown.speed.reason is not None


def test_the_speed_of_every_gpu_counts_that_has_layers() -> None:
    devices = (PlannedDevice("CUDA0", True, 23 * GIB, 8 * GIB), PlannedDevice("CUDA1", True, 23 * GIB, 8 * GIB), MAIN)

    def decode(*gpus: str) -> float | None:
        speeds = {f"CUDA{number}": TABLE[gpu] for number, gpu in enumerate(gpus)}
        shown = view("llama-3.1-8b", PlanChoice(context=4096), place_of("here", devices, KnownGpus(here=speeds)))
        return shown.speed.decode.value if shown.speed.decode is not None else None

    slow, mixed, mixed_too, fast = (
        decode("l4", "l4"),
        decode("l4", "rtx-4090"),
        decode("rtx-4090", "l4"),
        decode("rtx-4090", "rtx-4090"),
    )
    assert slow and mixed and mixed_too and fast
    assert slow < min(mixed, mixed_too) and max(mixed, mixed_too) < fast
    assert decode("rtx-4090") is None, "nothing is said where the speed of one of them is unknown"


def test_several_conversations_share_the_room() -> None:
    one, four = (view("llama-3.1-8b", PlanChoice(sequences=count), here()) for count in (1, 4))
    assert one.most_sequences == four.most_sequences and (one.most_sequences or 0) > 4
    assert four.devices[0].rows[1].bytes == 4 * (one.devices[0].rows[1].bytes or 0)
    assert one.largest_context is not None and four.largest_context is not None
    assert one.largest_context > four.largest_context > 8192
    assert one.speed.decode is not None and four.speed.decode is not None
    assert one.speed.decode.value > four.speed.decode.value


def test_what_is_moved_is_worked_out_at_once(desk: Desk, planning: Planning) -> None:
    before, told = planning.view, list[int]()
    planning.changed.connect(lambda: told.append(1))
    planning.change(context=512)
    assert told and planning.view != before and planning.choice.context == 512
    told.clear()
    planning.change(context=512)
    assert not told


def test_llama_cpp_is_asked_once_the_choice_rests(desk: Desk, planning: Planning) -> None:
    options = ask(desk, planning)
    assert (options.context, options.gpu_layers, options.flash_attention) == (planning.choice.context, 0, "on")
    assert planning.is_asking and planning.view is not None and not planning.view.is_asked
    desk.dry_run.answer(DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True))
    desk.settle()
    assert planning.view.is_asked and not planning.is_asking
    rows = {row.kind: row for row in planning.view.devices[-1].rows}
    assert (rows["weights"].bytes, rows["weights"].source) == (111 * MIB, "asked")
    assert rows["margin"].source == "assumed"
    planning.change(context=512)
    assert not planning.view.is_asked
    assert ask(desk, planning).context == 512
    desk.dry_run.fail()
    desk.settle()
    assert not planning.view.is_asked and not planning.is_asking
    assert planning.view.asked_problem is not None and planning.view.asked_problem.english() == "Nobody knows."
    planning.change(context=options.context)
    assert not planning.view.is_asked and planning.view.asked_problem is None
    assert ask(desk, planning) == options, "what it said before the port knows"
    assert all(asked.sizes_only for asked in desk.dry_run.asked if asked.options.gpu_layers == 0)
    desk.dry_run.answer(DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True))
    desk.settle()
    assert planning.view.is_asked


@pytest.mark.parametrize(("cells", "fit"), [(MIB, "fits"), (12 * GIB, "too_large")])
def test_a_model_that_no_formula_knows_is_planned_once_llama_cpp_was_asked(
    desk: Desk, planning: Planning, tmp_path: Path, cells: int, fit: str
) -> None:
    ask(desk, planning)
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    odd = write_tiny_llama(tmp_path / "odd.gguf", architecture="tomorrow")
    planning.choose_model(str(odd))
    desk.until(lambda: desk.dry_run.asked and desk.dry_run.asked[-1].path == str(odd) and planning.view is not None)
    shown = planning.view
    assert shown is not None and shown.fit == "unknown" and "tomorrow" in shown.answer.english()
    desk.dry_run.answer(DeviceMemory("CPU", MIB, cells, MIB, complete=True))
    desk.settle()
    assert planning.view is not None and planning.view.fit == fit
    assert planning.view.speed.decode is None and planning.view.pace is None


def test_nobody_is_asked_about_what_is_refused_anyway(desk: Desk, planning: Planning) -> None:
    ask(desk, planning)
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    desk.settle()
    planning.change(kv_type="q8_0", flash_attention=False)
    assert planning.view is not None and planning.view.devices == () and not planning.is_asking


def test_the_last_choice_is_asked_about_when_an_answer_came_for_another(desk: Desk, planning: Planning) -> None:
    ask(desk, planning)
    planning.change(context=512)
    planning.change(context=768)
    desk.until(lambda: not planning._asked._rest.is_busy)
    count = len(desk.dry_run.asked)
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    desk.settle()
    assert len(desk.dry_run.asked) == count + 1 and desk.dry_run.asked[-1].options.context == 768


def test_a_machine_that_is_not_listed_may_have_a_gpu(desk: Desk, planning: Planning) -> None:
    assert not planning.devices.is_listed and planning.has_gpu
    planning.devices.note((CPU,))
    assert planning.devices.is_listed and not planning.has_gpu
    planning.devices.note((CPU, CUDA))
    planning._take_devices()
    assert planning.has_gpu
    planning.devices.note(())
    planning._take_devices()
    planning.change(where="l4")
    assert planning.has_gpu


def test_nobody_is_asked_about_another_gpu_or_when_nobody_looks(desk: Desk, planning: Planning) -> None:
    ask(desk, planning)
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    desk.settle()
    count = len(desk.dry_run.asked)
    planning.change(where="l4")
    assert not planning.is_asking and not planning.can_load
    planning.watch(False)
    planning.change(sequences=1, context=256)
    desk.settle()
    assert len(desk.dry_run.asked) == count


def test_a_lever_is_chosen_and_the_layers_stay_automatic(planning: Planning) -> None:
    shown = planning.view
    assert shown is not None
    number = next(place for place, lever in enumerate(shown.levers) if lever.kind == "kv_type")
    planning.use_lever(number)
    assert planning.choice.kv_type == "q8_0" and planning.choice.gpu_layers is None
    before = planning.choice
    planning.use_lever(99)
    planning.use_lever(next(place for place, lever in enumerate(shown.levers) if not lever.can_use))
    assert planning.choice == before


def test_a_model_is_loaded_as_it_is_planned(desk: Desk, planning: Planning, model: Path) -> None:
    planning.change(context=512, kv_type="q8_0", micro_batch=128, flash_attention=False)
    planning.load()
    desk.until(lambda: desk.engine.sent)
    load = desk.engine.load
    assert load.path == str(model)
    options = load.options
    assert (options.context, options.kv_type_k, options.kv_type_v, options.micro_batch) == (512, "q8_0", "q8_0", 128)
    assert options.flash_attention == "off" and options.gpu_layers in (None, 0)


def test_the_loaded_model_is_planned_as_it_is_loaded(desk: Desk, model: Path) -> None:
    desk.load(model)
    planning = desk.program.planner.planning
    planning.watch(True)
    desk.until(lambda: planning.view is not None)
    assert planning.path == str(model) and planning.choice.context == 4096


def test_options_of_the_loaded_model_are_planned_and_loaded_again(desk: Desk, model: Path) -> None:
    options = LoadOptions(
        context=768,
        gpu_layers=0,
        experts_on_cpu=True,
        kv_type_k="f16",
        kv_type_v="q8_0",
        micro_batch=256,
        flash_attention="on",
        may_shorten_context=True,
    )
    desk.program.session.use(Wish(model, msgspec.structs.asdict(options)))
    desk.until(lambda: desk.engine.sent)
    load = desk.engine.load
    info = msgspec.structs.replace(model_info(load.path, 768), options=load.options)
    desk.engine.say(Loaded(load.request, info))
    desk.settle()
    planning = desk.program.planner.planning
    planning.watch(True)
    desk.until(lambda: planning.view is not None)
    choice = planning.choice
    assert (choice.context, choice.gpu_layers, choice.experts_on_cpu) == (768, 0, -1)
    assert (choice.kv_type, choice.kv_type_v, choice.micro_batch) == ("f16", "q8_0", 256)
    assert planning._made is not None and planning._made.options.kv_type_v == "q8_0"
    count = len(desk.engine.sent)
    planning.load()
    desk.until(lambda: len(desk.engine.sent) > count)
    assert desk.engine.load.options == msgspec.structs.replace(load.options, may_shorten_context=False)
    planning.change(kv_type="q4_0")
    assert planning.choice.kv_type_v is None, "who chooses a type chooses it for both"


def test_layers_that_the_load_chose_are_left_to_the_plan(desk: Desk, model: Path) -> None:
    desk.program.session.use(Wish(model))
    desk.until(lambda: desk.engine.sent)
    load = desk.engine.load
    decided = msgspec.structs.replace(load.options, gpu_layers=1, experts_on_cpu=True)
    desk.engine.say(Loaded(load.request, msgspec.structs.replace(model_info(load.path, 512), options=decided)))
    desk.settle()
    planning = desk.program.planner.planning
    planning.watch(True)
    desk.until(lambda: planning.view is not None)
    assert (planning.choice.gpu_layers, planning.choice.experts_on_cpu) == (None, 0)


def test_a_model_that_is_loaded_while_somebody_looks_is_planned(desk: Desk, model: Path) -> None:
    planning = desk.program.planner.planning
    planning.watch(True)
    assert planning.path == ""
    desk.load(model)
    desk.until(lambda: planning.view is not None)
    assert planning.path == str(model)


def test_what_is_wrong_with_a_model_is_said(desk: Desk, planning: Planning, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing else")
    planning.choose_model(str(broken))
    assert planning.view is None and planning.problem is None
    desk.until(lambda: planning.problem)
    assert not planning.can_load
