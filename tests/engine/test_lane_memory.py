"""What lanes take of memory: foreseen, kept within what there is, told while it is taken, and given back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY, MainMemory
from app.core.lane_memory import ContextSizes, growth, most_sequences, sizes_of
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, LoadOptions
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture, api
from app.engine.llama_context import LlamaContext, State
from app.engine.llama_model import LlamaBackend
from app.engine.sizes import MIB, parse_sizes
from tests.engine.comparisons import compare, limited
from tests.engine.exchanges import OPTIONS, WRITERS, as_prompt, tokens
from tests.engine.harness import GREEDY
from tests.engine.test_comparing_kinds import Refusing

GIB = 1 << 30
REMADE = [kind for kind in WRITERS if kind != "plain"]
PROMPT = as_prompt(tokens(150, 1))
LANES = [limited(GREEDY, 6)] * 8
STATE = ContextSizes(
    (
        DeviceMemory(MAIN_MEMORY, 5 * GIB, None, 7, state=GIB // 2),
        DeviceMemory("CUDA0", GIB, None, 7, state=GIB // 4),
    ),
    CacheSizes(state=3 * GIB // 4),
    sequences=1,
    cells=4096,
    window=0,
    micro_batch=512,
    row_bytes=1024,
)
WINDOW = STATE._replace(
    memory=(DeviceMemory(MAIN_MEMORY, GIB, 3 * MIB, 7), DeviceMemory("CUDA0", GIB, 9 * MIB, 7)),
    cache=CacheSizes(full=4 * MIB, window=8 * MIB, window_cells=1024),
    window=512,
)


def main(available: int) -> MainMemory:
    return MainMemory(64 * GIB, available, 64 * GIB)


@pytest.fixture
def backend(kind: str, llama_log: LogCapture, tmp_path: Path) -> Iterator[LlamaBackend]:
    """A small model of this kind."""
    path = WRITERS[kind](tmp_path / f"{kind}.gguf")
    loaded = LlamaBackend(str(path), LoadOptions(**OPTIONS), llama_log, lambda percent: True)  # type: ignore[arg-type]
    yield loaded
    loaded.close()


@pytest.mark.parametrize("kind", list(WRITERS))
def test_what_is_told_of_a_load_is_enough_to_foresee_what_the_engine_will_find(backend: LlamaBackend) -> None:
    options = LoadOptions(**OPTIONS)  # type: ignore[arg-type]
    told = sizes_of(replace(backend.info, memory=backend.memory, options=options))  # as a load tells it
    assert told == backend._context.sizes
    assert told.sequences == backend.sequences.count


def test_a_state_is_there_once_for_each_sequence() -> None:
    assert growth(STATE, 1) == {MAIN_MEMORY: 0, "CUDA0": 0}
    assert growth(STATE, 5) == {MAIN_MEMORY: 2 * GIB + 4 * 1024, "CUDA0": GIB}


def test_a_window_grows_by_its_tokens_up_to_the_context() -> None:
    # 2 x 512 + 512 cells in place of 1,024: half of 8 MiB more, a quarter of which lies in main memory
    assert growth(WINDOW, 2) == {MAIN_MEMORY: MIB + 1024, "CUDA0": 3 * MIB}
    assert growth(WINDOW, 7) == {MAIN_MEMORY: 6 * MIB + 6 * 1024, "CUDA0": 18 * MIB}, "4,096 cells"
    assert growth(WINDOW, 9) == {MAIN_MEMORY: 6 * MIB + 8 * 1024, "CUDA0": 18 * MIB}, "no more than the context has"


def test_what_is_unknown_stands_in_nobodys_way() -> None:
    for cache in (CacheSizes(), CacheSizes(full=MIB, window=MIB)):
        unknown = WINDOW._replace(cache=cache)
        assert growth(unknown, 9) is None
        assert most_sequences(unknown, 1, 9, 0, main(0), {"CUDA0": 0}) == 9
    assert most_sequences(STATE, 1, 9, GIB, None, {"CUDA0": None}) == 9


@pytest.mark.parametrize(
    ("available", "state", "fitting"),
    [
        (64 * GIB, 0, 9),
        (5 * GIB + MIB, 0, 9),
        (5 * GIB, 0, 8),
        (5 * GIB, 2 * GIB, 4),
        (3 * GIB + MIB, 0, 5),
        (GIB, 0, 1),
        (0, 0, 1),
    ],
)
def test_as_many_sequences_fit_as_leave_a_gigabyte(available: int, state: int, fitting: int) -> None:
    assert most_sequences(STATE, 1, 9, state, main(available), {"CUDA0": 4 * GIB}) == fitting


def test_a_gpu_has_to_hold_its_share() -> None:
    assert most_sequences(STATE, 1, 9, 0, main(64 * GIB), {"CUDA0": GIB}) == 5
    assert most_sequences(STATE, 5, 9, 0, main(64 * GIB), {"CUDA0": GIB}) == 9, "half of it is taken already"
    assert most_sequences(STATE, 5, 9, 0, main(0), {"CUDA0": 0}) == 5, "as many as there are"


@pytest.mark.parametrize("kind", REMADE)
def test_llama_cpp_takes_what_was_foreseen(backend: LlamaBackend, kind: str, llama_log: LogCapture) -> None:
    sizes = backend._context.sizes
    before = sum((use.kv or 0) + (use.state or 0) for use in sizes.memory)
    for count in (2, 3, 5, 9):
        backend.sequences.close()
        assert backend.sequences.open(count)
        taken = sum((use.kv or 0) + (use.state or 0) for use in parse_sizes(llama_log.lines())) - before
        grown = growth(sizes, count)
        assert grown is not None
        foreseen = sum(grown.values()) - sizes.row_bytes * (count - sizes.sequences)
        print(kind, count, taken, foreseen)
        assert abs(taken - foreseen) <= (count + 2) * 0.005 * MIB, "as exactly as the log says it"


@pytest.mark.parametrize("kind", REMADE)
def test_without_memory_nothing_is_given_up_for_lanes(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(LlamaContext, "_make", lambda *context: made.append(context))
    told = compare(backend, KVCache(backend), LANES, PROMPT, main_memory=main(0))
    assert told.plan.plan.how == "one_by_one" and "one after another" in told.plan.notes[0].english()
    assert made == [] and len(told.ids(7)) == 6


@pytest.mark.parametrize("kind", ["recurrent", "hybrid"])
def test_where_all_lanes_do_not_fit_fewer_run_together(backend: LlamaBackend, kind: str) -> None:
    cache = KVCache(backend)
    assert len(compare(backend, cache, LANES, PROMPT).plan.plan.waves) == 1
    grown = growth(backend._context.sizes, 5)
    assert grown is not None
    enough = main(2 * (grown[MAIN_MEMORY] + backend._context.state_bytes()))
    told = compare(backend, cache, LANES, PROMPT, main_memory=enough)
    assert told.plan.plan.waves == ((0, 1, 2, 3), (4, 5, 6, 7)) and told.plan.plan.how == "together"
    assert "at most 4 of them" in told.plan.notes[0].english()
    assert [told.ids(lane) for lane in range(8)] == [told.ids(0)] * 8


@pytest.mark.parametrize("kind", REMADE)
def test_where_llama_cpp_refuses_fewer_lanes_run_together(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(monkeypatch, 4)
    told = compare(backend, KVCache(backend), LANES, PROMPT, main_memory=main(64 * GIB))
    assert told.plan.plan.waves == ((0, 1), (2, 3), (4, 5), (6, 7)) and refusing.refused == 2
    assert "at most 2 of them" in told.plan.notes[0].english()
    assert told.end.notes == () and backend.sequences.count == 1


@pytest.mark.parametrize("kind", REMADE)
def test_the_figures_of_lanes_tell_what_their_context_takes(
    backend: LlamaBackend, kind: str, llama_log: LogCapture
) -> None:
    usual = backend.memory
    told = compare(backend, KVCache(backend), LANES, PROMPT)
    (during,) = told.lane(0).finished.metrics.memory
    assert backend.memory == usual
    assert (during.device, during.weights) == (usual[0].device, usual[0].weights)
    backend.sequences.open(9)
    (larger,) = parse_sizes(llama_log.lines())
    assert (during.kv, during.state, during.compute) == (larger.kv, larger.state, larger.compute)
    assert (during.total or 0) > (usual[0].total or 0)
    backend.sequences.close()
    assert backend.memory == usual


@pytest.mark.parametrize("kind", REMADE)
def test_memory_that_cannot_be_given_back_is_told_and_is_given_back_later(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, save = KVCache(backend), LlamaContext.save

    def refuse(self: LlamaContext) -> State:
        if self.sequences > 1:
            raise MemoryError
        return save(self)

    with monkeypatch.context() as short:
        short.setattr(LlamaContext, "save", refuse)
        told = compare(backend, cache, LANES, PROMPT)
    assert "could not be given back" in told.end.notes[0].english()
    assert backend.sequences.count == 9
    again = compare(backend, cache, LANES, PROMPT)
    assert again.end.notes == () and backend.sequences.count == 1
    assert again.ids(0) == told.ids(0)


@pytest.mark.parametrize("kind", ["plain"])
def test_a_plain_cache_needs_no_more_memory(
    backend: LlamaBackend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "llama_init_from_model", None)
    told = compare(backend, KVCache(backend), LANES, PROMPT, main_memory=main(0))
    assert told.plan.plan.waves == (tuple(range(8)),) and told.plan.notes == ()
