"""The second context: its memory is known before it is made, refused where it lacks, and given back each time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from app.core.commands import Load
from app.core.devices import MAIN_MEMORY, MainMemory
from app.core.metrics import DeviceMemory
from app.core.model import INSPECTION_BATCH, LoadOptions
from app.engine.backend import NoInspection, Tensor
from app.engine.inspection import GPU_MARGIN, MIB, bytes_by_device, lacking, too_little
from app.engine.llama import LogCapture, api
from app.engine.llama_model import LlamaBackend
from app.engine.llama_parameters import inspection_options
from app.engine.opening import LlamaOpener
from app.engine.sizes import parse_sizes
from app.engine.thread_pool import ThreadPool
from tests.engine.exchanges import WRITERS, tokens
from tests.examples import repeats

CELLS = 700
ROUNDING = MIB / 100


@pytest.fixture
def opened(llama_log: LogCapture) -> Iterator[Callable[..., LlamaBackend]]:
    """Loads models as the engine does."""
    made: list[LlamaBackend] = []

    def open_model(path: Path, **options: object) -> LlamaBackend:
        loaded = LlamaOpener(llama_log)(Load(1, str(path), LoadOptions(context=1024, threads=1, **options)), _go_on)  # type: ignore[arg-type]
        assert isinstance(loaded, LlamaBackend)
        made.append(loaded)
        return loaded

    yield open_model
    for backend in made:
        backend.close()


class _Nothing:
    """Watches a computation and wants none of it."""

    def wants(self, _tensor: Tensor) -> bool:
        return False

    def take(self, _tensor: Tensor, _asked_ns: int, _computed_ns: int) -> None:
        raise AssertionError


def _go_on(_percent: float) -> bool:
    return True


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_its_memory_is_known_before_it_is_made(
    kind: str, watched: bool, opened: Callable[..., LlamaBackend], llama_log: LogCapture, tmp_path: Path
) -> None:
    backend = opened(
        WRITERS[kind](tmp_path / "model.gguf"), kv_type_k="q8_0", kv_type_v="q8_0", batch=32, micro_batch=16
    )
    assert backend.needed_to_inspect is not None
    told = backend.needed_to_inspect(CELLS, watched)
    assert told is not None
    backend.needed_to_inspect = None
    llama_log.clear()
    backend.inspect(CELLS, None, _Nothing() if watched else None).close()
    (real,) = parse_sizes(llama_log.lines())
    rows = (INSPECTION_BATCH - 1) * 4 * backend.vocabulary.size
    expected = sum(size or 0 for size in (real.kv, real.compute, real.state, real.output)) + rows
    needed = bytes_by_device(told, backend.vocabulary.size)
    assert needed is not None
    assert needed == {MAIN_MEMORY: pytest.approx(expected, abs=4 * ROUNDING)}


def test_where_main_memory_does_not_suffice_it_is_refused_with_the_numbers(
    opened: Callable[..., LlamaBackend], tmp_path: Path
) -> None:
    backend = opened(WRITERS["plain"](tmp_path / "model.gguf"))
    with pytest.raises(NoInspection, match=r"for 700 tokens needs \d+ MiB of memory, and 0 MiB can be used"):
        backend.inspect(CELLS, MainMemory(1 << 34, MIB, 1 << 34))
    backend.inspect(CELLS, MainMemory(1 << 34, 1 << 33, 1 << 34)).close()


def test_where_nobody_knows_what_it_takes_llama_cpp_is_asked(
    opened: Callable[..., LlamaBackend], tmp_path: Path
) -> None:
    path = WRITERS["plain"](tmp_path / "model.gguf")
    backend = opened(path)
    path.unlink()
    assert backend.needed_to_inspect is not None and backend.needed_to_inspect(CELLS, False) is None
    backend.inspect(CELLS, MainMemory(1 << 34, MIB, 1 << 34)).close()


def test_a_context_that_llama_cpp_does_not_make_is_refused(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "llama_init_from_model", lambda model, params: None)
    with pytest.raises(NoInspection, match="no memory for a second context of 700 tokens"):
        quick_backend.inspect(CELLS, None)


def test_a_decode_that_fails_is_refused_and_not_a_fault(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspection = quick_backend.inspect(CELLS, None)
    try:
        monkeypatch.setattr(api, "llama_decode", lambda handle, batch: -2)
        with pytest.raises(NoInspection, match="no memory"):
            inspection.rows([5, 6], 0)
    finally:
        inspection.close()


@pytest.mark.parametrize("count", [0, INSPECTION_BATCH + 1])
def test_a_batch_of_the_wrong_size_is_refused(quick_backend: LlamaBackend, count: int) -> None:
    inspection = quick_backend.inspect(CELLS, None)
    with pytest.raises(ValueError, match="batch"):
        inspection.rows([5] * count, 0)
    inspection.close()
    inspection.close()


def test_its_memory_is_given_back_time_after_time(quick_backend: LlamaBackend) -> None:
    def once() -> None:
        inspection = quick_backend.inspect(1024, None)
        for start in range(0, 1024, INSPECTION_BATCH):
            inspection.rows(tokens(INSPECTION_BATCH, start), start)
        inspection.close()

    process = psutil.Process()
    for _ in range(10):
        once()
    gc.collect()
    before = process.memory_info().rss
    threads = process.num_threads()
    times = repeats(100)
    for _ in range(times):
        once()
    gc.collect()
    grown = process.memory_info().rss - before
    print(f"{grown / MIB:.2f} MiB more")
    assert grown < 2 * MIB, f"{times} times {2048 // times} KiB would be more"
    assert process.num_threads() <= threads


def test_it_evaluates_with_the_threads_that_are_there(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = []
    attach = ThreadPool.attach
    monkeypatch.setattr(ThreadPool, "attach", lambda pool, context: attached.append((pool, attach(pool, context))))
    monkeypatch.setattr(ThreadPool, "__init__", None)
    quick_backend.inspect(CELLS, None).close()
    assert [pool for pool, _ in attached] == [quick_backend._context._threads]


def test_the_chats_buffers_are_told_as_before_beside_lanes(
    opened: Callable[..., LlamaBackend], tmp_path: Path
) -> None:
    backend = opened(WRITERS["window"](tmp_path / "model.gguf"))
    assert backend.sequences.open(4)
    before = backend.memory
    backend.inspect(CELLS, None).close()
    assert backend.memory == before and before[0].kv


def test_unknown_figures_stand_in_nobodys_way() -> None:
    unknown = (DeviceMemory("CUDA0", None, None, 5, complete=False), DeviceMemory(MAIN_MEMORY, None, 3, 5))
    assert bytes_by_device(unknown, 100) is None
    assert lacking(None, MainMemory(1, 1, 1), {"CUDA0": 0}) is None
    assert lacking({"CUDA0": 9, MAIN_MEMORY: 9}, None, {"CUDA0": None}) is None


def test_a_gpu_keeps_some_of_its_memory_for_its_kernels() -> None:
    needed = {"CUDA0": 10 * MIB, MAIN_MEMORY: MIB}
    main = MainMemory(1 << 34, 1 << 33, 1 << 34)
    assert lacking(needed, main, {"CUDA0": GPU_MARGIN + 10 * MIB}) is None
    lack = lacking(needed, main, {"CUDA0": GPU_MARGIN + 9 * MIB})
    assert lack == ("CUDA0", 10 * MIB, 9 * MIB)
    assert "needs 10 MiB on CUDA0, and 9 MiB can be used" in too_little(700, *lack).english()


def test_it_computes_as_the_chat_does_unless_somebody_watches(
    opened: Callable[..., LlamaBackend], llama_log: LogCapture, tmp_path: Path
) -> None:
    backend = opened(WRITERS["plain"](tmp_path / "model.gguf"), kv_type_k="q8_0", kv_type_v="q8_0")
    sizes = []
    for watcher in (None, _Nothing()):
        llama_log.clear()
        backend.inspect(CELLS, None, watcher).close()
        (use,) = parse_sizes(llama_log.lines())
        sizes.append(use.kv or 0)
    assert 0 < sizes[0] < sizes[1], (
        "keys and values of eight bits, as in the chat, and of sixteen where it is watched"
    )
    chosen = LoadOptions(flash_attention="on", kv_type_k="q4_0", kv_type_v="q4_0")
    same, plain = inspection_options(chosen, 9), inspection_options(chosen, 9, watched=True)
    assert (same.flash_attention, same.kv_type_k, same.kv_type_v) == ("on", "q4_0", "q4_0")
    assert (plain.flash_attention, plain.kv_type_k, plain.kv_type_v) == ("off", "f16", "f16")
