"""The attention of one token as values: rows by layer and head, where each went most, and what reading it takes."""

from __future__ import annotations

import msgspec
import pytest

from app.core.model import CacheSizes, LoadOptions, ModelInfo
from app.services.attention_cost import PassSpeed, cost_of
from app.services.attention_rows import AttentionRows, Strongest
from tests.fake_engine import model_info
from tests.made_up_attention import HEADS, attention, favourite, row


def test_a_window_counts_whole_and_cells_of_few_bits_as_f16() -> None:
    model = model_info("a.gguf", 1000)
    quantised = LoadOptions(kv_type_k="q8_0", kv_type_v="q8_0")
    base = cost_of(model, 1, 100.0)
    assert (base.seconds, base.memory_bytes) == (0.01, 256 * 23_040 + 2 * 64 * 4 * 49_152)
    cache = CacheSizes(full=1000 * 34, window=100 * 34, window_cells=100, state=7)
    found = cost_of(_with(model, cache=cache, options=quantised), 257, None)
    assert (found.seconds, found.memory_bytes) == (None, 512 * 128 + 7 + 2 * 64 * 4 * 49_152)
    assert cost_of(_with(model, cache=CacheSizes()), 1, None).memory_bytes is None


def _with(model: ModelInfo, **changes: object) -> ModelInfo:
    return msgspec.structs.replace(model, **changes)


def test_the_last_pass_tells_how_fast_the_next_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((1.0, 3.0, 5.0, 5.1))
    monkeypatch.setattr("app.services.attention_cost.time.perf_counter", lambda: next(clock))
    speed = PassSpeed()
    assert speed.of(("a",)) is None
    speed.begin(200)
    speed.end(("a",))
    assert (speed.of(("a",)), speed.of(("b",))) == (100.0, None)
    speed.begin(10)
    speed.end(("a",))
    assert speed.of(("a",)) == 100.0, "so few tokens say nothing"


def test_rows_are_found_by_layer_and_head() -> None:
    rows = AttentionRows(attention(1, 12, layers=4, recurrent=(1,)), 12)
    assert not rows.is_empty and not rows.are_averaged and rows.most_heads == HEADS
    for layer in (0, 2, 3):
        single = [row(layer, head, 12) for head in range(HEADS)]
        for head in range(HEADS):
            assert list(rows.row(layer, head) or ()) == pytest.approx(single[head])
        mean = [sum(column) / HEADS for column in zip(*single, strict=True)]
        assert list(rows.row(layer) or ()) == pytest.approx(mean)
        token = favourite(layer, 1, 12)
        strongest = rows.strongest(layer, 1)
        assert strongest is not None and strongest.token == token
        assert strongest.share == pytest.approx(single[1][token])
    for nothing in (rows.row(1), rows.row(1, 0), rows.row(0, HEADS), rows.row(4), rows.row(None, 0), rows.row(-1)):
        assert nothing is None
    assert rows.strongest(1) is None
    assert sum(rows.row() or ()) == pytest.approx(1.0)
    most = rows.most(3, 0, 1)
    assert [token for token, _ in most] == sorted(range(12), key=lambda place: -row(0, 1, 12)[place])[:3]
    assert rows.most(3, 1) == () and list(rows.embedding) == [0.5, -0.25, 0.0]


def test_where_a_head_looks_most_has_a_name() -> None:
    rows = AttentionRows(attention(1, 12), 12)
    goals = {(layer, head): rows.strongest(layer, head) for layer in range(4) for head in range(HEADS)}
    assert [_goal(goals[layer, 0]) for layer in range(4)] == ["first", "before", "itself", "other"]


def _goal(found: Strongest | None) -> str:
    assert found is not None
    return found.goal


def test_rows_of_another_size_are_not_taken() -> None:
    with pytest.raises(ValueError, match="not the rows of 13 tokens"):
        AttentionRows(attention(1, 12), 13)
    averaged = AttentionRows(attention(1, 12, averaged=True), 12)
    assert averaged.are_averaged and averaged.row(0, 0) is None and averaged.row(0) is not None
    nothing = AttentionRows(attention(1, 12, recurrent=(0, 1, 2, 3)), 12)
    assert nothing.is_empty and nothing.row() is None and nothing.most(3) == ()
