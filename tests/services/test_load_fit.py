"""What a load takes before llama.cpp has said: by formula at once, with the changes that would help."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.devices import Device, MainMemory
from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.planner.memory_plan import PlannedDevice
from app.services.load_fit import fit_of_draft, formula_of, levers_of_draft, needs_by_formula
from app.services.load_options import LoadOptionsDraft
from app.services.load_plan import LoadFormula, load_formula
from app.services.planning_models import read_planned
from tests.desk import Desk
from tests.ggufs import write_tiny_llama, write_tiny_mixture
from tests.ggufs_kinds import write_tiny_recurrent

GIB, MIB, HUGE = 1 << 30, 1 << 20, 1 << 50
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
CPU = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)


@pytest.fixture
def draft(desk: Desk, model: Path) -> LoadOptionsDraft:
    """Return the options of a model on a machine whose devices are known."""
    desk.program.planner.fits.note((GPU, CPU))
    begun = desk.program.load_options
    begun.begin(model)
    desk.until(lambda: desk.dry_run.asked and formula_of(begun))
    return begun


def verdict(draft: LoadOptionsDraft) -> str:
    fit = fit_of_draft(draft)
    return fit.verdict if fit is not None else ""


def test_the_formula_stands_in_until_llama_cpp_has_said(desk: Desk, draft: LoadOptionsDraft) -> None:
    gpu, main = needs_by_formula(draft)
    assert (gpu.name, gpu.free) == ("CUDA0", 20 * GIB) and main.name == "CPU"
    assert gpu.use.weights and gpu.use.kv and gpu.fits
    before = draft.needs
    assert verdict(draft) == "fits" and before == ()
    desk.dry_run.answer(DeviceMemory("CUDA0", GIB, MIB, MIB), devices=(GPU, CPU))
    desk.settle()
    said = draft.needs[0]
    assert not needs_by_formula(draft) and said.use.weights == GIB
    draft.change(context=512)
    desk.until(lambda: needs_by_formula(draft))
    assert needs_by_formula(draft)[0].use.kv < gpu.use.kv  # type: ignore[operator]


def test_a_dry_run_that_fails_leaves_the_formula_and_claims_nothing(desk: Desk, draft: LoadOptionsDraft) -> None:
    desk.dry_run.fail()
    desk.settle()
    assert len(needs_by_formula(draft)) == 2 and verdict(draft) == "unknown"


@pytest.mark.parametrize(
    ("memory", "options", "said"),
    [
        ((DeviceMemory("CUDA0", GIB, MIB, MIB),), {"gpu_layers": 3}, "fits"),
        ((DeviceMemory("CUDA0", GIB, MIB, MIB),), {"gpu_layers": 2}, "partly"),
        ((DeviceMemory("CUDA0", GIB, MIB, MIB),), {"gpu_layers": 3, "experts_on_cpu": True}, "partly"),
        ((DeviceMemory("CPU", HUGE, MIB, MIB),), {"gpu_layers": 0}, "too_large"),
        ((DeviceMemory("CPU", MIB, HUGE, MIB),), {"gpu_layers": 0}, "less_context"),
        ((DeviceMemory("CPU", MIB, None, MIB, complete=False),), {"gpu_layers": 0}, "unknown"),
    ],
)
def test_what_llama_cpp_said_decides_then(
    desk: Desk, draft: LoadOptionsDraft, memory: tuple[DeviceMemory, ...], options: dict[str, object], said: str
) -> None:
    desk.dry_run.answer(*memory, devices=(GPU, CPU), **options)
    desk.settle()
    assert verdict(draft) == said


def test_before_it_is_known_which_gpus_there_are_nothing_is_claimed(desk: Desk, model: Path) -> None:
    begun = desk.program.load_options
    begun.begin(model)
    desk.until(lambda: desk.dry_run.asked and desk.program.planner.models.get(str(model)))
    assert formula_of(begun) is None and fit_of_draft(begun) is None and levers_of_draft(begun) == ()
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    desk.until(lambda: formula_of(begun))


def test_what_lacks_can_be_helped(desk: Desk, draft: LoadOptionsDraft) -> None:
    assert levers_of_draft(draft) == ()
    draft.change(context=1 << 26)
    desk.until(lambda: levers_of_draft(draft))
    lever = next(each for each in levers_of_draft(draft) if "kv_type_k" in each.changes)
    assert lever.saves > 0
    draft.change(**lever.changes)
    assert draft.options.kv_type_k == draft.options.kv_type_v == lever.changes["kv_type_k"] != "f16"
    draft.end()
    assert formula_of(draft) is None


def formula(path: Path, options: LoadOptions, gpu: int) -> LoadFormula:
    devices = (PlannedDevice("CUDA0", True, gpu, gpu), PlannedDevice("CPU", False, 16 * GIB, 16 * GIB))
    return load_formula(str(path), read_planned(path), options, devices)


def test_layers_are_a_change_only_where_somebody_chose_them(tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf", layers=8)
    chosen = formula(path, LoadOptions(gpu_layers=9), 2 * MIB)
    assert any("gpu_layers" in lever.changes for lever in chosen.levers)
    automatic = formula(path, LoadOptions(), 2 * MIB)
    assert automatic.levers and not any("gpu_layers" in lever.changes for lever in automatic.levers)


def test_experts_and_another_file_are_changes_too(tmp_path: Path) -> None:
    path = write_tiny_mixture(tmp_path / "model.gguf")
    levers = formula(path, LoadOptions(flash_attention="off", gpu_layers=3), MIB).levers
    assert any(lever.changes == {"experts_on_cpu": -1} for lever in levers)
    assert any(not lever.changes for lever in levers)


def test_a_context_that_may_be_shortened_is_worked_out_as_the_shorter_one(tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf", context=1 << 20)
    room = GIB + 200 * MIB
    kept = formula(path, LoadOptions(context=1 << 20), room)
    shorter = formula(path, LoadOptions(context=1 << 20, may_shorten_context=True), room)
    assert shorter.fit.verdict == "less_context"
    on_gpu = [next(each for each in made.uses if each.use.device == "CUDA0") for made in (kept, shorter)]
    assert on_gpu[1].use.total is not None and on_gpu[1].free == room > on_gpu[1].use.total
    assert (on_gpu[0].use.kv, on_gpu[0].use.weights) != (on_gpu[1].use.kv, on_gpu[1].use.weights)


def test_a_device_that_nothing_lies_on_has_no_row(tmp_path: Path) -> None:
    devices = (PlannedDevice("CUDA0", True, 3 * GIB, 3 * GIB), PlannedDevice("CUDA1", True, GIB, MIB))
    main = PlannedDevice("CPU", False, 16 * GIB, 16 * GIB)
    path = write_tiny_llama(tmp_path / "model.gguf")
    uses = load_formula(str(path), read_planned(path), LoadOptions(), (*devices, main)).uses
    assert [each.use.device for each in uses] == ["CUDA0", "CPU"]


def test_states_of_a_recurrent_model_are_told(tmp_path: Path) -> None:
    path = write_tiny_recurrent(tmp_path / "model.gguf")
    assert any(each.use.state for each in formula(path, LoadOptions(), GIB).uses)


def test_what_fits_needs_no_change(tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "model.gguf")
    assert formula(path, LoadOptions(), 24 * GIB).levers == ()


def test_each_change_has_the_options_that_make_it(tmp_path: Path) -> None:
    long = write_tiny_llama(tmp_path / "long.gguf", context=1 << 20)
    shorter = [
        each.changes for each in formula(long, LoadOptions(context=1 << 20, gpu_layers=3), GIB + 200 * MIB).levers
    ]
    (context,) = (changes["context"] for changes in shorter if "context" in changes)
    assert isinstance(context, int) and 0 < context < 1 << 20
    off = formula(long, LoadOptions(context=1 << 20, flash_attention="off", gpu_layers=3), GIB + 200 * MIB).levers
    assert {"flash_attention": "auto"} in [each.changes for each in off]
    mixture = write_tiny_mixture(tmp_path / "mixture.gguf")
    layers = formula(mixture, LoadOptions(gpu_layers=3, experts_on_cpu=True), MIB).levers
    assert any(each.changes.get("experts_on_cpu") == -1 for each in layers if "gpu_layers" in each.changes)


def test_after_the_end_nothing_is_worked_out_or_known(desk: Desk, draft: LoadOptionsDraft, model: Path) -> None:
    plan = desk.program.load_options.plan
    options = draft.options
    draft.end()
    assert plan.get(str(model), options) is None
    plan.note((GPU,))
    assert plan._asked is None


def test_a_context_that_llama_cpp_shortened_is_said(desk: Desk, draft: LoadOptionsDraft) -> None:
    desk.dry_run.answer(DeviceMemory("CUDA0", GIB, MIB, MIB), devices=(GPU, CPU))
    draft.change(context=4096, may_shorten_context=True)
    desk.until(lambda: desk.dry_run.asked[-1].options.may_shorten_context)
    asked = desk.dry_run.asked[-1]
    shown = MemoryMeasured(
        asked.request, asked.path, asked.options, (DeviceMemory("CUDA0", GIB, MIB, MIB),), 1024, 2, (GPU, CPU)
    )
    desk.dry_run._sink(shown)
    desk.settle()
    fit = fit_of_draft(draft)
    assert fit is not None and (fit.verdict, fit.reason.english()) == (
        "less_context",
        "Its context is shortened to 1,024 tokens.",
    )


def test_without_a_gpu_nothing_is_partly_on_it(desk: Desk, draft: LoadOptionsDraft) -> None:
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB), devices=(CPU,), gpu_layers=1)
    desk.settle()
    assert verdict(draft) == "fits"


def test_what_is_left_is_that_of_the_fullest_device(desk: Desk, draft: LoadOptionsDraft) -> None:
    uses = (DeviceMemory("CUDA0", 19 * GIB, 0, 0), DeviceMemory("CPU", MIB, 0, 0))
    desk.dry_run.answer(*uses, devices=(GPU, CPU), gpu_layers=3)
    desk.settle()
    fit = fit_of_draft(draft)
    assert fit is not None and fit.state == "tight"
    assert fit.reason.english() == "1.0 GiB are left free: that is tight, so close what you do not need."


def test_a_load_that_leaves_enough_is_not_tight_and_one_that_takes_main_memory_is(
    desk: Desk, draft: LoadOptionsDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 0))
    desk.dry_run.answer(DeviceMemory("CUDA0", 17 * GIB, 0, 0), DeviceMemory("CPU", MIB, 0, 0), devices=(GPU, CPU))
    desk.settle()
    fit = fit_of_draft(draft)
    assert fit is not None and (fit.state, fit.reason.english()) == ("", "3.0 GiB are left free.")
    draft.change(context=512)
    desk.until(lambda: len(desk.dry_run.asked) > 1)
    desk.dry_run.answer(DeviceMemory("CPU", 6 * GIB + 512 * MIB, 0, 0), devices=(CPU,))
    desk.settle()
    fit = fit_of_draft(draft)
    assert fit is not None and (fit.state, fit.reason.english()[:7]) == ("tight", "1.5 GiB")
