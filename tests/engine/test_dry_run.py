"""A load without weights tells what a real one takes, quickly, for every kind of model and for any context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from app.core.commands import Load, MeasureMemory
from app.core.errors import UserError
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, LoadOptions
from app.engine.dry_run import DryRun, Measured, beyond, gpu_bytes
from app.engine.failures import LoadRefused
from app.engine.llama import LogCapture, api
from app.engine.llama_model import LlamaBackend
from app.engine.opening import LlamaOpener, checked_headers
from app.engine.sizes import MIB, parse_cache
from tests.ggufs import copy_with, write_tiny_llama, write_tiny_mixture
from tests.ggufs_kinds import write_tiny_hybrid, write_tiny_recurrent, write_tiny_window

ROUNDING = MIB / 100
"""llama.cpp's log tells sizes to a hundredth of a MiB."""


@pytest.fixture
def dry_run(llama_log: LogCapture) -> Iterator[DryRun]:
    run = DryRun(llama_log)
    yield run
    run.close()


def measured(run: DryRun, path: Path, **options: object) -> Measured:
    return run.measure(str(path), checked_headers(path), LoadOptions(**options))  # type: ignore[arg-type]


def kv(found: Measured) -> float:
    """Return the KV cache in MiB."""
    return sum(use.kv or 0 for use in found.memory) / MIB


def assert_alike(dry: tuple[DeviceMemory, ...], real: tuple[DeviceMemory, ...]) -> None:
    assert sorted(use.device for use in dry) == sorted(use.device for use in real)
    by_name = {use.device: use for use in real}
    for use in dry:
        for name in ("weights", "kv", "compute", "state", "output"):
            expected, found = getattr(by_name[use.device], name), getattr(use, name)
            assert (found is None) == (expected is None), (use.device, name)
            assert found is None or found == pytest.approx(expected, abs=ROUNDING), (use.device, name)


def assert_equals_a_load(path: Path, log: LogCapture, **options: object) -> None:
    chosen = LoadOptions(**options)  # type: ignore[arg-type]
    opener = LlamaOpener(log)
    dry = opener.measure(MeasureMemory(1, str(path), chosen), lambda: False)
    backend = opener(Load(2, str(path), chosen), lambda percent: True)
    try:
        assert_alike(dry.memory, backend.memory)
        assert dry.context == backend.cells
        assert dry.layers == backend.info.layers
        assert isinstance(backend, LlamaBackend)
    finally:
        backend.close()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"context": 1000, "kv_type_k": "q8_0", "kv_type_v": "q8_0"},
        {"context": 4096, "flash_attention": "off", "micro_batch": 128, "mmap": False},
    ],
)
def test_the_starter_model_takes_what_was_worked_out(
    starter_model: Path, llama_log: LogCapture, options: dict[str, object]
) -> None:
    assert_equals_a_load(starter_model, llama_log, **options)


@pytest.mark.parametrize(
    "write", [write_tiny_llama, write_tiny_mixture, write_tiny_window, write_tiny_recurrent, write_tiny_hybrid]
)
def test_every_kind_of_model_takes_what_was_worked_out(
    tmp_path: Path, llama_log: LogCapture, write: Callable[[Path], Path]
) -> None:
    assert_equals_a_load(write(tmp_path / "model.gguf"), llama_log, context=1024)


def test_the_cache_is_told_by_kind_without_a_load(tmp_path: Path, dry_run: DryRun, llama_log: LogCapture) -> None:
    path = write_tiny_window(tmp_path / "window.gguf")
    found = measured(dry_run, path, context=2048)
    backend = LlamaBackend(str(path), LoadOptions(context=2048), llama_log, lambda percent: True)
    assert found.cache == parse_cache(llama_log.lines())
    backend.close()


@pytest.mark.parametrize(
    ("options", "mib"),
    [
        ({"context": 8192}, 180.0),
        ({}, 180.0),
        ({"context": 0}, 180.0),
        ({"context": 8192, "kv_type_k": "q8_0", "kv_type_v": "q8_0"}, 180.0 * 34 / 64),
        ({"context": 8192, "kv_type_k": "q8_0", "kv_type_v": "q4_0"}, 90.0 * 34 / 64 + 90.0 * 18 / 64),
        ({"context": 100}, 256 * 180.0 / 8192),
        ({"context": 131072}, 2880.0),
    ],
)
def test_the_starter_models_cache_follows_its_heads_and_the_kv_type(
    starter_model: Path, dry_run: DryRun, options: dict[str, object], mib: float
) -> None:
    assert kv(measured(dry_run, starter_model, **options)) == pytest.approx(mib, abs=0.01)


def test_layers_with_a_window_stop_growing(tmp_path: Path, dry_run: DryRun) -> None:
    path = write_tiny_window(tmp_path / "window.gguf")
    caches = [measured(dry_run, path, context=cells).cache for cells in (2048, 65536)]
    small, large = caches
    assert large.full == pytest.approx(32 * (small.full or 0), abs=ROUNDING)
    assert large.window == small.window
    assert large.window_cells == small.window_cells == 768


def test_a_state_does_not_grow_with_the_context(tmp_path: Path, dry_run: DryRun) -> None:
    path = write_tiny_recurrent(tmp_path / "recurrent.gguf")
    small, large = (measured(dry_run, path, context=cells).cache for cells in (1024, 65536))
    assert small == large == CacheSizes(state=small.state)
    assert small.state is not None and small.state > 0


def test_a_huge_context_takes_no_memory_to_work_out(starter_model: Path, dry_run: DryRun) -> None:
    measured(dry_run, starter_model)
    before = psutil.Process().memory_info().rss
    found = measured(dry_run, starter_model, context=1_000_000)
    assert kv(found) == pytest.approx(1_000_192 * 180 / 8192, abs=0.1)
    assert psutil.Process().memory_info().rss - before < 256 * MIB


def test_a_context_beyond_all_measure_is_worked_out(starter_model: Path, dry_run: DryRun) -> None:
    before = psutil.Process().memory_info().rss
    found = measured(dry_run, starter_model, context=1 << 27)
    assert psutil.Process().memory_info().rss - before < 512 * MIB
    assert found.context == 1 << 27
    assert kv(found) == pytest.approx((1 << 27) * 180 / 8192)
    small = measured(dry_run, starter_model, context=1 << 20)
    (use,), (use_of_less,) = found.memory, small.memory
    assert use.weights == use_of_less.weights and use.output == use_of_less.output
    assert (use.compute or 0) == pytest.approx(128 * (use_of_less.compute or 0), rel=0.05)


def test_a_model_serves_again_while_only_its_context_changes(
    tmp_path: Path, dry_run: DryRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[bytes] = []
    load = api.llama_model_load_from_file

    def counted(path: bytes, parameters: object) -> object:
        loads.append(path)
        return load(path, parameters)

    monkeypatch.setattr(api, "llama_model_load_from_file", counted)
    path = write_tiny_mixture(tmp_path / "model.gguf")
    for cells in (256, 512, 4096):
        measured(dry_run, path, context=cells, kv_type_k="q8_0", threads=1)
    assert len(loads) == 1
    measured(dry_run, path, context=256, experts_on_cpu=True)
    assert len(loads) == 2
    before = measured(dry_run, path, context=256).memory
    write_tiny_llama(path, layers=4)
    assert measured(dry_run, path, context=256).memory != before
    assert len(loads) == 4
    size = path.stat().st_size
    write_tiny_llama(path, layers=4, seed=2)
    assert path.stat().st_size == size
    measured(dry_run, path, context=256)
    assert len(loads) == 5


def test_a_file_that_llama_cpp_refuses_gives_its_reason(tmp_path: Path, llama_log: LogCapture) -> None:
    path = copy_with(
        write_tiny_llama(tmp_path / "fine.gguf"),
        tmp_path / "wrong.gguf",
        set={"llama.attention.head_count_kv": 3},
    )
    opener = LlamaOpener(llama_log)
    with pytest.raises(LoadRefused, match="refuses") as caught:
        opener.measure(MeasureMemory(1, str(path)), lambda: False)
    assert any("blk.0.attn_k.weight" in line for line in caught.value.log)
    fine = opener.measure(MeasureMemory(2, str(tmp_path / "fine.gguf")), lambda: False)
    assert fine.context == 1024


def test_a_context_that_cannot_be_made_gives_a_sentence(starter_model: Path, llama_log: LogCapture) -> None:
    opener = LlamaOpener(llama_log)
    options = LoadOptions(flash_attention="off", kv_type_v="q8_0")
    with pytest.raises(UserError, match="needs flash attention"):
        opener.measure(MeasureMemory(1, str(starter_model), options), lambda: False)


def test_a_quantised_cache_needs_room_to_be_unpacked_on_a_gpu() -> None:
    use = DeviceMemory("CUDA0", 1000, 340, 50)
    found = Measured((use, DeviceMemory("CPU", 9, 9, 9)), CacheSizes(), 8192, 10, most={"CUDA0": 1340, "CPU": 18})
    assert gpu_bytes(found, LoadOptions(), {"CUDA0"}) == {"CUDA0": 1390}
    quantised = LoadOptions(kv_type_k="q8_0", kv_type_v="q8_0")
    assert gpu_bytes(found, quantised, {"CUDA0"}) == {"CUDA0": 1390 + 64}
    untold = found._replace(memory=(DeviceMemory("CUDA0", None, 340, 50),))
    assert gpu_bytes(untold, LoadOptions(), {"CUDA0"}) == {"CUDA0": 1390}
    assert gpu_bytes(found._replace(most=None), LoadOptions(), {"CUDA0"}) == {"CUDA0": None}


def test_beyond_what_is_measured_every_figure_that_grows_goes_on_growing() -> None:
    small = Measured((DeviceMemory("CUDA0", 1000, 10, 5),), CacheSizes(10), 1000, 10, most={"CUDA0": 1010})
    large = Measured((DeviceMemory("CUDA0", 1000, 20, 6),), CacheSizes(20), 2000, 10, most={"CUDA0": 1020})
    found = beyond(small, large, 16_000)
    assert found.memory == (DeviceMemory("CUDA0", 1000, 160, 20),)
    assert found.cache.full == 160
    assert gpu_bytes(found, LoadOptions(), {"CUDA0"}) == {"CUDA0": 1000 + 160 + 20}
    assert beyond(small, large._replace(most=None), 16_000).most is None


def test_what_is_not_known_whole_has_no_total() -> None:
    assert DeviceMemory("CPU", None, 2, 3).total == 5
    assert DeviceMemory("CPU", None, 2, 3, complete=False).total is None
