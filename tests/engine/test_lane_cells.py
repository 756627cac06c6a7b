"""The cells of lanes: shared with the prompt while they run, given back afterwards, whatever went wrong."""

from __future__ import annotations

import numpy as np
import pytest

from app.core.events import Event, LaneFinished, LaneTokens
from app.engine.control import Control
from app.engine.joiner import TokenJoiner
from app.engine.kv_cache import KVCache
from app.engine.lane_cells import ChatCells, SharedCells
from app.engine.llama_model import LlamaBackend
from app.engine.llama_sequences import LlamaSequences
from app.engine.logits import BrokenLogits, Logits
from tests.engine.comparisons import Told, compare, limited
from tests.engine.exchanges import as_prompt, tokens
from tests.engine.harness import GREEDY

CELLS = 1024


def filled(cache: KVCache, count: int) -> None:
    cache.append(np.asarray(tokens(count, 3), np.int32), logits=True)


def has_room_for(cache: KVCache, count: int) -> bool:
    """Return whether so many tokens go into the cells behind those that are there."""
    before = cache.used
    result = cache.append(np.asarray(tokens(count, 4), np.int32), logits=True)
    cache.rewind(cache.ids[: before + 1])
    return result == "done"


@pytest.mark.parametrize(("model", "times"), [("quick", 100), ("starter", 7)])
def test_the_use_returns_to_the_prompt_many_times_in_a_row(
    request: pytest.FixtureRequest, model: str, times: int
) -> None:
    backend: LlamaBackend = request.getfixturevalue(f"{model}_backend")
    backend.remove(0, 0)
    cache = KVCache(backend)
    filled(cache, 40)
    free = CELLS - 40 if model == "quick" else 2 * 8  # the real model is slow: as many as the most lanes had
    for number in range(times):
        cells = SharedCells(backend, cache)
        lanes = 2 + number % 7
        cells.open(lanes)
        for _ in range(2):
            assert cells.append(list(range(lanes)), [20] * lanes) == "done"
        assert cache.use.cells_used == 40 + 2 * lanes
        cells.end(0)
        assert cache.use.cells_used == 40 + 2 * (lanes - 1)
        cells.close()
        assert cache.use.cells_used == cache.used == 40
    assert has_room_for(cache, free), "llama.cpp holds no cell of a lane any more"
    assert [backend.min_position(sequence) for sequence in range(9)] == [0] + [-1] * 8


def test_lanes_take_what_the_prompt_left_and_no_more(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    filled(quick_cache, CELLS - 6)
    cells = SharedCells(quick_backend, quick_cache)
    cells.open(4)
    assert cells.append([0, 1, 2, 3], [20] * 4) == "done"
    assert cells.append([0, 1, 2, 3], [20] * 4) == "no_room"
    cells.end(2)
    assert cells.append([0, 1, 3], [20] * 3) == "done", "the cells of a lane that ended are free"
    cells.close()
    assert has_room_for(quick_cache, 6)


def test_rows_belong_to_their_lanes(starter_backend: LlamaBackend, cache: KVCache) -> None:
    filled(cache, 30)
    cells = SharedCells(starter_backend, cache)
    cells.open(5)
    cells.append([0, 1, 2, 3, 4], [50, 60, 70, 80, 90])
    together = [starter_backend.logits(place).copy() for place in range(5)]
    cells.append([1, 4], [61, 91])
    pair = [starter_backend.logits(place).copy() for place in range(2)]
    cells.close()
    for first, row in zip((50, 60, 70, 80, 90), together, strict=True):
        alone = alone_behind(starter_backend, cache, [first])
        assert np.abs(log_softmax(alone) - log_softmax(row)).max() < 0.5
        assert [int(other.argmax()) for other in together].count(int(row.argmax())) < 5
        assert int(np.argmin([np.abs(alone - other).sum() for other in together])) == (50, 60, 70, 80, 90).index(
            first
        )
    for ids, row in zip(([60, 61], [90, 91]), pair, strict=True):
        alone = alone_behind(starter_backend, cache, ids)
        assert int(np.argmin([np.abs(alone - other).sum() for other in pair])) == ([60, 61], [90, 91]).index(ids)
        assert np.abs(log_softmax(alone) - log_softmax(row)).max() < 0.5


def alone_behind(backend: LlamaBackend, cache: KVCache, ids: list[int]) -> np.ndarray:
    """Return the row behind these tokens in the chat's sequence, and go back."""
    cells = ChatCells(cache)
    cells.open(1)
    for token in ids:
        assert cells.append([0], [token]) == "done"
    row = backend.logits().copy()
    cells.close()
    return row


def log_softmax(row: np.ndarray) -> np.ndarray:
    shifted = row.astype(np.float64) - float(row.max())
    result: np.ndarray = shifted - np.log(np.exp(shifted).sum())
    return result


def test_the_chats_cells_hold_one_lane_at_a_time(cache: KVCache) -> None:
    filled(cache, 10)
    cells = ChatCells(cache)
    with pytest.raises(ValueError, match="one lane"):
        cells.open(2)
    cells.append([0], [20])
    assert cache.used == 11
    cells.end(0)
    assert cache.used == 10


def test_a_batch_that_llama_refuses_ends_the_lanes_with_what_they_have(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode, calls = LlamaSequences.decode, 0

    def refuse(self: LlamaSequences, *batch: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise RuntimeError("llama_decode returned -1")
        return decode(self, *batch)  # type: ignore[arg-type]

    monkeypatch.setattr(LlamaSequences, "decode", refuse)
    monkeypatch.setattr(TokenJoiner, "due", lambda self: False)
    seen: list[Event] = []
    with pytest.raises(RuntimeError, match="returned -1"):
        compare(starter_backend, cache, [limited(GREEDY, 20)] * 3, on_event=lambda event, _: seen.append(event))
    told = Told(seen)
    assert [len(told.streamed(lane)[0]) for lane in range(3)] == [4, 4, 4]
    assert told.all(LaneFinished) == []
    assert cache.use.cells_used == cache.used > 0
    assert [starter_backend.min_position(sequence) for sequence in range(1, 9)] == [-1] * 8
    again = compare(starter_backend, cache, [limited(GREEDY, 3)] * 2)
    assert again.end.prefill.evaluated == 1


@pytest.mark.parametrize(("result", "reason"), [("no_room", "context_full"), ("aborted", "cancelled")])
def test_a_batch_that_is_not_evaluated_ends_all_running_lanes_and_they_say_why(
    starter_backend: LlamaBackend, cache: KVCache, result: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode, calls = LlamaSequences.decode, 0

    def refuse(self: LlamaSequences, *batch: object) -> object:
        nonlocal calls
        calls += 1
        return result if calls == 4 else decode(self, *batch)  # type: ignore[arg-type]

    monkeypatch.setattr(LlamaSequences, "decode", refuse)
    told = compare(starter_backend, cache, [limited(GREEDY, 20), limited(GREEDY, 2), limited(GREEDY, 20)])
    assert [told.lane(lane).finished.stop_reason for lane in range(3)] == [reason, "length", reason]
    assert [told.streamed(lane)[0] for lane in range(3)] == [told.ids(lane) for lane in range(3)]
    assert told.end.kv.cells_used == told.end.prefill.prompt_tokens


def test_a_row_that_is_no_distribution_fails_the_comparison_and_keeps_what_was_said(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, calls = Logits.take, 0

    def broken(self: Logits, place: int = -1) -> object:
        nonlocal calls
        calls += 1
        return (
            self.read(np.full(starter_backend.vocabulary.size, np.nan, np.float32))
            if calls == 4
            else take(self, place)
        )

    monkeypatch.setattr(Logits, "take", broken)
    seen: list[Event] = []
    with pytest.raises(BrokenLogits):
        compare(starter_backend, cache, [limited(GREEDY, 20)] * 2, on_event=lambda event, _: seen.append(event))
    assert [len(Told(seen).streamed(lane)[0]) for lane in range(2)] == [3, 2]
    assert cache.use.cells_used == cache.used
    assert starter_backend.min_position(1) == -1


def test_whoever_stops_listening_leaves_no_cells_behind(starter_backend: LlamaBackend, cache: KVCache) -> None:
    class Gone(Exception):
        pass

    def leave(event: Event, control: Control) -> None:
        if isinstance(event, LaneTokens):
            raise Gone

    with pytest.raises(Gone):
        compare(starter_backend, cache, [limited(GREEDY, 20)] * 3, as_prompt(tokens(20, 1)), on_event=leave)
    assert cache.use.cells_used == cache.used == 20
    assert starter_backend.min_position(1) == -1
