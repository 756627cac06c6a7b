"""Options of a load: what people wrote by hand is brought within what can be asked for, nothing else is touched."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import MOST_CONTEXT, MOST_LAYERS, CacheSizes, LoadOptions

NUMBERS = st.one_of(st.integers(-(2**40), 2**40), st.integers(-3, 3))


def test_options_that_can_be_asked_for_stay_as_they_are() -> None:
    for options in (
        LoadOptions(),
        LoadOptions(context=512, gpu_layers=-1, threads=4, micro_batch=128, checkpoints=0),
    ):
        assert options.validated() == options


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"context": -1}, {"context": None}),
        ({"context": 0}, {"context": None}),
        ({"context": 10**12}, {"context": MOST_CONTEXT}),
        ({"gpu_layers": -99}, {"gpu_layers": -1}),
        ({"gpu_layers": 10**9}, {"gpu_layers": MOST_LAYERS}),
        ({"threads": 0}, {"threads": 1}),
        ({"main_gpu": -1}, {"main_gpu": 0}),
        ({"micro_batch": 4096}, {"micro_batch": 2048}),
        ({"batch": 100}, {"batch": 100, "micro_batch": 100}),
        ({"checkpoints": -1}, {"checkpoints": 0}),
    ],
)
def test_numbers_out_of_range_become_the_nearest_that_work(written: dict[str, int], meant: dict[str, int]) -> None:
    assert LoadOptions(**written).validated() == LoadOptions(**meant)  # type: ignore[arg-type]


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_whatever_was_written_comes_out_usable(
    context: int, layers: int, threads: int, batch: int, micro_batch: int
) -> None:
    options = LoadOptions(
        context=context, gpu_layers=layers, threads=threads, batch=batch, micro_batch=micro_batch
    ).validated()
    assert options.validated() == options
    assert options.context is None or 0 < options.context <= MOST_CONTEXT
    assert options.gpu_layers is not None and -1 <= options.gpu_layers <= MOST_LAYERS
    assert 1 <= options.micro_batch <= options.batch


@pytest.mark.parametrize(
    ("context", "trained", "cells"),
    [(None, 2048, 2048), (None, 131_072, 8192), (None, None, 8192), (1000, 512, 1024), (0, 4096, 4096)],
)
def test_the_default_context_is_never_simply_the_trained_one(
    context: int | None, trained: int | None, cells: int
) -> None:
    assert LoadOptions(context=context).cells(trained) == cells


def test_bytes_in_use_follow_the_cells_in_use() -> None:
    plain = CacheSizes(full=8000)
    assert plain.in_use(100, 800, 0) == 1000
    window = CacheSizes(full=8000, window=600, window_cells=60)
    assert window.in_use(100, 800, 30) == 1000 + 300
    state = CacheSizes(state=50)
    assert (state.in_use(0, 800, 0), state.in_use(7, 800, 0)) == (0, 50)
    assert CacheSizes().in_use(100, 800, 0) is None
    assert CacheSizes(full=1, window=1).in_use(100, 800, 10) is None


@pytest.mark.parametrize(("kept", "meant"), [(b"true", -1), (b"false", 0), (b"7", 7), (b"-1", -1)])
def test_a_yes_or_no_about_experts_that_older_settings_hold_is_read(kept: bytes, meant: int) -> None:
    options = msgspec.json.decode(b'{"experts_on_cpu": %s}' % kept, type=LoadOptions)
    assert type(options.experts_on_cpu) is int and options.experts_on_cpu == meant
    assert LoadOptions(experts_on_cpu=99_999).validated().experts_on_cpu == MOST_LAYERS
