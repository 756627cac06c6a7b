"""What the loop says of each moment: what runs, what a record proves, what could end the answer, and what was kept when."""

from __future__ import annotations

import msgspec
import pytest

from app.core.model_shape import ModelShape, Range
from app.core.sampling import SamplingSettings
from app.core.words import translate
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.memory_words import explained_by_kind, kept_words
from app.gui.inside.loop.number_words import number
from app.services.inspection import Alternative, InspectedAnswer, TokenInsight
from app.services.loop_example import example
from app.services.loop_step import step_of_record
from app.services.loop_values import RUNNING, LoopEnd
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]


def test_everything_that_a_token_goes_through_is_at_work_while_an_answer_is_written() -> None:
    each = {"embedding", "transformer", "kv", "logits", "probabilities", "sampling", "token", "stop"}
    assert set(RUNNING["writing"]) == each and RUNNING["held"] == ("sampling",)


@pytest.mark.parametrize(("rest", "figure"), [(0.0, "2 left"), (0.1, "≥\u00a02 left"), (None, "–")])
def test_a_record_that_has_not_all_tokens_tells_the_least_that_were_left(rest: float | None, figure: str) -> None:
    rows = (Alternative(5, " blue", 0.6, 0.7, is_taken=True), Alternative(6, " grey", 0.2, 0.3))
    step = step_of_record(TokenInsight(1, 0, rows, 0.2, rest), InspectedAnswer(1, (5,), (" blue",)))
    assert face_of("sampling", msgspec.structs.replace(example(), step=step)).figure == figure


@pytest.mark.parametrize(
    ("settings", "checks"),
    [
        (SamplingSettings(max_tokens=256), "end token, limit 256"),
        (SamplingSettings(max_tokens=256, stop=("x",)), "end token, limit 256, 1 stop text"),
        (SamplingSettings(max_tokens=0, stop=("x", "y")), "end token, 2 stop texts"),
    ],
)
def test_what_could_end_the_answer_is_named(settings: SamplingSettings, checks: str) -> None:
    shown = msgspec.structs.replace(example(), is_example=False, settings=settings, end=None)
    assert face_of("stop", shown).lines == (f"looks for: {checks}",)


def test_what_was_kept_when_an_answer_ended_is_told_as_past() -> None:
    now = example()
    ended = msgspec.structs.replace(now, phase="done", end=LoopEnd("end", translate("Loop", "It ended.")))
    assert "cells are taken." in kept_words(now) and "Together they are" in kept_words(now)
    assert "cells were taken when it ended." in kept_words(ended) and "Together they were" in kept_words(ended)


def test_a_model_of_two_kinds_of_layers_says_which_of_them_use_cells() -> None:
    values = example()
    assert values.model is not None
    hybrid = msgspec.structs.replace(values.model, memory_kind="hybrid", bytes_per_token=None)
    said = kept_words(msgspec.structs.replace(values, model=hybrid))
    assert "Only the layers with attention use them; the others have one state each." in said
    assert explained_by_kind("kv", hybrid).startswith("The layers with attention keep keys and values of every")
    assert explained_by_kind("kv", values.model) == "", "the usual words do"


@pytest.mark.parametrize("kind", ["recurrent", "hybrid"])
def test_normalisation_is_named_for_every_kind_of_layers(kind: str) -> None:
    shape = example().model
    assert shape is not None
    told = msgspec.structs.replace(shape, memory_kind=kind)
    assert "normalisation keeps the numbers in bounds" in explained_by_kind("transformer", told)


def test_experts_are_told_of_a_mixture_alone() -> None:
    values = example()
    assert values.model is not None and "expert" not in number("transformer", values)
    shape = ModelShape(576, Range(9, 9), Range(3, 3), Range(1536, 1536), experts=8, experts_used=2)
    mixture = msgspec.structs.replace(values.model, shape=shape)
    said = number("transformer", msgspec.structs.replace(values, model=mixture))
    assert said.endswith("2 of 8 experts work on each token.")


def test_the_tour_shows_the_example_where_no_model_is_loaded(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.desk.program.session.unload()
    inspector.stage.settle()
    catch_up(part)
    assert part.map.boxes["transformer"].face.figure == "–"
    part.begin_tour()
    assert part.shown.values.is_example and part.map.boxes["transformer"].face.figure == "30 layers"
    part.end_tour()
    assert part.map.boxes["transformer"].face.figure == "–"
