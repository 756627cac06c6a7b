"""The sentences with the numbers of the loop's stages say what people look for there."""

from __future__ import annotations

import msgspec
import pytest

from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.number_words import number
from app.services.loop_example import example
from app.services.loop_values import LoopPrefill


@pytest.mark.parametrize(
    ("read", "pace", "words"),
    [
        (LoopPrefill(42, 42, 0, 20.0), 25.0, "2.1 s for the prompt's 42 tokens, then about 0.04 s for each token."),
        (LoopPrefill(42, 42, 2, 20.0), 25.0, "2 s for the 40 tokens of the prompt that were not in the cache yet"),
        (LoopPrefill(42, 42, 0, 20.0), None, "2.1 s for the prompt's 42 tokens."),
        (LoopPrefill(20, 42, 0, 20.0), None, "20 of 42 tokens are read"),
        (LoopPrefill(42, 42, 40, None), 25.0, "40 of them were in the cache already"),
    ],
)
def test_prefill_says_how_long_it_took_beside_a_token(read: LoopPrefill, pace: float | None, words: str) -> None:
    values = msgspec.structs.replace(example(), prefill=read, tokens_per_s=pace)
    assert number("prefill", values).startswith(words) or words in number("prefill", values)


def test_sampling_says_why_it_is_not_known_how_many_are_left() -> None:
    values = example()
    assert values.step is not None and "not recorded" not in number("sampling", values)
    step = msgspec.structs.replace(values.step, survivors=None)
    said = number("sampling", msgspec.structs.replace(values, step=step))
    assert said.startswith("It was not recorded how many tokens were left here.") and "was drawn" in said


def test_the_speed_is_said_to_be_an_average_while_the_answer_is_written_and_afterwards() -> None:
    values = example()
    said = number("stop", msgspec.structs.replace(values, step_why=None))
    assert said == "The loop runs 77.6 times a second on average."
    assert face_of("answer", values).lines[0] == "77.6 tok/s on average"
    assert face_of("answer", msgspec.structs.replace(values, tokens_per_s=None)).lines[0] == "– tok/s"
