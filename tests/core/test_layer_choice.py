"""Which layers go to the GPU when nobody said, with made-up figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.layer_choice import MARGIN, MIB, SHORTEST_CONTEXT, Choice, Room, choose_context, choose_layers

GIB = 1024 * MIB
LAYERS = 33
Asked = list[tuple[int, bool]]


def model(layer: int, experts: int = 0, base: int = 0) -> tuple[Callable[[int, bool], dict[str, int | None]], Asked]:
    """Return what a model takes of one GPU by layers and experts, and a note of what was asked."""
    asked: Asked = []

    def measure(layers: int, experts_on_cpu: bool) -> dict[str, int | None]:
        asked.append((layers, experts_on_cpu))
        return {"CUDA0": base + layers * (layer if experts_on_cpu else layer + experts)}

    return measure, asked


def room(free: int, total: int = 24 * GIB) -> dict[str, Room]:
    return {"CUDA0": Room(total, free)}


def test_all_layers_go_where_all_fit_and_one_look_is_enough() -> None:
    measure, asked = model(layer=400 * MIB)
    assert choose_layers(measure, room(20 * GIB), LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=False)
    assert asked == [(LAYERS, False)]


def test_a_margin_is_left_free() -> None:
    measure, _ = model(layer=400 * MIB)
    exactly = LAYERS * 400 * MIB
    fits = choose_layers(measure, room(exactly + MARGIN), LAYERS, mixture=False)
    assert fits == Choice(LAYERS, experts_on_cpu=False)
    short = choose_layers(measure, room(exactly + MARGIN - 1), LAYERS, mixture=False)
    assert short == Choice(LAYERS - 1, experts_on_cpu=False)


def test_a_small_gpu_keeps_an_eighth_free() -> None:
    assert Room(4 * GIB, 4 * GIB).limit == 3 * GIB + 512 * MIB
    assert Room(80 * GIB, 80 * GIB).limit == 79 * GIB
    assert Room(None, 4 * GIB).limit == 3 * GIB
    assert Room(4 * GIB, None).limit is None


def test_the_experts_of_a_mixture_give_way_before_whole_layers() -> None:
    measure, asked = model(layer=100 * MIB, experts=900 * MIB)
    assert choose_layers(measure, room(8 * GIB), LAYERS, mixture=True) == Choice(LAYERS, experts_on_cpu=True)
    assert asked == [(LAYERS, False), (LAYERS, True)]


def test_a_mixture_that_fits_keeps_its_experts_on_the_gpu() -> None:
    measure, _ = model(layer=10 * MIB, experts=90 * MIB)
    assert choose_layers(measure, room(8 * GIB), LAYERS, mixture=True) == Choice(LAYERS, experts_on_cpu=False)


def test_a_mixture_too_large_without_its_experts_loses_layers_too() -> None:
    measure, _ = model(layer=400 * MIB, experts=900 * MIB)
    assert choose_layers(measure, room(5 * GIB), LAYERS, mixture=True) == Choice(10, experts_on_cpu=True)


@pytest.mark.parametrize("fitting", range(LAYERS))
def test_as_many_layers_as_fit_are_found_in_few_looks(fitting: int) -> None:
    measure, asked = model(layer=500 * MIB, base=300 * MIB)
    free = 300 * MIB + fitting * 500 * MIB + 250 * MIB + MARGIN
    choice = choose_layers(measure, room(free), LAYERS, mixture=False)
    assert choice == Choice(fitting, experts_on_cpu=False)
    assert len(asked) <= 5
    assert len(set(asked)) == len(asked)
    assert not any(experts for _, experts in asked)


def test_layers_of_very_different_size_are_found_too() -> None:
    sizes = [4 * GIB, *[10 * MIB] * 40, 3 * GIB]

    def measure(layers: int, _: bool) -> dict[str, int | None]:
        return {"CUDA0": sum(sizes[len(sizes) - layers :])}

    for fitting in range(len(sizes)):
        free = sum(sizes[len(sizes) - fitting :]) + MARGIN
        assert choose_layers(measure, room(free), len(sizes), mixture=False) == Choice(fitting, experts_on_cpu=False)


def test_where_nothing_fits_everything_stays_in_main_memory() -> None:
    measure, _ = model(layer=400 * MIB, experts=100 * MIB, base=2 * GIB)
    assert choose_layers(measure, room(1 * GIB), LAYERS, mixture=True) == Choice(0, experts_on_cpu=False)


def test_every_one_of_several_gpus_has_to_hold_its_part() -> None:
    def measure(layers: int, _: bool) -> dict[str, int | None]:
        return {"CUDA0": layers * 100 * MIB, "CUDA1": layers * 300 * MIB}

    rooms = {"CUDA0": Room(24 * GIB, 20 * GIB), "CUDA1": Room(8 * GIB, 4 * GIB)}
    assert choose_layers(measure, rooms, LAYERS, mixture=False) == Choice(10, experts_on_cpu=False)
    wide = {**rooms, "CUDA1": Room(24 * GIB, 20 * GIB)}
    assert choose_layers(measure, wide, LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=False)


def test_unknown_figures_choose_nothing() -> None:
    def unknown(layers: int, _: bool) -> dict[str, int | None]:
        return {"CUDA0": None}

    assert choose_layers(unknown, room(8 * GIB), LAYERS, mixture=False) is None
    measure, _ = model(layer=400 * MIB)
    assert choose_layers(measure, {"CUDA0": Room(None, None)}, LAYERS, mixture=False) is None


def test_a_gpu_that_the_model_does_not_use_plays_no_part() -> None:
    measure, _ = model(layer=100 * MIB)
    rooms = {**room(8 * GIB), "Vulkan1": Room(None, None)}
    assert choose_layers(measure, rooms, LAYERS, mixture=False) == Choice(LAYERS, experts_on_cpu=False)


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
