"""The progress of a compilation: read from its lines, told as a sentence, with an estimate that is honest."""

from __future__ import annotations

import pytest

from devtools.build_progress import BuildProgress, duration, expected, step_of


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("  [3/83] /usr/bin/g++ -O3 -c ggml.cpp", (3, 83)),
        ("[83/83] Linking CXX shared library", (83, 83)),
        ("-- Found Git: [1/2]", None),
        ("  Building wheel", None),
    ],
)
def test_steps_are_read_from_lines_that_begin_with_them(line: str, step: tuple[int, int] | None) -> None:
    assert step_of(line) == step


def test_before_the_first_step_it_prepares() -> None:
    clock = Clock()
    progress = BuildProgress("Compiling llama.cpp", clock)
    clock.now += 20
    assert progress.read("Collecting llama-cpp-python") == "Compiling llama.cpp: preparing, 20 seconds so far"


def test_the_estimate_rests_on_the_steps_done() -> None:
    clock = Clock()
    progress = BuildProgress("Compiling", clock)
    progress.read("[1/80] a")
    clock.now += 60
    assert progress.read("[20/80] b") == "Compiling: step 20 of 80, about 3 minutes left"
    assert progress.seconds_left() == pytest.approx(180)
    clock.now += 120
    assert progress.read("[60/80] c") == "Compiling: step 60 of 80, about 60 seconds left"


def test_no_estimate_is_made_from_too_little() -> None:
    clock = Clock()
    progress = BuildProgress("Compiling", clock)
    progress.read("[1/80] a")
    clock.now += 60
    assert progress.read("[4/80] b") == "Compiling: step 4 of 80"
    quick = BuildProgress("Compiling", clock)
    quick.read("[1/80] a")
    clock.now += 1
    assert quick.read("[40/80] b") == "Compiling: step 40 of 80"


def test_a_build_in_a_second_part_starts_counting_anew() -> None:
    clock = Clock()
    progress = BuildProgress("Compiling", clock)
    progress.read("[2/2] configure")
    assert progress.read("[1/83] a") == "Compiling: step 1 of 83"


def test_steps_that_end_out_of_order_never_count_backwards() -> None:
    progress = BuildProgress("Compiling", Clock())
    progress.read("[7/83] a")
    assert progress.read("[6/83] b").startswith("Compiling: step 7 of 83")


def test_the_end_is_called_packing() -> None:
    clock = Clock()
    progress = BuildProgress("Compiling", clock)
    progress.read("[1/8] a")
    clock.now += 30
    assert progress.read("[8/8] b") == "Compiling: step 8 of 8, packing"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "5 seconds"), (42, "40 seconds"), (89, "90 seconds"), (95, "2 minutes"), (200, "3 minutes")],
)
def test_durations_are_as_exact_as_people_need(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_first_guess_depends_on_the_cores() -> None:
    assert expected(2) == "2 to 4 minutes"
    assert expected(64) == "about 1 minute"
