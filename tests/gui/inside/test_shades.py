"""The ramps: text stays readable on every step, steps can be told apart without colour, and all values have one."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

from app.gui import theme
from app.gui.inside.shades import COLOURINGS, LINES_PX, STEPS, Colouring, shades, step_of, words_of
from app.services.inspection import InspectedAnswer

FOLDER = Path(__file__).parents[3] / "resources" / "themes"


def look(name: str) -> theme.Theme:
    return theme.Theme(name, json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
@pytest.mark.parametrize("colouring", [*COLOURINGS, "attention"])
def test_text_on_every_step_keeps_its_contrast(name: str, colouring: Colouring) -> None:
    themed = look(name)
    for shade in shades(themed, colouring):
        assert theme.contrast(shade.ground, themed.colour("text")) >= theme.LEAST_TEXT_CONTRAST
        assert theme.contrast(shade.line, themed.colour("surface")) >= 3.0


@pytest.mark.parametrize("name", ["light", "dark"])
def test_each_step_is_stronger_than_the_one_before(name: str) -> None:
    themed = look(name)
    surface = themed.colour("surface")
    for colouring in ("probability", "entropy"):
        apart = [theme.contrast(shade.ground, surface) for shade in shades(themed, colouring)]
        assert apart == sorted(apart) and len(set(apart)) == STEPS == len(words_of(colouring))
        grounds = [shade.ground for shade in shades(themed, colouring)]
        assert all(theme.contrast(one, other) >= 1.15 for one, other in pairwise(grounds)), (
            "none is like its neighbour"
        )
        assert theme.contrast(grounds[0], grounds[1]) >= 1.2
    assert list(LINES_PX) == sorted(set(LINES_PX)) and LINES_PX[0] == 0, "lines tell the steps without colour"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_steps_of_attention_are_apart_where_they_stand_side_by_side(name: str) -> None:
    grounds = [shade.ground for shade in shades(look(name), "attention")]
    assert len(grounds) == len(words_of("attention"))
    assert min(theme.contrast(one, other) for one, other in pairwise(grounds)) >= 1.17


def test_two_ramps_have_two_hues() -> None:
    ramps = [shades(look("light"), colouring) for colouring in ("probability", "entropy")]
    assert ramps[0][-1].line != ramps[1][-1].line


@pytest.mark.parametrize(
    ("probability", "rank", "entropy", "steps"),
    [
        (0.95, 1, 0.1, (0, 0, 0)),
        (0.9, 1, 0.25, (0, 0, 1)),
        (0.6, 2, 1.0, (1, 1, 2)),
        (0.3, 4, 2.0, (2, 2, 3)),
        (0.1, 8, 3.0, (3, 3, 4)),
        (0.02, 40, 3.9, (4, 4, 4)),
        (0.001, 41, 4.0, (5, 5, 5)),
    ],
)
def test_values_have_the_step_that_the_legend_names(
    probability: float, rank: int, entropy: float, steps: tuple[int, int, int]
) -> None:
    log = math.log(probability) + 1e-9
    answer = InspectedAnswer(1, (5,), ("a",), (b"a",), (log,), (1.0,), (rank,), (entropy,), (None,), (0,), 1)
    found = tuple(step_of(colouring, answer, 0) for colouring in COLOURINGS[:3])
    assert found == steps and step_of("none", answer, 0) is None


def test_what_was_not_recorded_has_no_step() -> None:
    answer = InspectedAnswer(1, (5,), ("a",), (b"a",), (None,), (None,), (None,), (None,), (None,), (0,))
    assert [step_of(colouring, answer, 0) for colouring in COLOURINGS] == [None] * 4
