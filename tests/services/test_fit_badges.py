"""Verdicts of models that can be chosen: worked out beside the window, by the options that each would load with."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.devices import Device
from app.core.events import MemoryMeasured
from app.core.model import LoadOptions
from app.core.words import Sentence
from app.planner.memory_plan import PlannedDevice
from app.services import fit_badges
from app.services.fit_badges import MOST_TRIED, STEP_BYTES, Estimate, FitBadges, Wanted
from app.services.fit_verdict import Fit, fit_of
from app.services.planning_models import PlannedFile, read_planned
from app.services.wishes import Wish
from app.system.settings_file import ModelSettings
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.planner.planned_models import planned

GIB, MIB = 1 << 30, 1 << 20
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
FULL = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 0)
PROCESSOR = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)


@pytest.fixture
def fits(desk: Desk, model: Path) -> FitBadges:
    """Return the verdicts of a program whose search has found one model."""
    desk.program.paths.models.mkdir(parents=True)
    (desk.program.paths.models / "one.gguf").write_bytes(model.read_bytes())
    desk.program.models.refresh()
    desk.until(lambda: desk.program.models.found)
    return desk.program.planner.fits


def one(desk: Desk) -> str:
    return desk.program.models.found[0].path


def test_which_gpus_there_are_is_asked_once_where_no_model_has_told(desk: Desk, fits: FitBadges) -> None:
    fits.want("menu", [one(desk)])
    fits.want("menu", [one(desk)])
    (asked,) = desk.dry_run.asked
    assert (asked.path, asked.keep) == (one(desk), False)
    desk.until(lambda: fits.get(one(desk)))
    assert fits.get(one(desk)).verdict == "unknown"  # type: ignore[union-attr]
    desk.dry_run.answer(devices=(PROCESSOR,))
    desk.until(lambda: fits.get(one(desk)) and fits.get(one(desk)).verdict == "fits")  # type: ignore[union-attr]
    fits.want("menu", [one(desk)])
    assert len(desk.dry_run.asked) == 1


def several(desk: Desk, model: Path, count: int) -> list[str]:
    """Let the search find so many more models, and return their paths."""
    paths = [desk.program.paths.models / f"more-{number}.gguf" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(model.read_bytes() + bytes(1 + number))
    desk.program.models.refresh()
    wanted = {str(path) for path in paths}
    desk.until(lambda: wanted <= {found.path for found in desk.program.models.found})
    return [str(path) for path in paths]


def fail_all(desk: Desk, text: str) -> None:
    """Let every question fail, as long as another one follows."""
    for count in range(1, MOST_TRIED + 1):
        if len(desk.dry_run.asked) >= count:
            desk.dry_run.fail(text=text)
            desk.settle()


def test_a_file_that_tells_nothing_decides_nothing_and_another_is_asked_about(
    desk: Desk, fits: FitBadges, model: Path
) -> None:
    paths = several(desk, model, 2)
    fits.want("menu", paths)
    desk.dry_run.fail("model", "This file is damaged.")
    desk.settle()
    damaged, good = (asked.path for asked in desk.dry_run.asked)
    assert {damaged, good} == set(paths)
    desk.dry_run.answer(devices=(GPU, PROCESSOR))
    desk.until(lambda: (fit := fits.get(good)) and fit.verdict == "fits")
    desk.until(lambda: (fit := fits.get(damaged)) and fit.reason.english() == "This file is damaged.")
    assert fits.devices[0].is_gpu


def test_where_all_fail_nothing_is_claimed_the_reason_is_told_and_it_is_asked_again(
    desk: Desk, fits: FitBadges
) -> None:
    fits.want("menu", [one(desk)])
    fail_all(desk, "The engine does not start.")
    desk.until(lambda: (fit := fits.get(one(desk))) and "does not start" in fit.reason.english())
    assert fits.get(one(desk)).verdict == "unknown" and fits.devices == ()  # type: ignore[union-attr]
    count = len(desk.dry_run.asked)
    fits.want("menu", [one(desk)])
    assert len(desk.dry_run.asked) == count + 1, "who looks again has it asked again"
    desk.dry_run.answer(devices=(PROCESSOR,))
    desk.until(lambda: (fit := fits.get(one(desk))) and fit.verdict == "fits")


def test_not_every_file_of_a_large_folder_is_asked_about(desk: Desk, fits: FitBadges, model: Path) -> None:
    several(desk, model, MOST_TRIED + 1)
    fits.want("menu", [one(desk)])
    fail_all(desk, "Nobody knows.")
    asked = [each.path for each in desk.dry_run.asked]
    assert len(set(asked)) == len(asked) == MOST_TRIED


def test_a_verdict_follows_the_memory_and_the_options_that_are_remembered(desk: Desk, fits: FitBadges) -> None:
    desk.program.planner.devices.note((GPU, PROCESSOR))
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)) and fits.get(one(desk)).verdict == "fits")  # type: ignore[union-attr]
    identity = desk.program.models.identity_of(one(desk))
    desk.program.settings.remember_model(identity, ModelSettings(options=LoadOptions(gpu_layers=1)))
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)).verdict == "partly")  # type: ignore[union-attr]
    desk.program.planner.devices.note((FULL, PROCESSOR))
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)).verdict == "too_large")  # type: ignore[union-attr]


def test_an_estimate_is_judged_beside_its_file_by_its_own_size(
    desk: Desk, fits: FitBadges, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, large = one(desk), "/large.gguf"
    monkeypatch.setattr(desk.program.planner.planning.models, "want", lambda _path: None)
    known = desk.program.planner.planning.models._known
    model = planned("qwen3-32b")
    assert model.weights is not None
    model = msgspec.structs.replace(model, file_bytes=model.weights.total)
    known[path] = known[large] = (None, PlannedFile(large, model))
    desk.program.planner.devices.note((GPU, PROCESSOR))
    wanted: list[Wanted] = [
        large,
        Estimate(large, "F16"),
        Estimate(large, "IQ2_XS"),
        Estimate(large, "as it will be", 14 * GIB),
    ]
    fits.want("list", [*wanted, Estimate(large, "no such type")])
    desk.until(lambda: fits.get(wanted[-1]))
    found = [fits.get(each) for each in wanted]
    verdicts = [each.verdict for each in found if each is not None]
    assert verdicts == ["less_context", "too_large", "fits", "fits"], verdicts
    untold = fits.get(Estimate(large, "no such type"))
    assert untold is not None and untold.verdict == "unknown"


def test_nobody_who_looks_costs_nothing(desk: Desk, fits: FitBadges) -> None:
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)))
    fits.rest("menu")
    known = fits.get(one(desk))
    desk.dry_run.answer(devices=(GPU, PROCESSOR))
    desk.settle()
    assert fits.get(one(desk)) == known
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)) != known)


def test_a_file_that_is_none_says_why(desk: Desk, fits: FitBadges, tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    fits.want("list", [str(page)])
    desk.until(lambda: fits.get(str(page)))
    fit = fits.get(str(page))
    assert fit is not None and fit.verdict == "unknown" and "web page" in fit.reason.english()


def judged(path: Path, options: LoadOptions, *devices: PlannedDevice) -> Fit:
    return fit_of(PlannedFile(str(path), read_planned(path)), options, devices)


@pytest.mark.parametrize(
    ("gpu", "main", "options", "verdict", "says"),
    [
        (24 * GIB, 16 * GIB, LoadOptions(), "fits", "With a context of 1,024 tokens it needs "),
        (24 * GIB, 16 * GIB, LoadOptions(gpu_layers=0), "partly", "No layer is on the GPU"),
        (24 * GIB, 16 * GIB, LoadOptions(gpu_layers=1), "partly", "1 layer is on the GPU"),
        (24 * GIB, 16 * GIB, LoadOptions(gpu_layers=2), "partly", "2 layers are on the GPU"),
        (MIB, MIB, LoadOptions(), "too_large", "take a smaller quantisation or a smaller model"),
    ],
)
def test_each_verdict_has_its_reason(
    model: Path, gpu: int, main: int, options: LoadOptions, verdict: str, says: str
) -> None:
    fit = judged(model, options, PlannedDevice("CUDA0", True, gpu, gpu), PlannedDevice("CPU", False, main, main))
    assert fit.verdict == verdict
    assert says in fit.reason.english()


def test_experts_in_main_memory_are_said(tmp_path: Path) -> None:
    mixture = write_tiny_llama(tmp_path / "mixture.gguf", experts=4)
    gpu, main = PlannedDevice("CUDA0", True, 24 * GIB, 24 * GIB), PlannedDevice("CPU", False, GIB, GIB)
    fit = judged(mixture, LoadOptions(experts_on_cpu=True), gpu, main)
    assert fit.verdict == "partly" and fit.reason.english().startswith("Experts of this mixture")


def test_a_shorter_context_that_fits_is_named(tmp_path: Path) -> None:
    long = write_tiny_llama(tmp_path / "long.gguf", context=1 << 20)
    main = PlannedDevice("CPU", False, 300 * MIB, 300 * MIB)
    fit = judged(long, LoadOptions(context=1 << 20), main)
    assert fit.verdict == "less_context"
    assert fit.reason.english().startswith("A context of 1,048,576 tokens does not fit; ")


def test_the_reason_is_about_the_device_with_the_least_to_spare(model: Path) -> None:
    gpu, main = PlannedDevice("CUDA0", True, 24 * GIB, 3 * GIB), PlannedDevice("CPU", False, 64 * GIB, 60 * GIB)
    assert "3.0 GiB are free" in judged(model, LoadOptions(), gpu, main).reason.english()
    unused = PlannedDevice("CUDA1", True, 24 * GIB, MIB)
    words = judged(model, LoadOptions(), gpu, unused, main).reason
    assert "3.0 GiB are free" in words.english(), "a device that nothing lies on lacks nothing"


def test_the_open_model_is_judged_by_the_options_it_was_loaded_with(desk: Desk, fits: FitBadges) -> None:
    path = one(desk)
    desk.load(Path(path))
    assert desk.program.session.model is not None
    identity = desk.program.models.identity_of(path)
    assert identity
    desk.program.settings.remember_model(identity, ModelSettings(options=LoadOptions(gpu_layers=1)))
    assert fits._options(path) == desk.program.session.model.options != LoadOptions(gpu_layers=1)


def test_no_dry_run_is_asked_for_devices_while_a_model_is_loaded(desk: Desk, fits: FitBadges) -> None:
    desk.program.session.use(Wish(Path(one(desk))))
    assert desk.program.session.phase != "no_model"
    fits.want("menu", [one(desk)])
    assert fits._listing is None, "the load tells them"


def test_others_are_followed_when_one_rests_and_what_is_known_stays(desk: Desk, fits: FitBadges, model: Path) -> None:
    desk.program.planner.devices.note((GPU, PROCESSOR))
    fits.want("menu", [one(desk)])
    fits.want("dialog", [str(model)])
    desk.until(lambda: fits.get(one(desk)) and fits.get(str(model)))
    fits.rest("menu")
    desk.program.planner.devices.note((FULL, PROCESSOR))
    desk.program.planner.devices.changed.emit()
    desk.until(lambda: fits.get(str(model)).verdict != "fits")  # type: ignore[union-attr]
    assert fits.get(one(desk)).verdict == "fits"  # type: ignore[union-attr]


def test_another_answer_is_not_taken_for_the_list_of_devices(desk: Desk, fits: FitBadges) -> None:
    fits.want("menu", [one(desk)])
    stranger = MemoryMeasured(999_999, one(desk), LoadOptions(), (), 8192, 2, (GPU, PROCESSOR))
    fits.take_measured(stranger)
    assert fits.devices == ()


@pytest.fixture
def judged_paths(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file that is judged, as often as it is."""
    paths: list[str] = []

    def judge(
        file: PlannedFile, options: LoadOptions, devices: tuple[PlannedDevice, ...], problem: Sentence | None = None
    ) -> Fit:
        paths.append(file.path)
        return fit_of(file, options, devices, problem)

    monkeypatch.setattr(fit_badges, "fit_of", judge)
    return paths


def test_free_memory_counts_in_steps_so_that_samples_cost_nothing(
    desk: Desk, fits: FitBadges, judged_paths: list[str]
) -> None:
    desk.program.planner.devices.note((GPU, PROCESSOR))
    fits.want("menu", [one(desk)])
    desk.until(lambda: fits.get(one(desk)) and not fits._batch)
    judged_paths.clear()
    less = msgspec.structs.replace(GPU, free=(GPU.free or 0) - MIB)
    more = msgspec.structs.replace(GPU, free=(GPU.free or 0) + MIB)
    desk.program.planner.devices.note((more, PROCESSOR))
    fits.want("menu", [one(desk)])
    assert not fits._batch and judged_paths == [], "nothing is worked out anew"
    desk.program.planner.devices.note((less, PROCESSOR))
    assert fits.devices[0].free == 20 * GIB - STEP_BYTES


def test_of_thousands_each_is_looked_at_and_judged_once(
    desk: Desk, fits: FitBadges, judged_paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"/nowhere/{number}.gguf" for number in range(400)]
    models, looked = desk.program.planner.models, list[str]()
    get = models.get

    def count(path: str) -> PlannedFile | None:
        looked.append(path)
        return get(path)

    monkeypatch.setattr(models, "get", count)
    desk.program.planner.devices.note((GPU, PROCESSOR))
    fits.want("list", many)
    desk.until(lambda: all(map(fits.get, many)))
    assert sorted(judged_paths) == sorted(many)
    assert len(looked) <= 4 * len(many)


def test_what_was_worked_out_for_devices_of_before_does_not_count(
    desk: Desk, fits: FitBadges, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.program.planner.devices.note((GPU, PROCESSOR))
    seen: list[str] = []
    fits.changed.connect(lambda: seen.append(fit.verdict if (fit := fits.get(one(desk))) else ""))

    def judge(
        file: PlannedFile, options: LoadOptions, devices: tuple[PlannedDevice, ...], problem: Sentence | None = None
    ) -> Fit:
        if devices[0].free:
            desk.program.inbox.put(MemoryMeasured(listing, one(desk), LoadOptions(), (), 1, 1, (FULL, PROCESSOR)))
        return fit_of(file, options, devices, problem)

    monkeypatch.setattr(fit_badges, "fit_of", judge)
    fits.want("menu", [one(desk)])
    listing = fits._listing or 0
    desk.until(lambda: fits.get(one(desk)))
    assert seen == ["too_large"]
