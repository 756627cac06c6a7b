"""What the planner works out of a header is what llama.cpp's dry run says, for every kind of memory that a model can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.model import LoadOptions
from app.engine.dry_run import DryRun
from app.engine.llama import LogCapture
from app.engine.placement import weights_by_device
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import plan_options
from app.planner.planned_model import planned_model
from app.planner.planning import plan_memory, with_asked
from tests.formula_checks import CONFIGURATIONS, MIB, PLENTY, Configuration, differences, header_of, weights_on_each
from tests.ggufs import write_tiny_llama
from tests.sparse_ggufs import Sparse
from tests.sparse_models import ALL, DENSE, OTHERS, WINDOWED

ROUNDING_MIB = 0.01
"""llama.cpp's log tells sizes to a hundredth of a MiB, and each kind of cells in a line of its own."""
WEIGHTS_PERCENT, COMPUTE_PERCENT = 1.0, 5.0
SLOW_GRAPHS = frozenset({"qwen3.5-27b", "granite-4-h-small", "falcon-h1-1.5b", "jamba-52b", "mamba-2.8b"})
"""llama.cpp builds theirs in half a second each: two configurations are enough where others have seven."""


@pytest.fixture(scope="module")
def dry_run(llama_log: LogCapture) -> Iterator[DryRun]:
    run = DryRun(llama_log)
    yield run
    run.close()


@pytest.mark.parametrize("name", [*DENSE, *WINDOWED])
def test_a_model_with_attention_in_all_layers_takes_what_was_worked_out(
    name: str, dry_run: DryRun, tmp_path: Path
) -> None:
    _assert_all({**DENSE, **WINDOWED}[name], dry_run, tmp_path / f"{name}.gguf", CONFIGURATIONS[::2])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DENSE, *WINDOWED])
def test_it_does_so_in_further_configurations(name: str, dry_run: DryRun, tmp_path: Path) -> None:
    _assert_all({**DENSE, **WINDOWED}[name], dry_run, tmp_path / f"{name}.gguf", CONFIGURATIONS[1::2])


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_model_takes_the_cache_and_the_weights_that_were_worked_out(
    name: str, dry_run: DryRun, tmp_path: Path
) -> None:
    few = (CONFIGURATIONS[0], Configuration(context=32768, sequences=4, micro_batch=128))
    chosen = few if name in SLOW_GRAPHS else CONFIGURATIONS[::2]
    _assert_cache_and_weights(dry_run, OTHERS[name], tmp_path / f"{name}.gguf", chosen)


def _assert_all(
    make: Callable[[], Sparse], dry_run: DryRun, path: Path, configurations: tuple[Configuration, ...]
) -> None:
    seen = _assert_cache_and_weights(dry_run, make, path, configurations)
    assert max(abs(percent) for percent in seen) <= COMPUTE_PERCENT


def _assert_cache_and_weights(
    dry_run: DryRun, make: Callable[[], Sparse], path: Path, configurations: tuple[Configuration, ...]
) -> list[float]:
    """Return how far the buffers for computing are off, in per cent."""
    found = list(differences(dry_run, make(), path, configurations))
    assert len(found) >= len(configurations) - 1
    for difference in found:
        for mib in (difference.kv_mib, difference.state_mib, difference.output_mib):
            assert abs(mib) <= ROUNDING_MIB, difference
        assert abs(difference.weights_percent) <= WEIGHTS_PERCENT, difference
    return [difference.compute_percent for difference in found]


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-3-1b", "qwen3-30b-a3b", "jamba-52b"])
def test_each_device_has_the_weights_that_were_worked_out(dry_run: DryRun, tmp_path: Path, name: str) -> None:
    found = weights_on_each(dry_run, ALL[name](), tmp_path / f"{name}.gguf")
    assert set(found) == {"CUDA0", "CPU"} and max(found.values()) <= WEIGHTS_PERCENT


def test_the_starter_model_is_planned_as_it_loads(dry_run: DryRun, starter_model: Path) -> None:
    header = header_of(starter_model)
    options = LoadOptions()
    (measured,) = dry_run.measure(str(starter_model), [header], options).memory
    model = planned_model([header], starter_model.stat().st_size)
    plan = plan_memory(model, plan_options(options, model.trained_context), [PLENTY])
    asked = with_asked(plan, [measured], model, [PLENTY])
    (formula,), (engine,) = plan.devices, asked.devices
    assert plan.verdict == asked.verdict == "fits"
    assert formula.weights.bytes == engine.weights.bytes
    assert formula.kv.bytes == pytest.approx(engine.kv.bytes, abs=ROUNDING_MIB * MIB)
    assert formula.compute.bytes == pytest.approx(engine.compute.bytes, rel=COMPUTE_PERCENT / 100)
    assert {figure.source for figure in engine.figures[:4]} == {"asked"}


@pytest.mark.parametrize("moved", [0, 1, 3, 10, 11, 12, -1])
def test_the_experts_of_as_many_layers_move_as_were_worked_out(dry_run: DryRun, tmp_path: Path, moved: int) -> None:
    """llama.cpp says which tensors it moves; the GPU that it has not got here stands in its log in place of the processor."""
    path = write_tiny_llama(tmp_path / "mixture.gguf", layers=12, experts=4)
    header, options = header_of(path), LoadOptions(context=256, experts_on_cpu=moved)
    dry_run.measure(str(path), [header], options)
    lines = [line.replace("assigned to device CPU", "assigned to device CUDA0") for line in dry_run._model_lines]
    assert sum("buffer type overridden to CPU" in line for line in lines) == 3 * (12 if moved < 0 else moved)
    found = weights_by_device([header], lines)
    devices = [PlannedDevice("CUDA0", True, 1 << 40, 1 << 40), PLENTY]
    model = planned_model([header], path.stat().st_size)
    plan = plan_memory(model, replace(plan_options(options, None), gpu_layers=-1), devices)
    assert found is not None
    assert found.sizes == {row.name: row.weights.bytes for row in plan.devices}
