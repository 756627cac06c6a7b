"""Which layers go to the GPU when nobody said, with made-up figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.layer_choice import (
    MARGIN,
    MIB,
    SHORTEST_CONTEXT,
    Choice,
    Room,
    choose_context,
    choose_experts,
    choose_layers,
)
from app.core.model import ALL_LAYERS

GIB = 1024 * MIB
LAYERS = 33
Asked = list[tuple[int, int]]


def model(layer: int, experts: int = 0, base: int = 0) -> tuple[Callable[[int, int], dict[str, int | None]], Asked]:
    """Return what a model takes of one GPU by layers and experts, and a note of what was asked."""
    asked: Asked = []

    def measure(layers: int, experts_on_cpu: int) -> dict[str, int | None]:
        asked.append((layers, experts_on_cpu))
        first = LAYERS - layers  # the blocks before it lie in main memory, the output layer is the last and has none
        moved = LAYERS - 1 if experts_on_cpu < 0 else max(first, experts_on_cpu)
        return {"CUDA0": base + layers * layer + max(0, LAYERS - 1 - max(first, moved)) * experts}

    return measure, asked


def room(free: int, total: int = 24 * GIB) -> dict[str, Room]:
    return {"CUDA0": Room(total, free)}


def test_all_layers_go_where_all_fit_and_one_look_is_enough() -> None:
    measure, asked = model(layer=400 * MIB)
    assert choose_layers(measure, room(20 * GIB), LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=0)
    assert asked == [(LAYERS, 0)]


def test_a_margin_is_left_free() -> None:
    measure, _ = model(layer=400 * MIB)
    exactly = LAYERS * 400 * MIB
    fits = choose_layers(measure, room(exactly + MARGIN), LAYERS, mixture=False)
    assert fits == Choice(LAYERS, experts_on_cpu=0)
    short = choose_layers(measure, room(exactly + MARGIN - 1), LAYERS, mixture=False)
    assert short == Choice(LAYERS - 1, experts_on_cpu=0)


def test_a_small_gpu_keeps_an_eighth_free() -> None:
    assert Room(4 * GIB, 4 * GIB).limit == 3 * GIB + 512 * MIB
    assert Room(80 * GIB, 80 * GIB).limit == 79 * GIB
    assert Room(None, 4 * GIB).limit == 3 * GIB
    assert Room(4 * GIB, None).limit is None


def test_the_experts_of_a_mixture_give_way_before_whole_layers() -> None:
    measure, asked = model(layer=100 * MIB, experts=900 * MIB)
    assert choose_layers(measure, room(8 * GIB), LAYERS, mixture=True) == Choice(LAYERS, experts_on_cpu=28)
    assert asked[:2] == [(LAYERS, 0), (LAYERS, -1)] and len(asked) <= 4


@pytest.mark.parametrize("staying", range(LAYERS - 1))
def test_no_more_experts_move_than_have_to(staying: int) -> None:
    measure, asked = model(layer=100 * MIB, experts=900 * MIB)
    free = LAYERS * 100 * MIB + staying * 900 * MIB + 450 * MIB + MARGIN
    moved = LAYERS - 1 - staying if staying else ALL_LAYERS
    assert choose_layers(measure, room(free, 64 * GIB), LAYERS, mixture=True) == Choice(LAYERS, moved)
    assert len(asked) <= 5 and len(set(asked)) == len(asked)


def test_layers_that_are_chosen_have_as_few_experts_moved_as_need_be() -> None:
    measure, _ = model(layer=100 * MIB, experts=900 * MIB)
    assert choose_experts(measure, room(20 * GIB), 10, LAYERS - 1) == 0
    assert choose_experts(measure, room(5 * GIB + MARGIN), 10, LAYERS - 1) == LAYERS - 1 - 4
    assert choose_experts(measure, room(1 * GIB + MARGIN), 10, LAYERS - 1) == ALL_LAYERS
    assert choose_experts(measure, room(1 * GIB), 10, LAYERS - 1) is None
    assert choose_experts(measure, {"CUDA0": Room(None, None)}, 10, LAYERS - 1) is None


def test_a_mixture_that_fits_keeps_its_experts_on_the_gpu() -> None:
    measure, _ = model(layer=10 * MIB, experts=90 * MIB)
    assert choose_layers(measure, room(8 * GIB), LAYERS, mixture=True) == Choice(LAYERS, experts_on_cpu=0)


def test_a_mixture_too_large_without_its_experts_loses_layers_too() -> None:
    measure, _ = model(layer=400 * MIB, experts=900 * MIB)
    assert choose_layers(measure, room(5 * GIB), LAYERS, mixture=True) == Choice(10, experts_on_cpu=ALL_LAYERS)


@pytest.mark.parametrize("fitting", range(LAYERS))
def test_as_many_layers_as_fit_are_found_in_few_looks(fitting: int) -> None:
    measure, asked = model(layer=500 * MIB, base=300 * MIB)
    free = 300 * MIB + fitting * 500 * MIB + 250 * MIB + MARGIN
    choice = choose_layers(measure, room(free), LAYERS, mixture=False)
    assert choice == Choice(fitting, experts_on_cpu=0)
    assert len(asked) <= 5
    assert len(set(asked)) == len(asked)
    assert not any(experts for _, experts in asked)


def test_layers_of_very_different_size_are_found_too() -> None:
    sizes = [4 * GIB, *[10 * MIB] * 40, 3 * GIB]

    def measure(layers: int, _: int) -> dict[str, int | None]:
        return {"CUDA0": sum(sizes[len(sizes) - layers :])}

    for fitting in range(len(sizes)):
        free = sum(sizes[len(sizes) - fitting :]) + MARGIN
        assert choose_layers(measure, room(free), len(sizes), mixture=False) == Choice(fitting, experts_on_cpu=0)


def test_where_nothing_fits_everything_stays_in_main_memory() -> None:
    measure, _ = model(layer=400 * MIB, experts=100 * MIB, base=2 * GIB)
    assert choose_layers(measure, room(1 * GIB), LAYERS, mixture=True) == Choice(0, experts_on_cpu=0)


def test_every_one_of_several_gpus_has_to_hold_its_part() -> None:
    def measure(layers: int, _: int) -> dict[str, int | None]:
        return {"CUDA0": layers * 100 * MIB, "CUDA1": layers * 300 * MIB}

    rooms = {"CUDA0": Room(24 * GIB, 20 * GIB), "CUDA1": Room(8 * GIB, 4 * GIB)}
    assert choose_layers(measure, rooms, LAYERS, mixture=False) == Choice(10, experts_on_cpu=0)
    wide = {**rooms, "CUDA1": Room(24 * GIB, 20 * GIB)}
    assert choose_layers(measure, wide, LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=0)


def test_unknown_figures_choose_nothing() -> None:
    def unknown(layers: int, _: int) -> dict[str, int | None]:
        return {"CUDA0": None}

    assert choose_layers(unknown, room(8 * GIB), LAYERS, mixture=False) is None
    measure, _ = model(layer=400 * MIB)
    assert choose_layers(measure, {"CUDA0": Room(None, None)}, LAYERS, mixture=False) is None


def test_a_gpu_that_the_model_does_not_use_plays_no_part() -> None:
    measure, _ = model(layer=100 * MIB)
    rooms = {**room(8 * GIB), "Vulkan1": Room(None, None)}
    assert choose_layers(measure, rooms, LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=0)


def cache(cell: int, base: int = 0) -> tuple[Callable[[int], dict[str, int | None]], list[int]]:
    """Return what a model takes of one GPU by its context, and a note of what was asked."""
    asked: list[int] = []

    def measure(cells: int) -> dict[str, int | None]:
        asked.append(cells)
        return {"CUDA0": base + cells * cell}

    return measure, asked


def test_a_context_that_fits_stays_and_one_look_is_enough() -> None:
    measure, asked = cache(cell=100_000)
    assert choose_context(measure, room(20 * GIB), 8192) == 8192
    assert asked == [8192]


@pytest.mark.parametrize("fitting", range(4096, 32_768, 1792))
def test_the_longest_context_that_fits_is_found_in_few_looks(fitting: int) -> None:
    measure, asked = cache(cell=100_000, base=2 * GIB)
    free = 2 * GIB + fitting * 100_000 + 128 * 100_000 + MARGIN
    assert choose_context(measure, room(free), 32_768) == fitting
    assert len(asked) <= 5 and len(set(asked)) == len(asked)


def test_a_context_is_not_shortened_below_what_is_worth_it() -> None:
    measure, _ = cache(cell=100_000)
    exactly = SHORTEST_CONTEXT * 100_000 + MARGIN
    assert choose_context(measure, room(exactly), 8192) == SHORTEST_CONTEXT
    assert choose_context(measure, room(exactly - 1), 8192) is None
    assert choose_context(measure, room(exactly - 1), 2048) == 2048
    assert choose_context(measure, room(MARGIN + 1), 2048) is None


def test_unknown_figures_choose_no_context() -> None:
    assert choose_context(lambda _cells: {"CUDA0": None}, room(8 * GIB), 8192) is None
    measure, _ = cache(cell=1)
    assert choose_context(measure, {"CUDA0": Room(None, None)}, 8192) is None
